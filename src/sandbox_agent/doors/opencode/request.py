"""A request of an OpenCode client, and the table of what the door answers."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from ...errors import InvalidRequest, found_by_validation

if TYPE_CHECKING:
    from .door import Door

Body = TypeVar("Body")
Handler = Callable[["Door", "Request"], Awaitable[Any]]


class Request(Struct, frozen=True):
    path: dict[str, str]
    query: dict[str, str]
    directory: str
    body: bytes
    gone: Callable[[], Awaitable[None]]
    """Returns once the client has closed its connection."""

    def decode(self, type: type[Body]) -> Body:
        """The body; an empty one is an empty object. Members that the door does not use are ignored."""
        try:
            return msgspec.json.decode(self.body or b"{}", type=type)
        except msgspec.ValidationError as error:
            reason, name = found_by_validation(str(error))
            raise InvalidRequest(f"`{name}`: {reason}" if name else reason, field=name or None) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidRequest(f"the body is not JSON: {error}") from None

    def number(self, name: str) -> int | None:
        text = self.query.get(name)
        if text is None or text == "":
            return None
        if not text.isdecimal() or len(text) > 15:
            raise InvalidRequest(f"`{name}` is not a number", field=name)
        return int(text)


class Empty(Struct, frozen=True):
    """An answer without a body: 204."""


class Route(Struct, frozen=True):
    method: str
    pattern: re.Pattern[str]
    handler: Handler
    hides_errors: bool


ROUTES: list[Route] = []


def route(method: str, *paths: str, hides_errors: bool = False) -> Callable[[Handler], Handler]:
    """`hides_errors`: the terminal interface ignores an error of this request, so it is reported in another way."""

    def declare(handler: Handler) -> Handler:
        for path in paths:
            pattern = re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path))
            ROUTES.append(Route(method, pattern, handler, hides_errors))
        return handler

    return declare


def directory_of(query: dict[str, str], headers: dict[bytes, bytes]) -> str:
    """The directory that a client works in; by default the daemon's."""
    given = query.get("directory") or query.get("location[directory]")
    if not given:
        given = unquote(headers.get(b"x-opencode-directory", b"").decode("latin-1"))
    return given or os.getcwd()
