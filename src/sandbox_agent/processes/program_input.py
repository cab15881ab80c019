"""The input of a program. Nothing is buffered: a caller waits until the program reads."""

from __future__ import annotations

import asyncio
import contextlib
import os

from ..errors import Conflict

WRITE_SECONDS = 30.0
"""How long to wait for a program that does not read."""
MAX_WAITING = 64
END_OF_INPUT = b"\x04"


class ProgramInput:
    """A descriptor to write to: a pipe, which is closed here, or a terminal, which is not."""

    def __init__(self, fd: int, *, is_terminal: bool = False) -> None:
        self._fd = fd
        self._is_terminal = is_terminal
        self._is_closed = False
        self._lock = asyncio.Lock()
        self._waiting = 0
        self._writable: asyncio.Future[None] | None = None

    async def write(self, data: bytes, *, is_end: bool = False) -> None:
        """Write everything, in the order of the calls. With `is_end`, nothing may follow."""
        if self._waiting >= MAX_WAITING:
            raise Conflict("too many requests are waiting for the process to read its input")
        if is_end and self._is_terminal:
            data += END_OF_INPUT
        self._waiting += 1
        try:
            async with self._lock:
                await self._write(data)
                if is_end and not self._is_terminal:
                    self.close()
        finally:
            self._waiting -= 1

    async def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        deadline = asyncio.get_running_loop().time() + WRITE_SECONDS
        while True:
            if self._is_closed:
                raise Conflict("the input of the process is closed")
            try:
                rest = rest[os.write(self._fd, rest) :]
            except BlockingIOError:
                pass
            except OSError:
                raise Conflict("the process no longer accepts input") from None
            if not rest:
                return
            if not await self._can_write(deadline):
                written = len(data) - len(rest)
                raise Conflict(
                    f"the process has not read its input for {WRITE_SECONDS:g} seconds", bytesWritten=written
                )

    async def _can_write(self, deadline: float) -> bool:
        loop = asyncio.get_running_loop()
        self._writable = loop.create_future()
        loop.add_writer(self._fd, self._wake)
        try:
            async with asyncio.timeout_at(deadline):
                await self._writable
        except TimeoutError:
            return False
        finally:
            if not self._is_closed:
                loop.remove_writer(self._fd)
        return True

    def _wake(self) -> None:
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        with contextlib.suppress(RuntimeError):  # no loop runs
            asyncio.get_running_loop().remove_writer(self._fd)
        self._wake()
        if not self._is_terminal:
            os.close(self._fd)
