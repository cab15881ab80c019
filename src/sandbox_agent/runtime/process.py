"""An agent's process behind its guardian: pipes as frames, stderr kept at both ends, back-pressure, a sure end."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import functools
import itertools
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..agents.frames import InFrame, OutFrame
from ..agents.stderr import StderrTail, exit_facts
from ..errors import AgentProcessExited
from ..schema.events import Stderr
from . import descriptors, guardian
from .framing import LineSplitter, LineTooLong

GUARDIAN = str(Path(guardian.__file__))
GRACE_SECONDS = 0.5
SILENT_SECONDS = 1.0
"""How long an agent may live without its output: nothing that it does can be heard any more."""

_spawn_numbers = itertools.count(1)


class Exit(NamedTuple):
    """How a process ended."""

    code: int | None
    signal: str | None
    stderr: Stderr | None
    closed_output: bool = False
    """It closed its stdout and lived on, so that it had to be stopped."""

    @property
    def stderr_text(self) -> str:
        return "" if self.stderr is None else f"{self.stderr.head or ''}\n{self.stderr.tail or ''}"

    def describe(self) -> str:
        how = self.signal or f"exit code {self.code}"
        if self.closed_output:
            return f"the agent's process closed its output and was stopped ({how})"
        return f"the agent's process exited ({how})"


FramesHandler = Callable[[Sequence[InFrame | LineTooLong]], None]
ExitHandler = Callable[[Exit], None]


class AgentProcess:
    """One running agent. `on_frames` gets what it says, `on_exit` its end, after everything it said."""

    def __init__(self, instance: str, on_frames: FramesHandler, on_exit: ExitHandler) -> None:
        self._marker = f"{instance}/{next(_spawn_numbers)}."
        self._on_frames = on_frames
        self._on_exit = on_exit
        self._splitter = LineSplitter()
        self._stderr = StderrTail()
        self._returncode: int | None = None
        self._failure: str | None = None
        self._control_text = b""
        self._stdout_open = True
        self._stderr_open = True
        self._control_open = True
        self._is_paused = False
        self._is_stopping = False
        self._closed_output = False
        self.pid: int | None = None
        self.ended = asyncio.Event()
        """Set when the process, its guardian and all its descendants are gone."""

    async def start(self, argv: Sequence[str], env: Mapping[str, str], directory: str) -> None:
        """Start it; raises `AgentProcessExited` when that is impossible. A program that is not there exits with 127."""
        loop = asyncio.get_running_loop()
        decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)
        try:
            (child_in, our_in), (our_out, child_out), (our_err, child_err) = _pipes(3)
        except OSError:
            self._control.close()
            theirs.close()
            raise
        try:
            # Returns within a millisecond; a thread would cost more than it frees.
            self._popen = subprocess.Popen(  # noqa: ASYNC220
                [
                    sys.executable,
                    "-I",
                    "-S",
                    GUARDIAN,
                    str(theirs.fileno()),
                    self._marker,
                    str(round(GRACE_SECONDS * 1000)),
                    str(descriptors.GIVEN),
                    "--",
                    *argv,
                ],
                stdin=child_in,
                stdout=child_out,
                stderr=child_err,
                cwd=directory,
                env={**env, guardian.MARKER_NAME: self._marker},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # ValueError: a NUL in an argument or a variable
            for fd in (our_in, our_out, our_err):
                os.close(fd)
            self._control.close()
            reason = error.strerror if isinstance(error, OSError) else error
            raise AgentProcessExited(f"cannot start in {directory}: {reason}") from error
        finally:
            theirs.close()
            for fd in (child_in, child_out, child_err):
                os.close(fd)
        self._stdin, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, _End(our_in, loop))
        self._stdout, _ = await loop.connect_read_pipe(
            lambda: _Pipe(self._hear, self._stdout_closed), _End(our_out, loop)
        )
        self._stderr_pipe, _ = await loop.connect_read_pipe(
            lambda: _Pipe(lambda data: self._stderr.feed_piece(decode(data)), self._stderr_closed),
            _End(our_err, loop),
        )
        loop.add_reader(self._control.fileno(), self._read_control)

    def write(self, frames: Sequence[OutFrame]) -> None:
        """Send frames; which kinds there are is the link's to know, and this one has lines alone."""
        if not self._stdin.is_closing():
            self._stdin.write(b"".join(frame + b"\n" for frame in frames if isinstance(frame, bytes)))

    def pause(self) -> None:
        """Stop reading: the pipe fills up and the agent waits."""
        self._is_paused = True
        with contextlib.suppress(RuntimeError):
            self._stdout.pause_reading()

    def resume(self) -> None:
        self._is_paused = False
        with contextlib.suppress(RuntimeError):
            self._stdout.resume_reading()

    def interrupt(self) -> None:
        """SIGINT for the agent alone."""
        self._tell(b"int\n")

    def close_input(self) -> None:
        self._stdin.close()

    async def stop(self) -> None:
        """End the process and every descendant: SIGTERM, a moment, SIGKILL. Returns when they are gone."""
        self.resume()
        self._begin_stop()
        await asyncio.wait_for(self.ended.wait(), GRACE_SECONDS + 6.0)

    @property
    def is_ending(self) -> bool:
        """It says nothing any more and is about to exit, or has: `on_exit` follows when everything below it is gone."""
        return not (self._stdout_open and self._control_open)

    @property
    def returncode(self) -> int | None:
        """As the system tells it: negative for a signal."""
        return self._returncode

    @property
    def exit_code(self) -> int | None:
        return exit_facts(self._returncode)[0]

    def stderr(self) -> Stderr | None:
        return self._stderr.read()

    # -- how it is done -----------------------------------------------------------------------

    def _tell(self, word: bytes) -> None:
        with contextlib.suppress(OSError):
            self._control.send(word)

    def _hear(self, chunk: bytes) -> None:
        if frames := self._splitter.feed(chunk):
            self._on_frames(frames)

    def _begin_stop(self) -> None:
        if not self._is_stopping and not self.ended.is_set():
            self._is_stopping = True
            self._tell(b"stop\n")
            asyncio.get_running_loop().call_later(GRACE_SECONDS + 1.0, self._stop_by_force)

    def _stop_by_force(self) -> None:
        """The guardian itself is stuck or stopped: do its work from here."""
        if not self.ended.is_set():
            sweep(self._marker)
            with contextlib.suppress(ProcessLookupError):
                self._popen.kill()

    def _stdout_closed(self) -> None:
        self._stdout_open = False
        self._finish()
        if not self.ended.is_set():
            asyncio.get_running_loop().call_later(SILENT_SECONDS, self._stop_when_silent)

    def _stop_when_silent(self) -> None:
        """Its output is closed. One that exits or is stopped has had the time for that; this one lives on."""
        if self._control_open and self._returncode is None and not self._is_stopping:
            self._closed_output = True
            self._begin_stop()

    def _stderr_closed(self) -> None:
        self._stderr_open = False
        self._finish()

    def _read_control(self) -> None:
        try:
            chunk = self._control.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._control_closed()
            return
        *lines, self._control_text = (self._control_text + chunk).split(b"\n")
        for line in lines:
            word, _, rest = line.decode().partition(" ")
            match word:
                case "started":
                    self.pid = int(rest)
                case "exited":
                    self._returncode = int(rest)
                case "failed":
                    self._failure = rest

    def _control_closed(self) -> None:
        """The guardian is gone; with it, unless it was killed itself, everything below it."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._control.fileno())
        self._control.close()
        self._control_open = False
        if self._returncode is None:
            sweep(self._marker)
            if self._failure is None:
                self._returncode = -signal.SIGKILL
        self._finish()
        if not self.ended.is_set():
            self._let_pipes_go(was_read=False)

    def _let_pipes_go(self, *, was_read: bool) -> None:
        """A process that hid from us, or was handed the pipes and is none of ours, may hold them forever.

        What ours has said is in them. Between two looks the event loop has read it, unless it was told not to.
        """
        is_read = self._is_stopping or not self._is_paused
        if was_read and is_read:
            self._stdout.close()
            self._stderr_pipe.close()
        else:
            look_again = functools.partial(self._let_pipes_go, was_read=is_read)
            asyncio.get_running_loop().call_later(GRACE_SECONDS, look_again)

    def _finish(self) -> None:
        """Report the end once the guardian is gone and everything that was said has been read."""
        if self._control_open or self._stdout_open or self._stderr_open or self.ended.is_set():
            return
        self._popen.wait()
        if not self._stdin.is_closing():
            self._stdin.close()
        if self._failure is not None:
            self._stderr.feed(self._failure)
        self.ended.set()
        code, signal_name = exit_facts(self._returncode if self._failure is None else 127)
        self._on_exit(Exit(code, signal_name, self._stderr.read(), self._closed_output))


class _End:
    """Our end of a pipe, as the event loop wants it: something with a number that can be closed.

    uvloop closes the descriptor itself and then this, too. By then another thread may have been given the same number, and a file
    object would close what the log has just opened.
    """

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self._fd = fd
        self._is_closed_by_loop = type(loop).__module__.startswith("uvloop")

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        if not self._is_closed_by_loop:
            os.close(self._fd)


class _Pipe(asyncio.Protocol):
    def __init__(self, on_data: Callable[[bytes], None], on_close: Callable[[], None]) -> None:
        self.data_received = on_data  # type: ignore[method-assign, assignment]  # one call less per chunk
        self._on_close = on_close

    def connection_lost(self, error: Exception | None) -> None:
        self._on_close()


def _pipes(count: int) -> list[tuple[int, int]]:
    """So many pipes or none."""
    pipes: list[tuple[int, int]] = []
    try:
        for _ in range(count):
            pipes += [os.pipe()]
    except OSError:
        for end in itertools.chain.from_iterable(pipes):
            os.close(end)
        raise
    return pipes


def sweep(marker: str) -> int:
    """Kill every process that carries this marker, or one that begins with it; how many there were."""
    killed: set[int] = set()
    # Until there is none that we have not seen: one may have been forked while we looked at the others.
    while victims := guardian.marked(marker) - killed:
        for pid in victims:
            guardian.send_signal(pid, signal.SIGKILL)
        killed |= victims
    return len(killed)
