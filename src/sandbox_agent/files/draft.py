"""A file that is being written: without a name, or under a temporary one, until it is complete."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import threading

from .condition import ALWAYS, Condition
from .entries import etag
from .roots import Place, Roots

NEW_MODE = 0o666
_NAMELESS = getattr(os, "O_TMPFILE", 0)
_NO_NAMELESS = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)
_committing = threading.Lock()
"""Held while a file is compared and replaced: of two clients that saw the same version, the second is refused."""


def temporary_name() -> str:
    return f".sandbox-agent-{secrets.token_hex(8)}"


class Draft:
    """If the system supports it, the file has no name until it is complete: a `kill -9` leaves nothing."""

    def __init__(self, roots: Roots, place: Place) -> None:
        self._place = place
        self._name = place.required_name()
        self._replaced = self._check(roots)
        self._temporary: str | None = None
        self.file = self._open()
        self.written = 0

    def _check(self, roots: Roots) -> os.stat_result | None:
        """An existing file must be writable: a rename would not check that."""
        try:
            status = self._place.status()
        except FileNotFoundError:
            return None
        roots.check(status)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is not a regular file")
        if not os.access(self._name, os.W_OK, dir_fd=self._place.folder, follow_symlinks=False):
            raise PermissionError(errno.EACCES, "is not writable")
        return status

    def _open(self) -> int:
        folder = self._place.folder
        if _NAMELESS:
            try:
                return os.open(".", _NAMELESS | os.O_RDWR | os.O_CLOEXEC, NEW_MODE, dir_fd=folder)
            except OSError as error:
                if error.errno not in _NO_NAMELESS:
                    raise
        self._temporary = temporary_name()
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(self._temporary, flags, NEW_MODE, dir_fd=folder)

    def write(self, piece: bytes | memoryview) -> None:
        view = memoryview(piece)
        while view:
            count = os.write(self.file, view)
            self.written += count
            view = view[count:]

    def commit(self, *, condition: Condition = ALWAYS, mode: int | None = None, sync: bool = True) -> str:
        """Give the file its name, with the mode and owner of the one it replaces. Returns its tag."""
        self._dress(mode)
        if sync:
            os.fsync(self.file)
        if self._temporary is None:
            self._temporary = self._named()
        folder = self._place.folder
        with _committing:
            condition.check(self._place)
            os.rename(self._temporary, self._name, src_dir_fd=folder, dst_dir_fd=folder)
            self._temporary = None
            tag = etag(os.fstat(self.file))
        if sync:
            sync_folder(folder)
        return tag

    def _dress(self, mode: int | None) -> None:
        old = self._replaced
        if old is not None:
            with contextlib.suppress(OSError):  # only root can give files away
                os.fchown(self.file, old.st_uid, old.st_gid)
        if mode is None and old is not None:
            mode = stat.S_IMODE(old.st_mode)
        if mode is not None:
            os.fchmod(self.file, mode)

    def _named(self) -> str:
        """A temporary name for an unnamed file. It cannot take the final one: only a rename replaces an existing file."""
        name = temporary_name()
        os.link(f"/proc/self/fd/{self.file}", name, dst_dir_fd=self._place.folder, follow_symlinks=True)
        return name

    def close(self) -> None:
        """Discard everything that was not committed."""
        os.close(self.file)
        if self._temporary is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._temporary, dir_fd=self._place.folder)


def sync_folder(folder: int) -> None:
    """A file is durable only once the folder that names it is."""
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
