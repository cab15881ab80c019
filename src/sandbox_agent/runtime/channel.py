"""What readers wait at: the committed end of a log, and the part of it that was written last, for all who keep up."""

from __future__ import annotations

import asyncio
from collections import deque

TAIL_BYTES = 1 << 20


class Batch:
    """Events of one channel that were committed together, numbered by that channel."""

    __slots__ = ("_frames", "bodies", "first", "last", "numbers", "size")

    def __init__(self, numbers: list[int], bodies: list[bytes]) -> None:
        self.numbers = numbers
        self.bodies = bodies
        self.first = numbers[0]
        self.last = numbers[-1]
        self.size = sum(map(len, bodies))
        self._frames: bytes | None = None

    def frames(self) -> bytes:
        """The batch as SSE, made once for all its readers."""
        if self._frames is None:
            self._frames = b"".join(
                b"id: %d\ndata: %b\n\n" % pair for pair in zip(self.numbers, self.bodies, strict=True)
            )
        return self._frames

    def after(self, number: int) -> Batch:
        """What of it lies past a number; there must be something."""
        if number < self.first:
            return self
        start = next(i for i, one in enumerate(self.numbers) if one > number)
        return Batch(self.numbers[start:], self.bodies[start:])


class Channel:
    """What readers wait at: the committed end of one session's log, or of the whole log."""

    def __init__(self, committed: int) -> None:
        self.committed = committed
        self.closed = False
        self.readers = 0
        self._tail: deque[Batch] = deque()
        self._tail_size = 0
        self._waiters: set[asyncio.Future[bool]] = set()

    def publish(self, batch: Batch) -> None:
        self.committed = batch.last
        if self.readers:
            self._tail.append(batch)
            self._tail_size += batch.size
            while self._tail_size > TAIL_BYTES and len(self._tail) > 1:
                self._tail_size -= self._tail.popleft().size
            self.wake()

    def wake(self) -> None:
        for waiter in self._waiters:
            _settle(waiter, True)
        self._waiters.clear()

    def close(self) -> None:
        """There is nothing more to come: the session was deleted, or the daemon stops."""
        self.closed = True
        self.wake()

    def enter(self) -> None:
        self.readers += 1

    def leave(self) -> None:
        self.readers -= 1
        if not self.readers:
            self._tail.clear()
            self._tail_size = 0

    def next_after(self, number: int) -> Batch | None:
        """The next batch past a number if the tail reaches back that far."""
        tail = self._tail
        if not tail or number + 1 < tail[0].first or number >= tail[-1].last:
            return None
        if number + 1 == tail[-1].first:
            return tail[-1]
        for batch in tail:
            if batch.last > number:
                return batch.after(number)
        return None

    async def wait(self, seconds: float) -> bool:
        """Wait to be woken; False when the time is up."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        self._waiters.add(waiter)
        timer = loop.call_later(seconds, _settle, waiter, False)
        try:
            return await waiter
        finally:
            timer.cancel()
            self._waiters.discard(waiter)


def _settle(waiter: asyncio.Future[bool], woken: bool) -> None:
    if not waiter.done():
        waiter.set_result(woken)
