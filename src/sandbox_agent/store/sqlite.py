"""The default store: SQLite in WAL mode through APSW, one writer, readers that never block it."""

from __future__ import annotations

import contextlib
import os
import secrets as random
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import apsw
import msgspec

from .base import (
    MOST_TOMBSTONES,
    AddPending,
    Announce,
    AppendEvents,
    Bury,
    Change,
    DeleteSession,
    Dequeue,
    Enqueue,
    ImpossibleChange,
    KeyRow,
    PendingRow,
    Probe,
    QueuedHead,
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
    StoreGone,
    StoreTooNew,
    bounded,
)
from .files import StoreFiles, beside, newest_event, require_complete, require_end

# A full check reads the whole file; above this size a start would not be quick any more.
CHECK_BELOW_BYTES = 64 << 20

# SQLite begins the write-ahead log anew when it has grown to this size.
WAL_BYTES = 4 << 20
WAL_ONLY_WITH_FREE_BYTES = 256 << 20
SPILL_PAGES = 16
PAGE_BYTES = 4096

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


def _leave_wal(connection: apsw.Connection) -> None:
    """The write-ahead log stays when this connection is closed, though it be the last."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


class SqliteStore(Store):
    def __init__(self, path: Path, synchronous: Literal["full", "normal"] = "full") -> None:
        self._path = path
        self._wal = beside(path, "wal")
        require_complete(path)
        # The file holds secrets of sessions: made for the owner alone before SQLite opens it.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        self._readers = threading.local()
        self._open_readers: list[apsw.Connection] = []
        self._readers_lock = threading.Lock()
        self._is_closed = False
        self._writing = threading.RLock()
        """One thread writes. That it is one is not left to the caller: two would write into one transaction."""
        # An earlier life was killed, perhaps before it could tidy up.
        self._wal_shows_deleted = self._wal.exists()
        self._writer = self._connect()
        try:
            is_new = path.stat().st_size == 0
            if is_new:
                # Only a new file takes it; with it, deleting a session gives its space back to the disk.
                self._writer.pragma("auto_vacuum", "incremental")
            self._writer.pragma("journal_mode", "wal")
            self._writer.pragma("synchronous", synchronous)
            # Sessions have secrets: what is deleted must not be found in the file by those who look at its bytes.
            self._writer.pragma("secure_delete", True)
            self._check()
            if not is_new:
                require_end(path, self._writer)
            self._migrate()
            self._ordinals: dict[str, int] = {}
            self._is_untidy = True  # an earlier life may have left something
            self.identity = self._meta("identity", random.token_hex(4))
            self._newest = newest_event(self._writer)
            # Only what is synced outlives a power cut for sure, whatever was marked.
            self._files = StoreFiles(path, self.identity, self._newest, marks=synchronous == "full")
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
        """Let the write-ahead log have its full size: a commit that makes it grow costs twice one that does not."""
        disk = os.statvfs(self._path)
        missing = WAL_BYTES - self._wal.stat().st_size
        if missing <= 0 or disk.f_bavail * disk.f_frsize < WAL_ONLY_WITH_FREE_BYTES:
            return
        with self._writing, self._waiting_for_nobody():
            self._spill(missing + SPILL_PAGES * PAGE_BYTES)
            # The disk has it all now, so that the first who writes something need not wait for that.
            self._write([Probe()])

    def _spill(self, size: int) -> None:
        """A transaction that outgrows its cache is written ahead page by page; undone, it leaves nothing but the room."""
        writer = self._writer
        cache = writer.pragma("cache_size")
        writer.execute("BEGIN IMMEDIATE")
        try:
            writer.pragma("cache_size", SPILL_PAGES)
            writer.execute("INSERT INTO meta (name, value) VALUES ('room', zeroblob(?))", (size,))
        finally:
            if writer.in_transaction:  # a full disk has undone it already
                writer.execute("ROLLBACK")
            writer.pragma("cache_size", cache)

    def write(self, changes: Iterable[Change]) -> None:
        with self._writing:
            self._write(changes)

    def _write(self, changes: Iterable[Change]) -> None:
        self._require_files()
        # An immediate transaction takes the write lock at once; `with` would use a savepoint that takes it late.
        execute = self._writer.execute
        execute("BEGIN IMMEDIATE")
        try:
            for change in changes:
                self._apply(change)
            execute("COMMIT")
            self._files.committed(self._newest)
        except BaseException as error:
            self._ordinals.clear()
            self._newest = self._files.position
            if self._writer.in_transaction:
                execute("ROLLBACK")
            if isinstance(error, IMPOSSIBLE):
                raise ImpossibleChange(f"{type(error).__name__}: {error}") from error
            raise

    def _require_files(self) -> None:
        """Only where `_writing` is held."""
        try:
            self._files.require()
        except StoreGone:
            if self._files.was_replaced() and self._files.wal_is_ours():
                # What was written ahead belongs to the file that was opened: its successor must not find it.
                with contextlib.suppress(apsw.Error), self._waiting_for_nobody():
                    self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            raise
        missing = self._files.missing_of_wal()
        if missing == "all":
            self._take_emptied_wal()
        elif missing == "name":
            # It can still be read: what it holds is moved into the file, and nothing is lost.
            with contextlib.suppress(apsw.Error), self._waiting_for_nobody():
                self._writer.wal_checkpoint()
            raise self._files.wal_was_removed()

    def _take_emptied_wal(self) -> None:
        """Where all of it was moved into the file, as backup programs do, nothing is missing; SQLite finds out."""
        try:
            with self._waiting_for_nobody():
                self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.IOError as error:
            raise self._files.wal_was_cut() from error
        self._files.wal_resized()

    def tidy(self) -> bool:
        with self._writing:
            self._files.mark()
            return self._is_untidy and self._tidy()

    def _tidy(self) -> bool:
        self._require_files()
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
        # A reader may need the old one: it is tried again after the next write.
        with self._waiting_for_nobody():
            self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._files.wal_resized()
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
                    "INSERT INTO sessions (session_id, active, record, folder) VALUES (?, ?, ?, ?) "
                    "ON CONFLICT (session_id) DO UPDATE SET active = excluded.active, record = excluded.record",
                    (record.session_id, record.active, _encode(record), record.folder or None),
                )
            case DeleteSession(session_id):
                self._delete(session_id)
                self._is_untidy = self._wal_shows_deleted = True
            case Bury(position, body):
                self._bury(position, body)
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
                self._newest = max(self._newest, *(row.position for row in rows), 0)
            case Announce(_, position, body):
                execute(
                    "UPDATE sessions SET news_position = ?, news = ? WHERE ordinal = ?",
                    (position, body, session),
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

    def _bury(self, position: int, body: bytes) -> None:
        self._writer.execute("INSERT INTO tombstones (position, news) VALUES (?, ?)", (position, body))
        self._writer.execute(
            "DELETE FROM tombstones WHERE position <= "
            "(SELECT position FROM tombstones ORDER BY position DESC LIMIT 1 OFFSET ?)",
            (MOST_TOMBSTONES,),
        )

    def _ordinal(self, session_id: str) -> int | None:
        known = self._ordinals.get(session_id)
        if known is None:
            rows = self._writer.execute("SELECT ordinal FROM sessions WHERE session_id = ?", (session_id,))
            for (known,) in rows:
                self._ordinals[session_id] = known
        return known

    # -- reading ------------------------------------------------------------------------------

    def check(self) -> None:
        written = self._files.position
        try:
            found = self.position()
        except apsw.Error as error:
            raise StoreGone(f"{self._path} cannot be read: {error}") from error
        if found < written:
            raise StoreGone(f"{self._path} ends at position {found}, but was written up to {written}")

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
        except apsw.SQLError:  # it is gone, or null
            return b"", 0
        with contextlib.closing(blob):
            blob.seek(min(start, blob.length()))
            return blob.read(size), blob.length()

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
            # A union, as SQLite would look at every session there is for an `or`.
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

    def queue(self, session_id: str) -> list[QueuedMessage]:
        rows = self._of_session("SELECT message FROM queue", session_id, "ORDER BY ordinal")
        return [_message.decode(row[0]) for row in rows]

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

    def size(self) -> int:
        return sum(file.stat().st_size for file in (self._path, self._wal) if file.exists())

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        with self._readers_lock:
            for reader in self._open_readers:
                reader.close()
            self._open_readers.clear()
        self._files.mark()
        with self._writing:
            try:
                self._require_files()
            except (apsw.Error, StoreGone):
                _leave_wal(self._writer)
        self._writer.close()
        self._files.close()

    # -- how it is done -----------------------------------------------------------------------

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        return connection

    @contextlib.contextmanager
    def _waiting_for_nobody(self) -> Iterator[None]:
        """What can be done later gives way to other programs and to readers."""
        self._writer.set_busy_timeout(0)
        try:
            yield
        finally:
            self._writer.set_busy_timeout(BUSY_MILLISECONDS)

    def _close_untouched(self) -> None:
        """Close a store that we refuse: what a crashed writer left in the write-ahead log stays there."""
        if self._wal.exists() and self._wal.stat().st_size:
            _leave_wal(self._writer)
        self._writer.close()

    def _reader(self) -> apsw.Connection:
        """A connection of this thread's own, so that readers never wait for the writer or each other."""
        if self._writing.acquire(blocking=False):
            try:
                self._require_files()
            finally:
                self._writing.release()
        else:  # who writes has looked at the rest
            self._files.require()
        reader: apsw.Connection | None = getattr(self._readers, "connection", None)
        if reader is None:
            reader = self._readers.connection = self._connect()
            _leave_wal(reader)
            reader.pragma("query_only", True)
            with self._readers_lock:
                self._open_readers.append(reader)
        return reader

    def _one(self, sql: str, *values: str) -> tuple[bytes] | None:
        return next(iter(self._reader().execute(sql, values)), None)

    def _of_session(
        self, select: str, session_id: str, rest: str = "", *values: str | int
    ) -> Iterator[tuple]:  # type: ignore[type-arg]
        where = "WHERE session = (SELECT ordinal FROM sessions WHERE session_id = ?)"
        return iter(self._reader().execute(f"{select} {where} {rest}", (session_id, *values)))

    def _highest_position(self, connection: apsw.Connection) -> int:
        found = connection.execute(
            "SELECT max(position) FROM events UNION ALL SELECT max(news_position) FROM sessions "
            "UNION ALL SELECT max(position) FROM tombstones "
            "UNION ALL SELECT value FROM meta WHERE name = 'position'"
        )
        return max(int(position or 0) for (position,) in found)

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


def _counted(body: bytes, last: int | None) -> SessionRecord:
    return msgspec.structs.replace(_record.decode(body), event_count=last or 0)


def _columns(with_raw: bool, max_bytes: int | None) -> str:
    """What is read of an event. One that exceeds a bound is left out, and SQLite does not load it to know its length."""
    shared = "(SELECT {} FROM events o WHERE o.session = e.session AND o.sequence = e.raw_sequence)"
    raw = f"coalesce(e.raw, {shared.format('o.raw')})" if with_raw else "NULL"
    if max_bytes is None:
        return f"e.position, e.sequence, e.body, {raw}"
    raw_size = f"coalesce(length(e.raw), {shared.format('length(o.raw)')}, 0)" if with_raw else "0"
    is_large = f"length(e.body) + {raw_size} > {max_bytes}"
    return f"e.position, e.sequence, iif({is_large}, x'', e.body), iif({is_large}, NULL, {raw}), {is_large}"
