"""WebSockets: uvicorn's protocol on the `websockets` library, and a connection as a terminal uses it.

The library takes longer to import than everything else in HTTP, so the first WebSocket request imports it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import Internal, InvalidRequest
from .asgi import Receive, Send

if TYPE_CHECKING:
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
    from websockets.http11 import Response

MAX_MESSAGE_BYTES = 2 << 20

_quiet = logging.getLogger("sandbox_agent.websocket")
_quiet.setLevel(logging.WARNING)


def websocket_protocol(**options: Any) -> asyncio.Protocol:
    """The protocol that takes over a connection. It does not log requests: their URL may contain the token."""
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

    protocol = WebSocketsSansIOProtocol(**options)
    protocol.logger = _quiet
    protocol.conn.logger = _quiet
    protocol.conn.debug = False
    protocol.conn.reject = _with_problem(protocol)  # type: ignore[method-assign]
    return protocol


def _with_problem(protocol: WebSocketsSansIOProtocol) -> Callable[..., Response]:
    """A handshake that is not valid is refused with a problem, like everything else."""
    reject = protocol.conn.reject

    def refuse(status: int, text: str) -> Response:
        response = reject(status, "")
        error = (InvalidRequest if status < 500 else Internal)(text.strip() or "the WebSocket is refused")
        problem = {**error.problem(protocol.request.path.partition("?")[0]), "status": int(status)}
        response.body = msgspec.json.encode(problem)
        for name, value in (
            ("Content-Type", "application/problem+json"),
            ("Content-Length", str(len(response.body))),
        ):
            del response.headers[name]
            response.headers[name] = value
        return response

    return refuse


class AsgiSocket:
    """An accepted WebSocket."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send

    async def send_text(self, text: str) -> None:
        await self._send({"type": "websocket.send", "text": text})

    async def send_bytes(self, data: bytes) -> None:
        await self._send({"type": "websocket.send", "bytes": data})

    async def close(self) -> None:
        """Nothing is left to close if the client has sent something that is not a WebSocket frame."""
        with contextlib.suppress(RuntimeError):
            await self._send({"type": "websocket.close"})

    async def receive(self) -> str | bytes | None:
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            return None
        text: str | None = message.get("text")
        content: str | bytes = text if text is not None else message["bytes"]
        return content
