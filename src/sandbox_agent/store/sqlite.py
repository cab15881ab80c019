"""The default store: SQLite in WAL mode through APSW, one writer, readers that never block it."""

from __future__ import annotations

import os
import secrets as random
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import apsw
import msgspec

from .base import (
    AddPending,
    AppendEvents,
    Change,
    DeleteSession,
    Dequeue,
    Enqueue,
    ImpossibleChange,
    KeyRow,
    PendingRow,
    Probe,
    QueuedMessage,
    RememberCalls,
    RememberKey,
    ResolvePending,
    SaveSecrets,
    SaveSession,
    Secrets,
    SessionChange,
    SessionRecord,
    Store,
    StoreCorrupt,
    StoredEvent,
    StoreTooNew,
    bounded,
)

# A full check reads the whole file; above this size a start would not be quick any more.
CHECK_BELOW_BYTES = 64 << 20

# SQLite begins the write-ahead log anew when it has grown to this size.
WAL_BYTES = 4 << 20
WAL_ONLY_WITH_FREE_BYTES = 256 << 20

# How long to wait for another program that has the file.
BUSY_MILLISECONDS = 5_000

# How much of what deleted sessions left is removed in one step: a few milliseconds, in which nothing else is written.
TIDY_EVENTS = 1_000
TIDY_PAGES = 250

# What the changes themselves are to blame for, whatever becomes of the disk.
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
_record = msgspec.json.Decoder(SessionRecord)
_secrets = msgspec.json.Decoder(Secrets)
_message = msgspec.json.Decoder(QueuedMessage)


def migrations() -> list[str]:
    """The SQL files in their order; the schema's version is how many of them ran."""
    return [file.read_text() for file in sorted(Path(__file__).with_name("migrations").glob("*.sql"))]


class SqliteStore(Store):
    def __init__(self, path: Path, synchronous: Literal["full", "normal"] = "full") -> None:
        self._path = path
        # The file holds secrets of sessions: made for the owner alone before SQLite opens it.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        self._readers = threading.local()
        self._open_readers: list[apsw.Connection] = []
        self._readers_lock = threading.Lock()
        self._writing = threading.RLock()
        """One thread writes. That it is one is not left to the caller: what `warm_up` does beside a write would destroy it."""
        # An earlier life was killed, perhaps before it could tidy up.
        self._wal_shows_deleted = self._wal.exists()
        self._writer = self._connect()
        try:
            if path.stat().st_size == 0:
                # Only a new file takes it; with it, deleting a session gives its space back to the disk.
                self._writer.pragma("auto_vacuum", "incremental")
            self._writer.pragma("journal_mode", "wal")
            self._writer.pragma("synchronous", synchronous)
            # Sessions have secrets: what is deleted must not be found in the file by those who look at its bytes.
            self._writer.pragma("secure_delete", True)
            self._check()
            self._migrate()
            self._ordinals: dict[str, int] = {}
            self._is_untidy = True  # an earlier life may have left something
            self.identity = self._meta("identity", random.token_hex(4))
        except (apsw.CorruptError, apsw.NotADBError) as error:
            self._close_untouched()
            said = " ".join(str(error).split())
            raise StoreCorrupt(
                f"{path} is damaged ({said}). It was left as it is: move it away to start with an empty log, "
                "or recover what can be read with `sqlite3 <file> .recover`."
            ) from error
        except BaseException:
            self._close_untouched()
            raise

    # -- writing ------------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Let the write-ahead log have its full size: a commit that makes it grow costs twice one that does not.

        What lies behind its last frame is no frame to SQLite, which looks at checksums; it writes over the zeros.
        """
        disk = os.statvfs(self._path)
        if disk.f_bavail * disk.f_frsize < WAL_ONLY_WITH_FREE_BYTES:
            return
        with self._writing:
            # Nobody appends while the end is looked for and written, in no other program either.
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                self._fill_wal()
            finally:
                self._writer.execute("ROLLBACK")

    def _fill_wal(self) -> None:
        with open(self._wal, "r+b", buffering=0) as wal:
            missing = WAL_BYTES - wal.seek(0, os.SEEK_END)
            if missing > 0:
                wal.write(bytes(missing))
                os.fdatasync(wal.fileno())

    def write(self, changes: Iterable[Change]) -> None:
        with self._writing:
            self._write(changes)

    def _write(self, changes: Iterable[Change]) -> None:
        # An immediate transaction takes the write lock at once; `with` would use a savepoint that takes it late.
        execute = self._writer.execute
        execute("BEGIN IMMEDIATE")
        try:
            for change in changes:
                self._apply(change)
            execute("COMMIT")
        except BaseException as error:
            self._ordinals.clear()
            if self._writer.in_transaction:
                execute("ROLLBACK")
            if isinstance(error, IMPOSSIBLE):
                raise ImpossibleChange(f"{type(error).__name__}: {error}") from error
            raise

    def tidy(self) -> bool:
        with self._writing:
            return self._is_untidy and self._tidy()

    def _tidy(self) -> bool:
        doomed = next(iter(self._writer.execute("SELECT session FROM doomed LIMIT 1")), None)
        if doomed is not None:
            self._remove_some_events(doomed[0])
        elif self._writer.pragma("freelist_count"):
            for _ in self._writer.execute(f"PRAGMA incremental_vacuum({TIDY_PAGES})"):
                pass
        elif self._wal_shows_deleted:
            self._begin_wal_anew()
        else:
            self._is_untidy = False
        return self._is_untidy

    def _begin_wal_anew(self) -> None:
        """What was deleted stands in the write-ahead log until it is written over, which may be never."""
        # Nobody waits for a reader that needs the old one: it is tried again after the next write.
        self._writer.set_busy_timeout(0)
        try:
            self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            self._writer.set_busy_timeout(BUSY_MILLISECONDS)
        self._wal_shows_deleted = False
        self.warm_up()

    def _remove_some_events(self, session: int) -> None:
        with self._writer:
            self._writer.execute(
                "DELETE FROM events WHERE position IN "
                "(SELECT position FROM events WHERE session = ? ORDER BY sequence LIMIT ?)",
                (session, TIDY_EVENTS),
            )
            if self._writer.changes() < TIDY_EVENTS:
                self._writer.execute("DELETE FROM doomed WHERE session = ?", (session,))

    def _apply(self, change: Change) -> None:
        match change:
            case SaveSession(record):
                self._writer.execute(
                    "INSERT INTO sessions (session_id, active, record) VALUES (?, ?, ?) "
                    "ON CONFLICT (session_id) DO UPDATE SET active = excluded.active, record = excluded.record",
                    (record.session_id, record.active, _encode(record)),
                )
            case DeleteSession(session_id):
                self._delete(session_id)
                self._is_untidy = self._wal_shows_deleted = True
            case Probe():
                self._set_meta("probe", random.token_hex(8))
            case _:
                session = self._ordinal(change.session_id)
                if session is not None:
                    self._apply_to(session, change)

    def _apply_to(self, session: int, change: SessionChange) -> None:
        execute = self._writer.execute
        match change:
            case AppendEvents(_, rows):
                self._writer.executemany(
                    "INSERT INTO events (position, session, sequence, body, raw, raw_sequence) VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        (row.position, session, row.sequence, row.body, row.raw, row.raw_sequence)
                        for row in rows
                    ],
                )
            case SaveSecrets(_, secrets):
                execute("UPDATE sessions SET secrets = ? WHERE ordinal = ?", (_encode(secrets), session))
            case Enqueue(_, message):
                execute(
                    "INSERT INTO queue (session, turn_id, message) VALUES (?, ?, ?)",
                    (session, message.turn_id, _encode(message)),
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
                self._writer.executemany(
                    "INSERT OR IGNORE INTO calls (session, call_id) VALUES (?, ?)",
                    [(session, call_id) for call_id in call_ids],
                )

    def _delete(self, session_id: str) -> None:
        session = self._ordinal(session_id)
        if session is None:
            return
        # The last events may go: keep their position, so that it is never given again.
        self._set_meta("position", self._highest_position(self._writer))
        # There may be millions of events: they can be read no more from now on, and are removed bit by bit.
        self._writer.execute("INSERT INTO doomed (session) VALUES (?)", (session,))
        for table in ("queue", "pending", "keys", "calls"):
            self._writer.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608 - our own names
        self._writer.execute("DELETE FROM sessions WHERE ordinal = ?", (session,))
        self._ordinals.pop(session_id, None)

    def _ordinal(self, session_id: str) -> int | None:
        known = self._ordinals.get(session_id)
        if known is None:
            rows = self._writer.execute("SELECT ordinal FROM sessions WHERE session_id = ?", (session_id,))
            for (known,) in rows:
                self._ordinals[session_id] = known
        return known

    # -- reading ------------------------------------------------------------------------------

    def position(self) -> int:
        return self._highest_position(self._reader())

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
        except apsw.SQLError:  # it is gone, or null
            return b"", 0
        try:
            blob.seek(min(start, blob.length()))
            return blob.read(size), blob.length()
        finally:
            blob.close()

    def session(self, session_id: str) -> SessionRecord | None:
        rows = self._reader().execute(
            "SELECT record, (SELECT max(sequence) FROM events WHERE session = ordinal) FROM sessions WHERE session_id = ?",
            (session_id,),
        )
        for body, last in rows:
            record = _record.decode(body)
            record.event_count = last or 0
            return record
        return None

    def sessions(self, before: int | None, limit: int) -> list[tuple[int, SessionRecord]]:
        rows = self._reader().execute(
            "SELECT ordinal, record FROM sessions WHERE ordinal < ? ORDER BY ordinal DESC LIMIT ?",
            (before if before is not None else 1 << 62, limit),
        )
        return [(ordinal, _record.decode(record)) for ordinal, record in rows]

    def active_sessions(self) -> list[str]:
        rows = self._reader().execute(
            # A union, as SQLite would look at every session there is for an `or`.
            "SELECT session_id FROM sessions WHERE ordinal IN (SELECT ordinal FROM sessions WHERE active "
            "UNION SELECT session FROM queue UNION SELECT session FROM pending WHERE body IS NOT NULL) "
            "ORDER BY ordinal"
        )
        return [row[0] for row in rows]

    def secrets(self, session_id: str) -> Secrets:
        row = self._one("SELECT secrets FROM sessions WHERE session_id = ?", session_id)
        return _secrets.decode(row[0]) if row and row[0] else Secrets()

    def queue(self, session_id: str) -> list[QueuedMessage]:
        rows = self._of_session("SELECT message FROM queue", session_id, "ORDER BY ordinal")
        return [_message.decode(row[0]) for row in rows]

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

    def size(self) -> int:
        return sum(file.stat().st_size for file in (self._path, self._wal) if file.exists())

    def close(self) -> None:
        with self._readers_lock:
            for reader in self._open_readers:
                reader.close()
            self._open_readers.clear()
        self._writer.close()

    # -- how it is done -----------------------------------------------------------------------

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self._path))
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        return connection

    @property
    def _wal(self) -> Path:
        return self._path.with_name(self._path.name + "-wal")

    def _close_untouched(self) -> None:
        """Close a store that we refuse: what a crashed writer left in the write-ahead log stays there."""
        if self._wal.exists() and self._wal.stat().st_size:
            self._writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self._writer.close()

    def _reader(self) -> apsw.Connection:
        """A connection of this thread's own, so that readers never wait for the writer or each other."""
        reader: apsw.Connection | None = getattr(self._readers, "connection", None)
        if reader is None:
            reader = self._readers.connection = self._connect()
            reader.pragma("query_only", True)
            with self._readers_lock:
                self._open_readers.append(reader)
        return reader

    def _one(self, sql: str, *values: str) -> tuple[bytes] | None:
        return next(iter(self._reader().execute(sql, values)), None)

    def _of_session(self, select: str, session_id: str, rest: str = "", *values: str) -> Iterator[tuple]:  # type: ignore[type-arg]
        where = "WHERE session = (SELECT ordinal FROM sessions WHERE session_id = ?)"
        return iter(self._reader().execute(f"{select} {where} {rest}", (session_id, *values)))

    def _highest_position(self, connection: apsw.Connection) -> int:
        kept = next(iter(connection.execute("SELECT value FROM meta WHERE name = 'position'")), (0,))[0]
        newest = next(iter(connection.execute("SELECT max(position) FROM events")))[0]
        return max(int(kept), int(newest or 0))

    def _meta(self, name: str, otherwise: str) -> str:
        row = next(iter(self._writer.execute("SELECT value FROM meta WHERE name = ?", (name,))), None)
        if row is None:
            self._set_meta(name, otherwise)
            return otherwise
        return str(row[0])

    def _set_meta(self, name: str, value: str | int) -> None:
        self._writer.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (name, value))

    def _check(self) -> None:
        if self._path.stat().st_size < CHECK_BELOW_BYTES:
            said = next(iter(self._writer.execute("PRAGMA quick_check(1)")))[0]
            if said != "ok":
                raise apsw.CorruptError(said)

    def _migrate(self) -> None:
        known = migrations()
        version = int(self._writer.pragma("user_version"))
        if version > len(known):
            raise StoreTooNew(
                f"{self._path} has schema {version}, this version of sandbox-agent knows up to {len(known)}: "
                "use a newer sandbox-agent, or another --data-dir."
            )
        for number, sql in enumerate(known[version:], start=version + 1):
            self._writer.execute("BEGIN IMMEDIATE")
            self._writer.execute(sql)
            self._writer.pragma("user_version", number)
            self._writer.execute("COMMIT")


def _columns(with_raw: bool, max_bytes: int | None) -> str:
    """What is read of an event. One that exceeds a bound is left out, and SQLite does not load it to know its length."""
    shared = "(SELECT {} FROM events o WHERE o.session = e.session AND o.sequence = e.raw_sequence)"
    raw = f"coalesce(e.raw, {shared.format('o.raw')})" if with_raw else "NULL"
    if max_bytes is None:
        return f"e.position, e.sequence, e.body, {raw}"
    raw_size = f"coalesce(length(e.raw), {shared.format('length(o.raw)')}, 0)" if with_raw else "0"
    is_large = f"length(e.body) + {raw_size} > {max_bytes}"
    return f"e.position, e.sequence, iif({is_large}, x'', e.body), iif({is_large}, NULL, {raw}), {is_large}"
