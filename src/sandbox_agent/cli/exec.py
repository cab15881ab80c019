"""`exec`: runs a command on the daemon's machine as if it ran here. With `-t`, it uses this terminal."""

from __future__ import annotations

import argparse
import base64
import contextlib
import os
import select
import shutil
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from typing import Any

import msgspec

from ..client.blocking.terminal import Terminal
from ..client.call import call, segment
from ..errors import SandboxAgentError
from ..schema.processes import ProcessInfo
from .failures import INTERRUPTED, CommandFailed, ProblemAnswered, WrongUsage
from .process_output import decoded_entry, write_output
from .remote import Remote, find_address
from .request import pairs

INPUT_BYTES = 32 << 10


def execute(args: argparse.Namespace) -> int:
    if not args.words:
        raise WrongUsage("no command: use sandbox-agent exec [-it] -- COMMAND [ARGUMENT...]")
    if args.tty and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WrongUsage("-t needs a terminal: omit it if input or output is a pipe or a file")
    command, *arguments = args.words
    size = shutil.get_terminal_size()
    body = {
        "command": command,
        "args": arguments,
        "cwd": args.cwd,
        "env": pairs(args.env or [], os.environ),
        "tty": args.tty,
        "cols": size.columns,
        "rows": size.lines,
        "interactive": args.interactive,
        # A pipe must lose nothing; a terminal shows the latest output.
        "hold": not args.tty,
    }
    with Remote(find_address(args)) as remote, _ended_by_signals():
        process = _start(remote, body)
        try:
            if args.tty:
                _show_terminal(remote, process.id, takes_input=args.interactive)
            else:
                _pass_on(remote, process, takes_input=args.interactive)
            return _exit_code(remote, process.id)
        except KeyboardInterrupt:
            return INTERRUPTED
        finally:
            _remove(remote, process.id)


def _start(remote: Remote, body: dict[str, Any]) -> ProcessInfo:
    request = call("POST", "/v1/processes", body=body, repeatable=False)
    try:
        return msgspec.json.decode(remote.send(request).content, type=ProcessInfo)
    except ProblemAnswered as refused:
        # As in a shell: 127 if there is no such program, 126 if it cannot be run.
        refused.exit_code = refused.problem().get("exitCode", refused.exit_code)
        raise


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the command like Ctrl-C: it does not outlive `exec`."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def attach(args: argparse.Namespace) -> int:
    """Attach to the terminal of a running process. The process continues after this command."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WrongUsage("this command needs a terminal")
    with Remote(find_address(args)) as remote:
        _show_terminal(remote, args.process_id, takes_input=True)
        return _exit_code(remote, args.process_id)


# -- pipes ------------------------------------------------------------------------------------


def _pass_on(remote: Remote, process: ProcessInfo, *, takes_input: bool) -> None:
    path = _path(process.id)
    if takes_input:
        threading.Thread(target=_send_input, args=(remote, path), daemon=True).start()
    else:
        _end_input(remote, path)
    for frame in remote.follow(call("GET", f"{path}/logs", query={"follow": True})):
        write_output(decoded_entry(frame.data))


def _send_input(remote: Remote, path: str) -> None:
    """Send stdin until it ends or the process exits."""
    with contextlib.suppress(CommandFailed):
        while data := os.read(sys.stdin.fileno(), INPUT_BYTES):
            remote.post(f"{path}/input", {"data": base64.b64encode(data).decode()})
        _end_input(remote, path)


def _end_input(remote: Remote, path: str) -> None:
    with contextlib.suppress(CommandFailed):  # it has exited
        remote.post(f"{path}/input", {"data": "", "eof": True})


# -- a terminal -------------------------------------------------------------------------------


def _show_terminal(remote: Remote, process_id: str, *, takes_input: bool) -> None:
    """Pass on every change of the window size and, with input, every key, including Ctrl-C."""
    keyboard = _raw() if takes_input else contextlib.nullcontext()
    with remote.terminal(process_id) as terminal, keyboard, _size_changes() as changes:
        keys = sys.stdin.fileno() if takes_input else None
        threading.Thread(target=_type, args=(terminal, keys, changes), daemon=True).start()
        for data in terminal:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()


def _type(terminal: Terminal, keys: int | None, changes: int) -> None:
    sources = [changes] if keys is None else [changes, keys]
    with contextlib.suppress(SandboxAgentError, OSError, ValueError):
        _resize(terminal)
        while True:
            ready, _, _ = select.select(sources, [], [])
            if changes in ready:
                os.read(changes, 512)
                _resize(terminal)
            if keys is not None and keys in ready:
                if not (typed := os.read(keys, INPUT_BYTES)):
                    sources.remove(keys)
                terminal.write(typed)


def _resize(terminal: Terminal) -> None:
    size = shutil.get_terminal_size()
    terminal.resize(size.columns, size.lines)


@contextlib.contextmanager
def _size_changes() -> Iterator[int]:
    """A descriptor that becomes readable when the window size changes: a signal handler must not do more than that."""
    reader, writer = os.pipe()
    before = signal.signal(signal.SIGWINCH, lambda *_: os.write(writer, b"!"))
    try:
        yield reader
    finally:
        signal.signal(signal.SIGWINCH, before)
        os.close(writer)


@contextlib.contextmanager
def _raw() -> Iterator[None]:
    """Put this terminal into raw mode."""
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setraw(fd, termios.TCSADRAIN)  # keeps what was already typed
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


# -- the end ----------------------------------------------------------------------------------


def _exit_code(remote: Remote, process_id: str) -> int:
    process = msgspec.convert(remote.get(_path(process_id)), ProcessInfo)
    if process.exit_code is not None:
        return process.exit_code
    if process.status == "running" or process.ended_by == "daemon":
        raise CommandFailed(
            "the connection was closed; the process keeps running"
            if process.status == "running"
            else "the daemon stopped, and the process with it"
        )
    name = process.signal or "SIGKILL"
    return 128 + (int(name) if name.isdecimal() else signal.Signals[name])  # some have no name


def _remove(remote: Remote, process_id: str) -> None:
    """Kill it if it is running, and delete it."""
    path = _path(process_id)
    with contextlib.suppress(CommandFailed):
        remote.send(call("POST", f"{path}/kill"))
        remote.send(call("DELETE", path))


def _path(process_id: str) -> str:
    return f"/v1/processes/{segment(process_id)}"
