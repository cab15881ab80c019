"""The daemon that a `run` starts for as long as it takes, and that other `run`s on the same data find and use meanwhile.

Each of them holds a lock on the file `users` in the state folder, together with the others; the one whose child the daemon is
ends it when it can have that lock alone. The kernel takes the lock back from a command that is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Iterator
from pathlib import Path

from .. import __version__
from ..client.child import child_of_program
from .failures import CommandFailed
from .output import say
from .remote import Address, Remote
from .state import DaemonState, forget, lock_holder, running_daemon, save

SETTLE_SECONDS = 15.0
POLL_SECONDS = 0.05


@contextlib.contextmanager
def shared_daemon(folder: Path) -> Iterator[tuple[Remote, bool]]:
    """The daemon that runs on this folder, or a new one, and whether it is new."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / "users").open("w") as users:
        fcntl.flock(users, fcntl.LOCK_SH)  # waits while another command ends the daemon
        if state := _running(folder):
            with Remote(Address(state.endpoint, state.token)) as remote:
                yield remote, False
            return
        with _new_daemon(folder) as remote:
            yield remote, True
            _wait_until_alone(users.fileno())


@contextlib.contextmanager
def _new_daemon(folder: Path) -> Iterator[Remote]:
    child = child_of_program(folder)
    with Remote(child) as remote:
        address = remote.address
        save(folder, DaemonState(child.process.pid, address.endpoint, address.token, __version__))
        try:
            yield remote
        finally:
            forget(folder)


def _running(folder: Path) -> DaemonState | None:
    """The daemon to talk to. One that starts just now is given the time for it."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while (state := running_daemon(folder)) is None and (holder := lock_holder(folder)):
        if time.monotonic() > deadline:
            raise CommandFailed(
                f"another program's own daemon (pid {holder}) uses {folder}: wait for its end, or give this one another --data-dir"
            )
        time.sleep(POLL_SECONDS)
    return state


def _wait_until_alone(users: int) -> None:
    told = False
    while not _is_alone(users):
        if not told:
            say("other commands still use this daemon, which ends with them (Ctrl-C ends it now)")
            told = True
        time.sleep(POLL_SECONDS)


def _is_alone(users: int) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
