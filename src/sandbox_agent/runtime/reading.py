"""The reading half of the log: queries to the store, off the event loop, and all readers that follow it."""

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
        """Held from reading a page until it is written, so that a thousand slow readers do not hold a thousand pages."""
        self.outlasts_outages = False
        """Whether readers wait for a store that cannot be reached. A local one does not come back by itself."""

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
        """Query the store off the event loop."""
        return await ask(self._readers, self._loop, question)

    async def now(self) -> int:
        """The last position that readers of all sessions can have."""
        return self.channel.committed

    async def stop_reading(self) -> None:
        """The channels are closed; readers that keep up get the rest."""
        await self.pings.all_left(LEAVE_SECONDS)
        self._readers.shutdown(cancel_futures=True)


def ask(
    threads: ThreadPoolExecutor, loop: asyncio.AbstractEventLoop, question: Callable[[], Found]
) -> asyncio.Future[Found]:
    # Not `run_in_executor`: its futures form a cycle that keeps the result alive until garbage collection.
    answer: asyncio.Future[Found] = loop.create_future()
    threads.submit(_ask, question, loop, answer)
    return answer


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
    if not answer.done():  # the caller may have gone
        settle()
