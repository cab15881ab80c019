"""The half of the log that reads: questions to the store, away from the event loop, and all who follow it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..store.base import Store, StoredEvent
from .channel import Channel
from .pages import PAGE_ROWS
from .pings import Pings

PAGE_BYTES = 1 << 20
LEAVE_SECONDS = 2.0

Found = TypeVar("Found")


class Reading:
    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.store = store
        self.channel = Channel(store.position())
        """All sessions, numbered by position."""
        self.pings = Pings()
        self._loop = loop or asyncio.get_running_loop()
        self._readers = ThreadPoolExecutor(4, "log-reader")

    async def read(
        self,
        session_id: str,
        after: int,
        limit: int = PAGE_ROWS,
        *,
        max_bytes: int = PAGE_BYTES,
        with_raw: bool = False,
    ) -> list[StoredEvent]:
        return await self.look_up(
            lambda: self.store.read(session_id, after, limit, max_bytes, with_raw=with_raw)
        )

    async def look_up(self, question: Callable[[], Found]) -> Found:
        """Ask the store something, away from the event loop."""
        return await self._loop.run_in_executor(self._readers, question)

    async def stop_reading(self) -> None:
        """Channels are closed by now: readers that take what they are given get the rest."""
        await self.pings.all_left(LEAVE_SECONDS)
        self._readers.shutdown()
