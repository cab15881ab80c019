"""The log: stamps events, commits them in groups, and only then shows them.

This is the only place that assigns sequence, id and time; the store assigns positions. A group is whatever arrived while the previous group was being
committed; deltas, which trigger nothing, wait a few milliseconds for more. When a group is written, its rows are published to
readers, then the views of its sessions are replaced, then the sessions are notified, all in one step of the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import msgspec

from ..agents.scribe import Draft
from ..errors import SandboxAgentError, Unavailable
from ..schema.world import moment
from ..session.effects import Append
from ..session.view import View
from ..store.base import Announce, Bury, EventRow, ImpossibleChange, Store
from .channel import Channel, Numbered, frame_of, news_frame
from .group import Entry, Group, StoreBlob, Writer, Writing
from .reading import Reading

logger = logging.getLogger("sandbox_agent.log")

BACKLOG_BYTES = 8 << 20
RETRY_SECONDS = 0.25
# A commit and its delivery cost as much as forty deltas, so deltas are batched: 20 updates a second per stream look smooth, and twenty
# models at full speed cost a fifth less than with 50. Floods are passed on more often, in groups that readers can take in one write.
GATHER_SECONDS = 0.020
SMALL_GROUP_GATHER_SECONDS = 0.050
SMALL_GROUP_BYTES = 32 << 10
MAX_FIXED_PARTS = 100
FINAL_NUMBER = 0
"""The number of the append behind all others of a dropped session. A session counts from 1."""

_encode = msgspec.json.Encoder().encode


class Listener(Protocol):
    """A session, as the log sees it."""

    def committed(self, number: int) -> None: ...

    def refused(self, number: int, problem: SandboxAgentError) -> None: ...

    def stalled(self, problem: SandboxAgentError) -> None: ...

    def lost(self, error: Exception) -> None:
        """Its appends were dropped: only the stored state can be trusted.

        A problem means that another node has the session; any other error is an internal one that made an append impossible.
        """


class End:
    """One session's end of the log: where its rows go, and what is committed."""

    def __init__(self, session_id: str, folder: str, sequence: int, view: View | None) -> None:
        self.session_id = session_id
        self.folder = folder
        self.sequence = sequence
        """The sequence of the last stamped row."""
        self.view = view
        """What clients see: the committed state and nothing else. None before the session exists."""
        self.channel = Channel(sequence, ended=view is not None and view.record.ended)
        self.listener: Listener | None = None
        self.announced: object = None
        """What was announced to the readers of all sessions, or will be once the last append is written."""
        self._name = _encode(session_id)
        self._fixed_parts: dict[tuple[str | None, str, str], bytes] = {}
        self._last_raw: bytes | None = None
        self._last_raw_sequence = 0

    @property
    def committed(self) -> int:
        return self.channel.committed

    def stamp(
        self, drafts: Sequence[Draft], stamped: int, life: bytes, moment: bytes
    ) -> tuple[list[EventRow], int]:
        """Rows, and their size in bytes. Event ids count on from `stamped`, the number of events that this life of the log has had."""
        sequence, fixed_parts, size = self.sequence, self._fixed_parts, 0
        rows = []
        for draft in drafts:
            stamped += 1
            sequence += 1
            fixed_part = fixed_parts.get((draft.native_session_id, draft.source, draft.type))
            body = b'{"event_id":"evt_%b%012x","sequence":%d,"time":"%b%b%b,"raw":null}' % (
                life,
                stamped,
                sequence,
                moment,
                fixed_part or self._fixed_part(draft),
                draft.body,
            )
            raw = draft.raw
            size += len(body)
            if raw is None:
                rows.append(EventRow(sequence, body))
            elif raw is self._last_raw:
                rows.append(EventRow(sequence, body, None, self._last_raw_sequence))
            else:
                self._last_raw, self._last_raw_sequence = raw, sequence
                size += len(raw)
                rows.append(EventRow(sequence, body, raw))
        # The events of a frame arrive together. Do not keep the frame afterwards: it may be large.
        self._last_raw = None
        self.sequence = sequence
        return rows, size

    def catch_up(self, view: View) -> None:
        """Another node has written; from here on, this one does. Readers get what they missed from the store."""
        self.view, self.announced, self.sequence = view, view.news, view.record.event_count
        self.channel.skip_to(self.sequence, ended=view.record.ended)

    def take_back(self, entry: Entry) -> None:
        """An offer was refused: its rows were the last ones, and their sequences are free again."""
        self.sequence -= len(entry.rows)
        self.announced = entry.announced_before

    def _fixed_part(self, draft: Draft) -> bytes:
        """The bytes between time and data. A session has only a handful of variants, so they are cached."""
        fixed_part = (
            b'","session_id":%b,"native_session_id":%b,"source":"%b","synthetic":%b,"type":"%b","data":'
        ) % (
            self._name,
            _encode(draft.native_session_id),
            draft.source.encode(),
            b"true" if draft.source == "daemon" else b"false",
            draft.type.encode(),
        )
        if len(self._fixed_parts) >= MAX_FIXED_PARTS:  # an agent may keep changing its native id
            self._fixed_parts.clear()
        self._fixed_parts[draft.native_session_id, draft.source, draft.type] = fixed_part
        return fixed_part


def moved_away(session_id: str) -> Unavailable:
    return Unavailable("another node has taken over this session", retryAfter=1, sessionId=session_id)


class _Waiting:
    """Stands in for a session that was dropped."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.done: asyncio.Future[None] = loop.create_future()

    def committed(self, number: int) -> None:
        # Earlier appends may be in an earlier group.
        if number == FINAL_NUMBER and not self.done.done():
            self.done.set_result(None)

    def refused(self, number: int, problem: SandboxAgentError) -> None:
        pass  # its caller already has another answer

    def stalled(self, problem: SandboxAgentError) -> None:
        if not self.done.done():
            self.done.set_exception(problem)

    def lost(self, error: Exception) -> None:
        self.committed(FINAL_NUMBER)


class Log(Reading):
    def __init__(
        self,
        store: Store,
        store_blob: StoreBlob = lambda session_id, folder, name, content: None,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        writer: Writing | None = None,
    ) -> None:
        super().__init__(store, loop)
        self.failure: str | None = None
        """Why the store cannot be written right now; None when it can."""
        self.committed_events = 0
        self._stamped = 0
        self._life = b"%b%x" % (store.identity.encode(), store.life)
        self._writer = writer or Writer(store, store_blob, self._loop)
        self._group = Group()
        self.backlog = 0
        """Bytes waiting to be written. Above `BACKLOG_BYTES`, producers that can wait should."""
        self._drained: list[Callable[[], None]] = []
        self._writing: Group | None = None
        self._parts: deque[Group] = deque()
        self._gather = SMALL_GROUP_GATHER_SECONDS
        self._gathered_at = 0.0
        """When deltas were last written on their own: the first one after a prompt does not wait for others."""
        self._is_next = False
        self._gathering: asyncio.TimerHandle | None = None
        self._all_written: asyncio.Future[None] | None = None

    # -- appending ----------------------------------------------------------------------------

    def append(self, end: End, append: Append) -> None:
        """Append atomically. The listener is notified of the outcome, never before this returns."""
        if self.failure is not None and append.refusable:
            self._loop.call_soon(self._tell_refused, end, append.number)
            return
        rows, size = end.stamp(append.drafts, self._stamped, self._life, moment())
        self._stamped += len(rows)
        entry = Entry(
            end,
            rows,
            size,
            append.number,
            append.changes,
            append.view,
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
        """Append deltas: they trigger nothing, and no one waits for them."""
        rows, size = end.stamp(drafts, self._stamped, self._life, moment())
        self._stamped += len(rows)
        self.backlog += size
        self._group.add_pieces(end, rows, size)
        if self._writing is None and not self._is_next and self._gathering is None:
            self._schedule()

    def _announce(self, entry: Entry, deletes: bool) -> None:
        """Announce changes to the readers of all sessions."""
        end, view = entry.end, entry.view
        if deletes and end.view is not None:
            info = msgspec.to_builtins(end.view.info(end.sequence))
            body = _encode({**info, "deleted": True})
        elif view is not None and view.news != end.announced:
            body = _encode(view.info(end.sequence))
            end.announced = view.news
        else:
            return
        entry.news = Bury(body) if deletes else Announce(end.session_id, body)

    async def written(self, end: End) -> None:
        """Wait until everything appended to the end of a dropped session is written, or never will be."""
        waiting = end.listener = _Waiting(self._loop)
        self.append(end, Append(FINAL_NUMBER, [], (), None, False, {}))
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

    async def flush(self) -> None:
        """Write what waits. A full disk must not keep the daemon from stopping."""
        if self._writing is not None or self._group.entries:
            self._all_written = self._loop.create_future()
            self._group.urgent = True
            self._schedule()
            await asyncio.wait([self._all_written], timeout=5.0)

    async def close(self) -> None:
        await self.flush()
        await self.stop_reading()
        self._writer.close()
        self.store.close()

    # -- writing ------------------------------------------------------------------------------

    def _schedule(self) -> None:
        """Schedule the write of the group, after everything from the same step of the event loop has joined it."""
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
            self._gathered_at = 0.0  # the next delta may be the first of a reply, which a user waits for
        else:
            self._gathered_at = self._loop.time()
            self._gather = (
                SMALL_GROUP_GATHER_SECONDS if self._group.size < SMALL_GROUP_BYTES else GATHER_SECONDS
            )
        self._writing, most = self._group, self.store.most_events
        self._group = Group() if most is None else self._writing.beyond(most)
        self._write()

    def _write(self) -> None:
        assert self._writing is not None
        self._writer.write(self._writing, self._written)

    def _written(self, outcome: int | Exception) -> None:
        group = self._writing
        assert group is not None
        if isinstance(outcome, int):
            self._note_success(group)
            group.place(outcome)
            self._show(group.entries)
        elif isinstance(outcome, ImpossibleChange):
            self._drop_impossible(group, outcome)
        else:
            self._failed(group, outcome)
            return
        self._write_next()

    def _write_next(self) -> None:
        """The group is settled: continue with the rest of it, or with the next one."""
        self._writing = None
        if self._parts:
            self._writing = self._parts.popleft()
            self._write()
            return
        self._schedule()
        if self._all_written is not None and not self._group.entries:
            self._all_written.set_result(None)
            self._all_written = None

    def _drop_impossible(self, group: Group, error: ImpossibleChange) -> None:
        """One session has an impossible change, by an internal error: write the others without it, and drop that session."""
        ends = group.ends()
        if len(ends) > 1:
            self._parts.extend(group.take_out(end) for end in ends)
            return
        for end in ends:
            logger.error(
                "an append of session %s cannot be written; the session is reloaded",
                end.session_id,
                exc_info=error,
            )
            # Its later appends cannot be written either.
            self.backlog -= group.size + self._group.take_out(end).size
            if end.listener is not None:
                end.listener.lost(error)

    def _failed(self, group: Group, error: Exception) -> None:
        """The disk is full, read-only or broken: refuse offers, keep facts and try again."""
        self._loop.call_later(RETRY_SECONDS, self._write)
        # Take back later appends first.
        self._refuse(error, self._group, group)

    def _refuse(self, error: Exception, *groups: Group) -> None:
        if self.failure is None:
            logger.error("the log cannot be written: %s", error)
        self.failure = str(error) or type(error).__name__
        refused = [entry for group in groups for entry in group.refuse()]
        waiting = dict.fromkeys(
            entry.end for group in groups for entry in group.entries if entry.number is not None
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

    def _note_success(self, group: Group) -> None:
        if self.failure is not None:
            logger.warning("the log can be written again")
            self.failure = None
        self._reduce_backlog(group.size)

    def _reduce_backlog(self, size: int) -> None:
        """This many bytes no longer wait to be written."""
        self.backlog -= size
        if self._drained and self.backlog <= BACKLOG_BYTES // 2:
            waiting, self._drained = self._drained, []
            for callback in waiting:
                self._loop.call_soon(callback)  # a failure there must not affect the log

    # -- showing what is written --------------------------------------------------------------

    def _show(self, entries: list[Entry]) -> None:
        """Publish the rows, then replace the views, then notify the sessions."""
        rows: dict[End, list[EventRow]] = {}
        settled: dict[End, int] = {}
        for entry in entries:
            if entry.rows:
                known = rows.get(entry.end)
                rows[entry.end] = entry.rows if known is None else known + entry.rows
            if entry.number is not None:
                settled[entry.end] = entry.number
        ending = {entry.end for entry in entries if entry.view is not None and entry.view.record.ended}
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
        self._show_all(entries)
        for entry in entries:
            if entry.view is not None:
                entry.end.view = entry.view
        for end, number in settled.items():
            if end.listener is not None:
                end.listener.committed(number)

    def _show_all(self, entries: list[Entry]) -> None:
        """Publish rows and news to the readers of all sessions."""
        last = next((entry for entry in reversed(entries) if entry.numbers), None)
        if last is None:
            return
        if self.channel.readers:
            self.channel.publish([frame for entry in entries for frame in _frames_of(entry)])
        else:
            self.channel.committed = last.position + last.numbers - 1


def _frames_of(entry: Entry) -> Iterator[Numbered]:
    for position, row in enumerate(entry.rows, entry.position):
        yield position, frame_of(position, row.body)
    if entry.news is not None:
        position = entry.position + len(entry.rows)
        yield position, news_frame(position, entry.news.body)
