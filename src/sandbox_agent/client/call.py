"""A request before it is sent, and the helpers with which generated methods build one."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from ..errors import InvalidRequest

IDEMPOTENCY_KEY = "Idempotency-Key"


class Address(NamedTuple):
    endpoint: str
    token: str | None
    headers: Mapping[str, str] = {}
    """What a proxy in front of the daemon asks for."""


class Call(NamedTuple):
    """A request before it is sent."""

    method: str
    path: str
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    content: Any = None
    """Bytes, or an iterable of bytes, as the HTTP client accepts it."""
    repeatable: bool = True
    """It may be sent again if the response was lost."""
    settled: int | None = None
    """The status of a retry if the lost attempt had already succeeded."""
    seconds: float | None = None
    """How long it may take; the client's own limit if absent."""

    def with_header(self, name: str, value: str) -> Call:
        return self._replace(headers={**self.headers, name: value})


class Answer(NamedTuple):
    """A successful response of the daemon."""

    content: bytes
    media_type: str = ""
    status: int = 0
    headers: Mapping[str, str] = {}
    """By lower-case name."""


def call(
    method: str,
    path: str,
    *,
    query: Mapping[str, object] | None = None,
    headers: Mapping[str, str | None] | None = None,
    body: Mapping[str, object] | None = None,
    content: object = None,
    repeatable: bool = True,
    settled: int | None = None,
) -> Call:
    """Build a request; None values are left out."""
    sent = _present(headers or {})
    if body is not None:
        sent["Content-Type"] = "application/json"
        content = encoded(_present(body))
    texts = {name: _text(value) for name, value in _present(query or {}).items()}
    # A body that can be read only once cannot be sent again.
    repeatable = repeatable and (content is None or isinstance(content, bytes))
    return Call(method, path, texts, sent, content, repeatable, settled)


def encoded(body: Mapping[str, object]) -> bytes:
    """A body as JSON, which has neither NaN nor infinity: the null in their place could remove a limit."""
    content = msgspec.json.encode(body)
    if b"null" in content and not _is_finite(msgspec.to_builtins(body)):
        raise InvalidRequest("a number is NaN or infinite, which JSON cannot express")
    return content


def new_key() -> str:
    """An idempotency key: messages with the same key are one turn."""
    return secrets.token_hex(16)


def segment(value: str) -> str:
    """A path segment, percent-encoded. No id can escape it."""
    if value in ("", ".", "..") or "/" in value:
        # HTTP clients resolve dots, and servers decode a slash before they split the path: the request would go to
        # another resource, such as the session instead of a message.
        raise InvalidRequest(f"`{value}` is not an id")
    return quote(value, safe="")


def session_path(session_id: str, *rest: str) -> str:
    return "/".join(["/v1/sessions", segment(session_id), *rest])


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _is_finite(value: object) -> bool:
    match value:
        case float():
            return math.isfinite(value)
        case dict():
            return all(map(_is_finite, value.values()))
        case list() | tuple():
            return all(map(_is_finite, value))
    return True


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
