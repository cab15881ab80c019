"""The data directory of a command, and the daemon that runs on it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ..config import data_folder
from ..errors import InvalidRequest
from ..presence import STATE_FILE, DaemonState, forget, is_alive, lock_holder, running_daemon, save
from .failures import WrongUsage

__all__ = ["DaemonState", "data_dir", "forget", "is_alive", "is_own", "lock_holder", "running_daemon", "save"]


def data_dir(args: argparse.Namespace) -> Path:
    """The data directory from the command line or the environment."""
    try:
        return data_folder(getattr(args, "data_dir", None))
    except InvalidRequest as error:
        raise WrongUsage(error.detail) from None


def is_own(folder: Path, endpoint: str) -> bool:
    """Whether the daemon at this address is this user's own: it runs on the data directory of this machine."""
    state = running_daemon(folder)
    if state is None or state.endpoint != endpoint:
        return False
    try:
        return (folder / STATE_FILE).stat().st_uid == os.geteuid()
    except OSError:
        return False
