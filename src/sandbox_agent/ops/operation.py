"""What an operation is, and the decorator that puts one into the table."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import re
import typing
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from types import UnionType
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct

from ..errors import UNEXPECTED, Internal, InvalidRequest, SandboxAgentError, found_by_validation
from ..processes.following import LogFollowing
from ..processes.terminal import Viewer
from ..runtime.daemon import Daemon
from ..runtime.following import Following
from .groups import GROUPS

logger = logging.getLogger("sandbox_agent.ops")

Result = TypeVar("Result")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Body = Literal["json", "bytes", "stream", "none"]
BYTES = "application/octet-stream"


class Content(Struct, frozen=True):
    """An answer that is not JSON."""

    body: bytes
    media_type: str


class Incoming:
    """A body that is taken piece by piece while it arrives."""

    def __init__(self, pieces: AsyncGenerator[bytes, None], media_type: str) -> None:
        self.pieces = pieces
        self.media_type = media_type


class Download(Struct, frozen=True):
    """An answer that is sent piece by piece, for a client to keep and for no browser to show."""

    media_type: str
    filename: str
    pieces: AsyncGenerator[bytes, None]
    length: int | None = None
    """How many bytes; None where only the end tells."""
    headers: tuple[tuple[str, str], ...] = ()
    status: int = 200


class Stream(Struct, frozen=True):
    """An answer that goes on: a way through the log, or pieces of SSE text, None where a sign of life is due."""

    pieces: Following | LogFollowing | AsyncGenerator[bytes | None, None]


class Dialogue(Struct, frozen=True):
    """An answer that goes both ways, over a WebSocket."""

    viewer: Viewer


class Watched(Struct, Generic[Result], frozen=True):
    """An answer that takes its time. A client that accepts a stream sees the steps to it; others wait for the answer."""

    result: asyncio.Future[Result]
    steps: AsyncGenerator[Struct | None, None]

    def stream(self) -> Stream:
        """Frames named `progress`, then one named `result` or `problem`."""
        return Stream(self._frames())

    async def _frames(self) -> AsyncGenerator[bytes | None, None]:
        try:
            async for step in self.steps:
                yield None if step is None else _frame("progress", step)
            last = _frame("result", await asyncio.shield(self.result))
        except SandboxAgentError as error:
            last = _frame("problem", error.problem())
        except Exception:
            # A stream that just breaks off would leave its reader to guess.
            logger.exception("an answer that was watched failed")
            last = _frame("problem", Internal(UNEXPECTED).problem())
        yield last


def _frame(name: str, data: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(data))


class Nothing(Struct, frozen=True):
    """An operation without arguments."""


Handler = Callable[[Daemon, Any], Awaitable[Any]]


class Operation(Struct, frozen=True, dict=True):
    """One row of the table. What follows from it is looked up by every request, so it is worked out once."""

    name: str
    """`group.verb`, as in the CLI."""
    method: Method
    path: str
    request: type[Struct]
    response: Any
    """A Struct, a union or list of them, None for an empty answer, `Content`, `Download`, `Stream` or `Dialogue`."""
    handler: Handler
    errors: tuple[type[SandboxAgentError], ...]
    summary: str
    description: str
    status: int
    public: bool
    body: Body
    media_type: str
    """Of a body that is bytes."""
    query: tuple[str, ...]
    headers: Mapping[str, str]
    """Fields that travel as headers, by the header's name."""
    aliases: tuple[str, ...]
    words: tuple[str, ...]
    """Fields that stand on the command line without a flag, besides those in the path."""
    examples: tuple[str, ...]
    """Lines for a shell, shown by the command's help."""
    watched: bool
    """The answer takes its time, and its steps can be streamed."""
    may_be_empty: bool
    """There may be nothing to answer with: then it is 204."""
    may_stream: bool
    """It can be asked to answer with a stream instead."""

    @functools.cached_property
    def path_fields(self) -> tuple[str, ...]:
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def takes_bytes(self) -> bool:
        return self.body in ("bytes", "stream")

    @functools.cached_property
    def query_fields(self) -> tuple[str, ...]:
        """Fields in the query: all of them where there is no JSON body."""
        if self.body == "json":
            return self.query
        elsewhere = {*self.path_fields, *self.headers, "content", "content_type"}
        return tuple(name for name in self.request.__struct_fields__ if name not in elsewhere)

    @functools.cached_property
    def query_names(self) -> frozenset[str]:
        """Every spelling of the fields in the query."""
        return frozenset(name for name, field in _fields(self.request).items() if field in self.query_fields)

    @functools.cached_property
    def body_fields(self) -> tuple[str, ...]:
        if self.body != "json":
            return ()
        elsewhere = {*self.path_fields, *self.headers, *self.query}
        return tuple(name for name in self.request.__struct_fields__ if name not in elsewhere)

    def parse(self, values: Mapping[str, Any], *, strict: bool) -> Any:
        """The request from loose values. Both spellings of every field are understood; unknown ones are refused."""
        spelled = _spellings(self.request)
        known: dict[str, Any] = {}
        for name, value in values.items():
            field = spelled.get(name)
            if field is None:
                raise InvalidRequest(f"unknown field `{name}`", field=name)
            if field in known:
                raise InvalidRequest(f"`{name}` is given twice", field=name)
            known[field] = value
        try:
            return msgspec.convert(known, self.request, strict=strict)
        except msgspec.ValidationError as error:
            raise _refusal(self.request, str(error)) from None


def _refusal(request: type[Struct], text: str) -> InvalidRequest:
    told, name = found_by_validation(text)
    if " matching regex " in told:
        # Nobody should have to read one: what may stand there is described in words.
        return InvalidRequest(f"that is no `{name}`. {_description(request, name)}", field=name)
    return InvalidRequest(told if told == text else f"`{name}`: {told}", field=name or None)


def _description(request: type[Struct], name: str) -> str:
    field = next(field for field in msgspec.structs.fields(request) if field.encode_name == name)
    return next((str(note.description) for note in field.type.__metadata__ if note.description), "")


@functools.cache
def _spellings(request: type[Struct]) -> dict[str, str]:
    """Every way to spell a field -> how msgspec wants it."""
    spelled = {}
    for field in msgspec.structs.fields(request):
        spelled[field.name] = spelled[field.encode_name] = field.encode_name
    return spelled


@functools.cache
def _fields(request: type[Struct]) -> dict[str, str]:
    """Every way to spell a field -> its name."""
    fields = msgspec.structs.fields(request)
    return {spelling: field.name for field in fields for spelling in (field.name, field.encode_name)}


OPERATIONS: dict[str, Operation] = {}


def operation(
    method: Method,
    path: str,
    *errors: type[SandboxAgentError],
    name: str,
    status: int = 200,
    public: bool = False,
    body: Body | None = None,
    media_type: str = BYTES,
    query: tuple[str, ...] = (),
    headers: Mapping[str, str] | None = None,
    aliases: tuple[str, ...] = (),
    words: tuple[str, ...] = (),
    examples: tuple[str, ...] = (),
) -> Callable[[Handler], Handler]:
    """Declare an operation. Request and response types are read from the handler's annotations, help from its docstring."""

    if name.partition(".")[0] not in GROUPS:
        raise ValueError(f"{name}: describe its group in ops/groups.py")

    def declare(handler: Handler) -> Handler:
        hints = typing.get_type_hints(handler)
        response = hints["return"]
        watched = typing.get_origin(response) is Watched
        if watched:
            (response,) = typing.get_args(response)
        nothing = response is type(None)
        choices = typing.get_args(response) if typing.get_origin(response) is UnionType else ()
        may_be_empty = type(None) in choices
        may_stream = Stream in choices[1:]
        response = choices[0] if choices else response
        text = inspect.getdoc(handler) or ""
        summary, _, rest = text.partition("\n")
        OPERATIONS[name] = Operation(
            name=name,
            method=method,
            path=path,
            request=hints["request"],
            response=None if nothing else response,
            handler=handler,
            errors=errors,
            summary=summary,
            description=rest.strip(),
            status=204 if nothing else 101 if response is Dialogue else status,
            public=public,
            body=body or ("none" if method in ("GET", "DELETE") else "json"),
            media_type=media_type,
            query=query,
            headers=headers or {},
            aliases=aliases,
            words=words,
            examples=examples,
            watched=watched,
            may_be_empty=may_be_empty,
            may_stream=may_stream,
        )
        return handler

    return declare
