"""The log of a store that several nodes share: a write may fail in ways that a disk does not.

- Its outcome may be unknown, because the connection broke before the answer. The group is frozen: it stays as it is, no one who
  waits for it is refused, and it is written again until the store says what became of it. Callers who have waited for long get
  an unknown outcome, even while the store does not answer at all.
- This node may have been fenced. It then owns no session: what is not written is lost, and the node joins the log again.
- The store may have lost what it acknowledged. Nothing may be written over that, so the daemon stops.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import msgspec

from ..agents.scribe import Draft
from ..errors import Unavailable
from ..session.effects import Append
from ..store.base import ImpossibleChange
from ..store.shared import Fenced, LogWentBack, OutcomeUnknown, SharedStore
from .group import MAX_PIECES, Entry, Group, StoreBlob
from .log import RETRY_SECONDS, End, Log, moved_away
from .reading import ask

logger = logging.getLogger("sandbox_agent.log")

ASKING_THREADS = 2
MAX_GATHER_SECONDS = 0.100
PATIENCE_SECONDS = 5.0
"""How long callers wait for a write of unknown outcome. The write itself is repeated for as long as it takes."""

Found = TypeVar("Found")

DEFINITE = (Fenced, LogWentBack, ImpossibleChange)
"""Errors that tell what became of a write. Others may come from a later attempt, and say nothing about the first."""


class SharedLog(Log):
    store: SharedStore

    def __init__(self, store: SharedStore, store_blob: StoreBlob) -> None:
        super().__init__(store, store_blob)
        self.outlasts_outages = True
        self.failure = "this node has not joined the log yet"
        self.on_fenced: Callable[[], None] = lambda: None
        """This node owns nothing any more."""
        self.on_uncertain: Callable[[list[End]], None] = lambda ends: None
        """The outcome of writes of these sessions has been unknown for too long."""
        self.on_went_back: Callable[[str], None] = lambda words: None
        self.on_renewed: Callable[[float], None] = lambda began: None
        """A write, which began at this time, has renewed the lease."""
        self.write_seconds = 0.0
        """How long the last write took."""
        self.written_at = time.monotonic()
        """When the last write succeeded, which also renewed the lease."""
        self.written_to = 0
        """The first position of the last write."""
        self._asking = ThreadPoolExecutor(ASKING_THREADS, "log-asking")
        self._is_open = False
        """The node has joined; nothing is written before."""
        self._is_closed = False
        self._is_frozen = False
        self._is_overdue = False
        """The write that is on its way takes longer than anyone waits."""
        self._began = 0.0
        self._patience: asyncio.TimerHandle | None = None

    def begin_life(self) -> None:
        """The node has joined the log."""
        self._life = b"%b%x" % (self.store.identity.encode(), self.store.life)
        self._is_open = True
        self.failure = None
        self.written_at = time.monotonic()
        self._schedule()

    async def ask(self, question: Callable[[], Found]) -> Found:
        """Ask the store about nodes and commands, which must not wait behind readers of events."""
        if self._is_closed:
            raise Unavailable("this node is stopping", retryAfter=1)
        return await ask(self._asking, self._loop, question)

    async def now(self) -> int:
        self.channel.skip_to(await self.ask(self.store.horizon))
        return self.channel.committed

    async def flush(self) -> None:
        if self._is_open:
            await super().flush()

    async def close(self) -> None:
        self._is_closed = True
        self._asking.shutdown(wait=False)
        await super().close()

    # -- appending ----------------------------------------------------------------------------

    def append(self, end: End, append: Append) -> None:
        while len(append.drafts) > MAX_PIECES:
            # One write cannot hold them all. The first ones are not reported before the last are written.
            self.append_pieces(end, append.drafts[:MAX_PIECES])
            append = msgspec.structs.replace(append, drafts=append.drafts[MAX_PIECES:])
        super().append(end, append)

    def append_pieces(self, end: End, drafts: Sequence[Draft]) -> None:
        for start in range(0, len(drafts), MAX_PIECES):
            super().append_pieces(end, drafts[start : start + MAX_PIECES])

    # -- writing ------------------------------------------------------------------------------

    def _schedule(self) -> None:
        if self._is_open:
            super()._schedule()

    def _write(self) -> None:
        if self._is_open:
            if not self._is_frozen:  # else an earlier attempt may be the one that is found written
                self._began = time.monotonic()
            if self._patience is None:
                self._patience = self._loop.call_later(PATIENCE_SECONDS, self._check_time)
            super()._write()

    def _write_group(self) -> None:
        super()._write_group()
        # A slow database gets fewer and larger writes.
        self._gather = max(self._gather, min(self.write_seconds, MAX_GATHER_SECONDS))

    def _written(self, outcome: int | Exception) -> None:
        if isinstance(outcome, int):
            self.written_at, self.written_to = time.monotonic(), outcome
            self.write_seconds = self.written_at - self._began
            self.on_renewed(self._began)
        elif self._is_frozen and not isinstance(outcome, DEFINITE):
            self._loop.call_later(RETRY_SECONDS, self._write)
            return
        self._is_frozen = self._is_overdue = False
        super()._written(outcome)

    def _failed(self, group: Group, error: Exception) -> None:
        if isinstance(error, OutcomeUnknown):
            self._freeze(group, error)
        elif isinstance(error, LogWentBack):
            self._stop(group, error)
        elif not isinstance(error, Fenced):
            super()._failed(group, error)
        elif error.session_ids is None:
            self._lose_everything()
        else:
            self._lose(group, error.session_ids)

    def _freeze(self, group: Group, error: Exception) -> None:
        """Later offers are refused, because no one knows when they could be written."""
        self._is_frozen = True
        self._loop.call_later(RETRY_SECONDS, self._write)
        self._refuse(error, self._group)

    def require_known(self) -> None:
        """Refuse a request at once while no one knows what became of those before it."""
        if self._is_frozen or self._is_overdue:
            raise self.unavailable()

    def _check_time(self) -> None:
        """Notify the callers of a write that has taken too long, and check again while one is on its way."""
        self._patience = None
        group = self._writing
        if group is None or not self._is_open:
            return
        left = self._began + PATIENCE_SECONDS - time.monotonic()
        if left <= 0:
            if not self._is_overdue:
                self._is_overdue = True
                self._refuse(Unavailable("the database does not answer"), self._group)
            self.on_uncertain(group.ends())
        self._patience = self._loop.call_later(left if left > 0 else PATIENCE_SECONDS, self._check_time)

    def _lose(self, group: Group, session_ids: frozenset[str]) -> None:
        """Other nodes run these sessions: write the rest without them."""
        for end in group.ends():
            if end.session_id in session_ids:
                self._reduce_backlog(group.take_out(end).size + self._group.take_out(end).size)
                _tell_lost(end)
        self._write()

    def _lose_everything(self) -> None:
        logger.error("another node has fenced this one, and may run its sessions")
        self._is_open = False
        self.failure = "this node was fenced and joins the log again"
        groups = [*filter(None, [self._writing]), *self._parts, self._group]
        self._writing, self._group = None, Group()
        self._parts.clear()
        self._reduce_backlog(sum(group.size for group in groups))
        for end in dict.fromkeys(end for group in groups for end in group.ends()):
            _tell_lost(end)
        self.on_fenced()

    def _stop(self, group: Group, error: LogWentBack) -> None:
        self._is_open = False
        self._refuse(error, self._group, group)
        self.on_went_back(str(error))

    # -- showing what is written --------------------------------------------------------------

    def _show_all(self, entries: list[Entry]) -> None:
        """Left to the follower: only the store knows the order in which nodes have written."""


def _tell_lost(end: End) -> None:
    if end.listener is not None:
        end.listener.lost(moved_away(end.session_id))
