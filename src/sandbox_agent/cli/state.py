"""Where `daemon start` leaves word of its daemon: `daemon.json` in the state folder, for its owner alone."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import msgspec

from ..client.discovery import STATE_FILE, DaemonState, data_folder, is_alive, lock_holder, running_daemon

__all__ = ["DaemonState", "data_dir", "forget", "is_alive", "lock_holder", "running_daemon", "save"]


def data_dir(args: argparse.Namespace) -> Path:
    """The state folder that a command line or the environment names."""
    return data_folder(getattr(args, "data_dir", None))


def save(folder: Path, state: DaemonState) -> None:
    """Write the file whole or not at all."""
    path = folder / f".{STATE_FILE}.{os.getpid()}"
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(state))
    path.rename(folder / STATE_FILE)


def forget(folder: Path) -> None:
    (folder / STATE_FILE).unlink(missing_ok=True)
