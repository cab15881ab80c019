"""What SQLite adds to the contract: a private file that survives kills, and is refused if it cannot be trusted."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import msgspec
import pytest
from msgspec import structs
from tests.busy import busy

from sandbox_agent.schema.events import Usage
from sandbox_agent.schema.inputs import Prompt, Settings
from sandbox_agent.store.base import (
    AppendEvents,
    Change,
    DeleteSession,
    Enqueue,
    EventRow,
    ImpossibleChange,
    Probe,
    QueuedHead,
    QueuedMessage,
    SaveSecrets,
    SaveSession,
    Secrets,
    SessionRecord,
    StoreCorrupt,
    StoredEvent,
    StoreTooNew,
)
from sandbox_agent.store.sqlite import WAL_BYTES, SqliteStore, migrations
from sandbox_agent.testing.store_contract.ledger import ALWAYS, booked

PLENTY = 1 << 30
RECORD = SessionRecord("a", "mock", Settings("/tmp"), "then", "now")

# Writes batches until it is killed, and says which one the store has acknowledged.
WRITER = """
import itertools, sys
from pathlib import Path
from sandbox_agent.schema.inputs import Prompt, Settings
from sandbox_agent.store.base import AppendEvents, EventRow, SaveSession, SessionRecord
from sandbox_agent.store.sqlite import SqliteStore

store = SqliteStore(Path(sys.argv[1]))
for first in itertools.count(1, 5):
    rows = [EventRow(n, b"body %d" % n, b"raw" * n) for n in range(first, first + 5)]
    record = SessionRecord("a", "mock", Settings("/tmp"), "then", "now", event_count=first + 4)
    store.write([SaveSession(record), AppendEvents("a", rows)])
    print(first + 4, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


def wal_of(path: Path) -> Path:
    return path.with_name("log.db-wal")


def filler(size: int = 4096, number: int = 1) -> list[Change]:
    return [SaveSession(RECORD), AppendEvents("a", [EventRow(number, bytes(size))])]


def made(path: Path) -> Path:
    """A store with some pages in it, closed."""
    store = SqliteStore(path)
    for number in range(1, 20):
        store.write(filler(number=number))
    store.close()
    return path


def named(session_id: str) -> SessionRecord:
    return SessionRecord(session_id, "mock", Settings("/tmp"), "then", "now")


def files(path: Path) -> dict[str, bytes]:
    kept = (path, path.with_name("log.db-wal"))
    return {file.name: file.read_bytes() for file in kept if file.exists()}


def test_its_files_are_private(path: Path) -> None:
    before = os.umask(0)
    try:
        store = SqliteStore(path)
        store.write(filler())
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    store.close()
    assert modes == dict.fromkeys(("log.db", "log.db-wal", "log.db-shm", "log.db-mark"), 0o600)


@pytest.mark.parametrize("synchronous, level", [("full", 2), ("normal", 1)])
def test_it_uses_wal_and_syncs_as_configured(path: Path, synchronous: str, level: int) -> None:
    class Opened(SqliteStore):
        def pragmas(self) -> tuple[object, object]:
            connection = self._writer.connection
            return connection.pragma("journal_mode"), connection.pragma("synchronous")

    store = Opened(path, synchronous)  # type: ignore[arg-type]
    assert store.pragmas() == ("wal", level)
    store.close()


def test_closing_leaves_one_file(path: Path) -> None:
    assert list(files(made(path))) == ["log.db"]


def test_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    made(path)
    newest = len(migrations())
    with apsw.Connection(str(path)) as connection:
        connection.pragma("user_version", newest + 1)
    connection.close()
    before = files(path)
    with pytest.raises(StoreTooNew) as refused:
        SqliteStore(path)
    assert str(refused.value) == (
        f"{path} has schema {newest + 1}, this version of sandbox-agent knows up to {newest}: "
        "use a newer sandbox-agent, or another --data-dir."
    )
    assert files(path) == before


def garbage(content: bytes) -> bytes:
    return b"this is no database at all " * 400


def broken_page(content: bytes) -> bytes:
    """A page in the middle, which holds an old event."""
    start = len(content) // 2 & ~0xFFF
    return content[:start] + b"\xa5" * 4096 + content[start + 4096 :]


def cut_short(content: bytes) -> bytes:
    return content[: len(content) // 2]


@pytest.mark.parametrize("damage", [garbage, broken_page, cut_short])
def test_a_damaged_file_is_refused_and_left_alone(path: Path, damage: Callable[[bytes], bytes]) -> None:
    made(path).write_bytes(damage(path.read_bytes()))
    before = files(path)
    with pytest.raises(StoreCorrupt, match=r"log\.db is damaged .* left unchanged"):
        SqliteStore(path)
    assert files(path) == before


def test_what_was_not_yet_moved_into_a_damaged_file_is_left_alone(path: Path, tmp_path: Path) -> None:
    made(path)
    store = SqliteStore(path)
    store.write(filler(number=20))
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name, content in files(path).items():
        (crashed / name).write_bytes(broken_page(content) if name == "log.db" else content)
    store.close()
    before = files(crashed / "log.db")
    assert sorted(before) == ["log.db", "log.db-wal"]
    with pytest.raises(StoreCorrupt):
        SqliteStore(crashed / "log.db")
    assert files(crashed / "log.db") == before


def test_a_damaged_file_can_be_moved_away(path: Path) -> None:
    made(path).write_bytes(broken_page(path.read_bytes()))
    with pytest.raises(StoreCorrupt):
        SqliteStore(path)
    for file in list(path.parent.iterdir()):
        file.rename(file.with_name(f"damaged-{file.name}"))
    store = SqliteStore(path)
    assert store.position() == 0
    store.close()


def test_a_full_disk_leaves_no_partial_write_and_loses_nothing_else(path: Path) -> None:
    class SmallDisk(SqliteStore):
        def limit(self, pages: int) -> None:
            self._writer.connection.pragma("max_page_count", pages)

        def pages(self) -> int:
            return int(self._writer.connection.pragma("page_count"))

    store = SmallDisk(path)
    store.write(filler(number=1))
    before = (store.session("a"), store.read("a", 0, 10, PLENTY), store.position())
    store.limit(store.pages() + 4)
    titled = SessionRecord("a", "mock", Settings("/tmp"), "then", "later", title="never")
    with pytest.raises(apsw.FullError):
        store.write([SaveSession(titled), *filler(number=2), *filler(1 << 20, number=3)])
    assert (store.session("a"), store.read("a", 0, 10, PLENTY), store.position()) == before
    store.limit(1 << 20)
    store.write([*filler(number=2), *filler(1 << 20, number=3)])
    assert [event.sequence for event in store.read("a", 0, 10, PLENTY)] == [1, 2, 3]
    store.close()


def test_readers_cannot_write(path: Path) -> None:
    class Opened(SqliteStore):
        def write_as_a_reader(self) -> None:
            self._reader().execute("DELETE FROM events")

    store = Opened(path)
    with pytest.raises(apsw.ReadOnlyError):
        store.write_as_a_reader()
    store.close()


@pytest.mark.parametrize("acknowledged", [1, random.Random().randrange(2, 60)], ids=["at once", "later"])
def test_what_was_acknowledged_survives_kill_9(path: Path, acknowledged: int) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        output = [writer.stdout.readline() for _ in range(acknowledged)]
        writer.kill()
        output += writer.stdout.readlines()
    assert output == [b"%d\n" % last for last in range(5, 5 * len(output) + 1, 5)]
    store = SqliteStore(path)
    events = store.read("a", 0, 1 << 20, PLENTY, with_raw=True)
    stored = len(events)
    assert events == [StoredEvent(n, n, b"body %d" % n, b"raw" * n) for n in range(1, stored + 1)]
    assert (stored >= int(output[-1]), stored % 5, store.position()) == (True, 0, stored)
    kept = store.session("a")
    assert kept is not None
    assert kept.event_count == stored
    store.close()


def test_deleting_a_session_gives_its_space_back(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    store.write([SaveSession(SessionRecord("a", "mock", Settings("/"), "", ""))])
    for first in range(1, 2001, 100):
        rows = [EventRow(n, b"x" * 2000) for n in range(first, first + 100)]
        store.write([AppendEvents("a", rows)])
    full = store.size()
    store.write([DeleteSession("a")])
    steps = 1
    while store.tidy():
        steps += 1
    assert steps > 3
    # The write-ahead log keeps its size until it is overwritten; the file itself must shrink.
    store.close()
    again = SqliteStore(tmp_path / "log.db")
    assert again.size() < full / 10
    again.close()


def test_a_deleted_session_is_gone_at_once_and_its_events_bit_by_bit(path: Path) -> None:
    store = SqliteStore(path)
    store.write([SaveSession(named("gone")), SaveSession(named("stays"))])
    store.write([AppendEvents("gone", [EventRow(n, b"{}") for n in range(1, 2501)])])
    store.write([AppendEvents("stays", [EventRow(1, b"{}")])])
    store.write([DeleteSession("gone")])
    assert [row.position for row in store.read_log(0, 9, PLENTY)] == [2501]
    assert store.tidy()
    store.close()
    # Killed midway: the next start continues.
    again = SqliteStore(path)
    assert [row.position for row in again.read_log(0, 9, PLENTY)] == [2501]
    while again.tidy():
        pass
    assert next(iter(again._writer.connection.execute("SELECT count(*) FROM events")))[0] == 1
    assert again.position() == 2501
    again.close()


def tidy(store: SqliteStore) -> None:
    while store.tidy():
        pass


def shown(path: Path, text: bytes) -> list[str]:
    """The files of a store that hold a text somewhere in their bytes."""
    return [file.name for file in sorted(path.parent.iterdir()) if text in file.read_bytes()]


def with_secret(path: Path) -> SqliteStore:
    """A store with a secret in the file and in the write-ahead log, as after some time."""
    store = SqliteStore(path)
    for name in ("a", "b"):
        store.write([SaveSession(named(name)), SaveSecrets(name, Secrets({"KEY": "planted"}))])
        if name == "a":
            store._writer.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    assert shown(path, b"planted") == ["log.db", "log.db-wal"]
    return store


def test_the_secrets_of_deleted_sessions_are_in_no_file(path: Path) -> None:
    store = with_secret(path)
    store.write([DeleteSession("a"), DeleteSession("b")])
    tidy(store)
    assert shown(path, b"planted") == []
    store.close()
    assert shown(path, b"planted") == []


def test_a_reader_does_not_block_the_removal_of_secrets(path: Path) -> None:
    store = with_secret(path)
    reading = iter(store._reader().execute("SELECT session_id FROM sessions"))
    next(reading)
    store.write([DeleteSession("a"), DeleteSession("b")])
    began = time.monotonic()
    with pytest.raises(apsw.BusyError):
        tidy(store)
    assert time.monotonic() - began < busy(2)
    del reading
    store.write([Probe()])
    tidy(store)
    assert shown(path, b"planted") == []
    store.close()


def test_secrets_that_a_killed_writer_was_about_to_remove_are_removed(path: Path) -> None:
    store = with_secret(path)
    store.write([DeleteSession("a"), DeleteSession("b")])
    copied = path.with_name("killed") / "log.db"
    copied.parent.mkdir()
    for name in ("log.db", "log.db-wal"):  # as a kill would have left them
        shutil.copy(path.with_name(name), copied.with_name(name))
    store.close()
    assert "log.db-wal" in shown(copied, b"planted")
    again = SqliteStore(copied)
    tidy(again)
    assert shown(copied, b"planted") == []
    again.close()


def test_an_impossible_change_differs_from_a_failing_disk(path: Path) -> None:
    store = SqliteStore(path)
    store.write([SaveSession(named("a")), AppendEvents("a", [EventRow(1, b"{}")])])
    with pytest.raises(ImpossibleChange, match="UNIQUE"):
        store.write([SaveSession(named("b")), AppendEvents("a", [EventRow(1, b"{}")])])
    assert store.session("b") is None
    store.close()


def test_saving_a_session_again_takes_no_new_ordinal(path: Path) -> None:
    store = SqliteStore(path)
    for title in ("one", "two", "three"):
        store.write([SaveSession(structs.replace(RECORD, title=title))])
    store.write([SaveSession(named("b"))])
    assert [ordinal for ordinal, _ in store.sessions(None, 9)] == [2, 1]
    store.close()


def test_what_a_start_asks_for_does_not_look_at_every_session(path: Path) -> None:
    store = SqliteStore(path)
    asked: list[str] = []

    def trace(cursor: object, sql: str, bindings: object) -> bool:
        asked.append(sql)
        return True

    store._reader().exec_trace = trace
    assert store.active_sessions() == []
    [sql] = asked
    plan = [row[3] for row in apsw.Connection(str(path)).execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert [step for step in plan if step.startswith("SCAN") and "USING" not in step] == []
    store.close()


def migrate_until(connection: apsw.Connection, made: str) -> None:
    """Migrate up to the schema before the one that creates something with this name."""
    known = migrations()
    [version] = [number for number, sql in enumerate(known) if f"{made} " in sql.split("INSERT")[0]]
    for sql in known[:version]:
        connection.execute(sql)
    connection.pragma("user_version", version)


def test_sessions_of_an_older_schema_keep_the_folder_of_their_files(path: Path) -> None:
    titled = structs.replace(named("a.b"), title='é "\u2028', usage=Usage(cost_usd=0.1))
    with apsw.Connection(str(path)) as old:
        migrate_until(old, "sessions_folder")
        old.execute(
            "INSERT INTO sessions (session_id, active, record) VALUES (?, 0, ?)",
            ("a.b", msgspec.json.encode(titled)),
        )
    old.close()
    store = SqliteStore(path)
    assert store.session("a.b") == structs.replace(titled, folder="ses-a.b")
    assert store.folders() == {"ses-a.b"}
    store.close()


def test_messages_that_an_older_schema_queued_keep_their_heads(path: Path) -> None:
    """A file of an older version, with one session and two queued messages."""
    queued = [
        QueuedMessage("t1", Prompt("é"), "then", fresh=True),
        QueuedMessage("t2", Prompt("b"), "later"),
    ]
    with apsw.Connection(str(path)) as old:
        migrate_until(old, "queue_with_heads")
        old.execute(
            "INSERT INTO sessions (session_id, active, record) VALUES (?, 0, ?)",
            ("a", msgspec.json.encode(RECORD)),
        )
        for message in queued:
            old.execute(
                "INSERT INTO queue (session, turn_id, message) VALUES (1, ?, ?)",
                (message.turn_id, msgspec.json.encode(message)),
            )
    old.close()
    store = SqliteStore(path)
    sizes = [len(msgspec.json.encode(message)) for message in queued]
    assert store.queue_heads("a") == [
        QueuedHead("t1", "then", True, sizes[0]),
        QueuedHead("t2", "later", False, sizes[1]),
    ]
    assert store.queue_page("a", 0, 9) == [(1, queued[0]), (2, queued[1])]
    store.close()


def test_heads_of_a_queue_cost_nothing_for_the_size_of_its_messages(path: Path) -> None:
    store = SqliteStore(path)
    large = Prompt("x" * (8 << 20))
    store.write([SaveSession(RECORD), Enqueue("a", QueuedMessage("t1", large, "then"))])
    store.close()
    again = SqliteStore(path)
    assert again.queue_heads("a")[0].size > 8 << 20
    pages_read = again._reader().status(apsw.SQLITE_DBSTATUS_CACHE_MISS)[0]
    assert pages_read < 20
    again.close()


# -- space in the write-ahead log -----------------------------------------------------------------


def test_the_write_ahead_log_has_its_size_before_the_first_write(path: Path) -> None:
    store = SqliteStore(path)
    store.write(filler())
    store.warm_up()
    size = wal_of(path).stat().st_size
    assert size >= WAL_BYTES
    for number in range(2, 100):
        store.write(filler(100, number))
    assert wal_of(path).stat().st_size == size
    assert wal_of(path).stat().st_size < 2 * WAL_BYTES
    store.close()
    assert path.stat().st_size < WAL_BYTES / 4


def test_what_gives_the_write_ahead_log_its_size_leaves_nothing_to_read(path: Path, tmp_path: Path) -> None:
    """Neither for concurrent readers nor for someone who reads the files after a kill."""
    store = SqliteStore(path)
    store.write(filler())
    reading = iter(store._reader().execute("SELECT session_id FROM sessions"))
    next(reading)
    writer = store._writer.connection
    before = (writer.pragma("page_count"), sorted(writer.execute("SELECT name FROM meta")))
    store.warm_up()
    store.write(filler(number=2))
    after = (writer.pragma("page_count"), sorted(writer.execute("SELECT name FROM meta")))
    assert after[1] == sorted([*before[1], ("probe",)])
    assert after[0] <= before[0] + 2
    del reading
    killed = tmp_path / "killed"
    killed.mkdir()
    for file in (path, wal_of(path)):
        shutil.copy(file, killed)
    store.close()
    again = SqliteStore(killed / "log.db")
    assert [row.sequence for row in again.read("a", 0, 9, PLENTY)] == [1, 2]
    again.close()


def test_another_program_that_writes_is_not_waited_for_to_give_the_log_its_size(path: Path) -> None:
    store = SqliteStore(path)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    with pytest.raises(apsw.BusyError):
        store.warm_up()
    assert time.monotonic() - began < busy(2)
    other.execute("ROLLBACK")
    other.close()
    store.write(filler())
    assert store._writer.connection.pragma("cache_size") == apsw.Connection("").pragma("cache_size")
    store.close()


def test_only_sqlite_writes_its_files(path: Path) -> None:
    """Every write, as the kernel sees it, has SQLite's library above it: the interpreter opens none of its files to write."""
    script = (
        "import sys; from pathlib import Path; from sandbox_agent.store.sqlite import SqliteStore;"
        "opened = [];"
        "sys.addaudithook(lambda event, args: opened.append(args) if event == 'open' else None);"
        "store = SqliteStore(Path(sys.argv[1])); del opened[:];"
        "store.warm_up(); store.close();"
        "print([args for args in opened if str(args[0]).startswith(sys.argv[1])])"
    )
    output = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, check=True)
    assert output.stdout == b"[]\n"


def test_the_ledger_drops_its_oldest_turns_beyond_its_limit(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox_agent.store.sqlite.writer.MAX_LEDGER_ROWS", 2)
    store = SqliteStore(path)
    store.write(booked(number, Usage(cost_usd=number)) for number in (1, 2, 3))
    assert [(row.turns, row.cost_usd) for row in store.usage(*ALWAYS, None, 1)] == [(2, 5.0)]
    store.close()


def test_a_range_of_the_ledger_is_found_by_its_index(path: Path) -> None:
    SqliteStore(path).close()
    query = "EXPLAIN QUERY PLAN SELECT count(*), agent FROM ledger WHERE ended_at >= '1' AND ended_at < '2'"
    [(*_, plan)] = apsw.Connection(str(path)).execute(f"{query} GROUP BY agent LIMIT 1").fetchall()[:1]
    assert "USING INDEX ledger_by_time" in str(plan)
