"""Walks everything below a folder: by descriptors, in order, never through a link, and skipping protected files."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..errors import SandboxAgentError
from .roots import Roots

MAX_DEPTH = 256


class Found(NamedTuple):
    path: str
    """Relative to the start, without a leading slash."""
    folder: int
    """Its parent folder, open until the next entry is requested."""
    name: str
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)


def walk(roots: Roots, folder: int, skip: Callable[[Found], bool] | None = None) -> Iterator[Found]:
    """Every entry below an open folder, a folder before its content. Unreadable ones are skipped."""
    yield from _walk(roots, folder, "", skip, 0)


def _walk(
    roots: Roots, folder: int, prefix: str, skip: Callable[[Found], bool] | None, depth: int
) -> Iterator[Found]:
    for name in sorted(os.listdir(folder), key=os.fsencode):
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            continue  # removed in the meantime
        found = Found(prefix + name, folder, name, status)
        if skip is not None and skip(found):
            continue
        if not found.is_folder:
            yield found
            continue
        if depth == MAX_DEPTH:
            continue
        try:
            inner = roots.open_inner(folder, name)
        except (OSError, SandboxAgentError):
            continue
        try:
            yield found
            yield from _walk(roots, inner, f"{prefix}{name}/", skip, depth + 1)
        finally:
            os.close(inner)
