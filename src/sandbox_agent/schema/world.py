"""What a program without I/O is given of the world: ids and clocks.

The daemon gives it the real ones; a recording gives it counted ids and the clock of the recording, so that its translation never
changes.
"""

from __future__ import annotations

import os.path
import posixpath
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import Struct

from .ids import MakeId, counting_ids, random_id


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


_second = (0, "")


def now() -> str:
    """The time as events carry it. The part up to the second is formatted once a second."""
    global _second
    milliseconds = time.time_ns() // 1_000_000
    whole, rest = divmod(milliseconds, 1000)
    if whole != _second[0]:
        _second = whole, datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{_second[1]}.{rest:03d}Z"


REAL = World(random_id, lambda: str(uuid.uuid4()), time.monotonic, now, os.path.realpath)


def counted(clock: Callable[[], float] = lambda: 0.0, now: Callable[[], str] = now) -> World:
    """A world in which nothing is left to chance: ids are counted, and the clock is the caller's."""
    make_id = counting_ids()
    return World(make_id, lambda: make_id("uuid"), clock, now)
