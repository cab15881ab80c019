"""Sessions, and what is stored beside their events: secrets, queues, pending requests, keys, calls."""

from __future__ import annotations

import msgspec

from ...schema.inputs import Prompt
from ...store.base import (
    AddPending,
    Announce,
    AppendEvents,
    Bury,
    DeleteSession,
    Dequeue,
    Enqueue,
    KeyRow,
    QueuedHead,
    QueuedMessage,
    RememberCalls,
    RememberKey,
    ResolvePending,
    SaveSecrets,
    SaveSession,
    Secrets,
    Store,
)
from .base import Contract
from .samples import (
    SECRETS,
    TIME,
    full_record,
    message,
    pending,
    queue,
    record,
    rows,
)


class SessionsContract(Contract):
    # -- sessions -----------------------------------------------------------------------------

    def test_a_record_is_written_whole_each_time(self, store: Store) -> None:
        store.write([SaveSession(full_record("a", 0))])
        store.write([SaveSession(record("a", title="new"))])
        assert store.session("a") == record("a", title="new")

    def test_a_record_counts_the_events_that_came_after_it(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b", event_count=1))])
        store.write([AppendEvents("a", rows((1, 2)))])
        assert [store.session(name) for name in "ab"] == [record("a", event_count=2), record("b")]

    def test_the_latest_announcement_of_each_session_is_kept_at_its_position(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b"))])
        first = store.write([Announce("a", b"a1"), Announce("b", b"b2"), Announce("a", b"a3")])
        store.write([Announce("gone", b"nobody")])
        second, third = (first + 1, b"b2"), (first + 2, b"a3")
        assert store.news(0, 10) == [second, third]
        assert (store.news(first + 1, 10), store.news(0, 1)) == ([third], [second])

    def test_a_deleted_session_leaves_a_tombstone(self, store: Store) -> None:
        store.write([SaveSession(record("a")), Announce("a", b"a1")])
        buried = store.write([DeleteSession("a"), Bury(b"a is gone")])
        assert (store.news(0, 10), store.news(buried, 10)) == ([(buried, b"a is gone")], [])
        assert store.position() >= buried

    def test_sessions_are_listed_newest_first_in_pages(self, store: Store) -> None:
        for name in "abcde":
            store.write([SaveSession(record(name))])
        store.write([SaveSession(record("a", title="saved again"))])
        listed: list[list[str]] = []
        before: int | None = None
        while page := store.sessions(before, 2):
            listed.append([session.session_id for _, session in page])
            before = page[-1][0]
        assert listed == [["e", "d"], ["c", "b"], ["a"]]

    def test_a_cursor_outlives_the_session_it_names(self, store: Store) -> None:
        for name in "abcd":
            store.write([SaveSession(record(name))])
        cursor = store.sessions(None, 2)[-1][0]
        store.write([DeleteSession("c"), SaveSession(record("c")), SaveSession(record("e"))])
        assert [session.session_id for _, session in store.sessions(cursor, 9)] == ["b", "a"]
        assert [session.session_id for _, session in store.sessions(None, 9)] == ["e", "c", "d", "b", "a"]

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

    def test_directories_are_those_that_records_name(self, store: Store) -> None:
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
        assert queue(store, "a") == [message("t9"), message("t5"), message("t0")]
        assert queue(store, "b") == [message("t9"), message("t1"), message("t5")]

    def test_the_queue_is_read_in_pages(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b"))])
        for turn_id in ("t9", "t1", "t5", "t3", "t7"):
            store.write([Enqueue("b", message(turn_id)), Enqueue("a", message(turn_id))])
        pages: list[list[QueuedMessage]] = []
        after = 0
        while page := store.queue_page("a", after, 2):
            pages.append([queued for _, queued in page])
            after = page[-1][0]
            # Between two pages, the entry a cursor names may be removed, and a new one added.
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
        sizes = [len(msgspec.json.encode(queued)) for queued in (message("t9"), plain)]
        assert store.queue_heads("a") == [
            QueuedHead("t9", TIME, True, sizes[0]),
            QueuedHead("t0", "2026-01-03T00:00:00.000Z", False, sizes[1]),
        ]
        queued = [store.queued(*what) for what in (("a", "t0"), ("a", "t9"), ("a", "t1"), ("gone", "t0"))]
        assert queued == [plain, message("t9"), None, None]
        assert store.queue_heads("gone") == []

    def test_pending_requests_are_listed_in_the_order_asked(self, store: Store) -> None:
        store.write([SaveSession(record("a"))])
        store.write([AddPending("a", pending(id)) for id in ("q_9", "perm_1", "q_2")])
        store.write([ResolvePending("a", "perm_1"), AddPending("a", pending("perm_0"))])
        assert store.pending("a") == [pending("q_9"), pending("q_2"), pending("perm_0")]

    def test_resolved_requests_stay_known(self, store: Store) -> None:
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
        keys = [store.key(*what) for what in (("a", "k"), ("a", "K"), ("b", "k"), ("none", "k"))]
        assert keys == [row, None, None, None]

    def test_call_ids_are_remembered_once(self, store: Store) -> None:
        store.write([SaveSession(record("a")), SaveSession(record("b")), RememberCalls("a", ["x", "x#2"])])
        store.write([RememberCalls("a", ["x", "y"]), RememberCalls("b", ["x"])])
        assert sorted(store.call_ids("a")) == ["x", "x#2", "y"]
        assert store.call_ids("b") == ["x"]
