"""All processes of the sandbox: their limits, how they start, and how they end with the daemon."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from msgspec import structs

from ..errors import Conflict, NotFound, Unavailable
from ..schema.exits import exit_facts
from ..schema.processes import USUAL_CONFIG, ProcessConfig, ProcessInfo, ProcessOwner, ProcessRun
from .output_log import OutputLog
from .process import Process
from .program import Program, ProgramSpec
from .recorder import Recorder
from .records import ProcessRecord, Records
from .run import run_to_end
from .usage import usage_below

logger = logging.getLogger("sandbox_agent.processes")

MAX_ENDED = 256
"""How many ended processes are kept, with their output. The oldest are dropped."""
MAX_RUNS = 256
MAX_READING = 2
STOP_SECONDS = 10.0
SAVE_SECONDS = 1.0
"""How long to wait for a disk that accepts no writes."""


class Processes:
    def __init__(
        self, folder: Path, instance: str, spawn: Callable[[Coroutine[Any, Any, None]], object]
    ) -> None:
        self._records = Records(folder)
        self._instance = instance
        self._spawn = spawn
        self._processes: dict[str, Process] = {}
        self._last_number = 0
        self._starting = 0
        self._runs = 0
        self._recorder: Recorder | None = None
        self._programs: set[Program] = set()
        """All that run."""
        self._is_stopping = False
        self.config = USUAL_CONFIG
        self.reading = asyncio.Semaphore(MAX_READING)
        """Held while a whole log is in memory for a response."""

    async def start(self) -> None:
        """Load the records of an earlier daemon. Processes that were running then are marked as ended."""
        found, self._last_number, self.config = await asyncio.to_thread(self._load)
        for record in found:
            self._processes[record.id] = Process(record)
            self._last_number = max(self._last_number, record.number)

    def _load(self) -> tuple[list[ProcessRecord], int, ProcessConfig]:
        found = []
        for record in self._records.load():
            if record.exited_at_ms is None:
                record = structs.replace(record, exited_at_ms=_now(), ended_by="daemon")
                try:
                    self._records.save(record)
                except OSError as error:
                    logger.error("the exit of %s cannot be recorded: %s", record.id, error)
            found.append(record)
        return found, self._records.last_number(), self._records.config()

    async def stop(self) -> None:
        """End all processes, and record the daemon as the cause."""
        self._is_stopping = True
        running = [
            process.exited.wait() for process in self._processes.values() if process.program is not None
        ]
        await asyncio.gather(*(program.stop() for program in self._programs), return_exceptions=True)
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await asyncio.gather(*running)
        except TimeoutError:
            logger.error("not every process ended in time; the next start records their end")
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.close()

    # -- looking ------------------------------------------------------------------------------

    def get(self, id: str) -> Process:
        process = self._processes.get(id)
        if process is None:
            raise NotFound(f"no process {id}", id=id, resource="process")
        return process

    async def log(self, process: Process) -> OutputLog:
        return await process.log(self._records.folder(process.record))

    async def show(self, *processes: Process) -> list[ProcessInfo]:
        """All processes, with their current usage."""
        guardians = {
            process.id: process.program.guardian_pid
            for process in processes
            if process.program is not None and not process.exited.is_set()
        }
        used = await asyncio.to_thread(usage_below, set(guardians.values())) if guardians else {}
        return [process.info(used.get(guardians.get(process.id, 0))) for process in processes]

    async def list(self, owner: ProcessOwner | None) -> list[ProcessInfo]:
        chosen = [process for process in self._processes.values() if owner in (None, process.record.owner)]
        return await self.show(*sorted(chosen, key=lambda process: process.record.number))

    # -- changing -----------------------------------------------------------------------------

    async def configure(self, config: ProcessConfig) -> ProcessConfig:
        clamped = min(config.default_run_timeout_ms, config.max_run_timeout_ms)
        config = structs.replace(config, default_run_timeout_ms=clamped)
        await self._write(lambda: self._records.save_config(config))
        self.config = config
        return config

    async def create(self, spec: ProgramSpec, *, interactive: bool, owner: ProcessOwner = "user") -> Process:
        """Start a process. If this raises, nothing runs and nothing is recorded."""
        self._require_room()
        self._starting += 1
        try:
            await self._forget_oldest()
            return await self._create(spec, interactive, owner)
        finally:
            self._starting -= 1

    async def _create(self, spec: ProgramSpec, interactive: bool, owner: ProcessOwner) -> Process:
        self._last_number += 1
        command, *args = spec.argv
        record = ProcessRecord(
            number=self._last_number,
            command=command,
            args=tuple(args),
            cwd=spec.cwd,
            tty=spec.tty,
            interactive=interactive,
            owner=owner,
            created_at_ms=_now(),
        )
        folder = self._records.folder(record)
        await self._write(lambda: self._records.make_folder(record))
        log = OutputLog(folder, self.config.max_log_bytes_per_process, holds=spec.holds)
        process = Process(record, log)
        process.program = program = self._program(lambda: self._ended(process))
        try:
            await program.start(spec, process)
            await self._write(lambda: self._records.save(record))
        except BaseException:
            await program.abandon()
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            raise
        self._processes[record.id] = process
        if program.ended.is_set():
            self._spawn(self._settle(process))
        return process

    async def run(self, spec: ProgramSpec, timeout_ms: int | None, max_output: int | None) -> ProcessRun:
        """Run a program to its end. It is neither counted nor recorded."""
        if self._runs >= MAX_RUNS:
            raise Conflict(f"{MAX_RUNS} programs are already being run")
        config = self.config
        milliseconds = min(timeout_ms or config.default_run_timeout_ms, config.max_run_timeout_ms)
        kept = min(max_output or config.max_output_bytes, config.max_output_bytes)
        self._runs += 1
        try:
            return await run_to_end(self._program(lambda: None), spec, milliseconds / 1000, kept)
        finally:
            self._runs -= 1

    async def delete(self, process: Process) -> None:
        if not process.exited.is_set():
            raise Conflict(f"process {process.id} is running: stop it first", id=process.id)
        await self._write(lambda: self._records.remove(process.record))
        self._processes.pop(process.id, None)

    def _require_room(self) -> None:
        running = sum(not process.exited.is_set() for process in self._processes.values()) + self._starting
        limit = self.config.max_concurrent_processes
        if running >= limit:
            raise Conflict(f"{limit} processes are already running, which is the limit", limit=limit)

    async def _forget_oldest(self) -> None:
        ended = [process for process in self._processes.values() if process.exited.is_set()]
        for process in ended[: max(0, len(ended) - MAX_ENDED)]:
            await self.delete(process)

    # -- the end of one -----------------------------------------------------------------------

    def _ended(self, process: Process) -> None:
        """Its program is gone. `create` handles one that it is still starting."""
        if process.id in self._processes:
            self._spawn(self._settle(process))

    async def _settle(self, process: Process) -> None:
        """Record how it ended, then announce it. A full disk does not keep a process from ending."""
        program = process.program
        if program is None:
            return
        code, name = exit_facts(program.returncode)
        record = structs.replace(
            process.record,
            exited_at_ms=_now(),
            exit_code=None if self._is_stopping else code,
            signal=name,
            ended_by="daemon" if self._is_stopping else "signal" if name else "exit",
        )
        try:
            await asyncio.to_thread(self._records.save, record)
        except OSError as error:
            logger.error("the exit of %s cannot be recorded: %s", process.id, error)
            self._spawn(self._save_later(process, record))
        process.end(record)

    async def _save_later(self, process: Process, record: ProcessRecord) -> None:
        while process.id in self._processes:
            await asyncio.sleep(SAVE_SECONDS)
            with contextlib.suppress(OSError):
                await asyncio.to_thread(self._records.save, record)
                return

    # -- what they share ----------------------------------------------------------------------

    def _program(self, on_end: Callable[[], None]) -> Program:
        if self._is_stopping:  # no one would read its output, nor end it
            raise Unavailable("the daemon is stopping", retryAfter=5)
        if self._recorder is None:
            self._recorder = Recorder(asyncio.get_running_loop())

        def end() -> None:
            self._programs.discard(program)
            on_end()

        program = Program(self._instance, self._recorder, end)
        self._programs.add(program)
        return program

    async def _write(self, change: Callable[[], object]) -> None:
        try:
            await asyncio.to_thread(change)
        except OSError as error:
            raise Unavailable(f"the record cannot be written: {error.strerror}", retryAfter=5) from error


def _now() -> int:
    return time.time_ns() // 1_000_000
