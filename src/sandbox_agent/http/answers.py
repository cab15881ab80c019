"""Responses: JSON, problems, bytes, and streams that end when their reader disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import quote

import msgspec

from .. import __version__
from ..errors import SandboxAgentError
from ..ops.operation import Content, Download, Stream
from ..runtime.following import PING
from .asgi import Receive, Scope, Send
from .gate import HeaderList
from .outlet import outlet_of

_encode = msgspec.json.Encoder().encode

EVERY_ANSWER: HeaderList = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-sandbox-agent-version", __version__.encode()),
]
STREAM_HEADERS: HeaderList = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


NEVER_RUN: HeaderList = [(b"content-security-policy", b"default-src 'none'; sandbox")]
"""Files come from agents and clients: a browser must never run them with this origin."""


class BrokenOff(Exception):
    """A response failed after it had started: nothing else can be sent on its connection."""


async def send_bytes(send: Send, status: int, body: bytes, headers: HeaderList) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send(
        {"type": "http.response.start", "status": status, "headers": [*headers, length, *EVERY_ANSWER]}
    )
    await send({"type": "http.response.body", "body": body})


async def send_result(send: Send, status: int, result: Any, headers: HeaderList) -> None:
    """What a handler returned: nothing, content, or a struct."""
    if result is None:
        start = {"type": "http.response.start", "status": status, "headers": [*headers, *EVERY_ANSWER]}
        await send(start)
        await send({"type": "http.response.body"})
    elif isinstance(result, Content):
        safe = [(b"content-type", result.media_type.encode("latin-1", "replace")), *NEVER_RUN]
        await send_bytes(send, status, result.body, [*headers, *safe])
    else:
        await send_bytes(send, status, _encode(result), [*headers, (b"content-type", b"application/json")])


async def send_download(receive: Receive, send: Send, download: Download, headers: HeaderList) -> None:
    """Send a file as it is read. If it ends early, close the connection: the reader must not take it for complete."""
    own_headers = [(name.encode(), value.encode("latin-1", "replace")) for name, value in download.headers]
    if download.length is not None:
        own_headers.append((b"content-length", str(download.length).encode()))
    if download.status != 304:
        own_headers += [
            (b"content-type", download.media_type.encode()),
            (b"content-disposition", f"attachment; filename*=UTF-8''{quote(download.filename)}".encode()),
        ]
    start = {
        "type": "http.response.start",
        "status": download.status,
        "headers": [*headers, *own_headers, *NEVER_RUN, *EVERY_ANSWER],
    }
    await send(start)
    try:
        await _send_pieces(receive, send, download.pieces)
    except Exception as error:
        raise BrokenOff from error
    await send({"type": "http.response.body", "body": b""})


async def send_problem(send: Send, error: SandboxAgentError, instance: str, headers: HeaderList) -> None:
    extra: HeaderList = [(b"content-type", b"application/problem+json")]
    if error.retry_after is not None:
        extra.append((b"retry-after", str(error.retry_after).encode()))
    if allowed := error.facts.get("allow"):
        extra.append((b"allow", ", ".join(allowed).encode()))
    if (size := error.facts.get("size")) is not None and error.status == 416:
        extra.append((b"content-range", f"bytes */{size}".encode()))
    if error.status == 401:
        extra.append((b"www-authenticate", b"Bearer"))
    await send_bytes(send, error.status, _encode(error.problem(instance)), [*headers, *extra])


async def send_stream(
    scope: Scope, receive: Receive, send: Send, stream: Stream, headers: HeaderList
) -> None:
    """Send pieces as they come, until there are no more or the reader disconnects."""
    following = None if isinstance(stream.pieces, AsyncGenerator) else stream.pieces
    closing: HeaderList = [(b"connection", b"close")] if following and following.tells_end else []
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [*headers, *STREAM_HEADERS, *closing, *EVERY_ANSWER],
        }
    )
    greeting = (b"retry: 3000\n\n" if stream.retries else b"") + (following.greeting if following else b"")
    if greeting:
        await send({"type": "http.response.body", "body": greeting, "more_body": True})
    try:
        if isinstance(stream.pieces, AsyncGenerator):
            await _send_pieces(receive, send, stream.pieces)
        else:
            await stream.pieces.run(outlet_of(scope))
    except Exception as error:
        raise BrokenOff from error
    await send({"type": "http.response.body", "body": b""})


async def _send_pieces(
    receive: Receive, send: Send, pieces: AsyncGenerator[bytes, None] | AsyncGenerator[bytes | None, None]
) -> None:
    """A disconnect ends the wait for the next piece at once."""
    sender = asyncio.current_task()
    assert sender is not None
    gone = asyncio.get_running_loop().create_task(_until_gone(receive, sender))
    try:
        async for piece in pieces:
            await send({"type": "http.response.body", "body": piece or PING, "more_body": True})
    except asyncio.CancelledError:
        if not gone.done():
            raise
        sender.uncancel()
    finally:
        gone.cancel()
        await pieces.aclose()


async def _until_gone(receive: Receive, sender: asyncio.Task[Any]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    sender.cancel()
