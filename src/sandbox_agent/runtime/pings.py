"""Signs of life for all streams, from one timer: each second, those of a part of them."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

logger = logging.getLogger("sandbox_agent.pings")

PING_SECONDS = 15


class Pinged(Protocol):
    def ping(self) -> None: ...


class Pings:
    """Every stream that follows the log, with the second of a round in which it gets its ping."""

    def __init__(self) -> None:
        self._places: dict[Pinged, int] = {}
        self._seconds: list[set[Pinged]] = [set() for _ in range(PING_SECONDS)]
        self._now = 0
        self._next = 0
        self._timer: asyncio.TimerHandle | None = None
        self._left: asyncio.Future[None] | None = None

    def add(self, stream: Pinged) -> None:
        # One after the other, so that a thousand streams are not pinged in the same moment.
        self._next = (self._next + 1) % PING_SECONDS
        self._places[stream] = self._next
        self._seconds[self._next].add(stream)
        if self._timer is None:
            self._arm()

    def remove(self, stream: Pinged) -> None:
        self._seconds[self._places.pop(stream)].discard(stream)
        if not self._places:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._left is not None and not self._left.done():
                self._left.set_result(None)

    async def all_left(self, seconds: float) -> None:
        """Wait until no stream is left, but not for long."""
        if self._places:
            self._left = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._left], timeout=seconds)

    def _arm(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(1.0, self.tick)

    def tick(self) -> None:
        self._now = (self._now + 1) % PING_SECONDS
        self._arm()
        for stream in tuple(self._seconds[self._now]):
            try:
                stream.ping()
            except Exception:
                # One reader's fault keeps no other from its sign of life.
                logger.exception("a reader could not be pinged")
