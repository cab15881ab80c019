"""Prove your store: everything that `sandbox_agent.store.base` promises, as tests for pytest.

    class TestMyStore(DurableStoreContract):
        def make_store(self, folder: Path) -> Store:
            return MyStore(folder / "log")

A store that forgets when it is closed proves itself with `StoreContract`, which never opens a folder twice.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ..schema.events import Usage
from ..schema.inputs import Attachment, McpServer, Prompt, Rule, Settings
from ..store.base import (
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
    SessionRecord,
    Store,
    StoredEvent,
)

TIME = "2026-01-01T00:00:00.000Z"
PLENTY = 1 << 30
SECRETS = Secrets(
    env={"KEY": "hunter2"}, mcp={"tools": McpServer(url="https://tools.example", headers={"a": "b"})}
)


def record(session_id: str, **facts: Any) -> SessionRecord:
    return SessionRecord(session_id, "mock", Settings("/tmp"), TIME, TIME, **facts)


def full_record(session_id: str, event_count: int) -> SessionRecord:
    """A record without a single default left."""
    return SessionRecord(
        session_id,
        "mock",
        Settings("/tmp", "plan", "acceptEdits", "large", "high", {"tools": McpServer("run", ("-x",))}),
        TIME,
        "2026-01-02T00:00:00.000Z",
        title="Títle \u2028 \x00",
        agent_version="1.2.3",
        pinned_version="1.2",
        native_id="native",
        native_stored=True,
        turn_id="turn_1",
        prompted=True,
        ended=True,
        event_count=event_count,
        open_since=3,
        usage=Usage(input_tokens=1, cost_usd=0.25),
        rules=(Rule("bash", "git ", prefix=True),),
        turn_timeout_ms=1000,
        folder=f"files-of-{session_id}",
    )


def message(turn_id: str) -> QueuedMessage:
    return QueuedMessage(
        turn_id, Prompt(f"do {turn_id}", (Attachment("/a", "text/plain", "a"),)), TIME, fresh=True
    )


def pending(id: str) -> PendingRow:
    return PendingRow(id, "question" if id.startswith("q") else "permission", f'{{"id": "{id}"}}'.encode())


def rows(positions: Iterable[int], first_sequence: int = 1) -> list[EventRow]:
    return [
        EventRow(position, sequence, b"body %d" % position)
        for sequence, position in enumerate(positions, start=first_sequence)
    ]


def filled(session_id: str, positions: Sequence[int]) -> list[Change]:
    """A session with something of everything."""
    return [
        SaveSession(full_record(session_id, len(positions))),
        SaveSecrets(session_id, SECRETS),
        AppendEvents(session_id, rows(positions)),
        Enqueue(session_id, message("turn_1")),
        Enqueue(session_id, message("turn_2")),
        AddPending(session_id, pending("perm_1")),
        AddPending(session_id, pending("q_1")),
        ResolvePending(session_id, "q_1"),
        RememberKey(session_id, "key", KeyRow(b"\x00digest", "turn_1")),
        RememberCalls(session_id, ["call_1", "call_2"]),
    ]


def contents(store: Store, *session_ids: str) -> dict[str, object]:
    """All that a reader can find out."""
    return {
        "position": store.position(),
        "log": store.read_log(0, 1000, PLENTY),
        "sessions": store.sessions(None, 1000),
        "active": sorted(store.active_sessions()),
        "folders": store.folders(),
    } | {session_id: contents_of(store, session_id) for session_id in session_ids}


def contents_of(store: Store, session_id: str) -> tuple[object, ...]:
    return (
        store.session(session_id),
        store.read(session_id, 0, 1000, PLENTY, with_raw=True),
        store.secrets(session_id),
        store.queue(session_id),
        store.pending(session_id),
        [id for id in ("perm_1", "q_1", "q_2") if store.was_asked(session_id, id)],
        store.key(session_id, "key"),
        sorted(store.call_ids(session_id)),
    )


NOTHING: tuple[object, ...] = (None, [], Secrets(), [], [], [], None, [])


class StoreContract(ABC):
    """What every store keeps. Subclass it under a name that pytest collects, and implement `make_store`."""

    @abstractmethod
    def make_store(self, folder: Path) -> Store:
        """Open the store that lives in this folder; an empty one when there is none yet."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = self.make_store(tmp_path)
        yield store
        store.close()

    # -- transactions -------------------------------------------------------------------------

    def test_an_empty_store_holds_nothing(self, store: Store) -> None:
        empty = {"position": 0, "log": [], "sessions": [], "active": [], "folders": set(), "a": NOTHING}
        assert contents(store, "a") == empty

    def test_what_is_written_is_there(self, store: Store) -> None:
        store.write(filled("a", (1, 2, 3)))
        assert contents_of(store, "a") == (
            full_record("a", 3),
            [StoredEvent(n, n, b"body %d" % n, None) for n in (1, 2, 3)],
            SECRETS,
            [message("turn_1"), message("turn_2")],
            [pending("perm_1")],
            ["perm_1", "q_1"],
            KeyRow(b"\x00digest", "turn_1"),
            ["call_1", "call_2"],
        )

    def test_a_write_that_fails_in_the_middle_leaves_nothing(self, store: Store) -> None:
        store.write(filled("a", (1, 2)))
        before = contents(store, "a", "b")

        def broken() -> Iterator[Change]:
            yield AppendEvents("a", rows((3,), 3))
            yield SaveSession(record("a", title="changed"))
            yield Dequeue("a", "turn_1")
            yield ResolvePending("a", "perm_1")
            yield from filled("b", (4, 5))
            yield DeleteSession("a")
            raise RuntimeError("no more")

        with pytest.raises(RuntimeError, match="no more"):
            store.write(broken())
        assert contents(store, "a", "b") == before

    def test_a_write_after_one_that_failed_succeeds(self, store: Store) -> None:
        def broken() -> Iterator[Change]:
            yield from filled("a", (1, 2))
            raise RuntimeError("no more")

        with pytest.raises(RuntimeError):
            store.write(broken())
        # Another session comes first now: nothing of the failed one may be mistaken for it.
        store.write([SaveSession(record("b"))])
        store.write(filled("a", (1, 2)))
        assert contents_of(store, "b") == (record("b"), *NOTHING[1:])
        assert [event.sequence for event in store.read("a", 0, 10, PLENTY)] == [1, 2]

    def test_changes_of_one_write_build_on_each_other(self, store: Store) -> None:
        store.write(
            [*filled("a", (1, 2)), DeleteSession("a"), SaveSession(record("a")), Enqueue("a", message("t"))]
        )
        assert contents_of(store, "a") == (record("a"), [], Secrets(), [message("t")], [], [], None, [])

    def test_a_change_for_a_session_that_is_not_there_does_nothing(self, store: Store) -> None:
        changes = [change for change in filled("gone", (1, 2)) if not isinstance(change, SaveSession)]
        store.write([*changes, Dequeue("gone", "turn_1"), *filled("a", (3,))])
        assert contents_of(store, "gone") == NOTHING
        assert store.read_log(0, 10, PLENTY) == [StoredEvent(3, 1, b"body 3", None)]

    def test_a_probe_changes_nothing(self, store: Store) -> None:
        store.write(filled("a", (1,)))
        before = contents(store, "a")
        store.write([Probe()])
        assert contents(store, "a") == before

    def test_an_empty_write_changes_nothing(self, store: Store) -> None:
        store.write(filled("a", (1,)))
        before = contents(store, "a")
        store.write([])
        store.write([AppendEvents("a", []), RememberCalls("a", [])])
        assert contents(store, "a") == before

    # -- events -------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        "payload",
        [
            b"",
            b"\x00",
            b"\xff\xfe not utf-8",
            b'{"text":"\\u0000 \xe2\x80\xa8"}\r\n',
            bytes(range(256)) * 4096,
        ],
        ids=["empty", "nul", "not utf-8", "json", "a megabyte"],
    )
    def test_bodies_and_raws_come_back_byte_for_byte(self, store: Store, payload: bytes) -> None:
        store.write([SaveSession(record("a")), AppendEvents("a", [EventRow(1, 1, payload, payload)])])
        assert store.read("a", 0, 1, PLENTY, with_raw=True) == [StoredEvent(1, 1, payload, payload)]
        assert store.read_log(0, 1, PLENTY) == [StoredEvent(1, 1, payload, None)]

    def test_raws_are_read_only_when_asked_for(self, store: Store) -> None:
        store.write([SaveSession(record("a")), AppendEvents("a", [EventRow(1, 1, b"body", b"raw")])])
        assert store.read("a", 0, 1, PLENTY) == [StoredEvent(1, 1, b"body", None)]

    def test_events_share_the_raw_of_an_earlier_one(self, store: Store) -> None:
        shared = [EventRow(1, 1, b"1", b"raw"), EventRow(2, 2, b"2", None, 1), EventRow(3, 3, b"3")]
        store.write([SaveSession(record("a")), AppendEvents("a", shared)])
        store.write([AppendEvents("a", [EventRow(4, 4, b"4", None, 1)])])
        assert [event.raw for event in store.read("a", 0, 10, PLENTY, with_raw=True)] == [
            b"raw",
            b"raw",
            None,
            b"raw",
        ]
        assert store.read("a", 3, 10, PLENTY, with_raw=True) == [StoredEvent(4, 4, b"4", b"raw")]

    def test_a_shared_raw_is_of_the_same_session(self, store: Store) -> None:
        for position, name in ((1, "a"), (3, "b")):
            shared = [EventRow(position, 1, b"1", name.encode()), EventRow(position + 1, 2, b"2", None, 1)]
            store.write([SaveSession(record(name)), AppendEvents(name, shared)])
        assert [event.raw for event in store.read("b", 0, 10, PLENTY, with_raw=True)] == [b"b", b"b"]

    def test_a_page_is_bounded_in_rows(self, store: Store) -> None:
        store.write([SaveSession(record("a")), AppendEvents("a", rows(range(1, 8)))])
        pages = [
            [event.sequence for event in store.read("a", after, 3, PLENTY)] for after in (0, 3, 6, 7, 99)
        ]
        assert pages == [[1, 2, 3], [4, 5, 6], [7], [], []]

    def test_a_page_is_bounded_in_bytes_but_never_empty(self, store: Store) -> None:
        sizes = (10, 10, 100, 5, 5)
        appended = [EventRow(n, n, b"x" * size) for n, size in enumerate(sizes, start=1)]
        store.write([SaveSession(record("a")), AppendEvents("a", appended)])
        pages = [[event.sequence for event in store.read("a", after, 9, 20)] for after in (0, 2, 3)]
        assert pages == [[1, 2], [3], [4, 5]]
        assert [[event.position for event in store.read_log(after, 9, 20)] for after in (0, 2, 3)] == pages

    def test_raws_count_as_bytes_when_asked_for(self, store: Store) -> None:
        appended = [
            EventRow(n, n, b"x" * 10, b"y" * 10 if n == 1 else None, None if n == 1 else 1) for n in (1, 2, 3)
        ]
        store.write([SaveSession(record("a")), AppendEvents("a", appended)])
        assert [event.sequence for event in store.read("a", 0, 9, 40, with_raw=True)] == [1, 2]
        assert [event.sequence for event in store.read("a", 0, 9, 40)] == [1, 2, 3]

    def test_a_page_that_was_cut_short_holds_nothing_back(self, store: Store) -> None:
        store.write([SaveSession(record("a")), AppendEvents("a", rows(range(1, 6)))])
        assert len(store.read("a", 0, 9, 1)) == 1
        store.write([AppendEvents("a", rows(range(6, 8), 6))])
        assert [event.sequence for event in store.read("a", 0, 9, PLENTY)] == [1, 2, 3, 4, 5, 6, 7]

    def test_an_event_larger_than_the_page_can_be_left_out(self, store: Store) -> None:
        sizes = (10, 100, 10, 10)
        appended = [EventRow(n, n, b"x" * size, b"y" * 15) for n, size in enumerate(sizes, start=1)]
        store.write([SaveSession(record("a")), AppendEvents("a", appended)])
        left_out = StoredEvent(2, 2, b"", None, is_large=True)
        for after, expected in ((0, [1]), (1, [2]), (2, [3, 4])):
            page = store.read("a", after, 9, 20, whole=False)
            assert [event.sequence for event in page] == expected
            assert page == store.read_log(after, 9, 20, whole=False)
            assert (page == [left_out]) == (expected == [2])
        [with_raw] = store.read("a", 0, 9, 20, with_raw=True, whole=False)
        assert with_raw == StoredEvent(1, 1, b"", None, is_large=True)

    def test_an_event_can_be_read_in_slices(self, store: Store) -> None:
        body, raw = bytes(range(256)) * 400, b"raw" * 9000
        appended = [EventRow(7, 1, body, raw), EventRow(8, 2, b"{}", None, 1), EventRow(9, 3, b"no raw")]
        store.write([SaveSession(record("a")), AppendEvents("a", appended)])
        for start in (0, 5, 70_000, len(body) - 1, len(body), len(body) + 5):
            assert store.read_slice(7, start, 1000) == (body[start : start + 1000], len(body))
        for position in (7, 8):  # the second shares it
            assert store.read_slice(position, 2, 1 << 20, raw=True) == (raw[2:], len(raw))
        assert store.read_slice(9, 0, 9, raw=True) == (b"", 0)
        assert store.read_slice(99, 0, 9) == (b"", 0)
        store.write([DeleteSession("a")])
        assert store.read_slice(7, 0, 9) == (b"", 0)

    def test_the_log_goes_through_all_sessions_by_position(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b")), AppendEvents("b", rows((1, 4)))])
        store.write([AppendEvents("a", rows((5, 6))), AppendEvents("b", rows((7,), 3))])
        expected = [(1, 1), (4, 2), (5, 1), (6, 2), (7, 3)]
        log = [(event.position, event.sequence) for event in store.read_log(0, 10, PLENTY)]
        assert log == expected
        assert [event.position for event in store.read_log(2, 2, PLENTY)] == [4, 5]
        assert store.read_log(7, 10, PLENTY) == []

    # -- sessions -----------------------------------------------------------------------------

    def test_a_record_is_written_whole_each_time(self, store: Store) -> None:
        store.write([SaveSession(full_record("a", 0))])
        store.write([SaveSession(record("a", title="new"))])
        assert store.session("a") == record("a", title="new")

    def test_a_record_counts_the_events_that_came_after_it(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b", event_count=1))])
        store.write([AppendEvents("a", rows((1, 2)))])
        assert [store.session(name) for name in "ab"] == [record("a", event_count=2), record("b")]

    def test_the_latest_news_of_each_session_is_kept_at_its_position(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b"))])
        store.write([Announce("a", 1, b"a1"), Announce("b", 2, b"b2"), Announce("a", 5, b"a5")])
        store.write([Announce("gone", 6, b"nobody")])
        assert store.news(0, 10) == [(2, b"b2"), (5, b"a5")]
        assert (store.news(2, 10), store.news(0, 1)) == ([(5, b"a5")], [(2, b"b2")])
        assert store.position() == 5

    def test_a_deleted_session_leaves_a_tombstone(self, store: Store) -> None:
        store.write([SaveSession(record("a")), Announce("a", 1, b"a1")])
        store.write([DeleteSession("a"), Bury(2, b"a is gone")])
        assert (store.news(0, 10), store.news(2, 10)) == ([(2, b"a is gone")], [])
        assert store.position() == 2

    def test_sessions_are_listed_newest_first_in_pages(self, store: Store) -> None:
        for name in "abcde":
            store.write([SaveSession(record(name))])
        store.write([SaveSession(record("a", title="saved again"))])
        listed: list[list[str]] = []
        before: int | None = None
        while page := store.sessions(before, 2):
            listed.append([one.session_id for _, one in page])
            before = page[-1][0]
        assert listed == [["e", "d"], ["c", "b"], ["a"]]

    def test_a_cursor_outlives_the_session_it_names(self, store: Store) -> None:
        for name in "abcd":
            store.write([SaveSession(record(name))])
        cursor = store.sessions(None, 2)[-1][0]
        store.write([DeleteSession("c"), SaveSession(record("c")), SaveSession(record("e"))])
        assert [one.session_id for _, one in store.sessions(cursor, 9)] == ["b", "a"]
        assert [one.session_id for _, one in store.sessions(None, 9)] == ["e", "c", "d", "b", "a"]

    def test_sessions_that_need_attention_are_active(self, store: Store) -> None:
        store.write([SaveSession(record(name)) for name in ("idle", "queued", "asking", "answered", "done")])
        store.write(
            [SaveSession(record("turn", turn_id="turn_1")), SaveSession(record("open", open_since=1))]
        )
        store.write([Enqueue("queued", message("t")), Enqueue("done", message("t")), Dequeue("done", "t")])
        store.write([AddPending(name, pending("perm_1")) for name in ("asking", "answered")])
        store.write([ResolvePending("answered", "perm_1")])
        assert sorted(store.active_sessions()) == ["asking", "open", "queued", "turn"]
        store.write([SaveSession(record("turn")), SaveSession(record("open"))])
        assert sorted(store.active_sessions()) == ["asking", "queued"]

    def test_folders_are_those_that_records_name(self, store: Store) -> None:
        store.write([SaveSession(record(name, folder=f"files-{name}")) for name in "abc"])
        store.write([SaveSession(record("d")), DeleteSession("b")])
        store.write([SaveSession(record("a", folder="files-a", title="saved again"))])
        assert store.folders() == {"files-a", "files-c"}
        store.write([SaveSession(record("b", folder="files-2")), DeleteSession("a")])
        assert store.folders() == {"files-2", "files-c"}

    def test_secrets_stay_when_the_record_changes(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSecrets("a", SECRETS)])
        store.write([SaveSession(record("a", title="new"))])
        assert store.secrets("a") == SECRETS
        store.write([SaveSecrets("a", Secrets())])
        assert store.secrets("a") == Secrets()

    # -- beside the log -----------------------------------------------------------------------

    def test_the_queue_is_first_in_first_out(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b"))])
        for turn_id in ("t9", "t1", "t5"):
            store.write([Enqueue("a", message(turn_id)), Enqueue("b", message(turn_id))])
        store.write([Dequeue("a", "t1"), Dequeue("a", "unknown")])
        store.write([Enqueue("a", message("t0"))])
        assert store.queue("a") == [message("t9"), message("t5"), message("t0")]
        assert store.queue("b") == [message("t9"), message("t1"), message("t5")]

    def test_the_queue_is_read_in_pages(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b"))])
        for turn_id in ("t9", "t1", "t5", "t3", "t7"):
            store.write([Enqueue("b", message(turn_id)), Enqueue("a", message(turn_id))])
        pages: list[list[QueuedMessage]] = []
        after = 0
        while page := store.queue_page("a", after, 2):
            pages.append([queued for _, queued in page])
            after = page[-1][0]
            # What a cursor names may go, and something new may come, between two pages.
            store.write([Dequeue("a", pages[-1][-1].turn_id)])
            if len(pages) == 2:
                store.write([Enqueue("a", message("t0"))])
        assert pages == [
            [message("t9"), message("t1")],
            [message("t5"), message("t3")],
            [message("t7"), message("t0")],
        ]
        assert store.queue_page("gone", 0, 9) == []

    def test_a_message_queued_again_goes_to_the_end(self, store: Store) -> None:
        store.write([SaveSession(record("a")), Enqueue("a", message("t1")), Enqueue("a", message("t2"))])
        cursor = store.queue_page("a", 0, 9)[-1][0]
        store.write([Dequeue("a", "t1")])
        store.write([Dequeue("a", "t2"), Enqueue("a", message("t1"))])
        assert [queued for _, queued in store.queue_page("a", cursor, 9)] == [message("t1")]

    def test_a_queue_is_known_without_its_messages(self, store: Store) -> None:
        plain = QueuedMessage("t0", Prompt("é" * 1000), "2026-01-03T00:00:00.000Z")
        store.write([SaveSession(record("a")), Enqueue("a", message("t9")), Enqueue("a", plain)])
        sizes = [len(msgspec.json.encode(one)) for one in (message("t9"), plain)]
        assert store.queue_heads("a") == [
            QueuedHead("t9", TIME, True, sizes[0]),
            QueuedHead("t0", "2026-01-03T00:00:00.000Z", False, sizes[1]),
        ]
        found = [store.queued(*what) for what in (("a", "t0"), ("a", "t9"), ("a", "t1"), ("gone", "t0"))]
        assert found == [plain, message("t9"), None, None]
        assert store.queue_heads("gone") == []

    def test_what_is_pending_is_listed_as_it_was_asked(self, store: Store) -> None:
        store.write([SaveSession(record("a"))])
        store.write([AddPending("a", pending(id)) for id in ("q_9", "perm_1", "q_2")])
        store.write([ResolvePending("a", "perm_1"), AddPending("a", pending("perm_0"))])
        assert store.pending("a") == [pending("q_9"), pending("q_2"), pending("perm_0")]

    def test_that_something_was_asked_stays_known(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b")), AddPending("a", pending("q_1"))])
        store.write([ResolvePending("a", "q_1"), ResolvePending("a", "q_1"), ResolvePending("a", "never")])
        asked = [
            store.was_asked(*what) for what in (("a", "q_1"), ("b", "q_1"), ("a", "never"), ("none", "q_1"))
        ]
        assert asked == [True, False, False, False]
        assert store.pending("a") == []

    def test_a_key_belongs_to_its_session(self, store: Store) -> None:
        row = KeyRow(bytes(range(32)), "turn_1")
        store.write([SaveSession(record("a")), SaveSession(record("b")), RememberKey("a", "k", row)])
        found = [store.key(*what) for what in (("a", "k"), ("a", "K"), ("b", "k"), ("none", "k"))]
        assert found == [row, None, None, None]

    def test_call_ids_are_remembered_once(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b")), RememberCalls("a", ["x", "x#2"])])
        store.write([RememberCalls("a", ["x", "y"]), RememberCalls("b", ["x"])])
        assert sorted(store.call_ids("a")) == ["x", "x#2", "y"]
        assert store.call_ids("b") == ["x"]

    # -- deleting -----------------------------------------------------------------------------

    def test_deleting_a_session_takes_all_of_it_and_nothing_else(self, store: Store) -> None:
        store.write(filled("b", (1, 2)))
        kept = contents_of(store, "b")
        store.write(filled("a", (3, 4)))
        store.write([DeleteSession("a"), DeleteSession("a"), DeleteSession("never was")])
        assert contents_of(store, "a") == NOTHING
        assert contents_of(store, "b") == kept
        assert [event.position for event in store.read_log(0, 9, PLENTY)] == [1, 2]

    def test_a_session_that_takes_a_deleted_ones_name_begins_empty(self, store: Store) -> None:
        store.write(filled("a", (1, 2)))
        store.write([DeleteSession("a")])
        store.write([SaveSession(record("a")), AppendEvents("a", rows((3,)))])
        only = [StoredEvent(3, 1, b"body 3", None)]
        assert contents_of(store, "a") == (record("a", event_count=1), only, *NOTHING[2:])

    def test_positions_are_never_given_twice(self, store: Store) -> None:
        store.write(filled("a", (1, 2)))
        store.write(filled("b", (3, 4)))
        store.write([DeleteSession("b")])
        assert store.position() == 4
        store.write([DeleteSession("a")])
        assert store.position() == 4

    def test_what_is_stored_takes_space(self, store: Store) -> None:
        before = store.size()
        store.write([SaveSession(record("a")), AppendEvents("a", [EventRow(1, 1, bytes(1 << 20))])])
        assert store.size() >= before + (1 << 20)

    def test_closing_twice_is_closing(self, tmp_path: Path) -> None:
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
                    changes = [AppendEvents("a", rows(range(first, first + 3), first))]
                    changed = SaveSession(record("a", event_count=first + 2))
                    store.write([*changes, changed, AddPending("a", pending(f"q_{first}"))])
            finally:
                writing.clear()

        def read() -> set[str]:
            wrong = set()
            after = 0
            goes_on = True
            while goes_on:
                goes_on = writing.is_set()  # looked at first: the last round sees everything
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
            found = [pool.submit(read) for _ in range(3)]
            pool.submit(write).result()
            assert [reader.result() for reader in found] == [set(), set(), set()]


class DurableStoreContract(StoreContract):
    """What a store keeps besides that is still there when it is opened anew."""

    def test_everything_is_there_when_it_is_opened_anew(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        store.write(filled("a", (1, 2)))
        store.write(filled("b", (3,)))
        before = contents(store, "a", "b")
        identity = store.identity
        store.close()
        store = self.make_store(tmp_path)
        assert (contents(store, "a", "b"), store.identity) == (before, identity)
        store.close()

    def test_it_goes_on_where_it_was(self, tmp_path: Path) -> None:
        for number in (1, 2, 3):
            store = self.make_store(tmp_path)
            assert store.position() == number - 1
            store.write([SaveSession(record("a")), AppendEvents("a", rows((number,), number))])
            store.write([Enqueue("a", message(f"t{9 - number}"))])
            store.close()
        store = self.make_store(tmp_path)
        assert [event.sequence for event in store.read("a", 0, 9, PLENTY)] == [1, 2, 3]
        assert store.queue("a") == [message("t8"), message("t7"), message("t6")]
        store.close()

    def test_positions_of_deleted_events_stay_given(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        store.write(filled("a", (1, 2)))
        store.write([DeleteSession("a")])
        store.close()
        store = self.make_store(tmp_path)
        assert store.position() == 2
        store.close()

    def test_ordinals_of_deleted_sessions_stay_given(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        store.write([SaveSession(record("a"))])
        [(ordinal, _)] = store.sessions(None, 9)
        store.write([DeleteSession("a")])
        store.close()
        store = self.make_store(tmp_path)
        store.write([SaveSession(record("b"))])
        assert store.sessions(None, 9)[0][0] > ordinal
        store.close()
