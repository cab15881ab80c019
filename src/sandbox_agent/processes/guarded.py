"""A program behind its guardian: how it is started, told to end, and known to be gone. Its pipes belong to whoever starts it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from . import descriptors, guardian

GUARDIAN = str(Path(guardian.__file__))
GRACE_SECONDS = 0.5
GONE_SECONDS = GRACE_SECONDS + 6.0
"""How long the end of everything may take, however stubborn it is."""

_spawn_numbers = itertools.count(1)


class Guarded:
    """One program. `on_gone` is told when the guardian is gone, and with it everything below it."""

    def __init__(self, instance: str, on_gone: Callable[[], None]) -> None:
        self._marker = f"{instance}/{next(_spawn_numbers)}."
        self._on_gone = on_gone
        self._said = b""
        self.pid: int | None = None
        self.returncode: int | None = None
        """As the system tells it: negative for a signal."""
        self.failure: str | None = None
        """Why the program could not be started."""
        self.begun = asyncio.Event()
        """It runs, or could not be started."""
        self.is_gone = False
        self.is_stopping = False
        self.is_lost = False
        """The guardian was killed itself: a process that hid from it may hold the pipes."""

    def start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        directory: str | None,
        stdin: int,
        stdout: int,
        stderr: int,
    ) -> None:
        """Start it on these descriptors, which stay the caller's. OSError or ValueError (a NUL) when that is impossible."""
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)
        try:
            # Returns within a millisecond; a thread would cost more than it frees.
            self._popen = subprocess.Popen(
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
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=directory,
                env={**env, guardian.MARKER_NAME: self._marker},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except BaseException:
            self._control.close()
            raise
        finally:
            theirs.close()
        asyncio.get_running_loop().add_reader(self._control.fileno(), self._read_control)

    @property
    def guardian_pid(self) -> int:
        return self._popen.pid

    def interrupt(self) -> None:
        """SIGINT for the program alone."""
        self._tell(b"int\n")

    def terminate(self) -> None:
        """SIGTERM for the program and its group. It may take its time, or not care."""
        self._tell(b"term\n")

    def stop(self, *, at_once: bool = False) -> None:
        """End the program and every descendant: SIGTERM and a moment, unless at once, then SIGKILL."""
        if self.is_gone or (self.is_stopping and not at_once):
            return
        self.is_stopping = True
        self._tell(b"kill\n" if at_once else b"stop\n")
        asyncio.get_running_loop().call_later(GRACE_SECONDS + 1.0, self._stop_by_force)

    def reap(self) -> None:
        """To be called once it is gone."""
        self._popen.wait()

    def _tell(self, word: bytes) -> None:
        with contextlib.suppress(OSError):
            self._control.send(word)

    def _stop_by_force(self) -> None:
        """The guardian itself is stuck or stopped: do its work from here."""
        if not self.is_gone:
            sweep(self._marker)
            with contextlib.suppress(ProcessLookupError):
                self._popen.kill()

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
        *lines, self._said = (self._said + chunk).split(b"\n")
        for line in lines:
            word, _, rest = line.decode().partition(" ")
            match word:
                case "started":
                    self.pid = int(rest)
                    self.begun.set()
                case "exited":
                    self.returncode = int(rest)
                case "failed":
                    self.failure = rest

    def _control_closed(self) -> None:
        """The guardian is gone; with it, unless it was killed itself, everything below it."""
        asyncio.get_running_loop().remove_reader(self._control.fileno())
        self._control.close()
        self.is_gone = True
        if self.returncode is None:
            sweep(self._marker)
            if self.failure is None:
                self.returncode = -signal.SIGKILL
                self.is_lost = True
        self.begun.set()
        self._on_gone()


def pipes(count: int) -> list[tuple[int, int]]:
    """So many pipes or none."""
    made: list[tuple[int, int]] = []
    try:
        for _ in range(count):
            made += [os.pipe()]
    except OSError:
        for end in itertools.chain.from_iterable(made):
            os.close(end)
        raise
    return made


def sweep(marker: str) -> int:
    """Kill every process that carries this marker, or one that begins with it; how many there were."""
    killed: set[int] = set()
    # Until there is none that we have not seen: one may have been forked while we looked at the others.
    while victims := guardian.marked(marker) - killed:
        for pid in victims:
            guardian.send_signal(pid, signal.SIGKILL)
        killed |= victims
    return len(killed)
