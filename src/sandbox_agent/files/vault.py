"""What no file operation may touch, by whatever path it is reached: the daemon's own folder and its log.

Files are known by device and inode, because a link, a bind mount or another spelling of a path leads to the same ones.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

Identity = tuple[int, int]
"""Device and inode."""

FRESH_SECONDS = 1.0


def identity(status: os.stat_result) -> Identity:
    return status.st_dev, status.st_ino


class Vault:
    """A folder, what lies directly in it, and single files elsewhere."""

    def __init__(self, folder: Path, files: Iterable[Path] = ()) -> None:
        self._folder = folder
        self._files = tuple(files)
        self._known: frozenset[Identity] = frozenset()
        self._read_at = -FRESH_SECONDS

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(str(path) for path in (self._folder, *self._files))

    def holds(self, status: os.stat_result) -> bool:
        """Whether this is something that must not be touched."""
        return identity(status) in self._contents()

    def is_at_or_below(self, status: os.stat_result) -> bool:
        """Whether the vault would move or vanish with this folder."""
        if self.holds(status):
            return True
        above = (parent for path in (self._folder, *self._files) for parent in path.parents)
        return identity(status) in {*_identities(above)}

    def _contents(self) -> frozenset[Identity]:
        """Looked up again now and then: the daemon makes files while it runs, and one may be linked elsewhere."""
        now = time.monotonic()
        if now - self._read_at > FRESH_SECONDS:
            inside: list[Path] = []
            with contextlib.suppress(OSError):
                inside = [Path(entry.path) for entry in os.scandir(self._folder)]
            self._known = frozenset(_identities((self._folder, *inside, *self._files)))
            self._read_at = now
        return self._known


def _identities(paths: Iterable[Path]) -> Iterable[Identity]:
    for path in paths:
        with contextlib.suppress(OSError):
            yield identity(path.stat(follow_symlinks=False))
