"""The log: stamps events, commits them in groups, and only then shows them.

One place invents sequence, position, id and time. A group is whatever arrived while the group before it was being committed; pieces
of a stream, which nobody acts on, wait a few milliseconds for more of their kind. When a group is written, its rows are shown to
readers, then what clients are told of its sessions is swapped, and then the sessions hear that it is done: all in one breath.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Protocol

import msgspec

from ..agents.scribe import Draft
from ..errors import SandboxAgentError, Unavailable
from ..schema.world import moment
from ..session.effects import Append
from ..session.told import Told
from ..store.base import Announce, Bury, EventRow, ImpossibleChange, Store
from .channel import Channel, frame_of, news_frame
from .group import Entry, Group, News, StoreBlob, Writer, Writing
from .reading import Reading

logger = logging.getLogger("sandbox_agent.log")

BACKLOG_BYTES = 8 << 20
RETRY_SECONDS = 0.25
# A commit and its delivery cost as much as forty deltas. Pieces of streams therefore wait for company: 20 updates a second of each
# stream look fluent, and twenty models at full speed cost a fifth less than with 50. Floods are passed on more often, in groups
# of a size that readers take at once.
GATHER_SECONDS = 0.020
GATHER_SECONDS_OF_FEW = 0.050
FEW_BYTES = 32 << 10
MOST_MIDDLES = 100

_encode = msgspec.json.Encoder().encode


class Listener(Protocol):
    """A session, as the log sees it."""

    def committed(self, number: int) -> None: ...

    def refused(self, number: int, problem: SandboxAgentError) -> None: ...

    def stalled(self, problem: SandboxAgentError) -> None: ...

    def lost(self, error: Exception) -> None:
        """What it did can never be written, by a fault of ours: only the store knows how it stands."""


class End:
    """One session's end of the log: where its rows go, and what is committed of it."""

    def __init__(self, session_id: str, folder: str, sequence: int, told: Told | None) -> None:
        self.session_id = session_id
        self.folder = folder
        self.sequence = sequence
        """Of the last row that was stamped."""
        self.told = told
        """What clients are told: true of what is committed, and of nothing else. None before the session exists."""
        self.channel = Channel(sequence, ended=told is not None and told.record.ended)
        self.listener: Listener | None = None
        self.announced: object = None
        """What the readers of all sessions know, or will once the last append is written."""
        self._name = _encode(session_id)
        self._middles: dict[tuple[str | None, str, str], bytes] = {}
        self._last_raw: bytes | None = None
        self._last_raw_sequence = 0

    @property
    def committed(self) -> int:
        return self.channel.committed

    def stamp(
        self, drafts: Sequence[Draft], position: int, identity: bytes, moment: bytes
    ) -> tuple[list[EventRow], int]:
        """Rows from this position on, and how many bytes they have."""
        sequence, middles, size = self.sequence, self._middles, 0
        rows = []
        for draft in drafts:
            position += 1
            sequence += 1
            middle = middles.get((draft.native_session_id, draft.source, draft.type))
            body = b'{"event_id":"evt_%b%012x","sequence":%d,"time":"%b%b%b,"raw":null}' % (
                identity,
                position,
                sequence,
                moment,
                middle or self._middle(draft),
                draft.body,
            )
            raw = draft.raw
            size += len(body)
            if raw is None:
                rows.append(EventRow(position, sequence, body))
            elif raw is self._last_raw:
                rows.append(EventRow(position, sequence, body, None, self._last_raw_sequence))
            else:
                self._last_raw, self._last_raw_sequence = raw, sequence
                size += len(raw)
                rows.append(EventRow(position, sequence, body, raw))
        # One frame's events come together; a frame may be large, and nobody needs it after them.
        self._last_raw = None
        self.sequence = sequence
        return rows, size

    def take_back(self, entry: Entry) -> None:
        """An offer was refused: its rows were the last ones, and their sequences are free again."""
        self.sequence -= len(entry.rows)
        self.announced = entry.announced_before

    def _middle(self, draft: Draft) -> bytes:
        """The part between time and data: one of a handful in a session, so each is made once."""
        middle = (
            b'","session_id":%b,"native_session_id":%b,"source":"%b","synthetic":%b,"type":"%b","data":'
        ) % (
            self._name,
            _encode(draft.native_session_id),
            draft.source.encode(),
            b"true" if draft.source == "daemon" else b"false",
            draft.type.encode(),
        )
        if len(self._middles) >= MOST_MIDDLES:  # an agent may give its conversation a new id with every word
            self._middles.clear()
        self._middles[draft.native_session_id, draft.source, draft.type] = middle
        return middle


class _Waiting:
    """Stands in for a session that is gone."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.done: asyncio.Future[None] = loop.create_future()

    def committed(self, number: int) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def refused(self, number: int, problem: SandboxAgentError) -> None:
        pass  # whoever asked for it was told otherwise

    def stalled(self, problem: SandboxAgentError) -> None:
        if not self.done.done():
            self.done.set_exception(problem)

    def lost(self, error: Exception) -> None:
        self.committed(0)


class Log(Reading):
    def __init__(
        self,
        store: Store,
        store_blob: StoreBlob = lambda folder, name, content: None,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        writer: Writing | None = None,
    ) -> None:
        super().__init__(store, loop)
        self.failure: str | None = None
        """Why the store cannot be written right now; None when it can."""
        self.committed_events = 0
        self._position = store.position()
        self._identity = store.identity.encode()
        self._writer = writer or Writer(store, store_blob, self._loop)
        self._group = Group()
        self.backlog = 0
        """Bytes that wait to be written. Whoever can wait should, above `BACKLOG_BYTES`."""
        self._drained: list[Callable[[], None]] = []
        self._writing: Group | None = None
        self._parts: deque[Group] = deque()
        self._apart: list[Entry] | None = None
        """What was written of a group that had to be written in parts; shown together, in the order of positions."""
        self._gather = GATHER_SECONDS_OF_FEW
        self._gathered_at = 0.0
        """When pieces of streams were last written by themselves: the first after a prompt need not wait for others."""
        self._is_next = False
        self._gathering: asyncio.TimerHandle | None = None
        self._all_written: asyncio.Future[None] | None = None

    # -- appending ----------------------------------------------------------------------------

    def append(self, end: End, append: Append) -> None:
        """Enter all of it in one step. Its listener hears what becomes of it, never before this returns."""
        if self.failure is not None and append.refusable:
            self._loop.call_soon(self._tell_refused, end, append.number)
            return
        rows, size = end.stamp(append.drafts, self._position, self._identity, moment())
        self._position += len(rows)
        entry = Entry(
            end,
            rows,
            size,
            append.number,
            append.changes,
            append.told,
            None,
            append.refusable,
            append.blobs or None,
            end.announced,
        )
        self._announce(entry, append.deletes)
        self.backlog += entry.size
        self._group.add(entry)
        if self.failure is not None:
            self._loop.call_soon(self._tell_stalled, end)
        self._schedule()

    def append_pieces(self, end: End, drafts: Sequence[Draft]) -> None:
        """Enter pieces of a stream: nothing follows from them, and nobody waits for them."""
        rows, size = end.stamp(drafts, self._position, self._identity, moment())
        self._position += len(rows)
        self.backlog += size
        self._group.add_pieces(end, rows, size)
        if self._writing is None and not self._is_next and self._gathering is None:
            self._schedule()

    def _announce(self, entry: Entry, deletes: bool) -> None:
        """Tell those who follow all sessions, where there is something new to tell."""
        end, told = entry.end, entry.told
        if deletes and end.told is not None:
            info = msgspec.to_builtins(end.told.info(end.sequence))
            body = _encode({**info, "deleted": True})
        elif told is not None and told.news != end.announced:
            body = _encode(told.info(end.sequence))
            end.announced = told.news
        else:
            return
        self._position += 1
        position = self._position
        change = Bury(position, body) if deletes else Announce(end.session_id, position, body)
        entry.news = News(position, body, change)

    async def written(self, end: End) -> None:
        """Wait until all that was appended to an end that has no session any more is written, or never will be."""
        waiting = end.listener = _Waiting(self._loop)
        self.append(end, Append(0, [], (), None, False, {}))
        await waiting.done

    def require_writable(self) -> None:
        if self.failure is not None:
            raise self.unavailable()

    def unavailable(self) -> Unavailable:
        return Unavailable(
            f"the log cannot be written: {self.failure}", retryAfter=5, logFailure=self.failure
        )

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

    # -- writing ------------------------------------------------------------------------------

    def _schedule(self) -> None:
        """See to it that the group is written, but not before what is said in the same breath is in it."""
        if self._writing is not None or self._is_next or not self._group.entries:
            return
        wait = self._gathered_at + self._gather - self._loop.time()
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
        if self._group.urgent:
            self._gathered_at = (
                0.0  # what follows may be the first piece of an answer, which somebody waits for
            )
        else:
            self._gathered_at = self._loop.time()
            self._gather = GATHER_SECONDS_OF_FEW if self._group.size < FEW_BYTES else GATHER_SECONDS
        self._writing, self._group = self._group, Group()
        self._write()

    def _write(self) -> None:
        assert self._writing is not None
        self._writer.write(self._writing, self._written)

    def _written(self, error: Exception | None) -> None:
        group = self._writing
        assert group is not None
        if isinstance(error, ImpossibleChange):
            self._set_apart(group, error)
        elif error is not None:
            self._loop.call_later(RETRY_SECONDS, self._write)
            self._refuse(group, error)
            return
        elif self._apart is not None:
            self._apart += group.entries
            self._written_off(group)
        else:
            self._written_off(group)
            self._show(group.entries)
        self._writing = None
        if self._parts:
            self._writing = self._parts.popleft()
            self._write()
            return
        if self._apart is not None:
            entries, self._apart = self._apart, None
            self._show(entries)
        self._schedule()
        if self._all_written is not None and not self._group.entries:
            self._all_written.set_result(None)
            self._all_written = None

    def _set_apart(self, group: Group, error: ImpossibleChange) -> None:
        """One session is to blame, by a fault of ours: the others are written without it, and it is given up."""
        ends = group.ends()
        if len(ends) > 1:
            self._parts.extend(group.take_out(end) for end in ends)
            self._apart = []
            return
        for end in ends:
            logger.error(
                "what session %s did cannot be written; it is loaded again", end.session_id, exc_info=error
            )
            # What it did after that has no place in the log either.
            self.backlog -= group.size + self._group.take_out(end).size
            if end.listener is not None:
                end.listener.lost(error)

    def _refuse(self, group: Group, error: Exception) -> None:
        """The disk is full, read-only or broken: refuse what nobody was promised, keep the rest and try again."""
        if self.failure is None:
            logger.error("the log cannot be written: %s", error)
        self.failure = str(error) or type(error).__name__
        # What was appended later is taken back first.
        refused = [*self._group.refuse(), *group.refuse()]
        waiting = dict.fromkeys(
            entry.end for part in (group, self._group) for entry in part.entries if entry.number is not None
        )
        self.backlog -= sum(entry.size for entry in refused)
        for entry in refused:
            assert entry.number is not None
            self._tell_refused(entry.end, entry.number)
        for end in waiting:
            self._tell_stalled(end)

    def _tell_refused(self, end: End, number: int) -> None:
        if end.listener is not None:
            end.listener.refused(number, self.unavailable())

    def _tell_stalled(self, end: End) -> None:
        if end.listener is not None and self.failure is not None:
            end.listener.stalled(self.unavailable())

    def _written_off(self, group: Group) -> None:
        if self.failure is not None:
            logger.warning("the log can be written again")
            self.failure = None
        self.backlog -= group.size
        if self._drained and self.backlog <= BACKLOG_BYTES // 2:
            waiting, self._drained = self._drained, []
            for callback in waiting:
                self._loop.call_soon(callback)  # a fault there is not the log's

    # -- showing what is written --------------------------------------------------------------

    def _show(self, entries: list[Entry]) -> None:
        """Rows, then what clients are told, then the sessions hear of it."""
        rows: dict[End, list[EventRow]] = {}
        settled: dict[End, int] = {}
        for entry in entries:
            if entry.rows:
                known = rows.get(entry.end)
                rows[entry.end] = entry.rows if known is None else known + entry.rows
            if entry.number is not None:
                settled[entry.end] = entry.number
        ending = {entry.end for entry in entries if entry.told is not None and entry.told.record.ended}
        for end, written in rows.items():
            self.committed_events += len(written)
            channel = end.channel
            ended = channel.ended or end in ending
            if channel.readers:
                frames = [
                    (row.sequence, b"id: %d\ndata: %b\n\n" % (row.sequence, row.body)) for row in written
                ]
                channel.publish(frames, ended=ended)
            else:
                channel.committed, channel.ended = written[-1].sequence, ended
        self._show_all(entries, rows)
        for entry in entries:
            if entry.told is not None:
                entry.end.told = entry.told
        for end, number in settled.items():
            if end.listener is not None:
                end.listener.committed(number)

    def _show_all(self, entries: list[Entry], rows: dict[End, list[EventRow]]) -> None:
        news = [entry.news for entry in entries if entry.news is not None]
        if self.channel.readers:
            frames = [(row.position, frame_of(row.position, row.body)) for row in chain(*rows.values())]
            frames += [(one.position, news_frame(one.position, one.body)) for one in news]
            frames.sort()
            if frames:
                self.channel.publish(frames)
        else:
            ends = [written[-1].position for written in rows.values()]
            ends += [one.position for one in news]
            self.channel.committed = max(ends, default=self.channel.committed)
