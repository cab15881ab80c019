"""One program, run to its end or to its time limit, with what it wrote."""

from __future__ import annotations

import asyncio
import time

from ..schema.processes import LogStream, ProcessRun
from .program import Program, Wish


class Captured:
    """The beginning of each stream. What is beyond is read and dropped, so that the program goes on."""

    is_followed = False

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: dict[LogStream, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self.truncated: set[LogStream] = set()

    def take(self, stream: LogStream, data: bytes, *, is_rest: bool) -> int:
        kept = self._kept[stream]
        room = self._limit - len(kept)
        kept += data[:room]
        if len(data) > room:
            self.truncated.add(stream)
        return len(data)

    def told(self) -> None:
        """Nobody follows it."""

    def text(self, stream: LogStream) -> str:
        return self._kept[stream].decode("utf-8", "replace")


async def run_to_end(program: Program, wish: Wish, seconds: float, max_output: int) -> ProcessRun:
    """At the time limit it is killed, and everything below it."""
    captured = Captured(max_output)
    began = time.monotonic()
    timed_out = False
    try:
        await program.start(wish, captured)
        async with asyncio.timeout(seconds):
            await program.ended.wait()
    except TimeoutError:
        timed_out = True
    finally:
        await program.abandon()
    code = program.returncode
    return ProcessRun(
        exit_code=None if timed_out or code is None or code < 0 else code,
        stdout=captured.text("stdout"),
        stderr=captured.text("stderr"),
        stdout_truncated="stdout" in captured.truncated,
        stderr_truncated="stderr" in captured.truncated,
        timed_out=timed_out,
        duration_ms=round((time.monotonic() - began) * 1000),
    )
