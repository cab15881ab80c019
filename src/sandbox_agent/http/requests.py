"""Decodes an ASGI request into an operation's request: path, query, headers and body, each limited and validated."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from ..errors import InvalidRequest, PayloadTooLarge, UnsupportedMediaType
from ..ops.operation import Incoming, Operation
from .asgi import Receive, Scope
from .gate import Headers

ATTACHMENT_FACTOR = 64
RESERVED_LEVELS = 500
"""Levels of nesting that a body must leave free: its values are encoded again from a deeper stack, with more around them."""
SAFE_BRACKETS = 256
"""A body with at most this many brackets is never too deep."""


def query_of(scope: Scope) -> dict[str, str]:
    """Query parameters. A repeated one is refused."""
    text = scope["query_string"].decode("latin-1")
    found: dict[str, str] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name in found:
            raise InvalidRequest(f"`{name}` is given twice", field=name)
        found[name] = value
    return found


async def request_of(
    operation: Operation,
    path_values: dict[str, str],
    query: dict[str, str],
    headers: Headers,
    receive: Receive,
    max_body: int,
    max_upload: int,
) -> Any:
    """The operation's request, decoded and validated."""
    for name in query:
        # A query parameter must not replace a part of the path, a header or the body.
        if name not in operation.query_names:
            raise InvalidRequest(f"unknown query parameter `{name}`", field=name)
    loose: dict[str, Any] = {**path_values, **query}
    for field, name in operation.headers.items():
        if (value := headers.get(name.lower().encode())) is not None:
            loose[field] = value.decode("latin-1")
    if operation.body == "bytes":
        limit = max_body * ATTACHMENT_FACTOR
        whole = await read_body(headers, receive, limit)
        given = headers.get(b"content-type", b"").decode("latin-1") or None
        return operation.parse({**loose, "content": whole, "content_type": given}, strict=False)
    if operation.body == "stream":
        media = headers.get(b"content-type", b"").decode("latin-1")
        content = Incoming(pieces_of_body(headers, receive, max_upload), media)
        return operation.parse({**loose, "content": content}, strict=False)
    body = await read_body(headers, receive, max_body)
    if not body:
        return operation.parse(loose, strict=False)
    if operation.body == "none":
        _require_json(headers)
        return operation.parse(loose, strict=False)
    values = _json_object(headers, body)
    for name in loose:
        if name in values:
            raise InvalidRequest(f"`{name}` is given twice", field=name)
    return operation.parse({**values, **loose}, strict=True)


def _json_object(headers: Headers, body: bytes) -> dict[str, Any]:
    _require_json(headers)
    try:
        values = msgspec.json.decode(body)
        if body.count(b"{") + body.count(b"[") > SAFE_BRACKETS:
            msgspec.json.decode(b"[" * RESERVED_LEVELS + body + b"]" * RESERVED_LEVELS)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"the body is not JSON: {error}") from None
    except RecursionError:
        raise InvalidRequest("the body is nested too deeply") from None
    if not isinstance(values, dict):
        raise InvalidRequest("the body must be a JSON object")
    return values


def _require_json(headers: Headers) -> None:
    media = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
    if media != b"application/json":
        raise UnsupportedMediaType("send the body with `Content-Type: application/json`")


async def read_body(headers: Headers, receive: Receive, limit: int) -> bytes:
    return b"".join([piece async for piece in pieces_of_body(headers, receive, limit)])


async def pieces_of_body(headers: Headers, receive: Receive, limit: int) -> AsyncGenerator[bytes, None]:
    """The body as it arrives. The next piece is read only once the last one was taken."""
    declared = headers.get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > limit:
        raise PayloadTooLarge(f"the body may have at most {limit} bytes", limit=limit)
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise InvalidRequest("the request was cut off")
        piece = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise PayloadTooLarge(f"the body may have at most {limit} bytes", limit=limit)
        if piece:
            yield piece
        if not message.get("more_body"):
            return
