"""The writing connection: transactions, cleaning up after deleted sessions, space in the write-ahead log."""

from __future__ import annotations

import contextlib
import os
import secrets as random
import threading
from collections.abc import Iterable, Iterator, Sequence

import apsw
import msgspec

from ...schema.events import Usage
from ..base import (
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
    ImpossibleChange,
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
    StoreGone,
)
from .connection import BUSY_MILLISECONDS, leave_wal
from .files import StoreFiles
from .schema import highest_position, life_before, set_meta

# SQLite restarts the write-ahead log when it has grown to this size.
WAL_BYTES = 4 << 20
WAL_ONLY_WITH_FREE_BYTES = 256 << 20
SPILL_PAGES = 16
PAGE_BYTES = 4096

# How much of a deleted session is removed in one step: this takes a few milliseconds, in which nothing else is written.
TIDY_EVENTS = 1_000
TIDY_PAGES = 250

# Errors caused by the changes themselves, not by the disk.
IMPOSSIBLE = (
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.RangeError,
    apsw.TooBigError,
    msgspec.MsgspecError,
    OverflowError,
    TypeError,
    ValueError,
)

_encode = msgspec.json.Encoder().encode


MAX_ORDINALS = 10_000
"""The number of sessions whose internal ordinal is cached."""


class Writer:
    def __init__(self, connection: apsw.Connection, files: StoreFiles, *, wal_shows_deleted: bool) -> None:
        self.connection = connection
        self.files = files
        self.writing = threading.RLock()
        """One thread writes at a time. A lock enforces it: two threads would write into one transaction."""
        self._ordinals: dict[str, int] = {}
        self._newest = files.position
        self._last = highest_position(connection)
        """The last position that was assigned. It never goes back, not even after a failed write."""
        self.life = life_before(connection) + 1
        self._is_life_kept = False
        self._must_tidy = True  # an earlier daemon may have left something
        self._wal_shows_deleted = wal_shows_deleted

    def write(self, changes: Iterable[Change]) -> int:
        with self.writing:
            self.require_files()
            first = self._last + 1
            # An immediate transaction takes the write lock at once; `with` would use a savepoint, which takes it late.
            execute = self.connection.execute
            execute("BEGIN IMMEDIATE")
            try:
                for change in changes:
                    self._apply(change)
                if not self._is_life_kept:
                    set_meta(self.connection, "life", self.life)
                execute("COMMIT")
                self._is_life_kept = True
                self.files.committed(self._newest)
                return first
            except BaseException as error:
                self._ordinals.clear()
                self._newest = self.files.position
                if self.connection.in_transaction:
                    execute("ROLLBACK")
                if isinstance(error, IMPOSSIBLE):
                    raise ImpossibleChange(f"{type(error).__name__}: {error}") from error
                raise

    def close(self) -> None:
        self.files.mark()
        with self.writing:
            try:
                self.require_files()
            except (apsw.Error, StoreGone):
                leave_wal(self.connection)
        self.connection.close()
        self.files.close()

    # -- changes ------------------------------------------------------------------------------

    def _apply(self, change: Change) -> None:
        match change:  # the most frequent changes come first
            case AppendEvents(session_id, rows):
                self._append(session_id, rows)
            case SaveSession(record):
                self._save(record)
            case DeleteSession(session_id):
                self._delete(session_id)
            case Bury(body):
                self._add_tombstone(body)
            case RecordUsage(row):
                self._book(row)
            case Probe():
                set_meta(self.connection, "probe", random.token_hex(8))
            case _:
                self._last += isinstance(change, Announce)
                session = self._ordinal(change.session_id)
                if session is not None:
                    self._apply_to(session, change)

    def _append(self, session_id: str, rows: Sequence[EventRow]) -> None:
        first = self._last + 1
        self._last += len(rows)
        session = self._ordinal(session_id)
        if session is None or not rows:
            return
        self.connection.executemany(
            "INSERT INTO events (position, session, sequence, body, raw, raw_sequence) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (position, session, row.sequence, row.body, row.raw, row.raw_sequence)
                for position, row in enumerate(rows, first)
            ],
        )
        self._newest = self._last

    def _save(self, record: SessionRecord) -> None:
        session = self._ordinal(record.session_id)
        if session is not None:
            # Not an upsert: that uses up an ordinal each time, and records it in an extra page.
            self.connection.execute(
                "UPDATE sessions SET active = ?, record = ? WHERE ordinal = ?",
                (record.active, _encode(record), session),
            )
        else:
            self.connection.execute(
                "INSERT INTO sessions (session_id, active, record, folder) VALUES (?, ?, ?, ?)",
                (record.session_id, record.active, _encode(record), record.folder or None),
            )

    def _apply_to(self, session: int, change: SessionChange) -> None:
        execute = self.connection.execute
        match change:
            case Announce(_, body):
                execute(
                    "UPDATE sessions SET news_position = ?, news = ? WHERE ordinal = ?",
                    (self._last, body, session),
                )
            case SaveSecrets(_, secrets):
                execute("UPDATE sessions SET secrets = ? WHERE ordinal = ?", (_encode(secrets), session))
            case Enqueue(_, message):
                execute(
                    "INSERT INTO queue (session, turn_id, created_at, fresh, message) VALUES (?, ?, ?, ?, ?)",
                    (session, message.turn_id, message.created_at, message.fresh, _encode(message)),
                )
            case Dequeue(_, turn_id):
                execute("DELETE FROM queue WHERE session = ? AND turn_id = ?", (session, turn_id))
            case AddPending(_, row):
                execute(
                    "INSERT OR REPLACE INTO pending (session, id, kind, body) VALUES (?, ?, ?, ?)",
                    (session, row.id, row.kind, row.body),
                )
            case ResolvePending(_, id):
                execute("UPDATE pending SET body = NULL WHERE session = ? AND id = ?", (session, id))
            case RememberKey(_, key, key_row):
                execute(
                    "INSERT OR REPLACE INTO keys (session, key, digest, turn_id) VALUES (?, ?, ?, ?)",
                    (session, key, key_row.digest, key_row.turn_id),
                )
            case RememberCalls(_, call_ids):
                self.connection.executemany(
                    "INSERT OR IGNORE INTO calls (session, call_id) VALUES (?, ?)",
                    [(session, call_id) for call_id in call_ids],
                )

    def _delete(self, session_id: str) -> None:
        self._must_tidy = self._wal_shows_deleted = True
        session = self._ordinal(session_id)
        if session is None:
            return
        execute = self.connection.execute
        # The newest events may be deleted: keep their position, so that it is never reused.
        set_meta(self.connection, "position", highest_position(self.connection))
        # There may be millions of events: from now on they cannot be read, and they are removed in small steps.
        execute("INSERT INTO doomed (session) VALUES (?)", (session,))
        for table in ("queue", "pending", "keys", "calls"):
            execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608 - our own names
        execute("DELETE FROM sessions WHERE ordinal = ?", (session,))
        self._ordinals.pop(session_id, None)

    def _add_tombstone(self, body: bytes) -> None:
        self._last += 1
        self.connection.execute("INSERT INTO tombstones (position, news) VALUES (?, ?)", (self._last, body))
        self.connection.execute(
            "DELETE FROM tombstones WHERE position <= "
            "(SELECT position FROM tombstones ORDER BY position DESC LIMIT 1 OFFSET ?)",
            (MAX_TOMBSTONES,),
        )

    def _book(self, row: LedgerRow) -> None:
        usage = row.usage or Usage()
        self.connection.execute(
            "INSERT INTO ledger (ended_at, session_id, turn_id, agent, model, input_tokens, output_tokens, "
            "cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                row.ended_at,
                row.session_id,
                row.turn_id,
                row.agent,
                row.model,
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_tokens,
                usage.cache_write_tokens,
                usage.reasoning_tokens,
                usage.cost_usd,
            ),
        )
        self.connection.execute(
            "DELETE FROM ledger WHERE ordinal <= (SELECT max(ordinal) FROM ledger) - ?", (MAX_LEDGER_ROWS,)
        )

    def _ordinal(self, session_id: str) -> int | None:
        known = self._ordinals.get(session_id)
        if known is None:
            rows = self.connection.execute("SELECT ordinal FROM sessions WHERE session_id = ?", (session_id,))
            for (known,) in rows:
                if len(self._ordinals) >= MAX_ORDINALS:
                    self._ordinals.clear()
                self._ordinals[session_id] = known
        return known

    # -- what deleted sessions leave ----------------------------------------------------------

    def tidy(self) -> bool:
        with self.writing:
            self.files.mark()
            return self._must_tidy and self._tidy()

    def _tidy(self) -> bool:
        self.require_files()
        doomed = next(iter(self.connection.execute("SELECT session FROM doomed LIMIT 1")), None)
        if doomed is not None:
            self._remove_some_events(doomed[0])
        elif self.connection.pragma("freelist_count"):
            for _ in self.connection.execute(f"PRAGMA incremental_vacuum({TIDY_PAGES})"):
                pass
        elif self._wal_shows_deleted:
            self._restart_wal()
        else:
            self._must_tidy = False
        return self._must_tidy

    def _remove_some_events(self, session: int) -> None:
        with self.connection:
            self.connection.execute(
                "DELETE FROM events WHERE position IN "
                "(SELECT position FROM events WHERE session = ? ORDER BY sequence LIMIT ?)",
                (session, TIDY_EVENTS),
            )
            if self.connection.changes() < TIDY_EVENTS:
                self.connection.execute("DELETE FROM doomed WHERE session = ?", (session,))

    # -- the write-ahead log ------------------------------------------------------------------

    def require_files(self) -> None:
        """Raise `StoreGone` unless everything that was written is there. Requires that `writing` is held."""
        files = self.files
        try:
            files.require()
        except StoreGone:
            if files.was_replaced() and files.wal_is_ours():
                # The write-ahead log belongs to the file that was opened: a replacement must not find it.
                with contextlib.suppress(apsw.Error), self._without_waiting():
                    self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            raise
        missing = files.missing_of_wal()
        if missing == "all":
            self._take_emptied_wal()
        elif missing == "name":
            # It can still be read: its content is moved into the file, and nothing is lost.
            with contextlib.suppress(apsw.Error), self._without_waiting():
                self.connection.wal_checkpoint()
            raise files.wal_was_removed()

    def _take_emptied_wal(self) -> None:
        """If all of it was moved into the file, as backup programs do, nothing is missing; SQLite notices by itself."""
        try:
            with self._without_waiting():
                self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.IOError as error:
            raise self.files.wal_was_cut() from error
        self.files.wal_resized()

    def _restart_wal(self) -> None:
        """Deleted data stays in the write-ahead log until it is overwritten, which may never happen."""
        # A reader may still need the old one: try again after the next write.
        with self._without_waiting():
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self.files.wal_resized()
        self._wal_shows_deleted = False
        self.warm_up()

    def warm_up(self) -> None:
        """Grow the write-ahead log to its full size: a commit that extends it costs twice as much."""
        disk = os.statvfs(self.files.path)
        missing = WAL_BYTES - self.files.wal.stat().st_size
        if missing <= 0 or disk.f_bavail * disk.f_frsize < WAL_ONLY_WITH_FREE_BYTES:
            return
        with self.writing, self._without_waiting():
            self._spill(missing + SPILL_PAGES * PAGE_BYTES)
            # Sync now, so that the first write does not have to wait for it.
            self.write([Probe()])

    def _spill(self, size: int) -> None:
        """A transaction that outgrows its cache spills into the write-ahead log; rolled back, it leaves only the space."""
        connection = self.connection
        cache = connection.pragma("cache_size")
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.pragma("cache_size", SPILL_PAGES)
            connection.execute("INSERT INTO meta (name, value) VALUES ('room', zeroblob(?))", (size,))
        finally:
            if connection.in_transaction:  # a full disk has already rolled it back
                connection.execute("ROLLBACK")
            connection.pragma("cache_size", cache)

    @contextlib.contextmanager
    def _without_waiting(self) -> Iterator[None]:
        """For deferrable work: fails at once if another program or a reader is in the way."""
        self.connection.set_busy_timeout(0)
        try:
            yield
        finally:
            self.connection.set_busy_timeout(BUSY_MILLISECONDS)
