"""The state folder that a command is about, and the daemon that uses it."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..client.discovery import data_folder, is_alive, lock_holder, running_daemon
from ..presence import DaemonState, forget, save

__all__ = ["DaemonState", "data_dir", "forget", "is_alive", "lock_holder", "running_daemon", "save"]


def data_dir(args: argparse.Namespace) -> Path:
    """The state folder that a command line or the environment names."""
    return data_folder(getattr(args, "data_dir", None))
