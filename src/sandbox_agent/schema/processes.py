"""Processes of the sandbox, as clients see them."""

from __future__ import annotations

import base64
from typing import Annotated, Literal

from msgspec import Meta, Struct

ProcessState = Literal["running", "exited"]
ProcessOwner = Literal["user", "desktop", "system"]
LogStream = Literal["stdout", "stderr", "combined", "pty"]
EndedBy = Literal["exit", "signal", "daemon"]


RunningProcesses = Annotated[
    int, Meta(ge=1, le=1024, description="The maximum number of running processes; `run` does not count.")
]
DefaultTimeoutMs = Annotated[int, Meta(ge=1, le=86_400_000, description="How long `run` waits by default.")]
LongestTimeoutMs = Annotated[
    int, Meta(ge=1, le=86_400_000, description="The longest timeout that `run` accepts.")
]
OutputBytes = Annotated[int, Meta(ge=1, le=64 << 20, description="Bytes of each stream that `run` keeps.")]
LogBytes = Annotated[
    int, Meta(ge=1, le=64 << 20, description="Bytes of output kept for each process; the oldest are dropped.")
]
InputBytes = Annotated[
    int, Meta(ge=1, le=1 << 20, description="Bytes that one request may write to a process.")
]


class ProcessConfig(Struct, frozen=True, rename="camel"):
    """The limits of processes. They can be changed while the daemon runs, and stay changed."""

    max_concurrent_processes: RunningProcesses
    default_run_timeout_ms: DefaultTimeoutMs
    max_run_timeout_ms: LongestTimeoutMs
    max_output_bytes: OutputBytes
    max_log_bytes_per_process: LogBytes
    max_input_bytes_per_request: InputBytes


USUAL_CONFIG = ProcessConfig(
    max_concurrent_processes=64,
    default_run_timeout_ms=30_000,
    max_run_timeout_ms=300_000,
    max_output_bytes=1 << 20,
    max_log_bytes_per_process=10 << 20,
    max_input_bytes_per_request=64 << 10,
)


class ProcessInfo(Struct, frozen=True, omit_defaults=True, rename="camel", kw_only=True):
    id: str
    command: str
    args: tuple[str, ...]
    status: ProcessState
    owner: ProcessOwner
    tty: bool
    interactive: bool
    created_at_ms: int
    cwd: str | None = None
    pid: int | None = None
    exit_code: int | None = None
    exited_at_ms: int | None = None
    ended_by: Annotated[
        EndedBy | None,
        Meta(description="`daemon`: it was running when the daemon stopped or was killed."),
    ] = None
    signal: Annotated[str | None, Meta(description="The signal that ended it, e.g. `SIGTERM`.")] = None
    cpu_seconds: Annotated[float | None, Meta(description="CPU time used by it and its descendants.")] = None
    memory_bytes: Annotated[int | None, Meta(description="Resident memory of it and its descendants.")] = None


class ProcessList(Struct, frozen=True):
    processes: list[ProcessInfo]


class ProcessRun(Struct, frozen=True, rename="camel"):
    """The outcome of a program that was run to its end."""

    exit_code: Annotated[int | None, Meta(description="Null after a signal or a timeout.")]
    stdout: str
    stderr: str
    stdout_truncated: bool
    stderr_truncated: bool
    timed_out: bool
    duration_ms: int


class LogEntry(Struct, frozen=True, rename="camel"):
    """Output of a process from one read: not necessarily a line, nor whole characters."""

    sequence: int
    stream: LogStream
    timestamp_ms: int
    data: str
    encoding: Literal["base64"] = "base64"

    @property
    def content(self) -> bytes:
        """What was written."""
        return base64.b64decode(self.data)


class ProcessLogs(Struct, frozen=True, rename="camel"):
    process_id: str
    stream: LogStream
    entries: list[LogEntry]


class BytesWritten(Struct, frozen=True, rename="camel"):
    bytes_written: int


class TerminalSize(Struct, frozen=True):
    cols: int
    rows: int
