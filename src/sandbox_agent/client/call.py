"""A request before it is sent, and the pieces that generated methods build one from."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

IDEMPOTENCY_KEY = "Idempotency-Key"


class Address(NamedTuple):
    endpoint: str
    token: str | None


class Call(NamedTuple):
    """A request, before it is sent."""

    method: str
    path: str
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    content: Any = None
    """Bytes, or what gives them piece by piece, as the HTTP client takes it."""
    repeatable: bool = True
    """It may be sent again when its answer was lost."""
    settled: int | None = None
    """The status that a repeat gets when the lost try had done the work already."""
    seconds: float | None = None
    """How long it may take; the client's own limit when absent."""

    def with_header(self, name: str, value: str) -> Call:
        return self._replace(headers={**self.headers, name: value})


class Answer(NamedTuple):
    """What the daemon answered, when that was no problem."""

    content: bytes
    media_type: str = ""
    status: int = 0
    headers: Mapping[str, str] = {}
    """By their names in lower case."""


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
    """A request from loose values: what is None is left out."""
    sent = _present(headers or {})
    if body is not None:
        sent["Content-Type"] = "application/json"
        content = msgspec.json.encode(_present(body))
    texts = {name: _text(value) for name, value in _present(query or {}).items()}
    # What is read once cannot be sent again.
    repeatable = repeatable and (content is None or isinstance(content, bytes))
    return Call(method, path, texts, sent, content, repeatable, settled)


def new_key() -> str:
    """An idempotency key: under the same one a message that is sent twice is one turn."""
    return secrets.token_hex(16)


def segment(value: str) -> str:
    """A part of a path. Percent-encoded, so that no id can leave its place."""
    return quote(value, safe="")


def session_path(session_id: str, *rest: str) -> str:
    return "/".join(["/v1/sessions", segment(session_id), *rest])


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
