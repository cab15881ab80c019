"""The file in which a running daemon records its address, so that clients on the same machine find it."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

import msgspec
from msgspec import Struct

STATE_FILE = "daemon.json"


class DaemonState(Struct, frozen=True):
    """The address of a daemon. Only the owner of the directory can read the file."""

    pid: int
    endpoint: str
    token: str | None
    """Only if `daemon start` or `run` generated it. A token chosen by the operator is never written."""
    version: str
    background: bool = False
    """Started by `daemon start`, so `daemon stop` may stop it."""
    flags: tuple[str, ...] = ()
    """The flags of `daemon start`, for `daemon restart`."""
    directory: str | None = None
    """The working directory it was started in."""
    owner: int | None = None
    """The `run` that started it, and with which it ends."""


def save(folder: Path, state: DaemonState) -> None:
    """Write the file atomically."""
    path = folder / f".{STATE_FILE}.{os.getpid()}"
    try:
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(state))
        path.rename(folder / STATE_FILE)
    except OSError as error:
        path.unlink(missing_ok=True)
        # A full disk is noticed by a write, and its error does not name the file.
        raise OSError(error.errno, error.strerror, str(folder / STATE_FILE)) from None


def load(folder: Path) -> DaemonState | None:
    """Read the file. The daemon it describes may be gone."""
    try:
        return msgspec.json.decode((folder / STATE_FILE).read_bytes(), type=DaemonState)
    except (OSError, msgspec.DecodeError):
        return None


def forget(folder: Path) -> None:
    # The path may be a file.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        (folder / STATE_FILE).unlink()


def reachable(endpoint: str) -> str:
    """Replace an address that listens on all interfaces with loopback."""
    return endpoint.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def running_daemon(folder: Path) -> DaemonState | None:
    """The daemon that runs on this data directory, if it has published its address."""
    state = load(folder)
    return state if state is not None and lock_holder(folder) == state.pid else None


def lock_holder(folder: Path) -> int | None:
    """The process that holds the directory's lock. A pid alone proves nothing: it may belong to another process by now."""
    try:
        with (folder / "lock").open() as lock:
            text = lock.read().strip()
            if not text.isdecimal() or not is_alive(int(text)):
                return None
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return int(text)
            return None
    except OSError:
        return None


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
