"""Files removed from an open store: every read and write reports it, and nothing is overwritten."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from sandbox_agent.schema.inputs import Settings
from sandbox_agent.store.base import (
    AppendEvents,
    DeleteSession,
    EventRow,
    Probe,
    SaveSession,
    SessionRecord,
    StoreCorrupt,
    StoreGone,
)
from sandbox_agent.store.sqlite import SqliteStore

PLENTY = 1 << 30
EVENTS = 50
RECORD = SessionRecord("a", "mock", Settings("/tmp"), "then", "now")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder / "log.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = filled(path)
    yield store
    store.close()


def filled(path: Path) -> SqliteStore:
    """A store with events of which some are in the file and some only in the write-ahead log."""
    store = SqliteStore(path)
    store.write([SaveSession(RECORD)])
    append(store, 1, EVENTS // 2)
    store._writer.connection.wal_checkpoint()
    append(store, EVENTS // 2 + 1, EVENTS)
    return store


def append(store: SqliteStore, first: int, last: int) -> None:
    for n in range(first, last + 1):
        store.write([AppendEvents("a", [EventRow(n, b"x" * 2000)])])


def count(store: SqliteStore) -> int:
    return len(store.read("a", 0, 1000, PLENTY))


def wal_of(path: Path) -> Path:
    return path.with_name("log.db-wal")


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}


def opened(path: Path) -> apsw.Connection:
    """Another program that has looked into the file."""
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT count(*) FROM events").get
    return connection


def another(path: Path) -> Path:
    """A log of another daemon."""
    other = path.parent.with_name("other.db")
    SqliteStore(other).close()
    return other


# -- while it is open -----------------------------------------------------------------------------


def removed(path: Path) -> None:
    path.unlink()


def all_removed(path: Path) -> None:
    for file in list(path.parent.iterdir()):
        file.unlink()


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)


def replaced(path: Path) -> None:
    another(path).rename(path)


def overwritten(path: Path) -> None:
    opened(path).wal_checkpoint()
    shutil.copyfile(another(path), path)


def wal_cut(path: Path) -> None:
    os.truncate(wal_of(path), 20_000)


def wal_cut_by_a_page(path: Path) -> None:
    os.truncate(wal_of(path), wal_of(path).stat().st_size - 4096)


def wal_emptied(path: Path) -> None:
    os.truncate(wal_of(path), 0)


def wal_removed(path: Path) -> None:
    wal_of(path).unlink()


DAMAGES: dict[Callable[[Path], None], str] = {
    removed: "log.db was removed while",
    all_removed: "log.db was removed while",
    emptied: "log.db was changed by another program while .* pages are missing",
    cut_short: "log.db was changed by another program while .* pages are missing",
    replaced: "log.db was replaced while",
    overwritten: "log.db was changed by another program while .* it holds another log",
    wal_cut: "log.db-wal was truncated while .* a part of the log is lost",
    wal_cut_by_a_page: "log.db-wal was truncated while .* a part of the log is lost",
    wal_emptied: "log.db-wal was truncated while .* a part of the log is lost",
    wal_removed: "log.db-wal was removed while",
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("first", ["read", "write", "check"])
def test_deleted_files_are_reported_by_the_first_access(
    path: Path, store: SqliteStore, damage: Callable[[Path], None], first: str
) -> None:
    damage(path)
    asks: dict[str, Callable[[], object]] = {
        "read": lambda: count(store),
        "write": lambda: append(store, EVENTS + 1, EVENTS + 1),
        "check": store.check,
        "list": lambda: store.sessions(None, 9),
        "position": store.position,
    }
    for ask in [asks[first], *asks.values()]:
        with pytest.raises(StoreGone, match=DAMAGES[damage]):
            ask()


@pytest.mark.parametrize("damage", [removed, emptied, cut_short, overwritten, wal_cut, wal_emptied])
def test_nothing_is_written_over(path: Path, damage: Callable[[Path], None]) -> None:
    store = filled(path)
    damage(path)
    before = contents(path.parent)
    with pytest.raises(StoreGone):
        append(store, EVENTS + 1, EVENTS + 1)
    with pytest.raises(StoreGone):
        store.tidy()
    store.close()
    after = contents(path.parent)
    assert {**after, "log.db-mark": b""} == {**before, "log.db-mark": b""}


def test_a_file_that_is_back_is_written_again(path: Path, store: SqliteStore) -> None:
    away = path.with_name("away")
    path.rename(away)
    with pytest.raises(StoreGone):
        append(store, EVENTS + 1, EVENTS + 1)
    away.rename(path)
    append(store, EVENTS + 1, EVENTS + 1)
    store.check()
    assert count(store) == EVENTS + 1


def test_what_a_removed_write_ahead_log_held_is_saved(path: Path) -> None:
    store = filled(path)
    wal_removed(path)
    with pytest.raises(StoreGone, match="restart the daemon"):
        store.check()
    saved = path.parent.with_name("killed")
    shutil.copytree(path.parent, saved)  # as a kill would leave it now
    store.close()
    for folder in (saved, path.parent):
        again = SqliteStore(folder / "log.db")
        assert count(again) == EVENTS
        again.close()


def test_a_file_that_takes_the_place_of_another_does_not_get_its_write_ahead_log(path: Path) -> None:
    store = filled(path)
    away = path.with_name("away.db")
    path.rename(away)
    another(path).rename(path)
    with pytest.raises(StoreGone):
        store.check()
    store.close()
    new = SqliteStore(path)
    assert (new.position(), new.sessions(None, 9)) == (0, [])
    new.close()
    for file in path.parent.glob("log.db*"):
        file.unlink()
    old = SqliteStore(away)
    assert count(old) == EVENTS
    old.close()


# -- what is not damage --------------------------------------------------------------------------


def test_other_programs_may_move_the_write_ahead_log_into_the_file(path: Path, store: SqliteStore) -> None:
    other = opened(path)
    other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    assert wal_of(path).stat().st_size == 0
    append(store, EVENTS + 1, EVENTS + 2)
    other.execute("VACUUM")
    other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    other.close()
    store.check()
    append(store, EVENTS + 3, EVENTS + 3)
    assert count(store) == EVENTS + 3


def test_a_file_that_shrinks_because_sessions_were_deleted_is_whole(path: Path, store: SqliteStore) -> None:
    store._writer.connection.wal_checkpoint()
    before = path.stat().st_size
    store.write([DeleteSession("a"), SaveSession(SessionRecord("b", "mock", Settings("/"), "", ""))])
    while store.tidy():
        pass
    assert path.stat().st_size < before
    store.write([Probe()])
    store.check()
    assert store.position() == EVENTS


# -- at the next start ----------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [removed, emptied])
def test_a_write_ahead_log_without_its_file_is_refused_and_kept(
    path: Path, damage: Callable[[Path], None]
) -> None:
    store = filled(path)
    damage(path)
    store.close()
    before = contents(path.parent)
    with pytest.raises(StoreCorrupt, match=r"log\.db is (gone|empty), but log\.db-wal beside it is not"):
        SqliteStore(path)
    assert contents(path.parent) == before
    wal_of(path).unlink()
    again = SqliteStore(path)
    assert again.position() == 0
    again.close()


def killed(store: SqliteStore, path: Path) -> Path:
    """The files as a kill leaves them."""
    store.tidy()
    shutil.copytree(path.parent, path.parent.with_name("killed"))
    return path.parent.with_name("killed") / path.name


@pytest.mark.parametrize("is_young", [True, False])
def test_a_write_ahead_log_that_lost_its_end_is_refused_at_the_next_start(path: Path, is_young: bool) -> None:
    store = SqliteStore(path)
    store.write([SaveSession(RECORD)])
    if not is_young:
        store._writer.connection.wal_checkpoint()
    append(store, 1, EVENTS)
    left = killed(store, path)
    store.close()
    os.truncate(wal_of(left), 20_000)
    before = contents(left.parent)
    with pytest.raises(StoreCorrupt, match=rf"ends at position \d+, but was written up to {EVENTS}"):
        SqliteStore(left)
    assert contents(left.parent) == before
    left.with_name("log.db-mark").unlink()
    again = SqliteStore(left)
    assert again.position() < EVENTS
    again.close()


def test_a_kill_before_the_mark_damages_nothing(path: Path) -> None:
    store = filled(path)
    left = killed(store, path)
    append(store, EVENTS + 1, EVENTS + 5)
    for file in (path, wal_of(path)):
        shutil.copy(file, left.parent)
    store.close()
    again = SqliteStore(left)
    assert count(again) == EVENTS + 5
    again.close()


def test_a_mark_of_another_log_says_nothing(path: Path) -> None:
    filled(path).close()
    path.unlink()
    another(path).rename(path)
    again = SqliteStore(path)
    assert again.position() == 0
    again.close()


def test_only_what_is_synced_is_marked(path: Path) -> None:
    store = SqliteStore(path, "normal")
    store.write([SaveSession(RECORD)])
    append(store, 1, 3)
    store.tidy()
    store.close()
    assert [file.name for file in path.parent.iterdir()] == ["log.db"]


def test_a_mark_that_a_full_disk_refuses_keeps_the_store_neither_open_nor_untidy(path: Path) -> None:
    store = filled(path)
    refusing = os.open("/dev/full", os.O_WRONLY)
    os.dup2(refusing, store._writer.files._mark_fd or -1)
    os.close(refusing)
    append(store, EVENTS + 1, EVENTS + 5)
    store.write([DeleteSession(RECORD.session_id)])
    while store.tidy():
        pass
    store.close()
    connection = apsw.Connection(str(path))
    assert next(iter(connection.execute("SELECT count(*) FROM events"))) == (0,)
    connection.close()
