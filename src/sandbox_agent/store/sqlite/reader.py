"""Queries to a SQLite store. Each thread has its own connection."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import msgspec

from ...schema.usage import UsageGroup, UsageSum
from ..base import (
    KeyRow,
    PendingRow,
    QueuedHead,
    QueuedMessage,
    Secrets,
    SessionRecord,
    Store,
    StoredEvent,
    StoreGone,
    bounded,
)
from .connection import connect, leave_wal
from .schema import highest_position
from .writer import Writer

_record = msgspec.json.Decoder(SessionRecord)
_secrets = msgspec.json.Decoder(Secrets)
_message = msgspec.json.Decoder(QueuedMessage)

_LEDGER_KEYS: dict[UsageGroup, str] = {
    "agent": "agent",
    "model": "model",
    "session": "session_id",
    "day": "substr(ended_at, 1, 10)",
}


class Reader(Store):
    def __init__(self, path: Path, writer: Writer) -> None:
        self._path = path
        self._writer = writer
        self._files = writer.files
        self._readers = threading.local()
        self._open_readers: list[apsw.Connection] = []
        self._readers_lock = threading.Lock()

    # -- the log ------------------------------------------------------------------------------

    def check(self) -> None:
        written = self._files.position
        try:
            found = self.position()
        except apsw.Error as error:
            raise StoreGone(f"{self._path} cannot be read: {error}") from error
        if found < written:
            raise StoreGone(f"{self._path} ends at position {found}, but was written up to {written}")

    def position(self) -> int:
        return highest_position(self._reader())

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
        rows = self._reader().execute(
            f"SELECT {_columns(with_raw, None if whole else max_bytes)} FROM events e "  # noqa: S608 - our own text
            "WHERE e.session = (SELECT ordinal FROM sessions WHERE session_id = ?) AND e.sequence > ? "
            "ORDER BY e.sequence LIMIT ?",
            (session_id, after, limit),
        )
        return bounded((StoredEvent(*row) for row in rows), max_bytes)

    def read_log(self, after: int, limit: int, max_bytes: int, *, whole: bool = True) -> list[StoredEvent]:
        rows = self._reader().execute(
            f"SELECT {_columns(False, None if whole else max_bytes)} FROM events e "  # noqa: S608 - our own text
            "WHERE e.position > ? AND e.session NOT IN (SELECT session FROM doomed) ORDER BY e.position LIMIT ?",
            (after, limit),
        )
        return bounded((StoredEvent(*row) for row in rows), max_bytes)

    def news(self, after: int, limit: int) -> list[tuple[int, bytes]]:
        rows = self._reader().execute(
            "SELECT news_position, news FROM sessions WHERE news_position > ?1 "
            "UNION ALL SELECT position, news FROM tombstones WHERE position > ?1 ORDER BY 1 LIMIT ?2",
            (after, limit),
        )
        return [(position, body) for position, body in rows]

    def read_slice(self, position: int, start: int, size: int, *, raw: bool = False) -> tuple[bytes, int]:
        holder = (
            "CASE WHEN e.raw_sequence IS NULL THEN e.position ELSE "
            "(SELECT o.position FROM events o WHERE o.session = e.session AND o.sequence = e.raw_sequence) END"
        )
        found = self._reader().execute(
            f"SELECT {holder if raw else 'e.position'} FROM events e "  # noqa: S608 - our own text
            "WHERE e.position = ? AND e.session NOT IN (SELECT session FROM doomed)",
            (position,),
        )
        row = next(iter(found), None)
        if row is None:
            return b"", 0
        try:
            blob = self._reader().blob_open("main", "events", "raw" if raw else "body", row[0], False)
        except apsw.SQLError:  # it was deleted, or is null
            return b"", 0
        with contextlib.closing(blob):
            blob.seek(min(start, blob.length()))
            return blob.read(size), blob.length()

    # -- sessions and their state ---------------------------------------------------------------

    def session(self, session_id: str) -> SessionRecord | None:
        rows = self._reader().execute(
            "SELECT record, (SELECT max(sequence) FROM events WHERE session = ordinal) FROM sessions WHERE session_id = ?",
            (session_id,),
        )
        for body, last in rows:
            return _counted(body, last)
        return None

    def sessions(self, before: int | None, limit: int) -> list[tuple[int, SessionRecord]]:
        rows = self._reader().execute(
            "SELECT ordinal, record, (SELECT max(sequence) FROM events WHERE session = ordinal) "
            "FROM sessions WHERE ordinal < ? ORDER BY ordinal DESC LIMIT ?",
            (before if before is not None else 1 << 62, limit),
        )
        return [(ordinal, _counted(body, last)) for ordinal, body, last in rows]

    def active_sessions(self) -> list[str]:
        rows = self._reader().execute(
            # A union, because SQLite would scan all sessions for an `or`.
            "SELECT session_id FROM sessions WHERE ordinal IN (SELECT ordinal FROM sessions WHERE active "
            "UNION SELECT session FROM queue UNION SELECT session FROM pending WHERE body IS NOT NULL) "
            "ORDER BY ordinal"
        )
        return [row[0] for row in rows]

    def folders(self) -> set[str]:
        return {
            row[0] for row in self._reader().execute("SELECT folder FROM sessions WHERE folder IS NOT NULL")
        }

    def secrets(self, session_id: str) -> Secrets:
        row = self._one("SELECT secrets FROM sessions WHERE session_id = ?", session_id)
        return _secrets.decode(row[0]) if row and row[0] else Secrets()

    def queue_page(self, session_id: str, after: int, limit: int) -> list[tuple[int, QueuedMessage]]:
        rows = self._of_session(
            "SELECT ordinal, message FROM queue",
            session_id,
            "AND ordinal > ? ORDER BY ordinal LIMIT ?",
            after,
            limit,
        )
        return [(ordinal, _message.decode(message)) for ordinal, message in rows]

    def queue_heads(self, session_id: str) -> list[QueuedHead]:
        rows = self._of_session(
            "SELECT turn_id, created_at, fresh, length(message) FROM queue", session_id, "ORDER BY ordinal"
        )
        return [
            QueuedHead(turn_id, created_at, bool(fresh), size) for turn_id, created_at, fresh, size in rows
        ]

    def queued(self, session_id: str, turn_id: str) -> QueuedMessage | None:
        rows = self._of_session("SELECT message FROM queue", session_id, "AND turn_id = ?", turn_id)
        return next((_message.decode(row[0]) for row in rows), None)

    def pending(self, session_id: str) -> list[PendingRow]:
        rows = self._of_session(
            "SELECT id, kind, body FROM pending", session_id, "AND body IS NOT NULL ORDER BY rowid"
        )
        return [PendingRow(*row) for row in rows]

    def was_asked(self, session_id: str, id: str) -> bool:
        return any(True for _ in self._of_session("SELECT 1 FROM pending", session_id, "AND id = ?", id))

    def key(self, session_id: str, key: str) -> KeyRow | None:
        rows = self._of_session("SELECT digest, turn_id, key FROM keys", session_id, "AND key = ?", key)
        return next((KeyRow(digest, turn_id) for digest, turn_id, _ in rows), None)

    def call_ids(self, session_id: str) -> list[str]:
        return [row[0] for row in self._of_session("SELECT call_id FROM calls", session_id)]

    def usage(self, since: str, before: str, by: UsageGroup | None, limit: int) -> list[UsageSum]:
        key = _LEDGER_KEYS[by] if by else "NULL"
        order = "1 DESC" if by == "day" else "cost DESC, tokens DESC, 1"
        rows = self._reader().execute(
            f"SELECT {key}, count(*), sum(input_tokens IS NULL AND output_tokens IS NULL), "  # noqa: S608 - our own words
            "sum(cost_usd IS NULL), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), "
            "sum(cache_write_tokens), sum(reasoning_tokens), sum(cost_usd) AS cost, "
            "coalesce(sum(input_tokens), 0) + coalesce(sum(output_tokens), 0) AS tokens "
            f"FROM ledger WHERE ended_at >= ? AND ended_at < ? GROUP BY 1 ORDER BY {order} LIMIT ?",
            (since, before, limit),
        )
        return [UsageSum(*row[:-1]) for row in rows]

    def size(self) -> int:
        return sum(file.stat().st_size for file in (self._path, self._files.wal) if file.exists())

    # -- connections --------------------------------------------------------------------------

    def _reader(self) -> apsw.Connection:
        """This thread's connection, so that readers never wait for the writer or each other."""
        writer = self._writer
        if writer.writing.acquire(blocking=False):
            try:
                writer.require_files()
            finally:
                writer.writing.release()
        else:  # the writer has checked the rest
            self._files.require()
        reader: apsw.Connection | None = getattr(self._readers, "connection", None)
        if reader is None:
            reader = self._readers.connection = connect(self._path)
            leave_wal(reader)
            reader.pragma("query_only", True)
            with self._readers_lock:
                self._open_readers.append(reader)
        return reader

    def _close_readers(self) -> None:
        with self._readers_lock:
            for reader in self._open_readers:
                reader.close()
            self._open_readers.clear()

    def _one(self, sql: str, *values: str) -> tuple[bytes] | None:
        return next(iter(self._reader().execute(sql, values)), None)

    def _of_session(
        self, select: str, session_id: str, rest: str = "", *values: str | int
    ) -> Iterator[tuple]:  # type: ignore[type-arg]
        where = "WHERE session = (SELECT ordinal FROM sessions WHERE session_id = ?)"
        return iter(self._reader().execute(f"{select} {where} {rest}", (session_id, *values)))


def _counted(body: bytes, last: int | None) -> SessionRecord:
    return msgspec.structs.replace(_record.decode(body), event_count=last or 0)


def _columns(with_raw: bool, max_bytes: int | None) -> str:
    """The columns to read. The content of an event over the limit is left out; SQLite knows its length without loading it."""
    shared = "(SELECT {} FROM events o WHERE o.session = e.session AND o.sequence = e.raw_sequence)"
    raw = f"coalesce(e.raw, {shared.format('o.raw')})" if with_raw else "NULL"
    if max_bytes is None:
        return f"e.position, e.sequence, e.body, {raw}"
    raw_size = f"coalesce(length(e.raw), {shared.format('length(o.raw)')}, 0)" if with_raw else "0"
    is_large = f"length(e.body) + {raw_size} > {max_bytes}"
    return f"e.position, e.sequence, iif({is_large}, x'', e.body), iif({is_large}, NULL, {raw}), {is_large}"
