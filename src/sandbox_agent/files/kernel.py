"""Kernel features that Python lacks: renames that replace nothing, and change notifications."""

from __future__ import annotations

import errno
import functools
import os
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ctypes


@functools.cache
def _libc() -> ctypes.CDLL:
    import ctypes  # slow to import, and most daemons never need it

    return ctypes.CDLL(None, use_errno=True)


def _error() -> int:
    import ctypes

    return ctypes.get_errno()


class Unsupported(Exception):
    """The system or the file system has no such call."""


# -- renames --------------------------------------------------------------------------------------

NO_REPLACE = 1
EXCHANGE = 2
_UNKNOWN = (errno.ENOSYS, errno.EINVAL)


def rename(source: int, old: str, target: int, new: str, flag: int) -> None:
    """Rename between two open folders. `NO_REPLACE` fails if `new` exists; `EXCHANGE` swaps the two.

    Raises `Unsupported` if the system or the file system cannot do this.
    """
    call = getattr(_libc(), "renameat2", None)
    if call is None:
        raise Unsupported
    if call(source, os.fsencode(old), target, os.fsencode(new), flag) == 0:
        return
    code = _error()
    if code in _UNKNOWN:
        raise Unsupported
    raise OSError(code, os.strerror(code), old)


# -- notices --------------------------------------------------------------------------------------

MODIFIED = 0x2
CLOSED_WRITTEN = 0x8
MOVED_FROM = 0x40
MOVED_TO = 0x80
CREATED = 0x100
DELETED = 0x200
OVERFLOW = 0x4000
IGNORED = 0x8000
_ONLY_FOLDERS = 0x01000000
IS_FOLDER = 0x40000000
WATCHED = MODIFIED | CLOSED_WRITTEN | MOVED_FROM | MOVED_TO | CREATED | DELETED
_HEAD = struct.Struct("iIII")


class Notice(NamedTuple):
    watch: int
    """The number of the folder's watch; -1 for the queue itself."""
    what: int
    name: str


def open_notices() -> int:
    """A descriptor to read notifications from. Raises `Unsupported` without inotify."""
    call = getattr(_libc(), "inotify_init1", None)
    if call is None:
        raise Unsupported
    descriptor: int = call(os.O_NONBLOCK | os.O_CLOEXEC)
    return _checked(descriptor)


def watch_folder(notices: int, folder: int) -> int:
    """Watch an open folder itself, whatever its name refers to by now. Returns the number of the watch."""
    path = f"/proc/self/fd/{folder}".encode()
    return _checked(_libc().inotify_add_watch(notices, path, WATCHED | _ONLY_FOLDERS))


def unwatch_folder(notices: int, watch: int) -> None:
    """Stop watching a folder; a removed folder has no watch."""
    _libc().inotify_rm_watch(notices, watch)


def read_notices(notices: int) -> Iterator[Notice]:
    """The notifications so far, without waiting."""
    try:
        data = os.read(notices, 1 << 16)
    except BlockingIOError:
        return
    place = 0
    while place < len(data):
        watch, what, _, length = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        name = data[place : place + length].rstrip(b"\0")
        place += length
        yield Notice(watch, what, os.fsdecode(name))


def _checked(result: int) -> int:
    if result < 0:
        code = _error()
        raise OSError(code, os.strerror(code))
    return result
