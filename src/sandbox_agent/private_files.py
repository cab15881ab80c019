"""Files for the owner alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_private(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write a file for the owner alone; one that begins with `#!` may be run. A process that reads it sees all of it.

    With `durable`, it also survives the loss of power once this returns.
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
    """A file is durable when the folder that names it is."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
