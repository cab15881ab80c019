"""Processes of the sandbox, as clients see them."""

from __future__ import annotations

import base64
from typing import Annotated, Literal

from msgspec import Meta, Struct

ProcessState = Literal["running", "exited"]
ProcessOwner = Literal["user", "desktop", "system"]
LogStream = Literal["stdout", "stderr", "combined", "pty"]
EndedBy = Literal["exit", "signal", "daemon"]


class ProcessConfig(Struct, frozen=True, rename="camel"):
    """The limits of processes. They can be changed while the daemon runs, and stay changed."""

    max_concurrent_processes: Annotated[
        int, Meta(ge=1, le=1024, description="How many processes may run at once; `run` does not count.")
    ]
    default_run_timeout_ms: Annotated[
        int, Meta(ge=1, le=86_400_000, description="How long `run` waits when nothing else is said.")
    ]
    max_run_timeout_ms: Annotated[
        int, Meta(ge=1, le=86_400_000, description="How long `run` may be told to wait.")
    ]
    max_output_bytes: Annotated[
        int, Meta(ge=1, le=64 << 20, description="How much of each stream `run` keeps.")
    ]
    max_log_bytes_per_process: Annotated[
        int, Meta(ge=1, le=64 << 20, description="How much output of a process is kept; the oldest goes.")
    ]
    max_input_bytes_per_request: Annotated[
        int, Meta(ge=1, le=1 << 20, description="How much may be written to a process at once.")
    ]


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
        Meta(description="`daemon`: it was running when the daemon stopped, or was killed."),
    ] = None
    signal: Annotated[str | None, Meta(description="The signal that ended it, e.g. `SIGTERM`.")] = None
    cpu_seconds: Annotated[
        float | None, Meta(description="CPU time that it and its descendants have used.")
    ] = None
    memory_bytes: Annotated[int | None, Meta(description="Resident memory of it and its descendants.")] = None


class ProcessList(Struct, frozen=True):
    processes: list[ProcessInfo]


class ProcessRun(Struct, frozen=True, rename="camel"):
    """What became of a program that was run to its end."""

    exit_code: Annotated[int | None, Meta(description="Null after a signal or a timeout.")]
    stdout: str
    stderr: str
    stdout_truncated: bool
    stderr_truncated: bool
    timed_out: bool
    duration_ms: int


class LogEntry(Struct, frozen=True, rename="camel"):
    """What a process wrote, as far as one read brought it: not a line, and not always whole characters."""

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
