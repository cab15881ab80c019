"""A plan: the statements that apply a write's changes, in an order that has the same effect and needs few of them.

Events, records and updates of all sessions are gathered into one statement each. They depend on nothing but the existence of their
session, so they can wait until a session is deleted, or until the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ...schema.events import Usage
from ..base import (
    AddPending,
    Announce,
    AppendEvents,
    Bury,
    Change,
    DeleteSession,
    Dequeue,
    Enqueue,
    EventRow,
    LedgerRow,
    Probe,
    RecordUsage,
    RememberCalls,
    RememberKey,
    ResolvePending,
    SaveSecrets,
    SaveSession,
    SessionChange,
    SessionRecord,
)
from .parameters import Blobs, Numbers
from .secrets import Seal

_encode = msgspec.json.Encoder().encode

# The first position of the write, as `begin_write` has noted it.
_FIRST = "(SELECT position FROM nodes WHERE incarnation = %s)"

INSERT_EVENTS = f"""
INSERT INTO events (era, session, sequence, position, raw_sequence, body, raw)
SELECT era, session, sequence, {_FIRST} + place, raw_sequence, body, raw
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bytea[], %s::bytea[])
AS rows (era, session, sequence, place, raw_sequence, body, raw)
"""
UPDATE_SESSIONS = f"""
UPDATE sessions SET
    record = coalesce(new.record, sessions.record),
    active = CASE WHEN new.record IS NULL THEN sessions.active ELSE new.active <> 0 END,
    folder = CASE WHEN new.record IS NULL THEN sessions.folder ELSE convert_from(new.folder, 'UTF8') END,
    news = coalesce(new.news, sessions.news),
    news_position = coalesce({_FIRST} + new.place, sessions.news_position)
FROM unnest(%s::bigint[], %s::bytea[], %s::bigint[], %s::bytea[], %s::bytea[], %s::bigint[])
AS new (ordinal, record, active, folder, news, place)
WHERE sessions.ordinal = new.ordinal
"""
INSERT_SESSION = """
INSERT INTO sessions (ordinal, era, session_id, owner, home, active, record, folder)
SELECT %s, %s, %s, incarnation, name, %s, %s, %s FROM nodes WHERE incarnation = %s
"""
INSERT_LEDGER = """
INSERT INTO ledger (ended_at, session_id, turn_id, agent, model, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, cost_usd)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s::float8)
"""


class Statement(NamedTuple):
    sql: str
    parameters: Sequence[object]


class Key(NamedTuple):
    """What names a session inside the database."""

    ordinal: int
    era: int


class _Update:
    """What becomes of a session's row."""

    record: SessionRecord | None = None
    news: bytes | None = None
    place: int | None = None


class Plan:
    def __init__(
        self, changes: Iterable[Change], keys: Mapping[str, Key], new: Callable[[], Key], me: int, seal: Seal
    ) -> None:
        """`keys` are the sessions that exist; `new` is the key of one that does not."""
        self.statements: list[Statement] = []
        self.heads: dict[int, int] = {}
        """The last sequence of each session that got events."""
        self.keys = dict(keys)
        """The sessions that exist afterwards."""
        self.deleted: set[str] = set()
        self.touched: dict[int, str] = {}
        """The changed sessions that exist before, by ordinal."""
        self._me = me
        self._seal = seal
        self._new = new
        self._numbered = 0
        self._events: list[tuple[Key, int, EventRow]] = []
        self._updates: dict[int, _Update] = {}
        self._created: set[int] = set()
        for change in changes:
            self._apply(change)
        self._flush()
        for ordinal in self._created:
            self.touched.pop(ordinal, None)

    @property
    def numbers(self) -> int:
        """How many positions it takes."""
        return self._numbered

    def _apply(self, change: Change) -> None:
        match change:  # the most frequent changes come first
            case AppendEvents(session_id, rows):
                self._append(session_id, rows)
            case SaveSession(record):
                self._save(record)
            case DeleteSession(session_id):
                self._delete(session_id)
            case Bury(body):
                self._add(
                    f"INSERT INTO tombstones VALUES ({_FIRST} + %s, %s)", self._me, self._numbered, body
                )
                self._numbered += 1
            case RecordUsage(row):
                self._book(row)
            case Probe():
                pass  # each write changes the node's row
            case Announce(session_id, body):
                if key := self._touch(session_id):
                    update = self._update(key)
                    update.news, update.place = body, self._numbered
                self._numbered += 1
            case _:
                if key := self._touch(change.session_id):
                    self._apply_to(key.ordinal, change)

    def _append(self, session_id: str, rows: Sequence[EventRow]) -> None:
        if rows and (key := self._touch(session_id)):
            self._events += [(key, place, row) for place, row in enumerate(rows, self._numbered)]
            self.heads[key.ordinal] = rows[-1].sequence
        self._numbered += len(rows)

    def _save(self, record: SessionRecord) -> None:
        if key := self._touch(record.session_id):
            self._update(key).record = record
            return
        key = self.keys[record.session_id] = self._new()
        self._created.add(key.ordinal)
        self.deleted.discard(record.session_id)
        folder = record.folder or None
        self._add(INSERT_SESSION, *key, record.session_id, record.active, _encode(record), folder, self._me)

    def _apply_to(self, session: int, change: SessionChange) -> None:
        add = self._add
        match change:
            case SaveSecrets(session_id, secrets):
                sealed = self._seal.close(session_id, secrets)
                add("UPDATE sessions SET secrets = %s::bytea WHERE ordinal = %s", sealed, session)
            case Enqueue(_, message):
                add(
                    "INSERT INTO queue (session, turn_id, created_at, fresh, message) VALUES (%s, %s, %s, %s, %s)",
                    session,
                    message.turn_id.encode(),
                    message.created_at,
                    message.fresh,
                    _encode(message),
                )
            case Dequeue(_, turn_id):
                add("DELETE FROM queue WHERE session = %s AND turn_id = %s", session, turn_id.encode())
            case AddPending(_, row):
                add(
                    "INSERT INTO pending (session, id, kind, body) VALUES (%s, %s, %s, %s) "
                    "ON CONFLICT (session, id) DO UPDATE SET kind = excluded.kind, body = excluded.body",
                    session,
                    row.id.encode(),
                    row.kind,
                    row.body,
                )
            case ResolvePending(_, id):
                add("UPDATE pending SET body = NULL WHERE session = %s AND id = %s", session, id.encode())
            case RememberKey(_, key, key_row):
                add(
                    "INSERT INTO keys (session, key, digest, turn_id) VALUES (%s, %s, %s, %s) "
                    "ON CONFLICT (session, key) DO UPDATE SET digest = excluded.digest, turn_id = excluded.turn_id",
                    session,
                    key.encode(),
                    key_row.digest,
                    key_row.turn_id,
                )
            case RememberCalls(_, call_ids):
                add(
                    "INSERT INTO calls SELECT %s, unnest(%s::bytea[]) ON CONFLICT DO NOTHING",
                    session,
                    Blobs([call_id.encode() for call_id in call_ids]),
                )

    def _delete(self, session_id: str) -> None:
        key = self._touch(session_id)
        if key is None:
            return
        self._flush()
        # There may be millions of events: from now on they cannot be read, and they are removed in small steps.
        self._add("INSERT INTO doomed (session, era) VALUES (%s, %s::int)", *key)
        for table in ("queue", "pending", "keys", "calls"):
            self._add(f"DELETE FROM {table} WHERE session = %s", key.ordinal)
        self._add("DELETE FROM sessions WHERE ordinal = %s", key.ordinal)
        del self.keys[session_id]
        self.deleted.add(session_id)
        self.heads.pop(key.ordinal, None)

    def _book(self, row: LedgerRow) -> None:
        usage = row.usage or Usage()
        self._add(
            INSERT_LEDGER,
            row.ended_at,
            row.session_id,
            row.turn_id,
            row.agent,
            # The agent may name it, and text cannot hold a NUL.
            row.model.replace("\0", "\ufffd") if row.model is not None else None,
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
            usage.reasoning_tokens,
            usage.cost_usd,
        )

    # -- gathering ----------------------------------------------------------------------------

    def _touch(self, session_id: str) -> Key | None:
        key = self.keys.get(session_id)
        if key is not None:
            self.touched[key.ordinal] = session_id
        return key

    def _update(self, key: Key) -> _Update:
        return self._updates.setdefault(key.ordinal, _Update())

    def _flush(self) -> None:
        if self._updates:
            found = list(self._updates.values())
            records = [each.record for each in found]
            self._add(
                UPDATE_SESSIONS,
                self._me,
                Numbers(list(self._updates)),
                Blobs([_encode(record) if record else None for record in records]),
                Numbers([record.active if record else None for record in records]),
                Blobs([record.folder.encode() if record and record.folder else None for record in records]),
                Blobs([each.news for each in found]),
                Numbers([each.place for each in found]),
            )
            self._updates = {}
        if self._events:
            self._add(
                INSERT_EVENTS,
                self._me,
                Numbers([key.era for key, _, _ in self._events]),
                Numbers([key.ordinal for key, _, _ in self._events]),
                Numbers([row.sequence for _, _, row in self._events]),
                Numbers([place for _, place, _ in self._events]),
                Numbers([row.raw_sequence for _, _, row in self._events]),
                Blobs([row.body for _, _, row in self._events]),
                Blobs([row.raw for _, _, row in self._events]),
            )
            self._events = []

    def _add(self, sql: str, *parameters: object) -> None:
        self.statements.append(Statement(sql, parameters))
