"""What happens to a write when its connection, its server or its disk fails."""

from __future__ import annotations

import itertools
import random
import signal
import threading
import time

import psycopg
import pytest
from tests.cluster.logs import SEAL, Logs, joined
from tests.cluster.proxy import Proxy
from tests.daemons import SECONDS

from sandbox_agent.errors import Unavailable
from sandbox_agent.store.base import (
    Announce,
    AppendEvents,
    Change,
    DeleteSession,
    EventRow,
    ImpossibleChange,
    Probe,
    SaveSession,
    StoreGone,
)
from sandbox_agent.store.postgres import PostgresStore
from sandbox_agent.store.shared import CommandsWait, Fenced, LogWentBack, Missed, OutcomeUnknown
from sandbox_agent.testing.store_contract.samples import PLENTY, record, rows


@pytest.fixture
def url(logs: Logs) -> str:
    return logs.new()


def repeated(store: PostgresStore, changes: list[Change]) -> tuple[int, bool]:
    """The position, and whether the outcome was unknown in between."""
    deadline = time.monotonic() + SECONDS
    was_unknown = False
    while True:
        try:
            return store.write(changes), was_unknown
        except OutcomeUnknown:
            was_unknown = True
        except Unavailable:
            assert not was_unknown
        assert time.monotonic() < deadline
        time.sleep(0.01)


def sequences(store: PostgresStore) -> list[int]:
    return [event.sequence for event in store.read("a", 0, 10_000, PLENTY)]


def test_a_write_whose_answer_was_lost_is_recognized(logs: Logs, proxy: Proxy, url: str) -> None:
    store = joined(logs.through(proxy, url))
    watcher = PostgresStore(url, SEAL)
    store.write([SaveSession(record("a")), AppendEvents("a", rows((1,)))])
    proxy.way = "swallow_answers"
    cut = threading.Thread(target=_cut_when, args=(proxy, watcher))
    cut.start()
    changes: list[Change] = [AppendEvents("a", rows((2, 3))), Announce("a", b"news")]
    with pytest.raises(OutcomeUnknown):
        store.write(changes)
    cut.join()
    proxy.way = "open"
    with pytest.raises(OutcomeUnknown, match="repeated first"):
        store.write([AppendEvents("a", rows((4,)))])
    position = store.write(changes)
    events = store.read("a", 0, 9, PLENTY)
    assert [event.sequence for event in events] == [1, 2, 3]
    assert [event.position for event in events[1:]] == [position, position + 1]
    assert store.news(0, 9) == [(position + 2, b"news")]
    assert store.write([AppendEvents("a", rows((4,)))]) > position + 2
    store.close()
    watcher.close()


def _cut_when(proxy: Proxy, watcher: PostgresStore) -> None:
    """End all connections when the third event is in the log."""
    deadline = time.monotonic() + SECONDS
    while len(watcher.read("a", 0, 9, PLENTY)) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    proxy.cut()


def test_connections_that_are_cut_at_random_moments_double_and_lose_nothing(
    logs: Logs, proxy: Proxy, url: str
) -> None:
    store = joined(logs.through(proxy, url))
    store.write([SaveSession(record("a"))])
    dice = random.Random()
    for first in range(1, 60, 2):
        cutting = threading.Timer(dice.uniform(0.0, 0.006), proxy.cut)
        cutting.start()
        repeated(store, [AppendEvents("a", rows((first, first + 1)))])
        cutting.join()
    watcher = PostgresStore(url, SEAL)
    assert sequences(watcher) == [*range(1, 61)]
    watcher.close()
    store.close()


def test_what_was_acknowledged_survives_a_crash_of_the_server(logs: Logs, url: str) -> None:
    store = joined(url)
    store.write([SaveSession(record("a"))])
    for number in range(1, 40):
        if number % 13 == 0:
            logs.server.stop(signal.SIGQUIT)
            with pytest.raises((Unavailable, OutcomeUnknown)):
                store.write([AppendEvents("a", rows((number,)))])
            logs.server.start()
        repeated(store, [AppendEvents("a", rows((number,)))])
    assert sequences(store) == [*range(1, 40)]
    store.check()
    store.close()


def test_a_server_that_cannot_be_reached_refuses_definitely(logs: Logs, proxy: Proxy, url: str) -> None:
    store = joined(logs.through(proxy, url))
    proxy.is_refusing = True
    proxy.cut()
    # The broken connection is found out first; that nothing was sent is known only from the second try on.
    with pytest.raises((OutcomeUnknown, Unavailable)):
        store.write([SaveSession(record("a"))])
    with pytest.raises(Unavailable):
        store.session("a")
    proxy.is_refusing = False
    repeated(store, [SaveSession(record("a"))])
    assert store.session("a") == record("a")
    store.close()


def test_a_log_that_lost_acknowledged_writes_is_not_continued(logs: Logs, url: str) -> None:
    store = joined(url)
    store.write([SaveSession(record("a"))])
    store.write([Probe()])
    _execute(url, "UPDATE nodes SET writes = 0")
    with pytest.raises(StoreGone):
        store.check()
    with pytest.raises(LogWentBack):
        store.write([AppendEvents("a", rows((1,)))])
    store.close()


def test_an_impossible_change_leaves_the_next_write_in_order(url: str) -> None:
    store = joined(url)
    store.write([SaveSession(record("a")), AppendEvents("a", rows((1,)))])
    for impossible in (
        AppendEvents("a", rows((1,))),
        AppendEvents("a", [EventRow(n, b"") for n in range(2, 5000)]),
        SaveSession(record("\x00")),
        SaveSession(record("\ud800")),
    ):
        with pytest.raises(ImpossibleChange):
            store.write([impossible])
    store.write([AppendEvents("a", rows((2,)))])
    assert sequences(store) == [1, 2]
    store.close()


def test_a_locked_table_delays_a_write_and_loses_nothing(url: str) -> None:
    store = joined(url)
    store.write([SaveSession(record("a"))])
    with psycopg.connect(url) as connection:
        connection.execute("LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Unavailable, match="lock timeout"):
            store.write([AppendEvents("a", rows((1,)))])
    store.write([AppendEvents("a", rows((1,)))])
    assert sequences(store) == [1]
    store.close()


def test_a_fenced_writer_learns_that_its_write_was_stored(logs: Logs, proxy: Proxy, url: str) -> None:
    """It was fenced after its write, whose answer it did not get: the write counts, the next one does not."""
    store = joined(logs.through(proxy, url))
    watcher = PostgresStore(url, SEAL)
    store.write([SaveSession(record("a")), AppendEvents("a", rows((1,)))])
    proxy.way = "swallow_answers"
    cut = threading.Thread(target=_cut_when, args=(proxy, watcher))
    cut.start()
    changes: list[Change] = [AppendEvents("a", rows((2, 3)))]
    with pytest.raises(OutcomeUnknown):
        store.write(changes)
    cut.join()
    proxy.way = "open"
    assert watcher.fence(store.life, at_once=True)
    store.write(changes)
    with pytest.raises(Fenced):
        store.write([DeleteSession("a")])
    assert sequences(watcher) == [1, 2, 3]
    store.close()
    watcher.close()


def test_a_reader_of_the_whole_log_waits_for_transactions_that_are_open(url: str) -> None:
    one, two = joined(url, "one"), joined(url, "two")
    one.write([SaveSession(record("a"))])
    with psycopg.connect(url) as slow:
        slow.execute("SELECT pg_current_xact_id()")
        position = two.write([SaveSession(record("b")), AppendEvents("b", rows((1,))), Announce("b", b"b")])
        assert two.horizon() < position
        assert (two.read_log(0, 9, PLENTY), two.news(0, 9)) == ([], [])
        assert len(two.read("b", 0, 9, PLENTY)) == 1
    assert [event.position for event in one.read_log(0, 9, PLENTY)] == [position]
    assert one.news(0, 9) == [(position + 1, b"b")]
    one.close()
    two.close()


def test_a_store_that_is_opened_meanwhile_shows_nothing_of_an_open_transaction(url: str) -> None:
    one = joined(url, "one")
    with psycopg.connect(url) as slow:
        # As a write that is on its way has a lower position than what others commit in the meantime.
        slow.execute("SELECT pg_current_xact_id()")
        position = one.write([SaveSession(record("a")), AppendEvents("a", rows((1,)))])
        two = joined(url, "two")
        assert two.horizon() < position
        assert two.read_log(0, 9, PLENTY) == []
    assert [event.position for event in two.read_log(0, 9, PLENTY)] == [position]
    one.close()
    two.close()


def _execute(url: str, sql: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.encode())


# -- notifications ------------------------------------------------------------------------------


def test_a_notification_that_is_not_understood_is_passed_over(url: str) -> None:
    store = joined(url)
    hints = store.hints()
    assert next(hints) == Missed()
    _execute(url, "SELECT pg_notify(current_schema() || '_log', 'a later: release')")
    _execute(url, f"SELECT pg_notify(current_schema() || '_{store.life}', 'commands')")
    assert next(hints) == CommandsWait()
    store.close()


def test_readers_look_by_themselves_where_notifications_are_lost(
    logs: Logs, proxy: Proxy, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    proxy.way = "drop_notices"
    store = PostgresStore(url, SEAL, listen_url=f"{logs.through(proxy, url)}&sslmode=disable")
    hints = store.hints()
    assert list(itertools.islice(hints, 5)) == [Missed()] * 5
    assert [record.message for record in caplog.records if "--database-listen-url" in record.message] != []
    assert len(caplog.records) == 1
    store.close()
    assert list(hints) == []
