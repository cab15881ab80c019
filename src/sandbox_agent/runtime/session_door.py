"""The socket on which the agent of one session gives work to other sessions.

The agent starts `door_bridge.py` as an MCP server, which connects its stdin and stdout to the socket. The socket is in a folder
that only the owner can enter. It says which session calls, so the agent needs no token. The folder is gone with the process.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol, cast

from ..schema.inputs import McpServer
from .framing import LineSplitter
from .private_folder import private_folder

logger = logging.getLogger("sandbox_agent.door")

MAX_CONNECTIONS = 8
"""Programs that may be connected at once; an agent starts one."""
MAX_LINE_BYTES = 4 << 20
MAX_UNREAD_BYTES = 64 << 10
"""Then the program has to wait."""
CALL_MS = 90_000
"""How long the agent waits for a call, which is answered within 50 seconds."""

BRIDGE = Path(__file__).with_name("door_bridge.py")


class Lines(Protocol):
    """A connection on which each line is a message."""

    async def receive(self) -> bytes | None:
        """The next message, empty if it was too long; None when the program is gone."""

    async def send(self, message: bytes) -> None:
        """Waits while the program does not read."""


Welcome = Callable[[str, Lines], Awaitable[None]]
"""Serves a connection of the session with this id."""
Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class SessionDoor:
    def __init__(self, session_id: str, welcome: Welcome, spawn: Spawn) -> None:
        self._session_id = session_id
        self._welcome = welcome
        self._spawn = spawn
        self._connections: set[_Connection] = set()
        self._folder: Path | None = None
        self._listener: asyncio.Server | None = None

    async def open(self, instance: str) -> McpServer:
        """Listen, and return the server that the agent has to start."""
        self._folder = folder = private_folder(instance)
        path = folder / "socket"
        self._listener = await asyncio.get_running_loop().create_unix_server(
            lambda: _Connection(self._entered, self._left), str(path)
        )
        path.chmod(0o600)
        return McpServer(sys.executable, ("-I", "-S", str(BRIDGE), str(path)), timeout_ms=CALL_MS)

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
        for connection in list(self._connections):
            connection.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _entered(self, connection: _Connection) -> None:
        if len(self._connections) >= MAX_CONNECTIONS:
            connection.close()
            return
        self._connections.add(connection)
        self._spawn(self._serve(connection))

    async def _serve(self, connection: _Connection) -> None:
        try:
            await self._welcome(self._session_id, connection)
        finally:
            connection.close()

    def _left(self, connection: _Connection) -> None:
        self._connections.discard(connection)


class _Connection(asyncio.Protocol):
    """One connected program. `receive` returns None once it is gone, which ends its task."""

    def __init__(
        self, on_entered: Callable[[_Connection], None], on_left: Callable[[_Connection], None]
    ) -> None:
        self._on_entered = on_entered
        self._on_left = on_left
        self._splitter = LineSplitter(MAX_LINE_BYTES)
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._changed = asyncio.Event()
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._is_gone = False
        self._transport: asyncio.Transport

    async def receive(self) -> bytes | None:
        while not self._unread:
            if self._is_gone:
                return None
            self._changed.clear()
            await self._changed.wait()
        line = self._unread.popleft()
        self._unread_bytes -= len(line)
        if self._unread_bytes < MAX_UNREAD_BYTES and not self._transport.is_closing():
            self._transport.resume_reading()
        return line

    async def send(self, message: bytes) -> None:
        await self._may_write.wait()
        if not self._transport.is_closing():
            self._transport.write(message + b"\n")

    def close(self) -> None:
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._on_entered(self)

    def data_received(self, data: bytes) -> None:
        lines = [line if isinstance(line, bytes) else b"" for line in self._splitter.feed(data)]
        self._unread.extend(lines)
        self._unread_bytes += sum(map(len, lines))
        if self._unread_bytes >= MAX_UNREAD_BYTES:
            self._transport.pause_reading()
        self._changed.set()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_gone = True
        self._unread.clear()
        self._changed.set()
        self._may_write.set()
        self._on_left(self)
