"""What a program without I/O is given of the world: ids, clocks, and small looks at files.

The daemon gives it the real ones; a recording gives it counted ids, the clock of the recording and no files, so that its translation
never changes.
"""

from __future__ import annotations

import os
import posixpath
import stat
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import Struct

from .ids import MakeId, counting_ids, random_id

MOST_LOOKED_AT = 256 * 1024
"""The largest file that is looked at. It is read where it is asked for, on the event loop: about 0.1 ms."""


class FileState(Struct, frozen=True):
    """A file at one moment."""

    data: bytes | None = None
    """None: it does not exist."""
    is_executable: bool = False


def _sees_nothing(path: str) -> FileState | None:
    return None


class World(Struct, frozen=True):
    make_id: MakeId
    """An id of ours, by its prefix."""
    make_uuid: Callable[[], str]
    """An id in the form that some agents ask for."""
    clock: Callable[[], float]
    """Seconds that only ever grow."""
    now: Callable[[], str]
    """The time as events carry it."""
    resolve: Callable[[str], str] = posixpath.normpath
    """Where a path leads once its links are followed."""
    look: Callable[[str], FileState | None] = _sees_nothing
    """A small file as it is now; None where that cannot be told."""


_second = (0, b"")


def moment() -> bytes:
    """The time as events carry it, encoded. The part up to the second is formatted once a second."""
    global _second
    whole, rest = divmod(time.time_ns() // 1_000_000, 1000)
    if whole != _second[0]:
        _second = whole, datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S").encode()
    return b"%b.%03dZ" % (_second[1], rest)


def now() -> str:
    return moment().decode()


def look(path: str) -> FileState | None:
    """Never waits for what is no file: a pipe, a device."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return FileState()
    except (OSError, ValueError):
        return None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_LOOKED_AT:
            return None
        data = os.read(descriptor, MOST_LOOKED_AT + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    # One that grows meanwhile is read short of its end, or is too large by now.
    return FileState(data, bool(about.st_mode & stat.S_IXUSR)) if len(data) == about.st_size else None


REAL = World(random_id, lambda: str(uuid.uuid4()), time.monotonic, now, os.path.realpath, look)


def counted(clock: Callable[[], float] = lambda: 0.0, now: Callable[[], str] = now) -> World:
    """A world in which nothing is left to chance: ids are counted, and the clock is the caller's."""
    make_id = counting_ids()
    return World(make_id, lambda: make_id("uuid"), clock, now)
