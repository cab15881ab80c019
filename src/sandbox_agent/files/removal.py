"""Removing an entry, or a folder with its content."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable

from ..errors import InvalidRequest, PermissionDenied
from .draft import sync_folder
from .problems import naming_path
from .roots import Place, Roots

MAX_DEPTH = 256
"""Each nested folder keeps a descriptor open while it is being emptied."""

Check = Callable[[], None]


def remove(roots: Roots, path: str, *, recursive: bool, check: Check) -> None:
    """Remove what is at a path; a link itself, never its target. `check` may stop it between two entries."""
    with roots.place(path, follow=False) as place, naming_path(path):
        name, status = place.required_name(), place.status()
        require_removable(roots, place, status)
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=place.folder)
        elif recursive:
            remove_tree(roots, place.folder, name, check)
        else:
            os.rmdir(name, dir_fd=place.folder)
        sync_folder(place.folder)


def require_removable(roots: Roots, place: Place, status: os.stat_result) -> None:
    """Refuse to remove a root, the daemon's own folder, or a folder above them."""
    if roots.vault.is_at_or_below(status):
        raise PermissionDenied(f"{place.path} contains the daemon's own files", path=place.path)
    if (status.st_dev, status.st_ino) in roots.identities():
        raise InvalidRequest(f"{place.path} is given by --fs-root", field="path", path=place.path)


def remove_tree(roots: Roots, folder: int, name: str, check: Check, depth: int = 0) -> None:
    """Empty and remove a folder in an open folder. Links are removed, not followed."""
    if depth > MAX_DEPTH:
        raise OSError(errno.ELOOP, f"is more than {MAX_DEPTH} directories deep")
    inner = roots.open_inner(folder, name)
    try:
        for entry in os.listdir(inner):
            check()
            try:
                os.unlink(entry, dir_fd=inner)
            except (IsADirectoryError, PermissionError):  # what Linux and other systems report for a folder
                if not stat.S_ISDIR(os.stat(entry, dir_fd=inner, follow_symlinks=False).st_mode):
                    raise
                remove_tree(roots, inner, entry, check, depth + 1)
            except FileNotFoundError:
                continue
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=folder)
