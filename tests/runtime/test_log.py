"""The log: stamped once, committed in groups, visible only when durable, and read exactly once."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import apsw
import msgspec
import pytest

from sandbox_agent.agents.scribe import Draft, draft_of
from sandbox_agent.errors import Internal, Unavailable
from sandbox_agent.runtime.channel import Batch
from sandbox_agent.runtime.log import BACKLOG_BYTES, Log, SessionLog
from sandbox_agent.runtime.reading import with_raw_spliced
from sandbox_agent.schema.events import Event, ItemDelta, SessionStarted, decode_event
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.store.base import (
    AppendEvents,
    Change,
    DeleteSession,
    EventRow,
    SaveSession,
    SessionRecord,
    Store,
    StoredEvent,
)
from sandbox_agent.store.memory import MemoryStore
from sandbox_agent.store.sqlite import SqliteStore

PLENTY = 1 << 30
SOON = 10.0


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
        await log.close()


async def texts(log: Log, session: SessionLog, after: int, until: int) -> list[tuple[int, str]]:
    """What a reader sees past a sequence, up to another."""
    seen: list[tuple[int, str]] = []
    async with aclosing(log.follow(session, after, SOON)) as batches:
        async for batch in batches:
            assert batch is not None
            seen += numbered(batch)
            if batch.last >= until:
                break
    return seen


def numbered(batch: Batch) -> list[tuple[int, str]]:
    found = zip(batch.numbers, map(decode_event, batch.bodies), strict=True)
    return [(number, event.data.delta) for number, event in found if isinstance(event.data, ItemDelta)]


# -- writing ----------------------------------------------------------------------------------


def test_an_event_is_stamped_once_and_stored_as_it_is_sent(store: Store) -> None:
    async def scenario() -> list[StoredEvent]:
        async with opened(store) as log:
            session = log.session("a", 0)
            await session.append([draft_of(SessionStarted(), "daemon", None, b"null"), said("hé\u2028")], ())
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
            appended = session.append([said("x")], ())
            async with (
                aclosing(log.follow(session, 0, 0.01)) as one,
                aclosing(log.follow_all(0, 0.01)) as all,
            ):
                assert [await anext(one), await anext(all)] == [None, None]
                assert (appended.done(), session.channel.committed, log.channel.committed) == (False, 0, 0)
                store.gate.release()
                await appended
                assert store.read("a", 0, 9, PLENTY) != []
                assert (session.channel.committed, log.channel.committed) == (1, 1)
                batch = await anext(one)
                assert batch is not None
                assert numbered(batch) == [(1, "x")]

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


# -- reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_every_reader_sees_every_event_exactly_once(store: Store, seed: int) -> None:
    dice = random.Random(seed)
    plans = {name: [dice.randrange(1, 9) for _ in range(30)] for name in "abc"}
    totals = {name: sum(plan) for name, plan in plans.items()}

    async def write(session: SessionLog, plan: list[int]) -> None:
        for count in plan:
            # Large enough that the shared tail is overrun several times.
            drafts = [said(f"{session.sequence + n} " + "x" * 20_000) for n in range(1, count + 1)]
            done = session.append(drafts, (), urgent=dice.random() < 0.5)
            for _ in range(dice.randrange(4)):
                await asyncio.sleep(0)
            if dice.random() < 0.3:
                await done

    async def read(batches: Callable[[], AsyncIterator[Batch | None]], until: int) -> list[int]:
        seen: list[int] = []
        for _ in range(dice.randrange(60)):
            await asyncio.sleep(0)
        async with aclosing(batches()) as following:  # type: ignore[type-var]
            async for batch in following:
                for _ in range(dice.randrange(30) if dice.random() < 0.2 else 0):
                    await asyncio.sleep(0)
                seen += batch.numbers if batch else []
                if seen and seen[-1] >= until:
                    break
        return seen

    async def scenario() -> None:
        async with opened(store) as log:
            sessions = {name: log.session(name, 0) for name in "abc"}
            readers = []
            for name, session in sessions.items():
                for with_raw in (False, False, True):
                    after = dice.randrange(totals[name])

                    def follow(
                        session: SessionLog = session, after: int = after, with_raw: bool = with_raw
                    ) -> AsyncIterator[Batch | None]:
                        return log.follow(session, after, SOON, with_raw=with_raw)

                    readers.append((read(follow, totals[name]), list(range(after + 1, totals[name] + 1))))
            everything = sum(totals.values())
            for after in (0, dice.randrange(everything)):

                def follow_all(after: int = after) -> AsyncIterator[Batch | None]:
                    return log.follow_all(after, SOON)

                readers.append((read(follow_all, everything), list(range(after + 1, everything + 1))))
            writing = asyncio.gather(*(write(sessions[name], plan) for name, plan in plans.items()))
            seen = await asyncio.gather(*(reader for reader, _ in readers))
            await writing
            assert seen == [expected for _, expected in readers]

    asyncio.run(scenario())


def test_live_and_replay_are_the_same_bytes(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = log.session("a", 0)
            async with aclosing(log.follow(session, 0, SOON)) as batches:
                live = b""
                for text in ("one", "two", "three"):
                    done = session.append([said(text), said(text * 2)], ())
                    batch = await anext(batches)
                    assert batch is not None
                    live += batch.frames()
                    await done
            replayed = b""
            async with aclosing(log.follow(session, 0, SOON)) as batches:
                batch = await anext(batches)
                assert batch is not None
                replayed += batch.frames()
            rows = await log.read("a", 0)
            expected = b"".join(b"id: %d\ndata: %b\n\n" % (row.sequence, row.body) for row in rows)
            assert (live, replayed) == (expected, expected)

    asyncio.run(scenario())


def test_a_reader_that_falls_behind_reads_on_from_the_store(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = log.session("a", 0)
            async with aclosing(log.follow(session, 0, SOON)) as batches:
                await session.append([said("first")], ())
                assert (await anext(batches)) is not None
                for _ in range(40):
                    await session.append([said("x" * 100_000)], ())
                seen: list[int] = []
                async for batch in batches:
                    assert batch is not None
                    seen += batch.numbers
                    if batch.last == 41:
                        break
            assert seen == list(range(2, 42))

    asyncio.run(scenario())


def test_a_reader_of_everything_goes_through_the_positions(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            a, b = log.session("a", 0), log.session("b", 0)
            await a.append([said("a1"), said("a2")], ())
            seen: list[tuple[int, str]] = []
            async with aclosing(log.follow_all(1, SOON)) as batches:
                async for batch in batches:
                    seen += numbered(batch) if batch else []
                    if seen == [(2, "a2")]:
                        await asyncio.gather(b.append([said("b1")], ()), a.append([said("a3")], ()))
                    if len(seen) == 3:
                        break
            assert seen == [(2, "a2"), (3, "b1"), (4, "a3")]

    asyncio.run(scenario())


def test_a_reader_of_everything_is_woken_by_news_that_are_no_event(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log, aclosing(log.follow_all(0, 60)) as batches:
            waiting = asyncio.ensure_future(anext(batches))
            await asyncio.sleep(0)
            log.channel.wake()
            assert await waiting is None

    asyncio.run(scenario())


def test_a_reader_goes_on_behind_what_was_deleted(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            a, b = log.session("a", 0), log.session("b", 0)
            await a.append([said("a1"), said("a2")], ())
            await log.commit("a", [DeleteSession("a")])
            async with aclosing(log.follow_all(0, 0.01)) as batches:
                assert await anext(batches) is None
                await b.append([said("b1")], ())
                seen = [batch async for batch in first(batches, 1)]
            assert [numbered(batch) for batch in seen] == [[(3, "b1")]]

    asyncio.run(scenario())


async def first(batches: AsyncIterator[Batch | None], count: int) -> AsyncIterator[Batch]:
    async for batch in batches:
        if batch is not None:
            yield batch
            count -= 1
            if not count:
                return


def test_what_comes_while_a_reader_looks_at_deleted_events_is_not_lost() -> None:
    class SlowReading(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.looked = threading.Event()
            self.go_on = threading.Event()

        def read_log(self, after: int, limit: int, max_bytes: int) -> list[StoredEvent]:
            found = super().read_log(after, limit, max_bytes)
            self.looked.set()
            assert self.go_on.wait(SOON)
            return found

    async def scenario() -> None:
        store = SlowReading()
        filled(store, "a", "b")
        async with opened(store) as log:
            a, b = log.session("a", 0), log.session("b", 0)
            await a.append([said("a1")], ())
            await log.commit("a", [DeleteSession("a")])
            async with aclosing(log.follow_all(0, SOON)) as batches:
                following = first(batches, 1)
                waiting = asyncio.ensure_future(anext(following))
                await asyncio.to_thread(store.looked.wait, SOON)
                await b.append([said("b1")], ())
                store.go_on.set()
                assert numbered(await waiting) == [(2, "b1")]
                await following.aclose()  # type: ignore[attr-defined]

    asyncio.run(scenario())


def test_readers_end_when_there_is_nothing_more_to_come(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = log.session("a", 0)

            async def read() -> list[Batch | None]:
                return [batch async for batch in log.follow(session, 0, 60)]

            reading = asyncio.create_task(read())
            await asyncio.sleep(0)
            assert session.channel.readers == 1
            session.channel.close()
            assert await reading == []
            assert session.channel.readers == 0

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "raw, spliced",
    [
        (None, b"null"),
        (b'{"a": [1, "\xc3\xa9"]}', b'{"a": [1, "\xc3\xa9"]}'),
        (b'{"a":\r\n1}\r', b'{"a":  1} '),
        (b"not json", b'"not json"'),
        (b"", b'""'),
        (b'{"a": 1', b'"{\\"a\\": 1"'),
        (b'"\xff"', '"\\"\ufffd\\""'.encode()),
        pytest.param(b"[" * 1500 + b"]" * 1500, b'"' + b"[" * 1500 + b"]" * 1500 + b'"', id="deep"),
    ],
)
def test_a_reader_that_asks_gets_the_native_frame(raw: bytes | None, spliced: bytes) -> None:
    body = b'{"event_id":"evt_1","type":"error","raw":null}'
    event = with_raw_spliced(StoredEvent(1, 1, body, raw))
    assert event == b'{"event_id":"evt_1","type":"error","raw":' + spliced + b"}"
    msgspec.json.decode(event)


def test_following_with_raws_shows_them(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = log.session("a", 0)
            async with aclosing(log.follow(session, 0, SOON, with_raw=True)) as batches:
                frame = b'{"native": true}'
                await session.append([said("1", frame), said("2", frame)], ())
                batch = await anext(batches)
                assert batch is not None
                assert [decode_event(body).raw for body in batch.bodies] == [{"native": True}] * 2

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
            everything = log.follow_all(0, SOON)
            following = asyncio.ensure_future(anext(everything))
            await asyncio.sleep(0)
            # One breath, so one group; positions of the sessions alternate.
            first = [session.append([said(f"{session.session_id} one")], ()) for session in (c, b, a)]
            second = [session.append([said(f"{session.session_id} two")], ()) for session in (a, b, c)]
            refused = asyncio.ensure_future(log.commit("b", [SaveSession(record("b", "never"))]))
            done = await asyncio.gather(*first, *second, refused, return_exceptions=True)
            failed = [isinstance(one, Internal) for one in done]
            assert failed == [False, True, False, False, True, False, True]
            assert lost == [b]
            while (batch := await following) is None:
                following = asyncio.ensure_future(anext(everything))
            assert [decode_event(body).session_id for body in batch.bodies] == ["c", "a", "a", "c"]
            assert batch.numbers == sorted(batch.numbers)
            await everything.aclose()
            assert await texts(log, a, 0, 2) == [(1, "a one"), (2, "a two")]
            assert store.session("b") == record("b", events=1)
            log.require_writable()

    asyncio.run(scenario())
