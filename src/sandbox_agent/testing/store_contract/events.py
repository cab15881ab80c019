"""The event log: appended events come back, in order and in pages."""

from __future__ import annotations

import pytest

from ...store.base import (
    AppendEvents,
    DeleteSession,
    EventRow,
    SaveSession,
    Store,
    StoredEvent,
)
from .base import Contract
from .samples import (
    PLENTY,
    record,
    rows,
    unplaced,
)


class EventsContract(Contract):
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
        store.write([SaveSession(record("a")), AppendEvents("a", [EventRow(1, payload, payload)])])
        with_raw = unplaced(store.read("a", 0, 1, PLENTY, with_raw=True))
        assert with_raw == [StoredEvent(0, 1, payload, payload)]
        assert unplaced(store.read_log(0, 1, PLENTY)) == [StoredEvent(0, 1, payload, None)]

    def test_raws_are_read_only_when_asked_for(self, store: Store) -> None:
        store.write([SaveSession(record("a")), AppendEvents("a", [EventRow(1, b"body", b"raw")])])
        assert unplaced(store.read("a", 0, 1, PLENTY)) == [StoredEvent(0, 1, b"body", None)]

    def test_events_share_the_raw_of_an_earlier_one(self, store: Store) -> None:
        shared = [EventRow(1, b"1", b"raw"), EventRow(2, b"2", None, 1), EventRow(3, b"3")]
        store.write([SaveSession(record("a")), AppendEvents("a", shared)])
        store.write([AppendEvents("a", [EventRow(4, b"4", None, 1)])])
        assert [event.raw for event in store.read("a", 0, 10, PLENTY, with_raw=True)] == [
            b"raw",
            b"raw",
            None,
            b"raw",
        ]
        last = unplaced(store.read("a", 3, 10, PLENTY, with_raw=True))
        assert last == [StoredEvent(0, 4, b"4", b"raw")]

    def test_a_shared_raw_belongs_to_the_same_session(self, store: Store) -> None:
        for name in "ab":
            shared = [EventRow(1, b"1", name.encode()), EventRow(2, b"2", None, 1)]
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
        appended = [EventRow(n, b"x" * size) for n, size in enumerate(sizes, start=1)]
        first = store.write([SaveSession(record("a")), AppendEvents("a", appended)])
        pages = [[event.sequence for event in store.read("a", after, 9, 20)] for after in (0, 2, 3)]
        assert pages == [[1, 2], [3], [4, 5]]
        afters = (0, first + 1, first + 2)
        assert [[event.sequence for event in store.read_log(after, 9, 20)] for after in afters] == pages

    def test_raws_count_as_bytes_when_asked_for(self, store: Store) -> None:
        appended = [
            EventRow(n, b"x" * 10, b"y" * 10 if n == 1 else None, None if n == 1 else 1) for n in (1, 2, 3)
        ]
        store.write([SaveSession(record("a")), AppendEvents("a", appended)])
        assert [event.sequence for event in store.read("a", 0, 9, 40, with_raw=True)] == [1, 2]
        assert [event.sequence for event in store.read("a", 0, 9, 40)] == [1, 2, 3]

    def test_a_short_page_holds_nothing_back(self, store: Store) -> None:
        store.write([SaveSession(record("a")), AppendEvents("a", rows(range(1, 6)))])
        assert len(store.read("a", 0, 9, 1)) == 1
        store.write([AppendEvents("a", rows(range(6, 8)))])
        assert [event.sequence for event in store.read("a", 0, 9, PLENTY)] == [1, 2, 3, 4, 5, 6, 7]

    def test_an_event_larger_than_the_page_can_be_skipped(self, store: Store) -> None:
        sizes = (10, 100, 10, 10)
        appended = [EventRow(n, b"x" * size, b"y" * 15) for n, size in enumerate(sizes, start=1)]
        first = store.write([SaveSession(record("a")), AppendEvents("a", appended)])
        left_out = StoredEvent(first + 1, 2, b"", None, is_large=True)
        for after, expected in ((0, [1]), (1, [2]), (2, [3, 4])):
            page = store.read("a", after, 9, 20, whole=False)
            assert [event.sequence for event in page] == expected
            assert page == store.read_log(first - 1 + after, 9, 20, whole=False)
            assert (page == [left_out]) == (expected == [2])
        [with_raw] = store.read("a", 0, 9, 20, with_raw=True, whole=False)
        assert with_raw == StoredEvent(first, 1, b"", None, is_large=True)

    def test_an_event_can_be_read_in_slices(self, store: Store) -> None:
        body, raw = bytes(range(256)) * 400, b"raw" * 9000
        appended = [EventRow(1, body, raw), EventRow(2, b"{}", None, 1), EventRow(3, b"no raw")]
        first = store.write([SaveSession(record("a")), AppendEvents("a", appended)])
        for start in (0, 5, 70_000, len(body) - 1, len(body), len(body) + 5):
            assert store.read_slice(first, start, 1000) == (body[start : start + 1000], len(body))
        for position in (first, first + 1):  # the second shares it
            assert store.read_slice(position, 2, 1 << 20, raw=True) == (raw[2:], len(raw))
        assert store.read_slice(first + 2, 0, 9, raw=True) == (b"", 0)
        assert store.read_slice(first + 99, 0, 9) == (b"", 0)
        store.write([DeleteSession("a")])
        assert store.read_slice(first, 0, 9) == (b"", 0)

    def test_the_log_goes_through_all_sessions_by_position(self, store: Store) -> None:
        first = store.write(
            [SaveSession(record("a")), SaveSession(record("b")), AppendEvents("b", rows((1, 2)))]
        )
        second = store.write([AppendEvents("a", rows((1, 2))), AppendEvents("b", rows((3,)))])
        expected = [(first, 1), (first + 1, 2), (second, 1), (second + 1, 2), (second + 2, 3)]
        log = [(event.position, event.sequence) for event in store.read_log(0, 10, PLENTY)]
        assert log == expected
        assert [event.position for event in store.read_log(first, 2, PLENTY)] == [first + 1, second]
        assert store.read_log(second + 2, 10, PLENTY) == []
