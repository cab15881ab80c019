"""Folders for the sockets on which programs that belong to an agent reach the daemon: only the owner can enter them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MAX_PLACE_BYTES = 50
"""The path of a socket is limited to 108 bytes, on some systems to 104."""


def private_folder(instance: str) -> Path:
    return Path(tempfile.mkdtemp(prefix=_prefix(instance), dir=_place()))


def remove_leftovers(instance: str) -> None:
    """Remove the folders that a killed daemon left."""
    for folder in _place().glob(f"{_prefix(instance)}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _place() -> Path:
    """Not in the data directory: the path of a socket must be short."""
    place = tempfile.gettempdir()
    return Path(place if len(os.fsencode(place)) <= MAX_PLACE_BYTES else "/tmp")  # noqa: S108 - what we make is ours alone


def _prefix(instance: str) -> str:
    return f"sandbox-agent-{instance}-"
