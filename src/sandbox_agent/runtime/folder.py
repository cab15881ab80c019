"""The data directory: private to its owner, used by one daemon at a time."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import time
from pathlib import Path

LOCK_SECONDS = 0.5
"""How long to try: `lock_holder` takes the lock for a moment to see whether a daemon has it."""


class FolderUnusable(Exception):
    """The data directory does not exist and cannot be created."""


class FolderInUse(FolderUnusable):
    """Another daemon uses the data directory."""


class DataFolder:
    """Holds the directory's lock while open; the kernel releases it even after a `kill -9`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.chmod(0o700)
            self._lock = os.open(path / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise FolderUnusable(f"cannot use --data-dir {path}: {error.strerror}") from None
        if not _locked(self._lock):
            holder = os.read(self._lock, 32).decode(errors="replace").strip()
            os.close(self._lock)
            raise FolderInUse(
                f"another daemon{f' (pid {holder})' if holder else ''} uses {path}: stop it, or give this one "
                "another --data-dir"
            )
        os.ftruncate(self._lock, 0)
        os.write(self._lock, f"{os.getpid()}\n".encode())

    def remove_launch_files(self) -> None:
        """Remove the files written for agents at start, which may hold keys of MCP servers. Call it when no agent runs: each start
        writes what it needs."""
        shutil.rmtree(self.path / "launch", ignore_errors=True)

    def close(self) -> None:
        os.close(self._lock)


def _locked(descriptor: int) -> bool:
    """Lock the directory, unless another daemon holds it for longer than a client that looks who does."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() > deadline:
                return False
        time.sleep(0.005)


def name_of(folder: Path) -> str:
    """A random name that stays with the data directory: distinguishes a restart from another disk."""
    path = folder / "node"
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        name = secrets.token_hex(8)
        partial = folder / f"node.{name}"
        partial.write_text(f"{name}\n")
        partial.rename(path)
        return name
