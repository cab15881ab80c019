"""A daemon as a child of this program: a free port, a token of its own, and the same end as the program's."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from ..config import PREFIX
from ..presence import reachable
from .call import Address
from .discovery import data_folder, lock_holder
from .failures import DaemonNotStarted

START_SECONDS = 60.0
STOP_SECONDS = 10.0
TOLD_LINES = 15
TOKEN_SETTINGS = (f"{PREFIX}TOKEN", f"{PREFIX}TOKEN_FILE", f"{PREFIX}NO_TOKEN")


class Child:
    """`sandbox-agent server` as a process. It is launched at once; whoever needs it asks until it listens."""

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
        # -P: what lies in the current folder must not be imported in place of our own.
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
            stdout=subprocess.DEVNULL,  # where it would tell its token
            stderr=log,
            start_new_session=True,  # Ctrl-C here is not meant for it
        )
        # Also when this program ends in an orderly way without having closed its client.
        self._end = weakref.finalize(self, _end, self.process, self._log, os.getpid())

    def address(self) -> Address | None:
        """Where it listens, once it does."""
        if self.has_ended():
            told = f"the daemon did not start:\n{self.last_words()}"
            raise DaemonNotStarted(told, exitCode=self.process.returncode)
        found = re.search(r"^listening on (\S+)$", self._said(), re.MULTILINE)
        return Address(reachable(found[1]), self.token) if found else None

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def last_words(self) -> str:
        """The end of what it wrote."""
        return "\n".join(self._said().strip().splitlines()[-TOLD_LINES:])

    def _said(self) -> str:
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode(errors="replace")

    def stop(self) -> None:
        """Ask it to end, and wait for that."""
        self._end()

    def leave(self) -> None:
        """It goes on without us."""
        self._end.detach()
        self._log.close()
        self.process.returncode = 0  # nobody need wait for it


def child_of_program(
    data_dir: str | os.PathLike[str] | None = None,
    flags: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Child:
    """A daemon for this program alone, on a state folder that no other daemon uses."""
    folder = data_folder(data_dir)
    if holder := lock_holder(folder):
        raise DaemonNotStarted(
            f"another daemon (pid {holder}) uses {folder}: talk to that one with connect(), "
            "or give this one a folder of its own with start(data_dir=...)",
            pid=holder,
        )
    mine = ["--data-dir", str(folder), "--host", "127.0.0.1", "--port", "0", "--drain-seconds", "0"]
    import tempfile  # not needed by those who only connect

    # A file without a name: it is gone with the last process that has it open, whatever happens.
    log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the daemon
    return Child([*mine, *flags], secrets.token_urlsafe(24), log, env=env)


def log_file(path: Path) -> IO[bytes]:
    """A new log that its owner alone can read."""
    return os.fdopen(os.open(path, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o600), "w+b")


def _environment(token: str | None) -> dict[str, str]:
    """The token travels in the environment, which only its owner can read."""
    environ = {name: value for name, value in os.environ.items() if name not in TOKEN_SETTINGS}
    return environ | ({f"{PREFIX}TOKEN": token} if token is not None else {f"{PREFIX}NO_TOKEN": "true"})


def _end(process: subprocess.Popen[bytes], log: IO[bytes], owner: int) -> None:
    """Ask it to end and wait for that; only the program that started it may, not one that was forked from it."""
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
