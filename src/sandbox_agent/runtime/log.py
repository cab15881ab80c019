"""The log: stamps events, encodes them once, commits them in groups, and only then wakes readers.

One place invents sequence, position, id and time. A group is whatever arrived while the group before it was being
committed; pieces of a stream, which nobody acts on, wait a few milliseconds for more of their kind. Readers read the store;
a channel keeps the part of it that was committed last, so that readers who keep up share the same bytes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import chain
from operator import attrgetter

import msgspec

from ..agents.scribe import Draft
from ..errors import Internal, Unavailable
from ..schema.events import SessionEnded
from ..store.base import AppendEvents, Change, EventRow, ImpossibleChange, Store
from .channel import Channel, frame_of
from .group import Entry, Group, Writer
from .reading import Reading

logger = logging.getLogger("sandbox_agent.log")

BACKLOG_BYTES = 8 << 20
RETRY_SECONDS = 0.25
GATHER_SECONDS = 0.020  # a commit and its delivery cost as much as forty deltas; nobody sees 20 ms

_encode = msgspec.json.Encoder().encode
_position = attrgetter("position")


_second = (0, "")


def now() -> str:
    """The time as events carry it. The part up to the second is formatted once a second."""
    global _second
    milliseconds = time.time_ns() // 1_000_000
    whole, rest = divmod(milliseconds, 1000)
    if whole != _second[0]:
        _second = whole, datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{_second[1]}.{rest:03d}Z"


class SessionLog:
    """One session's end of the log."""

    def __init__(self, log: Log, session_id: str, sequence: int, *, ended: bool = False) -> None:
        self.session_id = session_id
        self.sequence = sequence
        self.channel = Channel(sequence, ended=ended)
        self.ends_at: int | None = None
        """The sequence of the session's end, behind which nothing comes."""
        self._log = log
        self._name = _encode(session_id)
        self._middles: dict[tuple[str | None, str, str], bytes] = {}
        self._last_raw: bytes | None = None
        self._last_raw_sequence = 0

    def append(
        self, drafts: Sequence[Draft], changes: Sequence[Change], *, urgent: bool = True
    ) -> asyncio.Future[None]:
        """Stamp and encode; the future is done when it is on disk. Readers are woken by then."""
        return self._log.append(self, drafts, changes, urgent=urgent)

    async def commit(self, changes: Sequence[Change]) -> None:
        """Write changes that the caller can do without: refused with `Unavailable` when the disk refuses them.

        Together with what was appended before it in the same breath: both are in one transaction when this returns.
        """
        await self._log.commit(self.session_id, changes)

    def _middle(self, draft: Draft) -> bytes:
        """The part between time and data: one of a handful in a session, so each is made once."""
        key = (draft.native_session_id, draft.source, draft.type)
        middle = self._middles.get(key)
        if middle is None:
            middle = self._middles[key] = (
                b'","session_id":%b,"native_session_id":%b,"source":"%b","synthetic":%b,"type":"%b","data":'
            ) % (
                self._name,
                _encode(draft.native_session_id),
                draft.source.encode(),
                b"true" if draft.source == "daemon" else b"false",
                draft.type.encode(),
            )
        return middle

    def forget_raw(self) -> None:
        """One frame's events come together; a frame may be large, and nobody needs it after them."""
        self._last_raw = None

    def stamp(self, draft: Draft, position: int, identity: bytes, moment: bytes) -> EventRow:
        self.sequence += 1
        if draft.data.TYPE == SessionEnded.TYPE:
            self.ends_at = self.sequence
        body = b'{"event_id":"evt_%b%012x","sequence":%d,"time":"%b%b%b,"raw":null}' % (
            identity,
            position,
            self.sequence,
            moment,
            self._middle(draft),
            draft.body,
        )
        raw = draft.raw
        if raw is None:
            return EventRow(position, self.sequence, body)
        if raw is self._last_raw:
            return EventRow(position, self.sequence, body, None, self._last_raw_sequence)
        self._last_raw, self._last_raw_sequence = raw, self.sequence
        return EventRow(position, self.sequence, body, raw)


class Log(Reading):
    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.failure: str | None = None
        """Why the store cannot be written right now; None when it can."""
        self.committed_events = 0
        self._position = store.position()
        self._identity = store.identity.encode()
        self._writer = Writer(store, self._loop)
        self._group = Group()
        self._backlog = 0
        self._drained: list[Callable[[], None]] = []
        self._writing: Group | None = None
        self._parts: deque[Group] = deque()
        self._apart: dict[SessionLog, list[EventRow]] | None = None
        """What was written of a group that had to be written in parts; published together, in the order of positions."""
        self.on_lost: Callable[[SessionLog], None] = lambda session: None
        """Is told of a session whose events could not be written, by a fault of ours: only the store knows its state."""
        self._gathered_at = 0.0
        """When pieces of streams were last written by themselves: the first after a prompt need not wait for others."""
        self._is_next = False
        self._gathering: asyncio.TimerHandle | None = None
        self._all_written: asyncio.Future[None] | None = None

    # -- writing ------------------------------------------------------------------------------

    def session(self, session_id: str, sequence: int, *, ended: bool = False) -> SessionLog:
        return SessionLog(self, session_id, sequence, ended=ended)

    def append(
        self, session: SessionLog, drafts: Sequence[Draft], changes: Sequence[Change], *, urgent: bool = True
    ) -> asyncio.Future[None]:
        if drafts:
            changes = [*self._stamp(session, drafts), *changes]
        return self._enter(session.session_id, changes, refusable=False, urgent=urgent)

    def _stamp(self, session: SessionLog, drafts: Sequence[Draft]) -> Sequence[Change]:
        """Put the events among those that the group has of this session; the change that writes them, if it is a new one."""
        group, moment = self._group, now().encode()
        rows = group.rows.get(session)
        begun = rows is not None
        if rows is None:
            rows = group.rows[session] = []
        size = 0
        for draft in drafts:
            self._position += 1
            row = session.stamp(draft, self._position, self._identity, moment)
            rows.append(row)
            size += len(row.body) + len(row.raw or b"")
        session.forget_raw()
        group.size += size
        self._backlog += size
        return () if begun else (AppendEvents(session.session_id, rows),)

    async def commit(self, session_id: str, changes: Sequence[Change]) -> None:
        """See `SessionLog.commit`."""
        if self.failure is not None:
            raise self._unavailable()
        await self._enter(session_id, changes, refusable=True, urgent=True)

    def require_writable(self) -> None:
        if self.failure is not None:
            raise self._unavailable()

    @property
    def congested(self) -> bool:
        """More waits to be written than should be in memory: whoever can wait should."""
        return self._backlog > BACKLOG_BYTES

    def when_drained(self, callback: Callable[[], None]) -> None:
        self._drained.append(callback)

    async def close(self) -> None:
        if self._writing is not None or self._group.entries:
            self._all_written = self._loop.create_future()
            self._group.urgent = True
            self._schedule()
            # A disk that stays full must not keep the daemon from stopping.
            await asyncio.wait([self._all_written], timeout=5.0)
        await self.stop_reading()
        self._writer.close()
        self.store.close()

    def _unavailable(self) -> Unavailable:
        return Unavailable(f"the log cannot be written: {self.failure}", retryAfter=5)

    def _enter(
        self, session_id: str, changes: Sequence[Change], *, refusable: bool, urgent: bool
    ) -> asyncio.Future[None]:
        done: asyncio.Future[None] = self._loop.create_future()
        self._group.entries.append(Entry(session_id, changes, done, refusable))
        self._group.urgent = self._group.urgent or urgent
        self._schedule()
        return done

    def _schedule(self) -> None:
        """See to it that the group is written, but not before what is said in the same breath is in it."""
        if self._writing is not None or self._is_next or not self._group.entries:
            return
        wait = self._gathered_at + GATHER_SECONDS - self._loop.time()
        if self._group.urgent or wait <= 0:
            if self._gathering is not None:
                self._gathering.cancel()
            self._is_next = True
            self._loop.call_soon(self._write_group)
        elif self._gathering is None:
            self._gathering = self._loop.call_later(wait, self._write_group)

    def _write_group(self) -> None:
        self._gathering = None
        self._is_next = False
        if not self._group.urgent:
            self._gathered_at = self._loop.time()
        self._writing, self._group = self._group, Group()
        self._write()

    def _write(self) -> None:
        assert self._writing is not None
        self._writer.write(self._writing.changes(), self._written)

    def _written(self, error: Exception | None) -> None:
        group = self._writing
        assert group is not None
        if isinstance(error, ImpossibleChange):
            self._set_apart(group, error)
        elif error is not None:
            self._refuse(group, error)
            self._loop.call_later(RETRY_SECONDS, self._write)
            return
        else:
            self._committed(group)
        self._writing = None
        if self._parts:
            self._writing = self._parts.popleft()
            self._write()
            return
        if self._apart is not None:
            written, self._apart = self._apart, None
            self._publish(written)
        self._schedule()
        if self._all_written is not None and not self._group.entries:
            self._all_written.set_result(None)
            self._all_written = None

    def _set_apart(self, group: Group, error: ImpossibleChange) -> None:
        """One session is to blame, by a fault of ours: the others are written without it, and it is given up."""
        sessions = group.sessions()
        if len(sessions) > 1:
            self._parts.extend(group.take_out(session_id) for session_id in sorted(sessions))
            self._apart = {}
            return
        [session_id] = sessions
        logger.error("what session %s did cannot be written; it is loaded anew", session_id, exc_info=error)
        lost = list(group.rows)
        # What it did after that has no place in the log either.
        for part in (group, self._group.take_out(session_id)) if lost else (group,):
            self._backlog -= part.size
            for entry in part.entries:
                entry.fail(Internal(f"this cannot be written: {error}", sessionId=session_id))
        for session in lost:
            self.on_lost(session)

    def _refuse(self, group: Group, error: Exception) -> None:
        """The disk is full, read-only or broken: refuse what nobody was promised, keep the rest and try again."""
        if self.failure is None:
            logger.error("the log cannot be written: %s", error)
        self.failure = str(error) or type(error).__name__
        group.refuse(self._unavailable)
        self._group.refuse(self._unavailable)

    def _committed(self, group: Group) -> None:
        if self.failure is not None:
            logger.warning("the log can be written again")
            self.failure = None
        if self._apart is None:
            self._publish(group.rows)
        else:
            self._apart.update(group.rows)
        for entry in group.entries:
            if not entry.done.done():
                entry.done.set_result(None)
        self._backlog -= group.size
        if self._drained and self._backlog <= BACKLOG_BYTES // 2:
            waiting, self._drained = self._drained, []
            for callback in waiting:
                callback()

    def _publish(self, written: dict[SessionLog, list[EventRow]]) -> None:
        for session, rows in written.items():
            self.committed_events += len(rows)
            channel, last = session.channel, rows[-1].sequence
            if channel.readers:
                frames = [(row.sequence, frame_of(row.sequence, row.body)) for row in rows]
                channel.publish(frames, ended=last == session.ends_at)
            else:
                channel.committed, channel.ended = last, last == session.ends_at
        if written and self.channel.readers:
            rows = sorted(chain.from_iterable(written.values()), key=_position)
            self.channel.publish([(row.position, frame_of(row.position, row.body)) for row in rows])
        else:
            ends = (rows[-1].position for rows in written.values())
            self.channel.committed = max(ends, default=self.channel.committed)
