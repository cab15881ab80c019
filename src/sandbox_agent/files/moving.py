"""Moving an entry to another name. What it replaces is removed last, so that nothing is lost."""

from __future__ import annotations

import errno
import os
import stat

from ..errors import InvalidRequest
from . import kernel
from .draft import sync_folder, temporary_name
from .problems import naming_path
from .removal import Check, remove_tree, require_removable
from .roots import Place, Roots
from .vault import identity


def move(roots: Roots, source: str, target: str, *, overwrite: bool, check: Check) -> None:
    """Move the entry at `source` to `target`. A link itself is moved."""
    with roots.place(target, follow=False, make_parents=True) as to, naming_path(target):
        to.required_name()
        if to.exists() and not overwrite:
            raise _taken(to)
        with roots.place(source, follow=False) as place, naming_path(source):
            require_removable(roots, place, place.status())
            _move(roots, place, to, overwrite=overwrite, check=check)
            sync_folder(place.folder)
        sync_folder(to.folder)


def _move(roots: Roots, place: Place, to: Place, *, overwrite: bool, check: Check) -> None:
    old, new = place.required_name(), to.required_name()
    if not overwrite:
        _rename_to_nothing(place, old, to, new)
        return
    try:
        replaced = to.status()
    except FileNotFoundError:
        os.rename(old, new, src_dir_fd=place.folder, dst_dir_fd=to.folder)
        return
    require_removable(roots, to, replaced)
    if identity(replaced) == identity(place.status()):
        return  # the same entry, or another name of the same file
    if identity(replaced) in place.above:
        raise InvalidRequest(f"{to.path} contains {place.path}", field="to", path=to.path)
    if not stat.S_ISDIR(replaced.st_mode) and not stat.S_ISDIR(place.status().st_mode):
        os.rename(old, new, src_dir_fd=place.folder, dst_dir_fd=to.folder)
        return
    _exchange(place, old, to, new)
    _remove(roots, place.folder, old, check)


def _rename_to_nothing(place: Place, old: str, to: Place, new: str) -> None:
    try:
        kernel.rename(place.folder, old, to.folder, new, kernel.NO_REPLACE)
    except FileExistsError:
        raise _taken(to) from None
    except kernel.Unsupported:
        os.rename(old, new, src_dir_fd=place.folder, dst_dir_fd=to.folder)


def _exchange(place: Place, old: str, to: Place, new: str) -> None:
    """Swap the two atomically, or through a third name if the system cannot."""
    try:
        kernel.rename(place.folder, old, to.folder, new, kernel.EXCHANGE)
    except kernel.Unsupported:
        aside = temporary_name()
        os.rename(new, aside, src_dir_fd=to.folder, dst_dir_fd=to.folder)
        try:
            os.rename(old, new, src_dir_fd=place.folder, dst_dir_fd=to.folder)
        except OSError:
            os.rename(aside, new, src_dir_fd=to.folder, dst_dir_fd=to.folder)
            raise
        os.rename(aside, old, src_dir_fd=to.folder, dst_dir_fd=place.folder)


def _remove(roots: Roots, folder: int, name: str, check: Check) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        remove_tree(roots, folder, name, check)
    else:
        os.unlink(name, dir_fd=folder)


def _taken(to: Place) -> InvalidRequest:
    return InvalidRequest(f"destination already exists: {to.path}", field="to", path=to.path)


def make_folder(roots: Roots, path: str) -> None:
    """Create a folder and its missing parents; an existing one is fine."""
    with roots.place(path, make_parents=True) as place, naming_path(path):
        if place.name is None:
            return
        try:
            os.mkdir(place.name, dir_fd=place.folder)
        except FileExistsError:
            # Created in the meantime, or not a folder.
            if not stat.S_ISDIR(place.status().st_mode):
                raise FileExistsError(errno.EEXIST, "exists and is not a directory") from None
        sync_folder(place.folder)
