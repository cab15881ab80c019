"""A program behind its guardian: starting it, stopping it, and knowing when it is gone. Its pipes belong to the caller."""

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
"""The longest that ending all processes may take."""

_spawn_numbers = itertools.count(1)


class Guarded:
    """One program. `on_gone` is called when the guardian and all its descendants are gone."""

    def __init__(self, instance: str, on_gone: Callable[[], None]) -> None:
        self._marker = f"{instance}/{next(_spawn_numbers)}."
        self._on_gone = on_gone
        self._partial = b""
        self.pid: int | None = None
        self.returncode: int | None = None
        """As the system reports it: negative for a signal. If the program could not be started, as a shell reports it."""
        self.failure: str | None = None
        """Why the program could not be started."""
        self.begun = asyncio.Event()
        """Set when it runs, or could not be started."""
        self.is_gone = False
        self.is_stopping = False
        self.is_lost = False
        """The guardian itself was killed: an escaped process may hold the pipes."""

    def start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        directory: str | None,
        stdin: int,
        stdout: int,
        stderr: int,
    ) -> None:
        """Start it on these descriptors, which the caller keeps. Raises OSError or ValueError (a NUL) if that is impossible."""
        self._control, theirs = socket.socketpair()
        self._control.setblocking(False)
        try:
            # Returns within a millisecond; a thread would cost more than it saves.
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
        """SIGINT for the program only."""
        self._tell(b"int\n")

    def terminate(self) -> None:
        """SIGTERM for the program and its group, which may ignore it."""
        self._tell(b"term\n")

    def hold(self, seconds: float) -> None:
        """Freeze the program and every descendant if this is not called again within this many seconds."""
        self._tell(b"hold %d\n" % max(0, round(seconds * 1000)))

    def stop(self, *, at_once: bool = False) -> None:
        """End the program and every descendant: SIGTERM and a short wait, unless `at_once`, then SIGKILL."""
        if self.is_gone or (self.is_stopping and not at_once):
            return
        self.is_stopping = True
        self._tell(b"kill\n" if at_once else b"stop\n")
        asyncio.get_running_loop().call_later(GRACE_SECONDS + 1.0, self._stop_by_force)

    def reap(self) -> None:
        """Call this once it is gone."""
        self._popen.wait()

    def _tell(self, command: bytes) -> None:
        with contextlib.suppress(OSError):
            self._control.send(command)

    def _stop_by_force(self) -> None:
        """The guardian is stuck or stopped: do its work from here."""
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
        *lines, self._partial = (self._partial + chunk).split(b"\n")
        for line in lines:
            word, _, rest = line.decode().partition(" ")
            match word:
                case "started":
                    self.pid = int(rest)
                    self.begun.set()
                case "exited":
                    self.returncode = int(rest)
                case "failed":
                    code, _, self.failure = rest.partition(" ")
                    self.returncode = int(code)

    def _control_closed(self) -> None:
        """The guardian is gone, and all its descendants with it, unless it was killed."""
        asyncio.get_running_loop().remove_reader(self._control.fileno())
        self._control.close()
        self.is_gone = True
        if self.returncode is None:
            sweep(self._marker)
            self.returncode = -signal.SIGKILL
            self.is_lost = True
        self.begun.set()
        self._on_gone()


def pipes(count: int) -> list[tuple[int, int]]:
    """Open this many pipes, or none."""
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
    """Kill every process whose marker starts with this one. Returns how many there were."""
    killed: set[int] = set()
    # Repeat until there are no new ones: a process may fork during the scan.
    while victims := guardian.marked(marker) - killed:
        for pid in victims:
            guardian.send_signal(pid, signal.SIGKILL)
        killed |= victims
    return len(killed)
