"""WebSockets: uvicorn's protocol on the `websockets` library, and a connection as a terminal uses it.

The library takes longer to import than everything else in HTTP, so the first WebSocket request imports it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

from .asgi import Receive, Send

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
    return protocol


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
