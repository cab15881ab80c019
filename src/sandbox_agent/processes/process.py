"""One process: its record, its output and, while it runs, its program."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ..errors import Conflict
from ..schema.processes import LogStream, ProcessInfo
from .output_log import OutputLog
from .program import Program
from .records import ProcessRecord
from .usage import Usage


class Follower(Protocol):
    def wake(self) -> None:
        """There is more, or the process has ended."""


class Process:
    """It is also the sink of its program's output."""

    def __init__(self, record: ProcessRecord, log: OutputLog | None = None) -> None:
        self.record = record
        self.program: Program | None = None
        """None once it has ended."""
        self.exited = asyncio.Event()
        self.is_followed = False
        self._log = log
        self._followers: set[Follower] = set()
        if record.exited_at_ms is not None:
            self.exited.set()

    @property
    def id(self) -> str:
        return self.record.id

    async def log(self, folder: Path) -> OutputLog:
        """Its output; for a process of an earlier daemon, the log is opened first."""
        if self._log is None:
            self._log = await asyncio.to_thread(OutputLog.found, folder)
        return self._log

    def require_running(self) -> Program:
        if self.program is None or self.exited.is_set():
            raise Conflict(f"process {self.id} has exited", id=self.id)
        return self.program

    def require_terminal(self) -> None:
        if not self.record.tty:
            raise Conflict(f"process {self.id} has no terminal: create it with `tty`", id=self.id)

    def info(self, usage: Usage | None = None) -> ProcessInfo:
        record, program = self.record, None if self.exited.is_set() else self.program
        return ProcessInfo(
            id=record.id,
            command=record.command,
            args=record.args,
            status="exited" if self.exited.is_set() else "running",
            owner=record.owner,
            tty=record.tty,
            interactive=record.interactive,
            created_at_ms=record.created_at_ms,
            cwd=record.cwd,
            pid=program.pid if program else None,
            exit_code=record.exit_code,
            exited_at_ms=record.exited_at_ms,
            ended_by=record.ended_by,
            signal=record.signal,
            cpu_seconds=usage.cpu_seconds if usage else None,
            memory_bytes=usage.memory_bytes if usage else None,
        )

    # -- its output ---------------------------------------------------------------------------

    def take(self, stream: LogStream, data: bytes, *, is_rest: bool) -> int:
        assert self._log is not None
        return self._log.append(stream, data, is_rest=is_rest)

    def notify(self) -> None:
        for follower in tuple(self._followers):
            follower.wake()

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Wake this reader on new output, until the returned function is called."""
        self._followers.add(follower)
        self.is_followed = True

        def leave() -> None:
            self._followers.discard(follower)
            self.is_followed = bool(self._followers)

        return leave

    # -- its end ------------------------------------------------------------------------------

    def end(self, record: ProcessRecord) -> None:
        """It has ended as recorded."""
        self.record = record
        self.program = None
        if self._log is not None:
            self._log.close()
        self.exited.set()
        self.notify()
