"""Protocols on stdin and stdout: one message per line. The end of stdin is the end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator

from ..runtime.framing import LineSplitter, LineTooLong
from .failures import WrongUsage
from .output import say

CHUNK = 64 << 10
LINE_LIMIT = 64 << 20
NEEDS_PIPES = "stdin and stdout must be pipes or a terminal, not files"


class Stdout:
    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, message: bytes, session_id: str | None = None) -> None:
        self._writer.write(message + b"\n")
        # If nobody reads any more, stdin ends too, and that ends the program.
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()


async def open_stdout() -> Stdout:
    loop = asyncio.get_running_loop()
    try:
        # A copy, because the transport closes what it has, and the program flushes its own at the end.
        pipe = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    except ValueError:
        raise WrongUsage(NEEDS_PIPES) from None
    return Stdout(asyncio.StreamWriter(transport, protocol, None, loop))


async def lines_of_stdin() -> AsyncGenerator[bytes, None]:
    """The messages; an empty one stands for a line that was too long."""
    if os.path.samestat(os.fstat(sys.stdin.fileno()), os.stat(os.devnull)):
        return  # it has ended, and the event loop cannot watch it
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    except ValueError:
        raise WrongUsage(NEEDS_PIPES) from None
    lines = LineSplitter(LINE_LIMIT)
    while chunk := await reader.read(CHUNK):
        for line in lines.feed(chunk):
            if isinstance(line, LineTooLong):
                say(f"skipped: {line}")
                line = b""  # answered as a message that is not JSON
            yield line
