"""What code without I/O gets from outside: ids, clocks, and small file reads.

The daemon provides the real ones. A recording provides counted ids, its own clock and no files, so that its translation never
changes.
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
from .policy import PolicyRule

MAX_EXAMINED_BYTES = 256 * 1024
"""The largest file that is read. It is read directly on the event loop, which takes about 0.1 ms."""


class FileState(Struct, frozen=True):
    """The state of a file at one moment."""

    data: bytes | None = None
    """None if it does not exist."""
    is_executable: bool = False


def _sees_nothing(path: str) -> FileState | None:
    return None


class World(Struct, frozen=True):
    make_id: MakeId
    """A new id with this prefix."""
    make_uuid: Callable[[], str]
    """A UUID, which some agents require."""
    clock: Callable[[], float]
    """Seconds of a monotonic clock."""
    now: Callable[[], str]
    """The time in the format of events."""
    resolve: Callable[[str], str] = posixpath.normpath
    """A path with its links resolved."""
    look: Callable[[str], FileState | None] = _sees_nothing
    """The current state of a small file; None if it cannot be read."""
    operator_rules: Callable[[], tuple[PolicyRule, ...]] = tuple
    """The operator's rules, as they are now."""


_second = (0, b"")


def moment() -> bytes:
    """The time in the format of events, encoded. The part up to the second is formatted once a second."""
    global _second
    whole, rest = divmod(time.time_ns() // 1_000_000, 1000)
    if whole != _second[0]:
        _second = whole, datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S").encode()
    return b"%b.%03dZ" % (_second[1], rest)


def now() -> str:
    return moment().decode()


def look(path: str) -> FileState | None:
    """Never blocks on something that is not a regular file, such as a pipe or a device."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return FileState()
    except (OSError, ValueError):
        return None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_EXAMINED_BYTES:
            return None
        data = os.read(descriptor, MAX_EXAMINED_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    # A file that grows in the meantime is read incompletely, or is too large by now.
    return FileState(data, bool(about.st_mode & stat.S_IXUSR)) if len(data) == about.st_size else None


REAL = World(random_id, lambda: str(uuid.uuid4()), time.monotonic, now, os.path.realpath, look)


def counted(clock: Callable[[], float] = lambda: 0.0, now: Callable[[], str] = now) -> World:
    """A deterministic world: ids are counted, and the caller provides the clock."""
    make_id = counting_ids()
    return World(make_id, lambda: make_id("uuid"), clock, now)
