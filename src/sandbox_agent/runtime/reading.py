"""The half of the log that reads: questions to the store, away from the event loop, and all who follow it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from ..store.base import Store, StoredEvent
from .channel import Channel
from .pages import PAGE_ROWS
from .pings import Pings

PAGE_BYTES = 1 << 20
LEAVE_SECONDS = 2.0
THREADS = 4

Found = TypeVar("Found")


class Reading:
    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.store = store
        self.channel = Channel(store.position())
        """All sessions, numbered by position."""
        self.pings = Pings()
        self._loop = loop or asyncio.get_running_loop()
        self._readers = ThreadPoolExecutor(THREADS, "log-reader")
        self.pages = asyncio.Semaphore(THREADS)
        """Who reads a page holds this until it is written: a thousand readers that are behind hold no thousand pages."""

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
        # Not by `run_in_executor`: its futures hold each other, and the answer, until the garbage collector comes.
        answer: asyncio.Future[Found] = self._loop.create_future()
        self._readers.submit(_ask, question, self._loop, answer)
        return await answer

    async def stop_reading(self) -> None:
        """Channels are closed by now: readers that take what they are given get the rest."""
        await self.pings.all_left(LEAVE_SECONDS)
        self._readers.shutdown(cancel_futures=True)


def _ask(
    question: Callable[[], Found], loop: asyncio.AbstractEventLoop, answer: asyncio.Future[Found]
) -> None:
    settle: Callable[[], None]
    try:
        settle = partial(answer.set_result, question())
    except Exception as error:
        settle = partial(answer.set_exception, error)
    loop.call_soon_threadsafe(_settle, answer, settle)


def _settle(answer: asyncio.Future[Found], settle: Callable[[], None]) -> None:
    if not answer.done():  # whoever asked may have gone
        settle()
