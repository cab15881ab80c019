"""The whole contract: transactions, deletion, concurrent readers, and the additional promises of a durable
store.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ...store.base import (
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
    Probe,
    RememberCalls,
    ResolvePending,
    SaveSession,
    Secrets,
    Store,
    StoredEvent,
)
from .events import EventsContract
from .ledger import ALWAYS, CHEAP, LedgerContract, booked
from .samples import (
    NOTHING,
    PLENTY,
    SECRETS,
    contents,
    contents_of,
    filled,
    full_record,
    message,
    pending,
    queue,
    record,
    rows,
    unplaced,
)
from .sessions import SessionsContract


class StoreContract(EventsContract, SessionsContract, LedgerContract):
    """What every store promises. Subclass it under a name that pytest collects, and implement `make_store`."""

    # -- transactions -------------------------------------------------------------------------

    def test_an_empty_store_holds_nothing(self, store: Store) -> None:
        empty = {"log": [], "sessions": [], "active": [], "folders": set(), "a": NOTHING}
        assert contents(store, "a") == empty

    def test_written_data_can_be_read(self, store: Store) -> None:
        store.write(filled("a", 3))
        assert contents_of(store, "a") == (
            full_record("a", 3),
            [StoredEvent(0, n, b"body %d" % n, None) for n in (1, 2, 3)],
            SECRETS,
            [message("turn_1"), message("turn_2")],
            [pending("perm_1")],
            ["perm_1", "q_1"],
            KeyRow(b"\x00digest", "turn_1"),
            ["call_1", "call_2"],
        )

    def test_a_write_that_fails_in_the_middle_leaves_nothing(self, store: Store) -> None:
        store.write(filled("a", 2))
        before = contents(store, "a", "b")

        def broken() -> Iterator[Change]:
            yield AppendEvents("a", rows((3,)))
            yield SaveSession(record("a", title="changed"))
            yield Dequeue("a", "turn_1")
            yield ResolvePending("a", "perm_1")
            yield from filled("b", 2)
            yield DeleteSession("a")
            raise RuntimeError("no more")

        with pytest.raises(RuntimeError, match="no more"):
            store.write(broken())
        assert contents(store, "a", "b") == before

    def test_a_write_after_one_that_failed_succeeds(self, store: Store) -> None:
        def broken() -> Iterator[Change]:
            yield from filled("a", 2)
            raise RuntimeError("no more")

        with pytest.raises(RuntimeError):
            store.write(broken())
        # Another session comes first now: no part of the failed one may be mistaken for it.
        store.write([SaveSession(record("b"))])
        store.write(filled("a", 2))
        assert contents_of(store, "b") == (record("b"), *NOTHING[1:])
        assert [event.sequence for event in store.read("a", 0, 10, PLENTY)] == [1, 2]

    def test_changes_of_one_write_build_on_each_other(self, store: Store) -> None:
        store.write(
            [*filled("a", 2), DeleteSession("a"), SaveSession(record("a")), Enqueue("a", message("t"))]
        )
        assert contents_of(store, "a") == (record("a"), [], Secrets(), [message("t")], [], [], None, [])

    def test_a_change_to_a_missing_session_does_nothing(self, store: Store) -> None:
        changes = [change for change in filled("gone", 2) if not isinstance(change, SaveSession)]
        store.write([*changes, Dequeue("gone", "turn_1"), *filled("a", 1)])
        assert contents_of(store, "gone") == NOTHING
        assert unplaced(store.read_log(0, 10, PLENTY)) == [StoredEvent(0, 1, b"body 1", None)]

    def test_a_probe_changes_nothing(self, store: Store) -> None:
        store.write(filled("a", 1))
        before = contents(store, "a")
        store.write([Probe()])
        assert contents(store, "a") == before

    def test_an_empty_write_changes_nothing(self, store: Store) -> None:
        store.write(filled("a", 1))
        before = contents(store, "a")
        store.write([])
        store.write([AppendEvents("a", []), RememberCalls("a", [])])
        assert contents(store, "a") == before

    # -- deleting -----------------------------------------------------------------------------

    def test_deleting_a_session_removes_all_of_it_and_nothing_else(self, store: Store) -> None:
        store.write(filled("b", 2))
        kept, log = contents_of(store, "b"), store.read_log(0, 9, PLENTY)
        store.write(filled("a", 2))
        store.write([DeleteSession("a"), DeleteSession("a"), DeleteSession("never was")])
        assert contents_of(store, "a") == NOTHING
        assert contents_of(store, "b") == kept
        assert store.read_log(0, 9, PLENTY) == log

    def test_a_session_that_reuses_a_deleted_id_begins_empty(self, store: Store) -> None:
        store.write(filled("a", 2))
        store.write([DeleteSession("a")])
        store.write([SaveSession(record("a")), AppendEvents("a", [EventRow(1, b"new")])])
        only = [StoredEvent(0, 1, b"new", None)]
        assert contents_of(store, "a") == (record("a", event_count=1), only, *NOTHING[2:])

    # -- positions ----------------------------------------------------------------------------

    def test_a_write_numbers_its_events_and_updates_in_their_order(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b"))])
        first = store.write(
            [
                AppendEvents("a", rows((1, 2))),
                Announce("a", b"a"),
                AppendEvents("gone", rows((1, 2))),  # takes its numbers all the same
                Announce("gone", b"gone"),
                AppendEvents("b", rows((1,))),
                Bury(b"c"),
            ]
        )
        log = [event.position for event in store.read_log(0, 9, PLENTY)]
        assert log == [first, first + 1, first + 6]
        assert store.news(0, 9) == [(first + 2, b"a"), (first + 7, b"c")]
        assert store.position() >= first + 7
        assert store.write([AppendEvents("b", rows((2,)))]) > first + 7

    def test_a_failed_write_does_not_disturb_the_numbers(self, store: Store) -> None:
        def broken() -> Iterator[Change]:
            yield AppendEvents("a", rows((2, 3)))
            raise RuntimeError("no more")

        first = store.write([SaveSession(record("a")), AppendEvents("a", rows((1,)))])
        with pytest.raises(RuntimeError):
            store.write(broken())
        second = store.write([AppendEvents("a", rows((2,)))])
        assert [event.position for event in store.read("a", 0, 9, PLENTY)] == [first, second]

    def test_positions_are_never_reused(self, store: Store) -> None:
        store.write(filled("a", 2))
        last = store.write(filled("b", 2)) + 1
        store.write([DeleteSession("b")])
        assert store.position() >= last
        store.write([DeleteSession("a")])
        assert store.position() >= last

    # -- the store itself ---------------------------------------------------------------------

    def test_stored_data_takes_space(self, store: Store) -> None:
        before = store.size()
        store.write([SaveSession(record("a")), AppendEvents("a", [EventRow(1, bytes(1 << 20))])])
        assert store.size() >= before + (1 << 20)

    def test_closing_twice_is_allowed(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        store.close()
        store.close()

    def test_each_store_has_its_own_identity(self, store: Store, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        other = self.make_store(tmp_path / "other")
        other.close()
        assert store.identity != other.identity

    # -- many readers -------------------------------------------------------------------------

    def test_readers_see_whole_writes_while_a_writer_writes(self, store: Store) -> None:
        store.write([SaveSession(record("a"))])
        writing = threading.Event()
        writing.set()

        def write() -> None:
            try:
                for first in range(1, 301, 3):
                    changes = [AppendEvents("a", rows(range(first, first + 3)))]
                    changed = SaveSession(record("a", event_count=first + 2))
                    store.write([*changes, changed, AddPending("a", pending(f"q_{first}"))])
            finally:
                writing.clear()

        def read() -> set[str]:
            wrong = set()
            after = 0
            goes_on = True
            while goes_on:
                goes_on = writing.is_set()  # checked first: the last round sees everything
                kept = store.session("a")
                page = [event.sequence for event in store.read("a", after, 1000, PLENTY)]
                asked = len(store.pending("a"))
                if page != list(range(after + 1, after + len(page) + 1)) or len(page) % 3:
                    wrong.add("half a write, or a gap")
                after += len(page)
                if kept is None or kept.event_count > after or len(store.read_log(0, 1000, PLENTY)) < after:
                    wrong.add("a record ahead of its events")
                if asked * 3 < after:
                    wrong.add("events ahead of what they ask")
            return wrong | ({"not all of it"} if after != 300 else set())

        with ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(read) for _ in range(3)]
            pool.submit(write).result()
            assert [reader.result() for reader in readers] == [set(), set(), set()]


class DurableStoreContract(StoreContract):
    """What a durable store promises in addition: everything is still there when it is reopened."""

    def test_everything_is_there_after_reopening(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        store.write(filled("a", 2))
        store.write([*filled("b", 1), booked(1, CHEAP)])
        before = contents(store, "a", "b"), store.usage(*ALWAYS, "day", 9)
        identity = store.identity
        store.close()
        store = self.make_store(tmp_path)
        assert (contents(store, "a", "b"), store.usage(*ALWAYS, "day", 9)) == before
        assert store.identity == identity
        store.close()

    def test_it_continues_after_reopening(self, tmp_path: Path) -> None:
        last, lives = 0, set()
        for number in (1, 2, 3):
            store = self.make_store(tmp_path)
            position = store.write([SaveSession(record("a")), AppendEvents("a", rows((number,)))])
            assert position > last
            last = position
            lives.add(store.life)
            store.write([Enqueue("a", message(f"t{9 - number}"))])
            store.close()
        assert len(lives) == 3
        store = self.make_store(tmp_path)
        assert [event.sequence for event in store.read("a", 0, 9, PLENTY)] == [1, 2, 3]
        assert queue(store, "a") == [message("t8"), message("t7"), message("t6")]
        store.close()

    def test_positions_of_deleted_events_are_not_reused(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        last = store.write(filled("a", 2)) + 1
        store.write([DeleteSession("a")])
        store.close()
        store = self.make_store(tmp_path)
        assert store.position() >= last
        assert store.write(filled("a", 1)) > last
        store.close()

    def test_ordinals_of_deleted_sessions_are_not_reused(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        store.write([SaveSession(record("a"))])
        [(ordinal, _)] = store.sessions(None, 9)
        store.write([DeleteSession("a")])
        store.close()
        store = self.make_store(tmp_path)
        store.write([SaveSession(record("b"))])
        assert store.sessions(None, 9)[0][0] > ordinal
        store.close()
