"""Files that only the owner can read."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO


def write_private(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write a file that only the owner can read; one that starts with `#!` is executable. A concurrent reader sees a complete file.

    With `durable`, it also survives a power failure once this returns.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fd, unfinished = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if content.startswith(b"#!"):
            os.chmod(unfinished, 0o700)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise
    if durable:
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """A file is durable only once the directory that names it is."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def log_file(path: Path) -> IO[bytes]:
    """A new log that only its owner can read."""
    return os.fdopen(os.open(path, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o600), "w+b")
