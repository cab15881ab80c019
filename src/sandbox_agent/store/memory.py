"""The reference store: dictionaries in memory, gone with the process."""

from __future__ import annotations

import secrets as random
import threading
from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from ..schema.events import Usage
from ..schema.usage import UsageGroup, UsageSum
from .base import (
    MAX_LEDGER_ROWS,
    MAX_TOMBSTONES,
    AddPending,
    Announce,
    AppendEvents,
    Bury,
    Change,
    DeleteSession,
    Dequeue,
    Enqueue,
    EventRow,
    KeyRow,
    LedgerRow,
    PendingRow,
    Probe,
    QueuedHead,
    QueuedMessage,
    RecordUsage,
    RememberCalls,
    RememberKey,
    ResolvePending,
    SaveSecrets,
    SaveSession,
    Secrets,
    SessionChange,
    SessionRecord,
    Store,
    StoredEvent,
    bounded,
    numbers_of,
)


class _Session:
    def __init__(self, ordinal: int, record: SessionRecord) -> None:
        self.ordinal = ordinal
        self.record = record
        self.secrets = Secrets()
        self.events: list[tuple[int, EventRow]] = []
        self.queue: dict[str, tuple[int, QueuedMessage]] = {}
        self.pending: dict[str, PendingRow | None] = {}  # None: answered
        self.keys: dict[str, KeyRow] = {}
        self.call_ids: dict[str, None] = {}
        self.news: tuple[int, bytes] | None = None


class MemoryStore(Store):
    def __init__(self) -> None:
        self.identity = random.token_hex(4)
        self.life = 1
        self._lock = threading.Lock()
        self._sessions: dict[str, _Session] = {}
        self._log: dict[int, tuple[str, EventRow]] = {}
        self._tombstones: dict[int, bytes] = {}
        self.ledger: deque[LedgerRow] = deque(maxlen=MAX_LEDGER_ROWS)
        self._ordinal = 0
        self._queue_ordinal = 0
        self._position = 0
        self._numbered = 0
        """The last number that was assigned, also to a change of a missing session."""

    def write(self, changes: Iterable[Change]) -> int:
        taken = list(changes)  # atomic: an iterable that fails midway fails here
        with self._lock:
            first = self._numbered + 1
            for change in taken:
                self._apply(change)
            return first

    def _apply(self, change: Change) -> None:
        match change:
            case SaveSession(record):
                kept = self._sessions.get(record.session_id)
                if kept is None:
                    self._ordinal += 1
                    kept = self._sessions[record.session_id] = _Session(self._ordinal, record)
                kept.record = record
            case DeleteSession(session_id):
                if gone := self._sessions.pop(session_id, None):
                    for position, _ in gone.events:
                        del self._log[position]
            case Bury(body):
                self._numbered += 1
                self._position = self._numbered
                self._tombstones[self._position] = body
                while len(self._tombstones) > MAX_TOMBSTONES:
                    del self._tombstones[next(iter(self._tombstones))]
            case RecordUsage(row):
                self.ledger.append(row)
            case Probe():
                pass
            case _:
                first = self._numbered + 1
                self._numbered += numbers_of(change)
                if kept := self._sessions.get(change.session_id):
                    self._apply_to(kept, change, first)

    def _apply_to(self, session: _Session, change: SessionChange, first: int) -> None:
        match change:
            case SaveSecrets(_, secrets):
                session.secrets = secrets
            case AppendEvents(session_id, rows):
                numbered = list(enumerate(rows, start=first))
                session.events += numbered
                self._log.update((position, (session_id, row)) for position, row in numbered)
                self._position = self._numbered
            case Announce(_, body):
                session.news = (first, body)
                self._position = first
            case Enqueue(_, message):
                self._queue_ordinal += 1
                session.queue[message.turn_id] = (self._queue_ordinal, message)
            case Dequeue(_, turn_id):
                session.queue.pop(turn_id, None)
            case AddPending(_, pending):
                session.pending[pending.id] = pending
            case ResolvePending(_, id):
                if id in session.pending:
                    session.pending[id] = None
            case RememberKey(_, key, key_row):
                session.keys[key] = key_row
            case RememberCalls(_, call_ids):
                session.call_ids.update(dict.fromkeys(call_ids))

    def position(self) -> int:
        with self._lock:
            return self._position

    def read(
        self,
        session_id: str,
        after: int,
        limit: int,
        max_bytes: int,
        *,
        with_raw: bool = False,
        whole: bool = True,
    ) -> list[StoredEvent]:
        with self._lock:
            kept = self._sessions.get(session_id)
            rows = kept.events if kept else []
            page = [self._stored(session_id, *row, with_raw) for row in rows[after : after + limit]]
        return bounded(page if whole else _without_large(page, max_bytes), max_bytes)

    def read_log(self, after: int, limit: int, max_bytes: int, *, whole: bool = True) -> list[StoredEvent]:
        with self._lock:
            positions = sorted(position for position in self._log if position > after)[:limit]
            page = [self._at(position, with_raw=False) for position in positions]
        return bounded(page if whole else _without_large(page, max_bytes), max_bytes)

    def read_slice(self, position: int, start: int, size: int, *, raw: bool = False) -> tuple[bytes, int]:
        with self._lock:
            if position not in self._log:
                return b"", 0
            row = self._at(position, with_raw=raw)
        found = (row.raw or b"") if raw else row.body
        return found[start : start + size], len(found)

    def _at(self, position: int, with_raw: bool) -> StoredEvent:
        session_id, row = self._log[position]
        return self._stored(session_id, position, row, with_raw)

    def _stored(self, session_id: str, position: int, row: EventRow, with_raw: bool) -> StoredEvent:
        raw = row.raw if with_raw else None
        if with_raw and row.raw_sequence is not None:
            raw = self._sessions[session_id].events[row.raw_sequence - 1][1].raw
        return StoredEvent(position, row.sequence, row.body, raw)

    def news(self, after: int, limit: int) -> list[tuple[int, bytes]]:
        with self._lock:
            updates = [session.news for session in self._sessions.values() if session.news is not None]
            return sorted(update for update in (*updates, *self._tombstones.items()) if update[0] > after)[
                :limit
            ]

    def session(self, session_id: str) -> SessionRecord | None:
        with self._lock:
            kept = self._sessions.get(session_id)
            if kept is None:
                return None
            return _counted(kept)

    def sessions(self, before: int | None, limit: int) -> list[tuple[int, SessionRecord]]:
        with self._lock:
            kept = sorted(self._sessions.values(), key=lambda session: -session.ordinal)
            chosen = [session for session in kept if before is None or session.ordinal < before][:limit]
            return [(session.ordinal, _counted(session)) for session in chosen]

    def active_sessions(self) -> list[str]:
        with self._lock:
            return [
                name
                for name, kept in self._sessions.items()
                if kept.record.active or kept.queue or any(kept.pending.values())
            ]

    def folders(self) -> set[str]:
        with self._lock:
            return {kept.record.folder for kept in self._sessions.values() if kept.record.folder}

    def secrets(self, session_id: str) -> Secrets:
        with self._lock:
            kept = self._sessions.get(session_id)
            return kept.secrets if kept else Secrets()

    def queue_page(self, session_id: str, after: int, limit: int) -> list[tuple[int, QueuedMessage]]:
        return [queued for queued in self._queue(session_id) if queued[0] > after][:limit]

    def queue_heads(self, session_id: str) -> list[QueuedHead]:
        return [
            QueuedHead(message.turn_id, message.created_at, message.fresh, len(msgspec.json.encode(message)))
            for _, message in self._queue(session_id)
        ]

    def queued(self, session_id: str, turn_id: str) -> QueuedMessage | None:
        return next((message for _, message in self._queue(session_id) if message.turn_id == turn_id), None)

    def _queue(self, session_id: str) -> list[tuple[int, QueuedMessage]]:
        with self._lock:
            kept = self._sessions.get(session_id)
            return list(kept.queue.values()) if kept else []

    def pending(self, session_id: str) -> list[PendingRow]:
        with self._lock:
            kept = self._sessions.get(session_id)
            return [row for row in kept.pending.values() if row] if kept else []

    def was_asked(self, session_id: str, id: str) -> bool:
        with self._lock:
            kept = self._sessions.get(session_id)
            return kept is not None and id in kept.pending

    def key(self, session_id: str, key: str) -> KeyRow | None:
        with self._lock:
            kept = self._sessions.get(session_id)
            return kept.keys.get(key) if kept else None

    def call_ids(self, session_id: str) -> list[str]:
        with self._lock:
            kept = self._sessions.get(session_id)
            return list(kept.call_ids) if kept else []

    def usage(self, since: str, before: str, by: UsageGroup | None, limit: int) -> list[UsageSum]:
        groups: dict[str | None, list[LedgerRow]] = {}
        with self._lock:
            for row in self.ledger:
                if since <= row.ended_at < before:
                    groups.setdefault(_ledger_key(row, by), []).append(row)
        sums = [_ledger_sum(key, rows) for key, rows in groups.items()]
        if by == "day":
            sums.sort(key=lambda each: each.key or "", reverse=True)
        else:
            sums.sort(key=lambda each: each.key or "")
            sums.sort(key=_spending, reverse=True)
        return sums[:limit]

    def size(self) -> int:
        with self._lock:
            return sum(len(row.body) + len(row.raw or b"") for _, row in self._log.values())

    def close(self) -> None:
        pass


def _counted(kept: _Session) -> SessionRecord:
    return msgspec.structs.replace(kept.record, event_count=len(kept.events))


def _ledger_key(row: LedgerRow, by: UsageGroup | None) -> str | None:
    match by:
        case "agent":
            return row.agent
        case "model":
            return row.model
        case "session":
            return row.session_id
        case "day":
            return row.ended_at[:10]
    return None


def _ledger_sum(key: str | None, rows: list[LedgerRow]) -> UsageSum:
    usages = [row.usage or Usage() for row in rows]
    total = sum(usages, Usage())
    return UsageSum(
        key,
        len(rows),
        sum(usage.input_tokens is None and usage.output_tokens is None for usage in usages),
        sum(usage.cost_usd is None for usage in usages),
        *msgspec.structs.astuple(total)[:6],
    )


def _spending(each: UsageSum) -> tuple[bool, float, int]:
    """Known costs first, the highest at the end."""
    return (
        each.cost_usd is not None,
        each.cost_usd or 0.0,
        (each.input_tokens or 0) + (each.output_tokens or 0),
    )


def _without_large(rows: Iterable[StoredEvent], max_bytes: int) -> Iterator[StoredEvent]:
    for row in rows:
        if len(row.body) + len(row.raw or b"") > max_bytes:
            yield StoredEvent(row.position, row.sequence, b"", None, is_large=True)
        else:
            yield row
