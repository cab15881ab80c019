"""A temporary daemon started by `run`, which other `run` commands on the same data directory use in the meantime.

Each command holds a shared lock on the file `users` in the data directory. The command that started the daemon stops it
once it can get an exclusive lock. The kernel releases the lock of a command that is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .. import __version__
from ..client.child import child_of_program
from .failures import CommandFailed
from .output import say
from .remote import Address, Remote
from .state import DaemonState, forget, is_alive, lock_holder, running_daemon, save

SETTLE_SECONDS = 15.0
POLL_SECONDS = 0.05


@contextlib.contextmanager
def shared_daemon(folder: Path) -> Iterator[tuple[Remote, bool]]:
    """The daemon that runs on this directory, or a new one, and whether it is new."""
    with _users_of(folder) as users:
        fcntl.flock(users, fcntl.LOCK_SH)  # waits while another command stops the daemon
        if state := settled_daemon(folder):
            with Remote(Address(state.endpoint, state.token)) as remote:
                yield remote, False
            return
        with _new_daemon(folder) as remote:
            yield remote, True
            _wait_until_alone(users.fileno())


def _users_of(folder: Path) -> IO[str]:
    """The file to lock. Creates the data directory if needed."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return (folder / "users").open("w")
    except OSError as error:
        raise CommandFailed(f"cannot use --data-dir {folder}: {error.strerror}") from None


@contextlib.contextmanager
def _new_daemon(folder: Path) -> Iterator[Remote]:
    child = child_of_program(folder)
    with Remote(child) as remote:
        address = remote.address
        pid = child.process.pid
        save(folder, DaemonState(pid, address.endpoint, address.token, __version__, owner=os.getpid()))
        try:
            yield remote
        finally:
            forget(folder)


def settled_daemon(folder: Path) -> DaemonState | None:
    """The running daemon. Waits for one that is just starting, and for the end of one whose owner was killed."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while holder := lock_holder(folder):
        state = running_daemon(folder)
        if state is not None and (state.owner is None or is_alive(state.owner)):
            return state
        if time.monotonic() > deadline:
            raise CommandFailed(
                f"another program (pid {holder}) runs its own daemon on {folder}: wait until it ends, or use a different --data-dir"
            )
        time.sleep(POLL_SECONDS)
    return None


def _wait_until_alone(users: int) -> None:
    announced = False
    while not _is_alone(users):
        if not announced:
            say("waiting for other commands that use this daemon (Ctrl-C stops it now)")
            announced = True
        time.sleep(POLL_SECONDS)


def _is_alone(users: int) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
