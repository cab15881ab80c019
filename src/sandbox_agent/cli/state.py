"""Where `daemon start` left word of its daemon: `daemon.json` in the state folder, for its owner alone."""

from __future__ import annotations

import argparse
import fcntl
import os
from pathlib import Path

import msgspec
from msgspec import Struct

from ..config import PREFIX, default_data_dir

STATE_FILE = "daemon.json"


class DaemonState(Struct, frozen=True):
    pid: int
    endpoint: str
    token: str | None
    version: str


def data_dir(args: argparse.Namespace) -> Path:
    """The state folder that a command line or the environment names."""
    given = getattr(args, "data_dir", None) or os.environ.get(f"{PREFIX}DATA_DIR")
    return Path(given).expanduser().absolute() if given else default_data_dir()


def running_daemon(folder: Path) -> DaemonState | None:
    """The daemon that `daemon start` started here, if it still runs."""
    try:
        state = msgspec.json.decode((folder / STATE_FILE).read_bytes(), type=DaemonState)
    except (OSError, msgspec.DecodeError):
        return None
    return state if lock_holder(folder) == state.pid else None


def lock_holder(folder: Path) -> int | None:
    """The process that holds the folder's lock. A pid alone proves nothing: it may be another process by now."""
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


def save(folder: Path, state: DaemonState) -> None:
    """Write the file whole or not at all."""
    path = folder / f".{STATE_FILE}.{os.getpid()}"
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(state))
    path.rename(folder / STATE_FILE)


def forget(folder: Path) -> None:
    (folder / STATE_FILE).unlink(missing_ok=True)
