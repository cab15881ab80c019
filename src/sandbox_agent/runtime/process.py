"""An agent's process behind its guardian: framed pipes, the head and tail of stderr, back-pressure, a guaranteed end."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..agents.frames import InFrame, OutFrame
from ..agents.stderr import StderrTail
from ..errors import AgentProcessExited
from ..processes.guarded import GONE_SECONDS, GRACE_SECONDS, Guarded, pipes
from ..schema.events import Stderr
from ..schema.exits import exit_facts
from .framing import LineSplitter, LineTooLong

SILENT_SECONDS = 1.0
"""How long an agent may live after closing its output: nothing it does can be read any more."""


class Exit(NamedTuple):
    """How a process ended."""

    code: int | None
    signal: str | None
    stderr: Stderr | None
    closed_output: bool = False
    """It closed its stdout but kept running, so it was stopped."""

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
    """One running agent. `on_frames` gets its output, `on_exit` its end, after all output."""

    def __init__(self, instance: str, on_frames: FramesHandler, on_exit: ExitHandler) -> None:
        self._guarded = Guarded(instance, self._guardian_gone)
        self._on_frames = on_frames
        self._on_exit = on_exit
        self._splitter = LineSplitter()
        self._stderr = StderrTail()
        self._stdout_open = True
        self._stderr_open = True
        self._is_paused = False
        self._closed_output = False
        self.ended = asyncio.Event()
        """Set when the process, its guardian and all its descendants are gone."""

    async def start(self, argv: Sequence[str], env: Mapping[str, str], directory: str) -> None:
        """Start it. Raises `AgentProcessExited` if that is impossible. A missing program exits with 127."""
        (child_in, our_in), (our_out, child_out), (our_err, child_err) = pipes(3)
        try:
            self._guarded.start(argv, env, directory, child_in, child_out, child_err)
        except (OSError, ValueError) as error:  # ValueError: a NUL in an argument or a variable
            for fd in (our_in, our_out, our_err):
                os.close(fd)
            reason = error.strerror if isinstance(error, OSError) else error
            raise AgentProcessExited(f"cannot start in {directory}: {reason}") from error
        finally:
            for fd in (child_in, child_out, child_err):
                os.close(fd)
        connecting = asyncio.ensure_future(self._connect(our_in, our_out, our_err))
        try:
            await asyncio.shield(connecting)
        except BaseException:
            # No one will have it. It can be ended once its pipes are watched.
            connecting.add_done_callback(lambda _: self._guarded.stop(at_once=True))
            raise

    async def _connect(self, our_in: int, our_out: int, our_err: int) -> None:
        loop = asyncio.get_running_loop()
        decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._stdin, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, _End(our_in, loop))
        self._stdout, _ = await loop.connect_read_pipe(
            lambda: _Pipe(self._handle, self._stdout_closed), _End(our_out, loop)
        )
        self._stderr_pipe, _ = await loop.connect_read_pipe(
            lambda: _Pipe(lambda data: self._stderr.feed_piece(decode(data)), self._stderr_closed),
            _End(our_err, loop),
        )

    def write(self, frames: Sequence[OutFrame]) -> None:
        """Send frames. Each link has its own kinds of frames; here they are lines."""
        if not self._stdin.is_closing():
            self._stdin.write(b"".join(frame + b"\n" for frame in frames if isinstance(frame, bytes)))

    def pause(self) -> None:
        """Stop reading: the pipe fills up and the agent blocks."""
        self._is_paused = True
        with contextlib.suppress(RuntimeError):
            self._stdout.pause_reading()

    def resume(self) -> None:
        self._is_paused = False
        with contextlib.suppress(RuntimeError):
            self._stdout.resume_reading()

    def interrupt(self) -> None:
        """SIGINT for the agent only."""
        self._guarded.interrupt()

    def hold(self, seconds: float) -> None:
        """Freeze it and every descendant if this is not called again within this many seconds."""
        self._guarded.hold(seconds)

    def close_input(self) -> None:
        self._stdin.close()

    async def stop(self) -> None:
        """End the process and every descendant: SIGTERM, a short wait, SIGKILL. Returns when they are gone."""
        self.resume()
        self._guarded.stop()
        await asyncio.wait_for(self.ended.wait(), GONE_SECONDS)

    @property
    def pid(self) -> int | None:
        return self._guarded.pid

    @property
    def is_ending(self) -> bool:
        """It has closed its output and is about to exit, or has exited. `on_exit` follows when its descendants are gone."""
        return self._guarded.is_gone or not self._stdout_open

    @property
    def returncode(self) -> int | None:
        """As the system reports it: negative for a signal."""
        return self._guarded.returncode

    @property
    def exit_code(self) -> int | None:
        return exit_facts(self.returncode)[0]

    def stderr(self) -> Stderr | None:
        return self._stderr.read()

    # -- how it is done -----------------------------------------------------------------------

    def _handle(self, chunk: bytes) -> None:
        if frames := self._splitter.feed(chunk):
            self._on_frames(frames)

    def _stdout_closed(self) -> None:
        self._stdout_open = False
        self._finish()
        if not self.ended.is_set():
            asyncio.get_running_loop().call_later(SILENT_SECONDS, self._stop_when_silent)

    def _stop_when_silent(self) -> None:
        """The grace period after its output closed has passed, and it neither exited nor was stopped."""
        guarded = self._guarded
        if not guarded.is_gone and guarded.returncode is None and not guarded.is_stopping:
            self._closed_output = True
            guarded.stop()

    def _stderr_closed(self) -> None:
        self._stderr_open = False
        self._finish()

    def _guardian_gone(self) -> None:
        self._finish()
        if not self.ended.is_set():
            self._let_pipes_go(was_read=False)

    def _let_pipes_go(self, *, was_read: bool) -> None:
        """A descendant that escaped, or an unrelated process that was handed the pipes, may hold them open forever.

        The agent's own output is already in the pipes. Between two checks the event loop has read it, unless it is paused.
        """
        is_read = self._guarded.is_stopping or not self._is_paused
        if was_read and is_read:
            self._stdout.close()
            self._stderr_pipe.close()
        else:
            look_again = functools.partial(self._let_pipes_go, was_read=is_read)
            asyncio.get_running_loop().call_later(GRACE_SECONDS, look_again)

    def _finish(self) -> None:
        """Report the exit once the guardian is gone and all output has been read."""
        guarded = self._guarded
        if not guarded.is_gone or self._stdout_open or self._stderr_open or self.ended.is_set():
            return
        guarded.reap()
        if not self._stdin.is_closing():
            self._stdin.close()
        if guarded.failure is not None:
            self._stderr.feed(guarded.failure)
        self.ended.set()
        code, signal_name = exit_facts(guarded.returncode)
        self._on_exit(Exit(code, signal_name, self._stderr.read(), self._closed_output))


class _End:
    """Our end of a pipe, as the event loop needs it: an object with a descriptor that can be closed.

    uvloop closes the descriptor itself and then this object too. By then another thread may have been given the same number, and a
    file object would close what the log has just opened.
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
