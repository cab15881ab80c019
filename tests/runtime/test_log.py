"""The writing half of the log: events are stamped once, committed in groups, published once durable; sessions are notified last."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import apsw
import msgspec
import pytest
from tests.daemons import PAUSE, SECONDS

from sandbox_agent.agents.scribe import Draft, draft_of
from sandbox_agent.errors import SandboxAgentError, Unavailable
from sandbox_agent.runtime.channel import Numbered, Piece
from sandbox_agent.runtime.log import BACKLOG_BYTES, End, Log
from sandbox_agent.schema.events import Event, ItemDelta, SessionStarted, decode_event
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.session.effects import Append
from sandbox_agent.session.view import View, view_of
from sandbox_agent.store.base import (
    Announce,
    AppendEvents,
    Change,
    DeleteSession,
    EventRow,
    ImpossibleChange,
    Probe,
    SaveSession,
    SessionRecord,
    Store,
    StoredEvent,
    numbers_of,
)
from sandbox_agent.store.memory import MemoryStore
from sandbox_agent.store.sqlite import SqliteStore

PLENTY = 1 << 30

Notice = tuple[str, int | None]


class Session:
    """A session as the log knows it: it appends, and records its notices."""

    def __init__(self, log: Log, session_id: str, sequence: int = 0, view: View | None = None) -> None:
        self.log = log
        self.end = End(session_id, f"folder-{session_id}", sequence, view)
        self.end.listener = self
        self.notices: list[Notice] = []
        self.problems: list[Exception] = []
        self.on_committed: Callable[[int], None] = lambda number: None
        self._last = 0
        self._changed = asyncio.Event()

    def append(
        self,
        drafts: Sequence[Draft] = (),
        *changes: Change,
        view: View | None = None,
        offer: bool = False,
        blobs: Mapping[str, bytes] | None = None,
        deletes: bool = False,
    ) -> int:
        self._last += 1
        append = Append(self._last, list(drafts), changes, view, offer, blobs or {}, deletes)
        self.log.append(self.end, append)
        return self._last

    def pieces(self, *texts: str) -> None:
        self.log.append_pieces(self.end, [delta(text) for text in texts])

    async def write(self, drafts: Sequence[Draft] = (), *changes: Change, view: View | None = None) -> None:
        """Append a fact, and wait until it is written."""
        await self.until(("committed", self.append(drafts, *changes, view=view)))

    async def until(self, expected: Notice) -> None:
        """Wait until the session is notified of this. A commit is reported by the last number that it settles."""
        async with asyncio.timeout(SECONDS):
            while not any(
                notice[0] == expected[0] and (notice[1] or 0) >= (expected[1] or 0) for notice in self.notices
            ):
                self._changed.clear()
                await self._changed.wait()

    def committed(self, number: int) -> None:
        self.on_committed(number)
        self._notice(("committed", number))

    def refused(self, number: int, problem: SandboxAgentError) -> None:
        self.problems.append(problem)
        self._notice(("refused", number))

    def stalled(self, problem: SandboxAgentError) -> None:
        self.problems.append(problem)
        self._notice(("stalled", None))

    def lost(self, error: Exception) -> None:
        self.problems.append(error)
        self._notice(("lost", None))

    def _notice(self, notice: Notice) -> None:
        self.notices.append(notice)
        self._changed.set()


class Reader:
    """Follows a channel, and keeps what is published."""

    def __init__(self) -> None:
        self.frames: list[Numbered] = []

    def published(self, frames: Sequence[Numbered], pieces: Sequence[Piece]) -> None:
        self.frames += frames

    def miss(self) -> None:
        pass

    def wake(self) -> None:
        pass

    def fail(self) -> None:
        raise AssertionError

    @property
    def numbers(self) -> list[int]:
        return [number for number, _ in self.frames]


class GatedStore(MemoryStore):
    """A slow disk: each write waits until the test lets it through."""

    def __init__(self, *session_ids: str) -> None:
        super().__init__()
        self.gate = threading.Semaphore(0)
        self.begun: list[list[Change]] = []
        self._began = threading.Semaphore(0)
        super().write([SaveSession(record(session_id)) for session_id in session_ids])

    async def began(self) -> None:
        """Wait until the next write has begun."""
        assert await asyncio.to_thread(self._began.acquire, timeout=SECONDS)

    def write(self, changes: Iterable[Change]) -> int:
        taken = list(changes)
        self.begun.append(taken)
        self._began.release()
        assert self.gate.acquire(timeout=SECONDS)
        return super().write(taken)

    @property
    def kinds(self) -> list[list[type[object]]]:
        """What each write held."""
        return [[type(change) for change in changes] for changes in self.begun]


class SmallDisk(SqliteStore):
    """SQLite on a disk of this many pages."""

    pages = 1 << 30

    def write(self, changes: Iterable[Change]) -> int:
        self._writer.connection.pragma("max_page_count", self.pages)
        return super().write(changes)


def record(session_id: str, title: str | None = None, events: int = 0) -> SessionRecord:
    return SessionRecord(session_id, "mock", Settings("/tmp"), "then", "now", title=title, event_count=events)


def titled(session_id: str, title: str) -> View:
    return view_of(record(session_id, title))


def delta(text: str, raw: bytes | None = None) -> Draft:
    return draft_of(ItemDelta("itm_1", None, text), "agent", "native", raw)


def filled(store: Store, *session_ids: str) -> Store:
    store.write([SaveSession(record(session_id)) for session_id in session_ids])
    return store


@pytest.fixture(params=[MemoryStore, SqliteStore])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return filled(MemoryStore() if request.param is MemoryStore else SqliteStore(tmp_path / "log.db"), *"abc")


@asynccontextmanager
async def opened(store: Store) -> AsyncIterator[Log]:
    log = Log(store)
    try:
        async with asyncio.timeout(30):
            yield log
    finally:
        if isinstance(store, GatedStore):
            store.gate.release(100)
        await log.close()


def deltas(rows: Iterable[StoredEvent]) -> list[tuple[int, str]]:
    events = ((row.sequence, decode_event(row.body).data) for row in rows)
    return [(sequence, data.delta) for sequence, data in events if isinstance(data, ItemDelta)]


# -- stamping ---------------------------------------------------------------------------------


def test_an_event_is_stamped_once_and_stored_as_it_is_sent(store: Store) -> None:
    async def scenario() -> list[StoredEvent]:
        async with opened(store) as log:
            session = Session(log, "a")
            await session.write([draft_of(SessionStarted(), "daemon", None, b"null"), delta("hé\u2028")])
            return await log.read("a", 0)

    started, body = (row.body for row in asyncio.run(scenario()))
    event = decode_event(body)
    assert event == Event(
        f"evt_{store.identity}{store.life:x}000000000002",
        2,
        event.time,
        "a",
        "native",
        "agent",
        False,
        "item.delta",
        ItemDelta("itm_1", None, "hé\u2028"),
    )
    assert msgspec.json.encode(event) == body
    assert msgspec.json.encode(decode_event(started)) == started
    assert msgspec.json.decode(started)["synthetic"] is True


def test_sequences_and_positions_continue_after_a_restart(tmp_path: Path) -> None:
    async def run(number: int) -> None:
        async with opened(SqliteStore(tmp_path / "log.db")) as log:
            if number == 1:
                filled(log.store, "a", "b")
            await Session(log, "b", number - 1).write([delta("b")])
            await Session(log, "a", number - 1).write([delta("a")])

    for number in (1, 2, 3):
        asyncio.run(run(number))
    store = SqliteStore(tmp_path / "log.db")
    expected = [(1, 1, "b"), (2, 1, "a"), (3, 2, "b"), (4, 2, "a"), (5, 3, "b"), (6, 3, "a")]
    events = [(row.position, row.sequence, decode_event(row.body)) for row in store.read_log(0, 99, PLENTY)]
    store.close()
    assert [(position, sequence, event.session_id) for position, sequence, event in events] == expected
    assert len({event.event_id for _, _, event in events}) == 6


def test_a_frame_that_caused_several_events_is_stored_once(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            frame, other = b'{"frame": 1}', b'{"frame": 2}'
            drafts = [delta("1", frame), delta("2", frame), delta("3"), delta("4", other)]
            await Session(log, "a").write(drafts)
            rows = await log.read("a", 0, with_raw=True)
            assert [row.raw for row in rows] == [frame, frame, None, other]

    size = 200_000
    asyncio.run(scenario())

    async def stored_bytes() -> int:
        kept = filled(MemoryStore(), "a")
        async with opened(kept) as log:
            frame = bytes(size)
            await Session(log, "a").write([delta("x", frame) for _ in range(10)])
            return kept.size()

    assert size < asyncio.run(stored_bytes()) < 2 * size


# -- groups -----------------------------------------------------------------------------------


def test_what_arrives_during_a_commit_is_committed_together_in_order() -> None:
    async def scenario() -> None:
        store = GatedStore("a", "b")
        async with opened(store) as log:
            a, b = Session(log, "a"), Session(log, "b")
            a.append([delta("1")])
            await store.began()
            a.append([delta("2")], SaveSession(record("a", "from the agent")))
            a.append((), SaveSession(record("a", "from the client")))
            b.append([delta("3")])
            store.gate.release(2)
            await asyncio.gather(a.until(("committed", 3)), b.until(("committed", 1)))
            assert store.kinds == [
                [AppendEvents],
                [SaveSession, AppendEvents, SaveSession, AppendEvents],
            ]
            # One notification for everything in the group.
            assert (a.notices, b.notices) == ([("committed", 1), ("committed", 3)], [("committed", 1)])
            # The later change of the record wins.
            assert store.session("a") == record("a", "from the client", 2)

    asyncio.run(scenario())


def test_deltas_are_batched_until_something_urgent_arrives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Long enough not to pass between two lines on a busy machine.
    monkeypatch.setattr("sandbox_agent.runtime.log.SMALL_GROUP_GATHER_SECONDS", 0.5)

    async def scenario() -> None:
        store = GatedStore("a", "b")
        store.gate.release(9)
        async with opened(store) as log:
            a, b = Session(log, "a"), Session(log, "b")
            # The first does not wait for others.
            a.pieces("0")
            async with asyncio.timeout(SECONDS):
                while a.end.committed < 1:
                    await asyncio.sleep(PAUSE)
            for text in "123":
                a.pieces(text)
                await asyncio.sleep(0)
            b.pieces("4")
            await a.write([delta("5")])
            written = [
                [len(change.rows) for change in changes if isinstance(change, AppendEvents)]
                for changes in store.begun
            ]
            assert [group for group in written if group] == [[1], [3, 1, 1]]
            # Nothing urgent follows: they are written anyway, and no one is notified.
            while store._began.acquire(blocking=False):
                pass
            b.pieces("6")
            await store.began()
            assert (a.notices, b.notices) == ([("committed", 1)], [])

    asyncio.run(scenario())


def test_deltas_keep_their_place_among_appends(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            a = Session(log, "a")
            a.pieces("1", "2")
            a.append([delta("3")])
            a.pieces("4")
            a.pieces("5")
            await a.write([delta("6")])
            assert deltas(await log.read("a", 0)) == [(number, str(number)) for number in range(1, 7)]

    asyncio.run(scenario())


def test_files_are_written_before_the_group_that_names_them() -> None:
    written: list[str] = []

    class Noting(MemoryStore):
        def write(self, changes: Iterable[Change]) -> int:
            written.extend(type(change).__name__ for change in changes)
            return super().write(changes)

    async def scenario() -> None:
        log = Log(
            filled(Noting(), "a"),
            lambda session_id, folder, name, content: written.append(f"{folder}/{name} {content!r}"),
        )
        written.clear()
        a = Session(log, "a")
        a.append([delta("1")], blobs={"one.png": b"1", "two.png": b"2"})
        await a.write([delta("2")])
        await log.close()

    asyncio.run(scenario())
    assert written == ["folder-a/one.png b'1'", "folder-a/two.png b'2'", "AppendEvents", "AppendEvents"]


def test_a_file_is_written_off_the_event_loop() -> None:
    async def scenario() -> None:
        begun, may_end = threading.Event(), threading.Event()

        def store_blob(session_id: str, folder: str, name: str, content: bytes) -> None:
            begun.set()
            assert may_end.wait(SECONDS), "the loop stood still"

        log = Log(filled(MemoryStore(), "a"), store_blob)
        a = Session(log, "a")
        number = a.append([delta("1")], blobs={"one.png": b"1"})
        await asyncio.to_thread(begun.wait, SECONDS)
        assert a.notices == []
        may_end.set()
        await a.until(("committed", number))
        await log.close()

    asyncio.run(scenario())


def test_a_file_that_cannot_be_written_holds_back_its_group_and_refuses_an_offer() -> None:
    async def scenario() -> None:
        refusing = True

        def store_blob(session_id: str, folder: str, name: str, content: bytes) -> None:
            if refusing:
                raise OSError("no space left")

        store = filled(MemoryStore(), "a", "b")
        log = Log(store, store_blob)
        a, b = Session(log, "a"), Session(log, "b")
        a.append([delta("1")], blobs={"one.png": b"1"})
        b.append([delta("2")], offer=True)
        await asyncio.gather(a.until(("stalled", None)), b.until(("refused", 1)))
        assert log.failure == "no space left"
        assert store.read("a", 0, 9, PLENTY) == []
        refusing = False
        await a.until(("committed", 1))
        assert [row.sequence for row in store.read("a", 0, 9, PLENTY)] == [1]
        await log.close()

    asyncio.run(scenario())


def test_a_backlog_and_its_end_are_reported() -> None:
    async def scenario() -> None:
        store = GatedStore("a")
        async with opened(store) as log:
            a = Session(log, "a")
            drained = asyncio.Event()
            a.append([delta("x")])
            await store.began()
            assert not (log.backlog > BACKLOG_BYTES)
            a.append([delta("x" * BACKLOG_BYTES)])
            assert log.backlog > BACKLOG_BYTES
            log.when_drained(drained.set)
            store.gate.release()
            await a.until(("committed", 1))
            assert ((log.backlog > BACKLOG_BYTES), drained.is_set()) == (True, False)
            store.gate.release()
            await a.until(("committed", 2))
            assert ((log.backlog > BACKLOG_BYTES), drained.is_set()) == (False, True)

    asyncio.run(scenario())


def test_closing_writes_what_waits(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SqliteStore(tmp_path / "log.db")
        filled(store, "a")
        log = Log(store)
        a = Session(log, "a")
        a.append([delta("1")])
        a.pieces("2")
        await log.close()

    asyncio.run(scenario())
    store = SqliteStore(tmp_path / "log.db")
    assert deltas(store.read("a", 0, 9, PLENTY)) == [(1, "1"), (2, "2")]
    store.close()


def test_a_group_is_written_in_parts_that_the_store_can_take() -> None:
    async def scenario() -> None:
        store = GatedStore("a", "b")
        store.most_events = 3
        async with opened(store) as log:
            a, b = Session(log, "a"), Session(log, "b")
            a.append([delta("1")])
            await store.began()
            a.append([delta("2"), delta("3")])
            b.append([delta("4")], view=titled("b", "new"))
            a.append([delta("5")])
            store.gate.release(9)
            await asyncio.gather(a.until(("committed", 3)), b.until(("committed", 1)))
            assert [sum(map(numbers_of, changes)) for changes in store.begun] == [1, 2, 3]
            assert deltas(await log.read("a", 0)) == [(1, "1"), (2, "2"), (3, "3"), (4, "5")]

    asyncio.run(scenario())


# -- showing ----------------------------------------------------------------------------------


def test_nothing_is_visible_before_it_is_durable() -> None:
    async def scenario() -> None:
        store = GatedStore("a")
        async with opened(store) as log:
            a = Session(log, "a", view=titled("a", "old"))
            reader, all = Reader(), Reader()
            a.end.channel.enter(reader)
            log.channel.enter(all)
            a.append([delta("x")], view=titled("a", "new"))
            await store.began()
            assert (reader.frames, all.frames, a.notices) == ([], [], [])
            assert (a.end.committed, log.channel.committed, log.committed_events) == (0, 0, 0)
            assert a.end.view == titled("a", "old")
            store.gate.release()
            await a.until(("committed", 1))
            assert store.read("a", 0, 9, PLENTY) != []
            assert (reader.numbers, a.end.committed, log.committed_events) == ([1], 1, 1)

    asyncio.run(scenario())


def test_rows_are_published_then_views_replaced_then_sessions_notified(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            a, b = Session(log, "a", view=titled("a", "old")), Session(log, "b", view=titled("b", "old"))
            seen: list[tuple[object, ...]] = []

            class Looking(Reader):
                def published(self, frames: Sequence[Numbered], pieces: Sequence[Piece]) -> None:
                    seen.append(("published", a.end.view, a.end.committed))

            def look(number: int) -> None:
                seen.append(("committed", a.end.view, a.end.committed, b.end.view, b.end.committed))

            a.end.channel.enter(Looking())
            a.on_committed = look
            a.append([delta("1")], view=titled("a", "new"))
            b.append([delta("1")], view=titled("b", "new"))
            await asyncio.gather(a.until(("committed", 1)), b.until(("committed", 1)))
            assert seen == [
                ("published", titled("a", "old"), 1),
                # A whole group is shown before any session is notified.
                ("committed", titled("a", "new"), 1, titled("b", "new"), 1),
            ]

    asyncio.run(scenario())


def test_an_append_without_a_view_keeps_the_view(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            view = titled("a", "old")
            a = Session(log, "a", view=view)
            await a.write([delta("1")])
            assert a.end.view is view

    asyncio.run(scenario())


def test_a_session_is_not_notified_before_append_returns(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            log.failure = "for this test"
            a = Session(log, "a")
            a.append([delta("1")], offer=True)
            a.append([delta("2")])
            assert a.notices == []
            await a.until(("committed", 2))
            assert a.notices[:2] == [("refused", 1), ("stalled", None)]

    asyncio.run(scenario())


def test_the_end_of_a_session_is_known_with_its_last_row(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            a, b = Session(log, "a"), Session(log, "b")
            b.end.channel.enter(Reader())
            ended = msgspec.structs.replace(record("a"), ended=True)
            for session in (a, b):
                await session.write([delta("1")])
                assert not session.end.channel.ended
                await session.write([delta("2")], view=view_of(ended))
                assert session.end.channel.ended

    asyncio.run(scenario())


# -- news for the readers of all sessions -------------------------------------------------------


def test_news_come_after_the_rows_that_caused_them(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            all = Reader()
            log.channel.enter(all)
            a, b = Session(log, "a"), Session(log, "b")
            a.append([delta("1"), delta("2")], view=titled("a", "one"))
            b.append([delta("3")], view=titled("b", "one"))
            await asyncio.gather(a.until(("committed", 1)), b.until(("committed", 1)))
            assert all.numbers == [1, 2, 3, 4, 5]
            assert [b"event: session" in frame for _, frame in all.frames] == [
                False,
                False,
                True,
                False,
                True,
            ]
            news = [msgspec.json.decode(body) for _, body in store.news(0, 9)]
            assert [(info["sessionId"], info["title"], info["eventCount"]) for info in news] == [
                ("a", "one", 2),
                ("b", "one", 1),
            ]
            assert (log.channel.committed, store.position()) == (5, 5)

    asyncio.run(scenario())


def test_only_changes_of_state_title_or_settings_are_news() -> None:
    async def scenario() -> None:
        store = GatedStore("a")
        store.gate.release(99)
        async with opened(store) as log:
            a = Session(log, "a", view=titled("a", "one"))
            a.end.announced = titled("a", "one").news
            other = msgspec.structs.replace(record("a", "one"), native_id="native")
            await a.write([delta("1")], view=view_of(other))
            running = msgspec.structs.replace(other, turn_id="turn_1")
            await a.write([delta("2")], view=view_of(running))
            await a.write([delta("3")], view=view_of(running))
            assert store.kinds == [[AppendEvents], [AppendEvents, Announce], [AppendEvents]]
            # Also while an earlier one is still on its way.
            a.append((), view=titled("a", "two"))
            a.append((), view=titled("a", "two"))
            await a.write((), view=titled("a", "three"))
            assert [kind for kinds in store.kinds[3:] for kind in kinds if kind is not Probe] == [
                Announce
            ] * 2

    asyncio.run(scenario())


def test_a_delete_is_announced_with_the_last_view(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            all = Reader()
            log.channel.enter(all)
            a = Session(log, "a", view=titled("a", "mine"))
            a.append((), DeleteSession("a"), deletes=True, offer=True)
            await a.until(("committed", 1))
            [(position, frame)] = all.frames
            assert position == 1
            assert b'"title":"mine"' in frame
            assert b'"deleted":true' in frame
            assert [position for position, _ in store.news(0, 9)] == [1]
            assert store.session("a") is None

    asyncio.run(scenario())


def test_a_refused_offer_is_not_published(disk: SmallDisk) -> None:
    async def scenario() -> None:
        async with opened(disk) as log:
            a = Session(log, "a", view=titled("a", "old"))
            a.end.announced = before = titled("a", "old").news
            a.append([delta("x" * 100_000)], view=titled("a", "new"), offer=True)
            assert a.end.announced != before
            await a.until(("refused", 1))
            assert (a.end.announced, a.end.view) == (before, titled("a", "old"))
            disk.pages = 1 << 30
            await a.write((), view=titled("a", "new"))
            assert len(disk.news(0, 9)) == 1

    asyncio.run(scenario())


# -- a disk that refuses ----------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    disk = SmallDisk(tmp_path / "log.db")
    filled(disk, *"abc")
    disk.pages = 1
    yield disk
    disk.close()


def test_a_full_disk_refuses_offers_and_keeps_facts(disk: SmallDisk) -> None:
    async def scenario() -> None:
        async with opened(disk) as log:
            a, b = Session(log, "a"), Session(log, "b")
            a.append([delta("x" * 100_000)], SaveSession(record("a", "kept")))
            b.append([delta("never")], SaveSession(record("b", "never")), offer=True)
            await asyncio.gather(a.until(("stalled", None)), b.until(("refused", 1)))
            [problem] = b.problems
            assert isinstance(problem, Unavailable)
            assert "cannot be written" in problem.detail
            assert "full" in problem.detail
            assert problem.retry_after == 5
            with pytest.raises(Unavailable):
                log.require_writable()
            # From now on an offer is refused without trying, and a fact is reported as stalled.
            b.append([delta("never")], offer=True)
            a.append([delta("later")])
            await asyncio.gather(b.until(("refused", 2)), a.until(("stalled", None)))
            assert (a.end.committed, ("committed", 1) in a.notices) == (0, False)
            assert disk.read("a", 0, 9, PLENTY) == []
            disk.pages = 1 << 30
            await a.until(("committed", 2))
            log.require_writable()
            await b.write([delta("now")], SaveSession(record("b", "now")))
            assert [row.sequence for row in disk.read("a", 0, 9, PLENTY)] == [1, 2]
            assert [disk.session(name) for name in "ab"] == [record("a", "kept", 2), record("b", "now", 1)]

    asyncio.run(scenario())


def test_a_refused_offer_gives_its_sequences_back() -> None:
    class Refusing(GatedStore):
        refuses = True

        def write(self, changes: Iterable[Change]) -> int:
            position = super().write(changes if not self.refuses else [])
            if self.refuses:
                raise OSError("no space left")
            return position

    async def scenario() -> None:
        store = Refusing("a", "b")
        async with opened(store) as log:
            a, b = Session(log, "a"), Session(log, "b")
            a.append([delta("fact")])
            await store.began()
            # Two offers wait behind it, one of them of the same session.
            a.append([delta("offer"), delta("offer")], offer=True)
            b.append([delta("offer")], offer=True)
            assert (a.end.sequence, b.end.sequence) == (3, 1)
            store.gate.release()
            await asyncio.gather(a.until(("refused", 2)), b.until(("refused", 1)))
            assert (a.end.sequence, b.end.sequence) == (1, 0)
            a.append([delta("next")])
            store.refuses = False
            store.gate.release(9)
            await a.until(("committed", 3))
            assert deltas(store.read("a", 0, 9, PLENTY)) == [(1, "fact"), (2, "next")]
            assert store.read("b", 0, 9, PLENTY) == []

    asyncio.run(scenario())


def test_a_disk_that_refused_only_an_offer_is_retried(disk: SmallDisk) -> None:
    async def scenario() -> None:
        async with opened(disk) as log:
            a = Session(log, "a")
            large = record("a", "x" * 100_000)
            a.append((), SaveSession(large), offer=True)
            await a.until(("refused", 1))
            assert log.failure is not None
            disk.pages = 1 << 30
            await a.write([delta("behind the probe")])
            assert log.failure is None
            a.append((), SaveSession(large), offer=True)
            await a.until(("committed", 3))
            assert disk.session("a") == msgspec.structs.replace(large, event_count=1)

    asyncio.run(scenario())


def test_a_permanently_broken_store_refuses_offers() -> None:
    class Broken(MemoryStore):
        def write(self, changes: Iterable[Change]) -> int:
            raise apsw.IOError("")

    async def scenario() -> None:
        log = Log(Broken())
        a = Session(log, "a")
        a.append((), SaveSession(record("a")), offer=True)
        await a.until(("refused", 1))
        assert log.failure == "IOError"
        with pytest.raises(Unavailable, match="the log cannot be written: IOError"):
            log.require_writable()

    asyncio.run(scenario())


# -- what can never be written ------------------------------------------------------------------


def test_an_internal_error_affects_only_its_own_session(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = SqliteStore(tmp_path / "log.db")
    filled(store, *"abc")
    store.write([AppendEvents("b", [EventRow(1, b"in the way")])])

    async def scenario() -> None:
        async with opened(store) as log:
            a, b, c = (Session(log, name, view=titled(name, "old")) for name in "abc")
            all = Reader()
            log.channel.enter(all)
            # Appended in one step, so they are one group, which is split by session.
            for session in (c, b, a):
                session.append([delta(f"{session.end.session_id} one")])
            for session in (a, b, c):
                session.append([delta(f"{session.end.session_id} two")])
            b.append((), SaveSession(record("b", "never")), view=titled("b", "never"), offer=True)
            await asyncio.gather(
                a.until(("committed", 2)), b.until(("lost", None)), c.until(("committed", 2))
            )
            assert b.notices == [("lost", None)]
            assert b.end.view == titled("b", "old")
            shown = [decode_event(frame.partition(b"data: ")[2]).session_id for _, frame in all.frames]
            assert shown == ["c", "c", "a", "a"]
            assert all.numbers == sorted(all.numbers)
            assert deltas(await log.read("a", 0)) == [(1, "a one"), (2, "a two")]
            assert store.session("b") == record("b", events=1)
            log.require_writable()
            assert not (log.backlog > BACKLOG_BYTES)

    asyncio.run(scenario())
    assert "an append of session b cannot be written" in caplog.text


def test_later_appends_of_a_lost_session_are_not_written() -> None:
    class Gated(GatedStore):
        def write(self, changes: Iterable[Change]) -> int:
            taken = list(changes)
            if any(isinstance(change, AppendEvents) and change.session_id == "b" for change in taken):
                super().write(())
                raise ImpossibleChange("b")
            return super().write(taken)

    async def scenario() -> None:
        store = Gated("a", "b")
        async with opened(store) as log:
            a, b = Session(log, "a"), Session(log, "b")
            b.append([delta("1")])
            await store.began()
            b.append((), SaveSession(record("b", "later")))
            a.append([delta("1")])
            store.gate.release(9)
            await asyncio.gather(a.until(("committed", 1)), b.until(("lost", None)))
            assert store.session("b") == record("b")
            assert b.notices == [("lost", None)]

    asyncio.run(scenario())


def test_the_appends_of_a_dropped_session_can_be_awaited(disk: SmallDisk) -> None:
    async def scenario() -> None:
        async with opened(disk) as log:
            a = Session(log, "a")
            a.append([delta("x" * 100_000)])
            with pytest.raises(Unavailable):
                await log.written(a.end)
            disk.pages = 1 << 30
            b = Session(log, "b")
            await b.write([delta("the disk is back")])
            await log.written(a.end)
            assert [row.sequence for row in disk.read("a", 0, 9, PLENTY)] == [1]

    asyncio.run(scenario())


def test_all_appends_of_a_dropped_session_are_awaited() -> None:
    async def scenario() -> None:
        store = GatedStore("a")
        async with opened(store) as log:
            a = Session(log, "a")
            a.append([delta("1")])
            await store.began()
            a.append([delta("2")])
            waiting = asyncio.ensure_future(log.written(a.end))
            store.gate.release()
            await store.began()  # of the group with the second append
            assert not waiting.done()
            store.gate.release()
            async with asyncio.timeout(SECONDS):
                await waiting
            assert [row.sequence for row in store.read("a", 0, 9, PLENTY)] == [1, 2]

    asyncio.run(scenario())
