"""What a running daemon leaves in its state folder, so that clients on the same machine find it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec
from msgspec import Struct

STATE_FILE = "daemon.json"


class DaemonState(Struct, frozen=True):
    """Where a daemon is. The file is for the folder's owner alone."""

    pid: int
    endpoint: str
    token: str | None
    """Of a daemon that `daemon start` or `run` started. One that an operator chose is written nowhere."""
    version: str
    background: bool = False
    """`daemon start` started it, so `daemon stop` may end it."""
    flags: tuple[str, ...] = ()
    """What `daemon start` was given, for `daemon restart`."""
    directory: str | None = None
    """Where it was started."""


def save(folder: Path, state: DaemonState) -> None:
    """Write the file whole or not at all."""
    path = folder / f".{STATE_FILE}.{os.getpid()}"
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(state))
    path.rename(folder / STATE_FILE)


def load(folder: Path) -> DaemonState | None:
    """What is written there. It may be of a daemon that is gone."""
    try:
        return msgspec.json.decode((folder / STATE_FILE).read_bytes(), type=DaemonState)
    except (OSError, msgspec.DecodeError):
        return None


def forget(folder: Path) -> None:
    # What is named as a folder may be a file.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        (folder / STATE_FILE).unlink()


def reachable(endpoint: str) -> str:
    """An address that listens everywhere is reached on this machine."""
    return endpoint.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
