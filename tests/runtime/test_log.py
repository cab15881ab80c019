"""The log: stamped once, committed in groups, visible only when durable, and read exactly once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import apsw
import msgspec
import pytest
from tests.runtime.paper import SOON, Paper, followed

from sandbox_agent.agents.scribe import Draft
from sandbox_agent.errors import Internal, Unavailable
from sandbox_agent.runtime.following import LogFollowing, SessionFollowing
from sandbox_agent.runtime.log import BACKLOG_BYTES, Log, SessionLog
from sandbox_agent.schema.events import Event, ItemDelta, SessionStarted, decode_event
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.store.base import (
    AppendEvents,
    Change,
    EventRow,
    SaveSession,
    SessionRecord,
    Store,
    StoredEvent,
)
from sandbox_agent.store.memory import MemoryStore
from sandbox_agent.store.sqlite import SqliteStore

PLENTY = 1 << 30


class GatedStore(MemoryStore):
    """A slow disk: each write waits until the test lets it through."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Semaphore(0)
        self.begun: list[list[Change]] = []
        self._began = threading.Semaphore(0)

    async def began(self) -> None:
        """Wait until the next write has begun."""
        assert await asyncio.to_thread(self._began.acquire, timeout=SOON)

    async def let_through(self, log: Log, changes: list[Change]) -> None:
        self.gate.release()
        await log.commit("", changes)
        await self.began()

    def write(self, changes: Iterable[Change]) -> None:
        taken = list(changes)
        self.begun.append(taken)
        self._began.release()
        assert self.gate.acquire(timeout=SOON)
        super().write(taken)


class SmallDisk(SqliteStore):
    """SQLite on a disk of so many pages."""

    pages = 1 << 30

    def write(self, changes: Iterable[Change]) -> None:
        self._writer.pragma("max_page_count", self.pages)
        super().write(changes)


def record(session_id: str, title: str | None = None, events: int = 0) -> SessionRecord:
    return SessionRecord(session_id, "mock", Settings("/tmp"), "then", "now", title=title, event_count=events)


def said(text: str, raw: bytes | None = None) -> Draft:
    return Draft(ItemDelta("itm_1", None, text), "agent", "native", raw)


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
        await log.close()


async def texts(log: Log, session: SessionLog, after: int, until: int) -> list[tuple[int, str]]:
    """What a reader sees past a sequence, up to another."""
    async with followed(SessionFollowing(log, session.channel, session.session_id, after)) as paper:
        await paper.until_number(until)
        return deltas(paper)


def deltas(paper: Paper) -> list[tuple[int, str]]:
    found = ((number, decode_event(body)) for number, body in paper.numbered)
    return [(number, event.data.delta) for number, event in found if isinstance(event.data, ItemDelta)]


# -- writing ----------------------------------------------------------------------------------


def test_an_event_is_stamped_once_and_stored_as_it_is_sent(store: Store) -> None:
    async def scenario() -> list[StoredEvent]:
        async with opened(store) as log:
            session = log.session("a", 0)
            await session.append([Draft(SessionStarted(), "daemon", None, b"null"), said("hé\u2028")], ())
            return await log.read("a", 0)

    started, delta = (row.body for row in asyncio.run(scenario()))
    event = decode_event(delta)
    assert event == Event(
        f"evt_{store.identity}000000000002",
        2,
        event.time,
        "a",
        "native",
        "agent",
        False,
        "item.delta",
        ItemDelta("itm_1", None, "hé\u2028"),
    )
    assert msgspec.json.encode(event) == delta
    assert msgspec.json.encode(decode_event(started)) == started
    assert msgspec.json.decode(started)["synthetic"] is True


def test_sequences_and_positions_go_on_after_a_restart(tmp_path: Path) -> None:
    async def run(number: int) -> None:
        async with opened(SqliteStore(tmp_path / "log.db")) as log:
            if number == 1:
                filled(log.store, "a", "b")
            await log.session("b", number - 1).append([said("b")], ())
            await log.session("a", number - 1).append([said("a")], ())

    for number in (1, 2, 3):
        asyncio.run(run(number))
    store = SqliteStore(tmp_path / "log.db")
    expected = [(1, 1, "b"), (2, 1, "a"), (3, 2, "b"), (4, 2, "a"), (5, 3, "b"), (6, 3, "a")]
    events = [(row.position, row.sequence, decode_event(row.body)) for row in store.read_log(0, 99, PLENTY)]
    store.close()
    assert [(position, sequence, event.session_id) for position, sequence, event in events] == expected
    assert len({event.event_id for _, _, event in events}) == 6


def test_what_arrives_during_a_commit_is_committed_together_in_order() -> None:
    async def scenario() -> None:
        store = GatedStore()
        async with opened(store) as log:
            await store.let_through(log, [SaveSession(record("a")), SaveSession(record("b"))])
            a, b = log.session("a", 0), log.session("b", 0)
            first = a.append([said("1")], ())
            await store.began()
            group = [
                a.append([said("2")], [SaveSession(record("a", "from the agent"))]),
                asyncio.ensure_future(log.commit("a", [SaveSession(record("a", "from the client"))])),
            ]
            await asyncio.sleep(0)  # the commit has been entered
            group.append(b.append([said("3")], ()))
            store.gate.release(2)
            await asyncio.gather(first, *group)
            written = [[type(change) for change in changes] for changes in store.begun]
            assert written == [
                [SaveSession, SaveSession],
                [AppendEvents],
                [AppendEvents, SaveSession, SaveSession, AppendEvents],
            ]
            # The later change of the record is the one that stays.
            assert store.session("a") == record("a", "from the client", 2)

    asyncio.run(scenario())


def test_pieces_of_a_stream_wait_for_more_of_their_kind_until_something_urgent_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Long enough that a busy machine does not spend it between two lines.
    monkeypatch.setattr("sandbox_agent.runtime.log.GATHER_SECONDS", 0.5)

    async def scenario() -> None:
        store = GatedStore()
        store.gate.release(5)
        async with opened(store) as log:
            await log.commit("a", [SaveSession(record("a")), SaveSession(record("b"))])
            a, b = log.session("a", 0), log.session("b", 0)
            # The first waits for nobody.
            await a.append([said("0")], (), urgent=False)
            pieces = []
            for text in "123":
                pieces.append(a.append([said(text)], (), urgent=False))
                await asyncio.sleep(0)
            pieces.append(b.append([said("4")], (), urgent=False))
            await a.append([said("5")], ())
            assert [piece.done() for piece in pieces] == [True] * 4
            written = [
                [len(change.rows) for change in changes if isinstance(change, AppendEvents)]
                for changes in store.begun
            ]
            assert written == [[], [1], [4, 1]]
            # Nothing urgent follows: it is written all the same.
            await b.append([said("6")], (), urgent=False)
            assert len(store.begun) == 4

    asyncio.run(scenario())


def test_nothing_is_visible_before_it_is_durable() -> None:
    async def scenario() -> None:
        store = GatedStore()
        async with opened(store) as log:
            await store.let_through(log, [SaveSession(record("a"))])
            session = log.session("a", 0)
            async with (
                followed(SessionFollowing(log, session.channel, "a", 0)) as one,
                followed(LogFollowing(log, 0, bytes)) as all,
            ):
                appended = session.append([said("x")], ())
                await store.began()
                assert (one.writes, all.writes) == ([], [])
                assert (appended.done(), session.channel.committed, log.channel.committed) == (False, 0, 0)
                store.gate.release()
                await appended
                assert store.read("a", 0, 9, PLENTY) != []
                assert (session.channel.committed, log.channel.committed) == (1, 1)
                assert deltas(one) == deltas(all) == [(1, "x")]

    asyncio.run(scenario())


def test_a_caller_that_stops_waiting_disturbs_nobody() -> None:
    async def scenario() -> None:
        store = GatedStore()
        async with opened(store) as log:
            await store.let_through(log, [SaveSession(record("a"))])
            session = log.session("a", 0)

            async def send(text: str) -> None:
                await session.append([said(text)], ())

            impatient, patient = asyncio.create_task(send("1")), asyncio.create_task(send("2"))
            await asyncio.sleep(0)
            impatient.cancel()
            store.gate.release(2)
            await patient
            assert impatient.cancelled()
            assert await texts(log, session, 0, 2) == [(1, "1"), (2, "2")]

    asyncio.run(scenario())


def test_a_frame_that_caused_several_events_is_stored_once(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = log.session("a", 0)
            frame, other = b'{"frame": 1}', b'{"frame": 2}'
            await session.append([said("1", frame), said("2", frame), said("3"), said("4", other)], ())
            rows = await log.read("a", 0, with_raw=True)
            assert [row.raw for row in rows] == [frame, frame, None, other]

    size = 200_000
    asyncio.run(scenario())

    async def stored_bytes() -> int:
        kept = filled(MemoryStore(), "a")
        async with opened(kept) as log:
            frame = bytes(size)
            await log.session("a", 0).append([said("x", frame) for _ in range(10)], ())
            return kept.size()

    assert size < asyncio.run(stored_bytes()) < 2 * size


def test_a_backlog_is_told_and_its_end_too() -> None:
    async def scenario() -> None:
        store = GatedStore()
        async with opened(store) as log:
            await store.let_through(log, [SaveSession(record("a"))])
            session = log.session("a", 0)
            drained = asyncio.Event()
            small = session.append([said("x")], ())
            await store.began()
            assert not log.congested
            large = session.append([said("x" * BACKLOG_BYTES)], ())
            assert log.congested
            log.when_drained(drained.set)
            store.gate.release()
            await small
            assert (log.congested, drained.is_set()) == (True, False)
            store.gate.release()
            await asyncio.gather(large, drained.wait())
            assert not log.congested

    asyncio.run(scenario())


# -- a disk that refuses ----------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    disk = SmallDisk(tmp_path / "log.db")
    filled(disk, "a")
    disk.pages = 1
    yield disk
    disk.close()


def test_a_full_disk_refuses_what_nobody_was_promised(disk: SmallDisk) -> None:
    async def scenario() -> None:
        async with opened(disk) as log:
            session = log.session("a", 0)
            kept = session.append([said("x" * 100_000)], [SaveSession(record("a", "kept"))])
            refused = asyncio.ensure_future(log.commit("b", [SaveSession(record("b"))]))
            with pytest.raises(Unavailable, match=r"cannot be written: .*full"):
                await refused
            with pytest.raises(Unavailable):
                log.require_writable()
            with pytest.raises(Unavailable) as told:
                await log.commit("b", [SaveSession(record("b"))])
            assert told.value.retry_after == 5
            also_kept = session.append([said("later")], ())
            assert (kept.done(), also_kept.done(), session.channel.committed) == (False, False, 0)
            assert disk.read("a", 0, 9, PLENTY) == []
            disk.pages = 1 << 30
            await asyncio.gather(kept, also_kept)
            log.require_writable()
            await log.commit("c", [SaveSession(record("c"))])
            assert [sequence for sequence, _ in await texts(log, session, 0, 2)] == [1, 2]
            assert [disk.session(name) for name in "abc"] == [record("a", "kept", 2), None, record("c")]

    asyncio.run(scenario())


def test_a_disk_that_refused_a_commit_alone_is_tried_until_it_works(disk: SmallDisk) -> None:
    async def scenario() -> None:
        async with opened(disk) as log:
            large = record("b", "x" * 100_000)
            with pytest.raises(Unavailable):
                await log.commit("large", [SaveSession(large)])
            assert log.failure is not None
            disk.pages = 1 << 30
            await log.session("a", 0).append([said("behind the probe")], ())
            assert log.failure is None
            await log.commit("large", [SaveSession(large)])
            assert disk.session("b") == large

    asyncio.run(scenario())


def test_a_store_that_breaks_for_good_keeps_no_commit_waiting() -> None:
    class Broken(MemoryStore):
        def write(self, changes: Iterable[Change]) -> None:
            raise apsw.IOError("")

    async def scenario() -> None:
        log = Log(Broken())
        with pytest.raises(Unavailable, match="the log cannot be written: IOError"):
            await log.commit("a", [SaveSession(record("a"))])
        with pytest.raises(Unavailable):
            log.require_writable()

    asyncio.run(scenario())


# -- what can never be written ------------------------------------------------------------------


def test_a_fault_of_ours_costs_its_own_session_and_no_other(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    filled(store, *"abc")
    store.write([AppendEvents("b", [EventRow(-1, 1, b"in the way")])])

    async def scenario() -> None:
        async with opened(store) as log:
            a, b, c = (log.session(name, 0) for name in "abc")
            lost: list[SessionLog] = []
            log.on_lost = lost.append
            async with followed(LogFollowing(log, 0, bytes)) as everything:
                # One breath, so one group; positions of the sessions alternate.
                first = [session.append([said(f"{session.session_id} one")], ()) for session in (c, b, a)]
                second = [session.append([said(f"{session.session_id} two")], ()) for session in (a, b, c)]
                refused = asyncio.ensure_future(log.commit("b", [SaveSession(record("b", "never"))]))
                done = await asyncio.gather(*first, *second, refused, return_exceptions=True)
                failed = [isinstance(one, Internal) for one in done]
                assert failed == [False, True, False, False, True, False, True]
                assert lost == [b]
                await everything.until(lambda: len(everything.numbers) == 4)
                assert [text.partition(" ")[0] for _, text in deltas(everything)] == ["c", "a", "a", "c"]
                assert everything.numbers == sorted(everything.numbers)
            assert await texts(log, a, 0, 2) == [(1, "a one"), (2, "a two")]
            assert store.session("b") == record("b", events=1)
            log.require_writable()

    asyncio.run(scenario())
