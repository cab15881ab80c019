"""The follower: shows readers of this node what other nodes have written.

Hints from the store say what is new, and one query then reads it for all sessions that have readers here. Hints may be lost, so
every second the follower looks by itself. The stream of all sessions only ever advances to what is final in the store, even for
events that this node has written: another node may still be committing an earlier position.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Sequence

from ..store.base import StoredEvent
from ..store.shared import Appended, CommandAnswered, CommandsWait, Hint, Missed
from .channel import frame_of
from .following import type_of
from .log import End
from .sessions import Sessions, Spawn
from .shared_log import SharedLog

logger = logging.getLogger("sandbox_agent.follower")

POLL_SECONDS = 1.0
MAX_ROWS = 200
"""Readers that are further behind read from the store by themselves."""


class Follower:
    def __init__(self, log: SharedLog, sessions: Sessions, spawn: Spawn) -> None:
        self.on_commands: Callable[[], None] = lambda: None
        self.on_answer: Callable[[int], None] = lambda id: None
        self.looked_at = time.monotonic()
        """When it last knew everything."""
        self._log = log
        self._store = log.store
        self._sessions = sessions
        self._spawn = spawn
        self._loop = asyncio.get_running_loop()
        self._hinted: dict[str, int] = {}
        self._news = asyncio.Event()
        self._must_poll = True

    def start(self) -> None:
        threading.Thread(target=self._listen, name="log-listener", daemon=True).start()
        self._spawn(self._follow())

    def watch(self, end: End) -> None:
        """A session has its first reader here, and may have grown since it was read."""
        self._must_poll = True
        self._news.set()

    # -- hints --------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Ends when the store is closed."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            for hint in self._store.hints():
                self._loop.call_soon_threadsafe(self._take, hint)

    def _take(self, hint: Hint) -> None:
        match hint:
            case Appended(heads):
                self._hinted.update(heads)
                self._news.set()
            case CommandsWait():
                self.on_commands()
            case CommandAnswered(id):
                self.on_answer(id)
            case Missed():
                self._must_poll = True
                self._news.set()
                self.on_commands()

    # -- following ----------------------------------------------------------------------------

    async def _follow(self) -> None:
        while True:
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                self._must_poll = True
            self._news.clear()
            try:
                await self._advance()
                self.looked_at = time.monotonic()
            except Exception as error:
                self._must_poll = True
                logger.warning("what other nodes write cannot be read: %s", error)
                await asyncio.sleep(POLL_SECONDS)

    async def _advance(self) -> None:
        ends = {end.session_id: end for end in self._sessions.foreign_ends()}
        heads, self._hinted = self._hinted, {}
        if self._must_poll:
            self._must_poll = False
            folders = {session_id: end.folder for session_id, end in ends.items()}
            heads = await self._log.ask(lambda: self._store.heads(folders)) if ends else {}
            for session_id in ends.keys() - heads.keys():
                self._sessions.drop_deleted(ends[session_id])
        behind = {
            id: max(ends[id].committed, head - MAX_ROWS)
            for id, head in heads.items()
            if id in ends and head > ends[id].committed
        }
        if behind:
            found = await self._log.ask(lambda: self._store.read_many(behind, MAX_ROWS))
            # Too large to be read for all at once. One by one, so that one does not hide the end of another.
            for id in behind.keys() - found.keys():
                found |= await self._log.ask(lambda: self._store.read_many({id: heads[id] - 1}, 1))  # noqa: B023 - called at once
            for id in behind:
                _publish(ends[id], found.get(id, ()), heads[id])
                if ends[id].committed < heads[id]:
                    self._hinted.setdefault(id, heads[id])
                    self._news.set()
        if self._log.channel.readers:
            await self._log.now()


def _publish(end: End, rows: Sequence[StoredEvent], head: int) -> None:
    """Show what was read, unless this node has begun to write the session in the meantime."""
    if end.listener is not None:
        return
    if not rows:
        end.channel.skip_to(head)
        return
    rows = [row for row in rows if row.sequence > end.committed]
    if not rows:
        return
    frames = [(row.sequence, frame_of(row.sequence, row.body)) for row in rows]
    ended = type_of(frames[-1][1]) == b"session.ended"
    if rows[0].sequence == end.committed + 1:
        end.channel.publish(frames, ended=ended)
    else:
        end.channel.skip_to(rows[-1].sequence, ended=ended)
