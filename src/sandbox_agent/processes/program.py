"""A running program behind its guardian, on pipes or a terminal, whose output goes to a sink."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..config import PREFIX
from ..errors import InvalidRequest, Unavailable
from .guarded import GONE_SECONDS, GRACE_SECONDS, Guarded, pipes
from .program_input import ProgramInput
from .recorder import Recorder, Sink, Source

START_SECONDS = 10.0
TERM = "xterm-256color"


class ProgramSpec(NamedTuple):
    """What to run, and how."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str | None
    tty: bool = False
    size: tuple[int, int] = (80, 24)
    """Columns and rows of its terminal."""
    takes_input: bool = True
    holds: bool = False
    """Unread output is kept: the program waits instead."""


class Program:
    """`on_end` is called when it and its descendants are gone and all output was taken."""

    def __init__(self, instance: str, recorder: Recorder, on_end: Callable[[], None]) -> None:
        self._guarded = Guarded(instance, self._guardian_gone)
        self._recorder = recorder
        self._on_end = on_end
        self._sources: list[Source] = []
        self._open_sources = 0
        self._is_started = False
        self._terminal: int | None = None
        self.input: ProgramInput | None = None
        self.ended = asyncio.Event()

    async def start(self, spec: ProgramSpec, sink: Sink) -> None:
        """Start it, and return when it runs. `InvalidRequest` names the wrong field."""
        if spec.cwd is not None and not os.path.isdir(spec.cwd):
            raise InvalidRequest(f"there is no directory {spec.cwd}", field="cwd")
        theirs, ours = self._open(spec, sink)
        try:
            self._guarded.start(spec.argv, _environment(spec), spec.cwd, *theirs)
        except (OSError, ValueError) as error:
            self._close(ours)
            raise _refusal(spec, error) from error
        finally:
            for fd in set(theirs):
                os.close(fd)
        self._is_started = True
        self._open_sources = len(self._sources)
        for source in self._sources:
            self._recorder.add(source)
        await self._begin()

    @property
    def pid(self) -> int | None:
        return self._guarded.pid

    @property
    def guardian_pid(self) -> int:
        return self._guarded.guardian_pid

    @property
    def returncode(self) -> int | None:
        return self._guarded.returncode

    def terminate(self) -> None:
        self._guarded.terminate()

    def kill(self) -> None:
        self._guarded.stop(at_once=True)

    async def stop(self) -> None:
        """End it and its descendants. Returns when they are gone."""
        if self._is_started:
            self._guarded.stop()
        await asyncio.wait_for(self.ended.wait(), GONE_SECONDS + GRACE_SECONDS)

    async def abandon(self) -> None:
        """Clean up, whether or not it ever started."""
        if self._is_started:
            self.kill()
            await asyncio.wait_for(self.ended.wait(), GONE_SECONDS + GRACE_SECONDS)
        elif not self.ended.is_set():
            self._report()

    def resize(self, cols: int, rows: int) -> None:
        """Resize the terminal. Programs redraw even if the size is the same, for a new viewer."""
        if self._terminal is None:
            return
        size = struct.pack("HHHH", rows, cols, 0, 0)
        changed = fcntl.ioctl(self._terminal, termios.TIOCGWINSZ, bytes(8))[:4] != size[:4]
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, size)
        if not changed:
            with contextlib.suppress(OSError):
                os.killpg(os.tcgetpgrp(self._terminal), signal.SIGWINCH)

    # -- how it is done -----------------------------------------------------------------------

    def _open(self, spec: ProgramSpec, sink: Sink) -> tuple[tuple[int, int, int], list[int]]:
        """The program's three descriptors, and the daemon's ends."""
        try:
            return self._open_terminal(spec, sink) if spec.tty else self._open_pipes(spec, sink)
        except OSError as error:
            raise Unavailable(f"no process can be started now: {error.strerror}", retryAfter=1) from error

    def _open_terminal(self, spec: ProgramSpec, sink: Sink) -> tuple[tuple[int, int, int], list[int]]:
        ours, theirs = os.openpty()
        self._terminal = ours
        self.resize(*spec.size)
        os.set_blocking(ours, False)
        self.input = ProgramInput(ours, is_terminal=True)
        self._sources = [Source(ours, "pty", sink, self._source_ended)]
        return (theirs, theirs, theirs), [ours]

    def _open_pipes(self, spec: ProgramSpec, sink: Sink) -> tuple[tuple[int, int, int], list[int]]:
        (their_in, our_in), (our_out, their_out), (our_err, their_err) = pipes(3)
        for fd in (our_in, our_out, our_err):
            os.set_blocking(fd, False)
        self.input = ProgramInput(our_in)
        if not spec.takes_input:
            self.input.close()
        self._sources = [
            Source(our_out, "stdout", sink, self._source_ended),
            Source(our_err, "stderr", sink, self._source_ended),
        ]
        return (their_in, their_out, their_err), [our_out, our_err]

    async def _begin(self) -> None:
        guarded = self._guarded
        try:
            await asyncio.wait_for(guarded.begun.wait(), START_SECONDS)
        except (TimeoutError, asyncio.CancelledError) as error:
            guarded.stop(at_once=True)
            if isinstance(error, TimeoutError):
                raise Unavailable("the process did not start in time", retryAfter=1) from None
            raise
        if guarded.failure is not None:
            await self.ended.wait()
            raise InvalidRequest(
                f"cannot run {guarded.failure}", field="command", exitCode=guarded.returncode
            )

    def _guardian_gone(self) -> None:
        # A process that escaped the guardian may hold a pipe forever; all others have closed theirs by now.
        asyncio.get_running_loop().call_later(GRACE_SECONDS, self._finish_sources)
        self._finish()

    def _finish_sources(self) -> None:
        for source in self._sources:
            self._recorder.finish(source)

    def _source_ended(self) -> None:
        self._open_sources -= 1
        self._finish()

    def _finish(self) -> None:
        if not self._guarded.is_gone or self._open_sources or self.ended.is_set():
            return
        self._guarded.reap()
        self._close([source.fd for source in self._sources])
        self._sources = []
        self._report()

    def _report(self) -> None:
        self.ended.set()
        self._on_end()

    def _close(self, ours: list[int]) -> None:
        if self.input is not None:
            self.input.close()
        self._terminal = None
        for fd in ours:
            os.close(fd)


def _environment(spec: ProgramSpec) -> dict[str, str]:
    """The daemon's environment without its settings, which include the token. With a terminal, TERM is set."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return {**ours, **({"TERM": TERM} if spec.tty else {}), **spec.env}


def _refusal(spec: ProgramSpec, error: OSError | ValueError) -> InvalidRequest | Unavailable:
    if isinstance(error, ValueError):
        return InvalidRequest(f"cannot run {spec.argv[0]}: {error}")
    if error.errno == errno.E2BIG:
        return InvalidRequest("the arguments and variables are too long for this system", field="args")
    if spec.cwd is not None and error.filename == spec.cwd:
        return InvalidRequest(f"cannot run in {spec.cwd}: {error.strerror}", field="cwd")
    return Unavailable(f"no process can be started now: {error.strerror}", retryAfter=1)
