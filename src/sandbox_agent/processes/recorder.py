"""The thread that moves the output of all processes from their pipes to their logs.

None of it passes through the event loop, so a flood of output does not slow down sessions. All processes share a rate limit; beyond
it, and while the disk is full, a process is not read, so it blocks. A process that writes little never waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import heapq
import itertools
import logging
import os
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from ..schema.processes import LogStream

logger = logging.getLogger("sandbox_agent.processes")

RATE = 32 << 20
"""Bytes per second that all processes together may write in the long run."""
BURST = 512 << 10
REFILL = 64 << 10
"""Allowance of each process, outside the shared rate: burst bytes, and bytes per second."""
READ_BYTES = 64 << 10
READ_COST = 2 << 10
"""The minimum a read counts for: small ones take as much time as this."""
FULL_SECONDS = 0.25
"""How long to wait for room on the disk."""
MAX_LEFTOVER_BYTES = 1 << 20
"""How much is still read from a pipe whose process is gone."""


class Sink(Protocol):
    """Where output goes. Called only by the recorder's thread."""

    is_followed: bool
    """Whether anyone wants to know when there is more."""

    def take(self, stream: LogStream, data: bytes, *, is_rest: bool) -> int:
        """Returns how many bytes were taken; OSError if there is no room. The rest is offered again, unless it is the last output."""

    def notify(self) -> None:
        """There is more. Called in the event loop."""


class Source:
    """One end of a pipe, or a terminal. The caller that adds it closes its descriptor once it has ended."""

    def __init__(self, fd: int, stream: LogStream, sink: Sink, on_end: Callable[[], None]) -> None:
        self.fd = fd
        self.stream = stream
        self.sink = sink
        self.on_end = on_end
        """Called in the event loop, once."""
        self.allowance = float(BURST)
        self.refilled = time.monotonic()
        self.leftover = b""
        self.is_registered = False
        self.is_finishing = False
        self.has_ended = False


class Recorder:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._selector = selectors.DefaultSelector()
        self._wakeup, self._waker = os.pipe()
        os.set_blocking(self._wakeup, False)
        os.set_blocking(self._waker, False)
        self._selector.register(self._wakeup, selectors.EVENT_READ)
        self._orders: deque[Callable[[], None]] = deque()
        self._resting: list[tuple[float, int, Source]] = []
        self._numbers = itertools.count()
        self._end_of_line = 0.0
        """When the last waiting source gets its turn."""
        self._news: set[Sink] = set()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="process-output", daemon=True)
        self._thread.start()

    # -- the event loop -----------------------------------------------------------------------

    def add(self, source: Source) -> None:
        self._order(lambda: self._register(source))

    def finish(self, source: Source) -> None:
        """All writers are gone: take what is left, and end the source."""
        self._order(lambda: self._finish(source))

    def close(self) -> None:
        """When all sources have ended."""
        self._order(self._close)
        self._thread.join()

    def _order(self, order: Callable[[], None]) -> None:
        self._orders.append(order)
        with contextlib.suppress(BlockingIOError):  # it is awake
            os.write(self._waker, b"!")

    # -- the thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._is_closed:
            try:
                self._turn()
            except Exception:
                logger.exception("the output recorder failed")
        self._selector.close()
        os.close(self._wakeup)
        os.close(self._waker)

    def _turn(self) -> None:
        next_rest = self._resting[0][0] - time.monotonic() if self._resting else None
        for key, _ in self._selector.select(next_rest):
            if key.data is not None:
                self._move(key.data)
            else:
                os.read(self._wakeup, 4096)
        while self._orders:
            self._orders.popleft()()
        while self._resting and self._resting[0][0] <= time.monotonic():
            source = heapq.heappop(self._resting)[2]
            if source.leftover:
                self._keep(source, b"")
            else:
                self._register(source)

    def _close(self) -> None:
        self._is_closed = True

    def _register(self, source: Source) -> None:
        if not source.is_registered and not source.has_ended:
            self._selector.register(source.fd, selectors.EVENT_READ, source)
            source.is_registered = True

    def _rest(self, source: Source, seconds: float) -> None:
        if source.is_registered:
            self._selector.unregister(source.fd)
            source.is_registered = False
        heapq.heappush(self._resting, (time.monotonic() + seconds, next(self._numbers), source))

    def _move(self, source: Source) -> None:
        data, is_open = read_available(source.fd, READ_BYTES)
        if data:
            self._keep(source, data)
        if not is_open:
            self._end(source)

    def _keep(self, source: Source, data: bytes) -> None:
        data = source.leftover or data
        source.leftover = b""
        try:
            taken = source.sink.take(source.stream, data, is_rest=source.is_finishing)
        except OSError as error:
            taken = 0
            if source.is_finishing:
                logger.error("the last output of a process was lost: %s", error)
        if taken and source.sink.is_followed:
            self._tell(source.sink)
        if taken == len(data):
            self._pace(source, taken)
        elif not source.is_finishing:
            source.leftover = data[taken:]
            self._rest(source, FULL_SECONDS)

    def _pace(self, source: Source, size: int) -> None:
        """A source that has used up its allowance joins a queue, which moves at the shared rate."""
        now = time.monotonic()
        source.allowance = min(BURST, source.allowance + (now - source.refilled) * REFILL)
        source.refilled = now
        cost = max(size, READ_COST)
        if source.allowance >= cost or source.is_finishing:
            source.allowance -= cost
            self._register(source)
        else:
            self._end_of_line = max(self._end_of_line, now) + cost / RATE
            self._rest(source, self._end_of_line - now)

    def _finish(self, source: Source) -> None:
        if source.has_ended:
            return
        source.is_finishing = True
        if source.leftover:
            self._keep(source, b"")
        left = MAX_LEFTOVER_BYTES
        while left > 0 and not source.has_ended:
            data, is_open = read_available(source.fd, READ_BYTES)
            if data:
                self._keep(source, data)
            left -= len(data)
            if not is_open or not data:
                break
        self._end(source)

    def _end(self, source: Source) -> None:
        # The disk may have no room for its last output, which waits until the source is finished.
        if source.has_ended or source.leftover:
            return
        source.has_ended = True
        if source.is_registered:
            self._selector.unregister(source.fd)
            source.is_registered = False
        self._call(source.on_end)

    def _tell(self, sink: Sink) -> None:
        """Schedule one call, however much arrives before the event loop runs it."""
        if sink not in self._news:
            self._news.add(sink)
            self._call(lambda: self._tell_now(sink))

    def _tell_now(self, sink: Sink) -> None:
        self._news.discard(sink)
        sink.notify()

    def _call(self, callback: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: no one is waiting
            self._loop.call_soon_threadsafe(callback)


def read_available(fd: int, most: int) -> tuple[bytes, bool]:
    """What can be read now, and whether there may be more. A terminal returns 4 KiB at a time."""
    pieces: list[bytes] = []
    size = 0
    while size < most:
        try:
            piece = os.read(fd, most - size)
        except BlockingIOError:
            return b"".join(pieces), True
        except OSError as error:
            if error.errno != errno.EIO:  # the end of a terminal
                logger.error("the output of a process cannot be read: %s", error)
            return b"".join(pieces), False
        if not piece:
            return b"".join(pieces), False
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces), True
