"""Runs one program to its end or its time limit, and captures its output."""

from __future__ import annotations

import asyncio
import time

from ..schema.processes import LogStream, ProcessRun
from .program import Program, ProgramSpec


class Captured:
    """The beginning of each stream. The rest is read and dropped, so that the program does not block."""

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

    def notify(self) -> None:
        """No reader follows it."""

    def text(self, stream: LogStream) -> str:
        return self._kept[stream].decode("utf-8", "replace")


async def run_to_end(program: Program, spec: ProgramSpec, seconds: float, max_output: int) -> ProcessRun:
    """At the time limit it is killed with all its descendants."""
    captured = Captured(max_output)
    began = time.monotonic()
    timed_out = False
    try:
        await program.start(spec, captured)
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
