"""WebSockets through the front: the handshake of the client is repeated at the node, then messages go both ways."""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from ..errors import InvalidRequest, SandboxAgentError, Unavailable
from ..providers.provider import Sandbox
from .asgi import Headers, Receive, Scope, Send, problem_headers

MAX_MESSAGE_BYTES = 2 << 20
OPEN_SECONDS = 10.0
NO_STATUS = (1005, 1006)
"""Codes for a connection that closed without a code; they are never sent."""
PASSED_ON = frozenset({b"authorization", b"x-sandbox-token", b"sec-fetch-site"})

_quiet = logging.getLogger("sandbox_agent.fleet.websocket")
_quiet.setLevel(logging.WARNING)


async def converse(scope: Scope, receive: Receive, send: Send, sandbox: Sandbox) -> None:
    """Connect a client with a node until one of them closes. What the node refuses is refused in its words."""
    await receive()  # the client's connection request
    try:
        upstream = await _connected(scope, sandbox)
    except InvalidStatus as refused:
        answer = refused.response
        kept = [
            (name.lower().encode(), value.encode("latin-1"))
            for name, value in answer.headers.raw_items()
            if name.lower() in ("content-type", "retry-after", "www-authenticate")
        ]
        await _refuse(send, answer.status_code, kept, bytes(answer.body or b""))
        return
    try:
        await send({"type": "websocket.accept", "subprotocol": upstream.subprotocol})
        await _pump(upstream, receive, send)
    finally:
        await upstream.close()


async def refuse(send: Send, error: SandboxAgentError) -> None:
    headers, body = problem_headers(error, None)
    await _refuse(send, error.status, headers, body)


async def _refuse(send: Send, status: int, headers: Headers, body: bytes) -> None:
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


async def _connected(scope: Scope, sandbox: Sandbox) -> ClientConnection:
    headers: dict[bytes, bytes] = dict(scope["headers"])
    assert sandbox.endpoint is not None
    node = urlsplit(sandbox.endpoint)
    target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
    try:
        # The node checks the host and the origin that the client knows, so the name in the URL is not where it leads.
        return await connect(
            f"ws://{headers[b'host'].decode('latin-1')}{target.decode('latin-1')}",
            host=node.hostname,
            port=node.port,
            origin=_text(headers.get(b"origin")),  # type: ignore[arg-type]  # a new type of text
            subprotocols=scope.get("subprotocols") or None,
            additional_headers=[
                (name.decode(), value.decode("latin-1"))
                for name, value in headers.items()
                if name in PASSED_ON
            ],
            user_agent_header=None,
            compression=None,
            proxy=None,
            max_size=MAX_MESSAGE_BYTES,
            open_timeout=OPEN_SECONDS,
            logger=_quiet,  # a URL may contain the token
        )
    except InvalidStatus:
        raise
    except (OSError, TimeoutError):
        raise Unavailable(f"node {sandbox.name} cannot be reached", retryAfter=1, node=sandbox.name) from None
    except (WebSocketException, ValueError, KeyError):
        raise InvalidRequest("a node does not understand this WebSocket handshake") from None


async def _pump(upstream: ClientConnection, receive: Receive, send: Send) -> None:
    """Each direction waits for its reader, so nothing piles up here."""
    down = asyncio.ensure_future(_down(upstream, send))
    up = asyncio.ensure_future(_up(upstream, receive))
    try:
        await asyncio.wait({down, up}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (down, up):
            task.cancel()
        await asyncio.gather(down, up, return_exceptions=True)


async def _down(upstream: ClientConnection, send: Send) -> None:
    try:
        while True:
            payload = await upstream.recv()
            await send({"type": "websocket.send", "text" if isinstance(payload, str) else "bytes": payload})
    except ConnectionClosed:
        code, reason = upstream.close_code, upstream.close_reason
        known = code is not None and code not in NO_STATUS
        await send({"type": "websocket.close", "code": code if known else 1011, "reason": reason or ""})


async def _up(upstream: ClientConnection, receive: Receive) -> None:
    try:
        while (message := await receive())["type"] != "websocket.disconnect":
            text: Any = message.get("text")
            await upstream.send(message["bytes"] if text is None else text)
        code = message.get("code", 1000)
        await upstream.close(1000 if code in NO_STATUS else code)
    except ConnectionClosed:
        pass


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")
