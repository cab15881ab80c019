"""Following the output of a process: a stream reads its log from disk as fast as its reader accepts it.

Only a reader's position is kept. If a slow reader's next entries were dropped from the log, it continues after them; the gap shows in
the sequence numbers.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Collection
from typing import Protocol

import msgspec

from ..schema.processes import LogEntry, LogStream
from .output_log import Entry, OutputLog, Place
from .process import Process

PAGE_BYTES = 64 << 10
PING = b": ping\n\n"


class Outlet(Protocol):
    """The connection to one reader."""

    is_full: bool
    """It accepts no more for now; `on_change` is called when it does."""
    is_gone: bool
    on_change: Callable[[], None]

    def write(self, text: bytes) -> None: ...


class Pings(Protocol):
    """Pings for the streams in it."""

    def add(self, stream: LogFollowing) -> None: ...

    def remove(self, stream: LogFollowing) -> None: ...


class Sleep:
    """Lets one task wait until it is woken. A wake-up before the wait is not lost."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def wake(self) -> None:
        self._event.set()

    async def wait(self) -> None:
        await self._event.wait()
        self._event.clear()


class LogFollowing:
    """The entries of some streams after a position, until the process has ended and all are sent."""

    greeting = b""
    tells_end = True

    def __init__(
        self, process: Process, log: OutputLog, streams: Collection[LogStream], after: int, pings: Pings
    ) -> None:
        self._process = process
        self._log = log
        self._streams = streams
        self._place = Place(after)
        self._pings = pings
        self._sleep = Sleep()
        self._outlet: Outlet

    async def run(self, outlet: Outlet) -> None:
        self._outlet = outlet
        outlet.on_change = self._sleep.wake
        leave = self._process.follow(self._sleep)
        self._pings.add(self)
        try:
            while not outlet.is_gone:
                # Checked before reading: by then the log holds everything written before the end.
                has_exited = self._process.exited.is_set()
                if await self._read_on():
                    continue
                if has_exited and not outlet.is_full:
                    outlet.write(_end_frame(self._process))
                    return
                await self._sleep.wait()
        finally:
            leave()
            self._pings.remove(self)

    def ping(self) -> None:
        if not (self._outlet.is_full or self._outlet.is_gone):
            self._outlet.write(PING)

    async def _read_on(self) -> bool:
        """Write the next entries until the outlet is full. False if there are none."""
        outlet, log = self._outlet, self._log
        if outlet.is_full or outlet.is_gone or self._place.after >= log.last:
            return False
        last = log.last
        entries = await asyncio.to_thread(log.read, self._place, PAGE_BYTES)
        if not entries:
            self._place = Place(last)  # it was dropped in the meantime
        for entry in entries:
            if outlet.is_full or outlet.is_gone:
                break
            if entry.stream in self._streams:
                outlet.write(frame_of(entry))
            self._place = entry.place
        log.given = max(log.given, self._place.after)
        return True


def entry_of(entry: Entry) -> LogEntry:
    return LogEntry(entry.sequence, entry.stream, entry.moment, base64.b64encode(entry.data).decode())


def frame_of(entry: Entry) -> bytes:
    return b"event: log\nid: %d\ndata: %b\n\n" % (entry.sequence, msgspec.json.encode(entry_of(entry)))


def _end_frame(process: Process) -> bytes:
    return b"event: end\ndata: %b\n\n" % msgspec.json.encode(process.info())
