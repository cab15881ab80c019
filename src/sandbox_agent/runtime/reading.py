"""Reading: pages from the store away from the event loop, and followers that read on as the log grows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ..store.base import Store, StoredEvent
from .channel import Batch, Channel

if TYPE_CHECKING:
    from .log import SessionLog

PAGE_ROWS = 1_000
PAGE_BYTES = 1 << 20

_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")

_encode = msgspec.json.Encoder().encode
Found = TypeVar("Found")


class Reading:
    """The half of the log that reads."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.channel = Channel(store.position())
        """All sessions, numbered by position."""
        self._loop = asyncio.get_running_loop()
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
        def read() -> list[StoredEvent]:
            return self.store.read(session_id, after, limit, max_bytes, with_raw=with_raw)

        return await self._loop.run_in_executor(self._readers, read)

    async def look_up(self, question: Callable[[], Found]) -> Found:
        """Ask the store something, away from the event loop."""
        return await self._loop.run_in_executor(self._readers, question)

    def follow(
        self, session: SessionLog, after: int, idle_seconds: float, *, with_raw: bool = False
    ) -> AsyncGenerator[Batch | None, None]:
        """Everything past a sequence, then all that comes; None whenever nothing came for a while."""

        async def page(number: int) -> Batch | None:
            rows = await self.read(session.session_id, number, with_raw=with_raw)
            bodies = [with_raw_spliced(row) for row in rows] if with_raw else [row.body for row in rows]
            return Batch([row.sequence for row in rows], bodies) if rows else None

        return self._follow(session.channel, after, idle_seconds, page, from_tail=not with_raw)

    def follow_all(self, after: int, idle_seconds: float) -> AsyncGenerator[Batch | None, None]:
        """The same for all sessions, numbered by position; None also whenever a session's news woke the reader."""

        async def page(number: int) -> Batch | None:
            rows = await self.look_up(lambda: self.store.read_log(number, PAGE_ROWS, PAGE_BYTES))
            return Batch([row.position for row in rows], [row.body for row in rows]) if rows else None

        return self._follow(self.channel, after, idle_seconds, page, from_tail=True, always_tell=True)

    async def _follow(
        self,
        channel: Channel,
        after: int,
        idle_seconds: float,
        page: Callable[[int], Awaitable[Batch | None]],
        *,
        from_tail: bool,
        always_tell: bool = False,
    ) -> AsyncGenerator[Batch | None, None]:
        channel.enter()
        try:
            # Who keeps up gets the last batch too, though the channel closes right behind it.
            while not channel.closed or (from_tail and channel.next_after(after) is not None):
                batch = channel.next_after(after) if from_tail else None
                committed = channel.committed
                if batch is None and after < committed:
                    batch = await page(after)
                    if batch is None:
                        # What lay between was deleted with its session: go on behind it, but not behind what came
                        # while we looked.
                        after = committed
                        continue
                if batch is not None:
                    after = batch.last
                    yield batch
                    batch = None  # a reader that waits holds nothing
                elif not await channel.wait(idle_seconds) or always_tell:
                    yield None
        finally:
            channel.leave()


def with_raw_spliced(row: StoredEvent) -> bytes:
    """The event with its native payload in place of null; one that is not JSON, or too deep to be sure, becomes a string."""
    if row.raw is None:
        return row.body
    try:
        row.raw.decode()  # msgspec does not look into strings that it skips
        msgspec.json.decode(row.raw, type=msgspec.Raw)
        # In JSON a line break is only ever space between tokens; in an SSE frame it would end the line.
        raw = row.raw.translate(_ONE_LINE)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raw = _encode(row.raw.decode(errors="replace"))
    return row.body[: -len(b"null}")] + raw + b"}"
