"""The state folder that a command is about, and the daemon that uses it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ..client.discovery import data_folder, is_alive, lock_holder, running_daemon
from ..errors import InvalidRequest
from ..presence import STATE_FILE, DaemonState, forget, save
from .failures import WrongUsage

__all__ = ["DaemonState", "data_dir", "forget", "is_alive", "is_own", "lock_holder", "running_daemon", "save"]


def data_dir(args: argparse.Namespace) -> Path:
    """The state folder that a command line or the environment names."""
    try:
        return data_folder(getattr(args, "data_dir", None))
    except InvalidRequest as error:
        raise WrongUsage(error.detail) from None


def is_own(folder: Path, endpoint: str) -> bool:
    """Whether the daemon at an address is this user's own, on this machine: the one that runs on this user's folder."""
    state = running_daemon(folder)
    if state is None or state.endpoint != endpoint:
        return False
    try:
        return (folder / STATE_FILE).stat().st_uid == os.geteuid()
    except OSError:
        return False
