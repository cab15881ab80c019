"""A daemon as a child of this program: on a free port, with its own token, and ending with the program."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from typing import IO

from ..config import PREFIX, data_folder
from ..presence import lock_holder, reachable
from .call import Address
from .failures import DaemonNotStarted

START_SECONDS = 60.0
STOP_SECONDS = 10.0
SHOWN_LINES = 15
TOKEN_SETTINGS = (f"{PREFIX}TOKEN", f"{PREFIX}TOKEN_FILE", f"{PREFIX}NO_TOKEN")


class Child:
    """`sandbox-agent server` as a process. It is launched at once; callers poll until it listens."""

    def __init__(
        self,
        flags: Sequence[str],
        token: str | None,
        log: IO[bytes],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        ends_with_us: bool = True,
    ) -> None:
        # -P: do not import modules from the current folder.
        argv = [sys.executable, "-P", "-m", "sandbox_agent", "server", *flags]
        if ends_with_us:
            argv += ["--parent-pid", str(os.getpid())]
        self._log = log
        self.token = token
        self.process = subprocess.Popen(
            argv,
            env=_environment(token) | dict(env or {}),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # it would print its token there
            stderr=log,
            start_new_session=True,  # Ctrl-C must not reach it
        )
        # Even if this program exits normally without closing its client.
        self._end = weakref.finalize(self, _end, self.process, self._log, os.getpid())

    def address(self) -> Address | None:
        """The address where it listens, once it does."""
        if self.has_ended():
            problem = f"the daemon did not start:\n{self.last_output()}"
            raise DaemonNotStarted(problem, exitCode=self.process.returncode)
        found = re.search(r"^listening on (\S+)$", self._output(), re.MULTILINE)
        return Address(reachable(found[1]), self.token) if found else None

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def last_output(self) -> str:
        """The end of its output."""
        return "\n".join(self._output().strip().splitlines()[-SHOWN_LINES:])

    def _output(self) -> str:
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode(errors="replace")

    def stop(self) -> None:
        """Ask it to stop, and wait until it has."""
        self._end()

    def leave(self) -> None:
        """Leave it running when this program exits."""
        self._end.detach()
        self._log.close()
        self.process.returncode = 0  # there is nothing to wait for


def child_of_program(
    data_dir: str | os.PathLike[str] | None = None,
    flags: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Child:
    """A daemon for this program only, on a data directory that no other daemon uses."""
    folder = data_folder(data_dir)
    if holder := lock_holder(folder):
        raise DaemonNotStarted(
            f"another daemon (pid {holder}) uses {folder}: talk to that one with connect(), "
            "or give this one its own directory with start(data_dir=...)",
            pid=holder,
        )
    mine = ["--data-dir", str(folder), "--host", "127.0.0.1", "--port", "0", "--drain-seconds", "0"]
    import tempfile  # not needed just to connect

    # An unnamed file disappears with the last process that has it open.
    log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the daemon
    return Child([*mine, *flags], secrets.token_urlsafe(24), log, env=env)


def _environment(token: str | None) -> dict[str, str]:
    """The token is passed in the environment, which only its owner can read."""
    environ = {name: value for name, value in os.environ.items() if name not in TOKEN_SETTINGS}
    return environ | ({f"{PREFIX}TOKEN": token} if token is not None else {f"{PREFIX}NO_TOKEN": "true"})


def _end(process: subprocess.Popen[bytes], log: IO[bytes], owner: int) -> None:
    """Ask it to stop and wait until it has. Only the program that started it may do this, not a fork of it."""
    if os.getpid() != owner:
        return
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    log.close()
