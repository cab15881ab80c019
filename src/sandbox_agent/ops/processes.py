"""Processes on the daemon's machine: start, list, write to and end them. Terminals are processes too."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Annotated

import msgspec
from msgspec import Meta, field

from ..errors import Conflict, InvalidRequest, NotFound, PayloadTooLarge, PermissionDenied, Unavailable
from ..processes.following import PAGE_BYTES, LogFollowing, entry_of
from ..processes.output_log import STREAMS, OutputLog, Place
from ..processes.process import Process
from ..processes.processes import Processes
from ..processes.program import ProgramSpec
from ..processes.terminal import Cells, Viewer, decoded_input
from ..runtime.daemon import Daemon
from ..schema.processes import (
    BytesWritten,
    DefaultTimeoutMs,
    InputBytes,
    LogBytes,
    LogEntry,
    LogStream,
    LongestTimeoutMs,
    OutputBytes,
    ProcessConfig,
    ProcessInfo,
    ProcessList,
    ProcessLogs,
    ProcessOwner,
    ProcessRun,
    RunningProcesses,
    TerminalSize,
)
from .operation import Dialogue, OnNode, Stream, operation

STOP_WAIT_MS = 2_000
MAX_WAIT_MS = 3_600_000

ProcessId = Annotated[str, Meta(description="Id of the process, e.g. `proc_1`.")]
ProgramName = Annotated[
    str, Meta(min_length=1, description="Program to run: a path, or a name to find on PATH.")
]
Arguments = Annotated[tuple[str, ...], Meta(description="Arguments of the program.")]
Directory = Annotated[str | None, Meta(description="Working directory (default: the daemon's).")]
Variables = Annotated[dict[str, str], Meta(description="Environment variables in addition to the daemon's.")]
WaitMs = Annotated[
    Annotated[int, Meta(ge=0, le=MAX_WAIT_MS)] | None,
    Meta(description="How long to wait for the exit, in milliseconds (default 2000)."),
]


class CreateProcess(OnNode, frozen=True, rename="camel"):
    command: ProgramName
    args: Arguments = ()
    cwd: Directory = None
    env: Variables = field(default_factory=dict)
    tty: Annotated[bool, Meta(description="Run it in a terminal.")] = False
    cols: Annotated[Cells, Meta(description="Columns of the terminal.")] = 80
    rows: Annotated[Cells, Meta(description="Rows of the terminal.")] = 24
    interactive: Annotated[
        bool, Meta(description="Mark the process as interactive; it accepts input either way.")
    ] = False
    hold: Annotated[
        bool,
        Meta(
            description="Keep all unread output: when the log is full, the process waits until a reader follows it."
        ),
    ] = False


class RunProcess(OnNode, frozen=True, rename="camel"):
    command: ProgramName
    args: Arguments = ()
    cwd: Directory = None
    env: Variables = field(default_factory=dict)
    timeout_ms: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Time limit in milliseconds; `config` has the default and the maximum."),
    ] = None
    max_output_bytes: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Bytes of each stream to keep; `config` has the maximum."),
    ] = None


class ListProcesses(OnNode, frozen=True):
    owner: Annotated[ProcessOwner | None, Meta(description="Only processes of this owner.")] = None


class ConfigureProcesses(OnNode, frozen=True, rename="camel"):
    """A `ProcessConfig` for a node."""

    max_concurrent_processes: RunningProcesses
    default_run_timeout_ms: DefaultTimeoutMs
    max_run_timeout_ms: LongestTimeoutMs
    max_output_bytes: OutputBytes
    max_log_bytes_per_process: LogBytes
    max_input_bytes_per_request: InputBytes


class OneProcess(OnNode, frozen=True, rename="camel"):
    process_id: ProcessId


class EndProcess(OnNode, frozen=True, rename="camel"):
    process_id: ProcessId
    wait_ms: WaitMs = None


class ReadLogs(OnNode, frozen=True, rename="camel"):
    process_id: ProcessId
    stream: Annotated[
        LogStream | None, Meta(description="Output to read (default: both streams, or the terminal's).")
    ] = None
    since: Annotated[int, Meta(ge=0, le=1 << 62, description="Sequence of the last entry you have seen.")] = 0
    tail: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="Only this many entries from the end.")
    ] = None
    follow: Annotated[bool, Meta(description="Return a stream that continues until the process ends.")] = (
        False
    )
    last_event_id: Annotated[
        str | None, Meta(description="Id of the last entry received; takes precedence over `since`.")
    ] = None


class WriteInput(OnNode, frozen=True, rename="camel"):
    process_id: ProcessId
    data: Annotated[str, Meta(description="Data to write.")]
    encoding: Annotated[
        str | None, Meta(description="Encoding of `data`: `base64` (default), `utf8` or `text`.")
    ] = None
    eof: Annotated[bool, Meta(description="Close the input afterwards; a terminal gets Ctrl-D.")] = False


class ResizeTerminal(OnNode, frozen=True, rename="camel"):
    process_id: ProcessId
    cols: Annotated[Cells, Meta(description="Columns.")]
    rows: Annotated[Cells, Meta(description="Rows.")]


def _processes(daemon: Daemon) -> Processes:
    if daemon.config.no_processes:
        raise PermissionDenied("this daemon was started with --no-processes")
    return daemon.processes


@operation("GET", "/v1/processes", PermissionDenied, InvalidRequest, name="processes.list")
async def list_processes(daemon: Daemon, request: ListProcesses) -> ProcessList:
    """List running and ended processes."""
    return ProcessList(await _processes(daemon).list(request.owner))


@operation(
    "POST",
    "/v1/processes",
    InvalidRequest,
    PermissionDenied,
    Conflict,
    Unavailable,
    name="processes.create",
    examples=(
        "sandbox-agent processes create --command npm --args run --args dev --cwd /srv/app",
        "sandbox-agent processes create --command bash --tty",
    ),
)
async def create(daemon: Daemon, request: CreateProcess) -> ProcessInfo:
    """Start a process that runs until it exits, is stopped, or the daemon stops.

    When its program exits, everything it started ends too.
    """
    processes = _processes(daemon)
    daemon.require_open()
    argv = (request.command, *request.args)
    size = (request.cols, request.rows)
    spec = ProgramSpec(argv, request.env, request.cwd, tty=request.tty, size=size, holds=request.hold)
    process = await processes.create(spec, interactive=request.interactive)
    return (await processes.show(process))[0]


@operation(
    "POST",
    "/v1/processes/run",
    InvalidRequest,
    PermissionDenied,
    Conflict,
    Unavailable,
    name="processes.run",
    examples=("sandbox-agent processes run --command make --args test --timeout-ms 60000",),
)
async def run(daemon: Daemon, request: RunProcess) -> ProcessRun:
    """Run a program to completion and return its output.

    Its input is empty. At the time limit it is killed, with everything it started.
    """
    processes = _processes(daemon)
    daemon.require_open()
    spec = ProgramSpec((request.command, *request.args), request.env, request.cwd, takes_input=False)
    return await processes.run(spec, request.timeout_ms, request.max_output_bytes)


@operation("GET", "/v1/processes/config", PermissionDenied, name="processes.config")
async def config(daemon: Daemon, request: OnNode) -> ProcessConfig:
    """Show the limits of processes."""
    return _processes(daemon).config


@operation(
    "POST",
    "/v1/processes/config",
    InvalidRequest,
    PermissionDenied,
    Unavailable,
    name="processes.configure",
)
async def configure(daemon: Daemon, request: ConfigureProcesses) -> ProcessConfig:
    """Replace the limits of processes. They apply to processes started from now on."""
    limits = msgspec.convert(request, ProcessConfig, from_attributes=True)
    return await _processes(daemon).configure(limits)


@operation("GET", "/v1/processes/{process_id}", PermissionDenied, NotFound, name="processes.get")
async def get(daemon: Daemon, request: OneProcess) -> ProcessInfo:
    """Show a process."""
    processes = _processes(daemon)
    return (await processes.show(processes.get(request.process_id)))[0]


@operation(
    "DELETE",
    "/v1/processes/{process_id}",
    PermissionDenied,
    NotFound,
    Conflict,
    Unavailable,
    name="processes.delete",
)
async def delete(daemon: Daemon, request: OneProcess) -> None:
    """Delete an ended process and its output."""
    processes = _processes(daemon)
    await processes.delete(processes.get(request.process_id))


@operation(
    "POST",
    "/v1/processes/{process_id}/stop",
    InvalidRequest,
    PermissionDenied,
    NotFound,
    name="processes.stop",
    body="none",
)
async def stop(daemon: Daemon, request: EndProcess) -> ProcessInfo:
    """Send SIGTERM to a process and wait for its exit. A process that ignores it keeps running."""
    return await _end(daemon, request, by_force=False)


@operation(
    "POST",
    "/v1/processes/{process_id}/kill",
    InvalidRequest,
    PermissionDenied,
    NotFound,
    name="processes.kill",
    body="none",
)
async def kill(daemon: Daemon, request: EndProcess) -> ProcessInfo:
    """Kill a process and everything it started (SIGKILL)."""
    return await _end(daemon, request, by_force=True)


async def _end(daemon: Daemon, request: EndProcess, *, by_force: bool) -> ProcessInfo:
    processes = _processes(daemon)
    process = processes.get(request.process_id)
    if process.program is not None:
        if by_force:
            process.program.kill()
        else:
            process.program.terminate()
        wait_ms = STOP_WAIT_MS if request.wait_ms is None else request.wait_ms
        try:
            async with asyncio.timeout(wait_ms / 1000):
                await process.exited.wait()
        except TimeoutError:
            pass  # the response shows that it is running
    return (await processes.show(process))[0]


@operation(
    "GET",
    "/v1/processes/{process_id}/logs",
    InvalidRequest,
    PermissionDenied,
    NotFound,
    name="processes.logs",
    examples=(
        "sandbox-agent processes logs proc_1 --tail 20",
        "sandbox-agent processes logs proc_1 --follow",
    ),
    headers={"last_event_id": "Last-Event-ID"},
)
async def logs(daemon: Daemon, request: ReadLogs) -> ProcessLogs | Stream | None:
    """Read the output of a process, or follow it.

    A stream has frames named `log`, with the sequence of the entry as id, and ends with one named `end`. A reader that
    already has all output of an ended process gets 204.
    """
    processes = _processes(daemon)
    process = processes.get(request.process_id)
    log = await processes.log(process)
    usual: LogStream = "pty" if process.record.tty else "combined"
    stream = request.stream or usual
    streams = STREAMS if stream == "combined" else (stream,)
    after = _seen(request)
    if request.tail is not None:
        after = await asyncio.to_thread(log.before_tail, request.tail, streams, after)
    if not request.follow:
        async with processes.reading:
            entries = await asyncio.to_thread(_entries, log, streams, after)
        if request.tail is not None:
            entries = entries[len(entries) - request.tail :] if request.tail < len(entries) else entries
        return ProcessLogs(process.id, stream, entries)
    if request.last_event_id and process.exited.is_set() and after >= log.last:
        return None
    return Stream(LogFollowing(process, log, streams, after, daemon.log.pings))


def _seen(request: ReadLogs) -> int:
    if not request.last_event_id:
        return request.since
    if not request.last_event_id.isdecimal() or len(request.last_event_id) > 18:
        raise InvalidRequest("Last-Event-ID is not an id from this stream", field="Last-Event-ID")
    return int(request.last_event_id)


def _entries(log: OutputLog, streams: Collection[LogStream], after: int) -> list[LogEntry]:
    """All current entries."""
    last, place, found = log.last, Place(after), []
    while place.after < last and (page := log.read(place, PAGE_BYTES)):
        found += [entry_of(entry) for entry in page if entry.stream in streams and entry.sequence <= last]
        place = page[-1].place
    return found


@operation(
    "POST",
    "/v1/processes/{process_id}/input",
    InvalidRequest,
    PermissionDenied,
    NotFound,
    Conflict,
    PayloadTooLarge,
    name="processes.input",
    examples=("sandbox-agent processes input proc_1 --data yes --encoding utf8 --eof",),
)
async def write_input(daemon: Daemon, request: WriteInput) -> BytesWritten:
    """Write to the input of a process and wait until it is accepted."""
    processes = _processes(daemon)
    process = processes.get(request.process_id)
    most = processes.config.max_input_bytes_per_request
    data = decoded_input(request.data, request.encoding or "base64", most)
    program = process.require_running()
    if program.input is not None:
        await program.input.write(data, is_end=request.eof)
    return BytesWritten(len(data))


@operation(
    "POST",
    "/v1/processes/{process_id}/terminal/resize",
    InvalidRequest,
    PermissionDenied,
    NotFound,
    Conflict,
    name="processes.resize",
)
async def resize(daemon: Daemon, request: ResizeTerminal) -> TerminalSize:
    """Resize the terminal of a process."""
    process = _terminal(daemon, request.process_id)
    process.require_running().resize(request.cols, request.rows)
    return TerminalSize(request.cols, request.rows)


@operation(
    "GET",
    "/v1/processes/{process_id}/terminal/ws",
    InvalidRequest,
    PermissionDenied,
    NotFound,
    Conflict,
    name="processes.terminal",
    examples=("sandbox-agent processes terminal proc_1",),
)
async def terminal(daemon: Daemon, request: OneProcess) -> Dialogue:
    """Use the terminal of a process over a WebSocket.

    The recent output is sent first. Several clients may watch and type at once.
    """
    processes = _processes(daemon)
    process = _terminal(daemon, request.process_id)
    log = await processes.log(process)
    return Dialogue(Viewer(process, log, processes.config.max_input_bytes_per_request))


def _terminal(daemon: Daemon, process_id: str) -> Process:
    process = _processes(daemon).get(process_id)
    process.require_terminal()
    return process
