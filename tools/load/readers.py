"""Hundreds of readers of event streams in one process; they search bytes for markers instead of parsing."""

from __future__ import annotations

import asyncio
import random
import re
import socket
import time
from collections.abc import Callable
from typing import Literal, cast

Kind = Literal["steady", "slow", "returning"]

ID = re.compile(rb"id: (\d+)\ndata: ")
WRITTEN = re.compile(rb'"delta":"\d+@([\d.]+) "')
TURN_ENDED = b'"type":"turn.ended"'

SMALL_BUFFER = 8192


class Reader:
    """Follows one session for the whole run, over any number of connections."""

    def __init__(self, port: int, session: str, kind: Kind, seed: str) -> None:
        self.kind = kind
        self.session = session
        self.last = 0
        self.wrong: list[str] = []
        self.late: list[float] = []
        """Seconds between the agent's write and the read here."""
        self.connections = 0
        self.on_turn_ended: Callable[[], None] | None = None
        self._port = port
        self._random = random.Random(seed)
        self._hurry = asyncio.Event()
        self._stream: _Stream | None = None

    async def follow(self) -> None:
        """Until cancelled."""
        try:
            while True:
                self._stream = await self._connect()
                if self.kind == "returning" and not self._hurry.is_set():
                    await self._until(self._random.uniform(1, 8))
                    self._stream.transport.close()
                elif self.kind == "slow" and not self._hurry.is_set():
                    await self._read_slowly(self._stream.transport)
                if self.kind != "returning" or self._hurry.is_set():
                    await self._stream.closed
        finally:
            if self._stream is not None:
                self._stream.transport.close()

    def catch_up(self) -> None:
        """Read the rest after the work has stopped."""
        self._hurry.set()

    async def _connect(self) -> _Stream:
        loop = asyncio.get_running_loop()
        connection = socket.socket()
        if self.kind == "slow":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
        connection.setblocking(False)
        await loop.sock_connect(connection, ("127.0.0.1", self._port))
        _, stream = await loop.create_connection(lambda: _Stream(self), sock=connection)
        self.connections += 1
        path = f"/v1/sessions/{self.session}/events/sse"
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nLast-Event-ID: {self.last}\r\n\r\n"
        stream.transport.write(head.encode())
        return stream

    async def _read_slowly(self, transport: asyncio.Transport) -> None:
        """Pause most of the time."""
        while not self._hurry.is_set():
            transport.pause_reading()
            await self._until(self._random.uniform(2, 8))
            transport.resume_reading()
            if not self._hurry.is_set():
                await self._until(0.2)

    async def _until(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._hurry.wait(), seconds)
        except TimeoutError:
            pass

    def take(self, data: bytes) -> None:
        """Complete frames."""
        now = time.time()
        ids = [int(id) for id in ID.findall(data)]
        if ids:
            if ids != list(range(self.last + 1, self.last + 1 + len(ids))):
                self.wrong.append(f"{self.session}: {ids[:3]}... came after {self.last}")
            self.last = ids[-1]
        if self.kind == "steady":
            self.late += [now - float(written) for written in WRITTEN.findall(data)]
        if self.on_turn_ended is not None and TURN_ENDED in data:
            self.on_turn_ended()


class _Stream(asyncio.Protocol):
    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._rest = b""
        self._answered = False
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        data = self._rest + data
        if not self._answered and b"\r\n\r\n" in data:
            self._answered = True
            if not data.startswith(b"HTTP/1.1 200"):
                self._reader.wrong.append(f"{self._reader.session}: {data[:200]!r}")
        end = data.rfind(b"\n\n") + 2
        if end > 1:
            self._reader.take(data[:end])
            self._rest = data[end:]
        else:
            self._rest = data

    def connection_lost(self, error: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)
