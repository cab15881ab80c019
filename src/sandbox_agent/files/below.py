"""Writing below an open folder without ever following a link, also not one that was there before."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Sequence

from .draft import temporary_name
from .roots import Place, Roots


def below(roots: Roots, start: int, path: str, parts: Sequence[str], *, make: bool = True) -> Place:
    """The folder that these names lead to, one in the other; with `make` those that are missing are made."""
    folder = os.dup(start)
    try:
        for part in parts:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o777, dir_fd=folder)
            folder = _stepped(roots, folder, part)
    except BaseException:
        os.close(folder)
        raise
    return Place(path, folder, None, frozenset())


def _stepped(roots: Roots, folder: int, part: str) -> int:
    try:
        inner = roots.open_inner(folder, part)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise OSError(errno.ENOTDIR, "is, or leads through, a link or a file") from None
        raise
    os.close(folder)
    return inner


def put(place: Place, make: Callable[[str], None]) -> None:
    """Make something under a temporary name, and rename it over what is there; a folder is not replaced."""
    name, temporary = place.required_name(), temporary_name()
    make(temporary)
    try:
        os.rename(temporary, name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    finally:
        # Where both were names of one file the rename has done nothing.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=place.folder)


def put_link(place: Place, text: str) -> None:
    put(place, lambda name: os.symlink(text, name, dir_fd=place.folder))


def remove_link(place: Place) -> None:
    """A link is replaced by a file, never written through."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISLNK(place.status().st_mode):
            os.unlink(place.required_name(), dir_fd=place.folder)
