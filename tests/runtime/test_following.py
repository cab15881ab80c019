"""Following the log: every reader sees every event once, however slowly it reads, and a slow reader costs no memory."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec
import pytest
from tests.daemons import SECONDS
from tests.runtime.recording_outlet import RecordingOutlet, followed

from sandbox_agent.agents.scribe import Draft, draft_of
from sandbox_agent.errors import SandboxAgentError
from sandbox_agent.runtime.channel import PIECE_BYTES, Channel, cut, frame_of
from sandbox_agent.runtime.following import (
    END,
    PING,
    Following,
    LogFollowing,
    RawFollowing,
    SessionFollowing,
    TurnFollowing,
)
from sandbox_agent.runtime.log import End, Log
from sandbox_agent.runtime.pages import with_raw_spliced
from sandbox_agent.runtime.pings import PING_SECONDS, Pings
from sandbox_agent.schema.events import ItemDelta, SessionEnded, TurnStarted, decode_event
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.session.effects import Append
from sandbox_agent.session.view import View
from sandbox_agent.store.base import Change, DeleteSession, SaveSession, SessionRecord, Store, StoredEvent
from sandbox_agent.store.memory import MemoryStore
from sandbox_agent.store.sqlite import SqliteStore

ENDED = View(SessionRecord("a", "mock", Settings("/tmp"), "then", "now", ended=True), ())


class Session:
    """A session's end of the log, whose appends can be awaited."""

    def __init__(self, log: Log, session_id: str) -> None:
        self.session_id = session_id
        self._log = log
        self._end = End(session_id, "", 0, None)
        self._end.listener = self
        self._number = 0
        self._waiting: dict[int, asyncio.Future[None]] = {}

    @property
    def channel(self) -> Channel:
        return self._end.channel

    async def append(self, drafts: list[Draft], *changes: Change, view: View | None = None) -> None:
        self._number += 1
        done = self._waiting[self._number] = asyncio.get_running_loop().create_future()
        self._log.append(self._end, Append(self._number, drafts, changes, view, False, {}))
        await done

    def append_pieces(self, drafts: list[Draft]) -> None:
        self._log.append_pieces(self._end, drafts)

    def committed(self, number: int) -> None:
        self._waiting.pop(number).set_result(None)

    def refused(self, number: int, problem: SandboxAgentError) -> None:
        raise AssertionError(problem)

    def stalled(self, problem: SandboxAgentError) -> None:
        raise AssertionError(problem)

    def lost(self, error: Exception) -> None:
        raise AssertionError(error)


def delta(text: str, raw: bytes | None = None) -> Draft:
    return draft_of(ItemDelta("itm_1", None, text), "agent", "native", raw)


def filled(store: Store) -> Store:
    store.write([SaveSession(SessionRecord(name, "mock", Settings("/tmp"), "then", "now")) for name in "abc"])
    return store


@pytest.fixture(params=[MemoryStore, SqliteStore])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return filled(MemoryStore() if request.param is MemoryStore else SqliteStore(tmp_path / "log.db"))


@asynccontextmanager
async def opened(store: Store) -> AsyncIterator[Log]:
    log = Log(store)
    try:
        async with asyncio.timeout(30):
            yield log
    finally:
        await log.close()


def of_session(log: Log, session: Session, after: int = 0) -> Following:
    return SessionFollowing(log, session.channel, session.session_id, after)


def of_all(log: Log, after: int = 0) -> Following:
    return LogFollowing(log, after)


def deltas(outlet: RecordingOutlet) -> list[tuple[int, str]]:
    found = ((number, decode_event(body)) for number, body in outlet.numbered)
    return [(number, event.data.delta) for number, event in found if isinstance(event.data, ItemDelta)]


# -- everything, once ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_every_reader_sees_every_event_exactly_once(store: Store, seed: int) -> None:
    dice = random.Random(seed)
    plans = {name: [dice.randrange(1, 9) for _ in range(20)] for name in "abc"}
    totals = {name: sum(plan) for name, plan in plans.items()}
    everything = sum(totals.values())

    async def write(session: Session, plan: list[int]) -> None:
        for count in plan:
            # Some are larger than a piece, so that readers stop in the middle of one.
            sizes = [dice.choice((10, 20_000, 3 * PIECE_BYTES)) for _ in range(count)]
            drafts = [delta("x" * size) for size in sizes]
            if dice.random() < 0.5:
                session.append_pieces(drafts)
            else:
                await session.append(drafts)
            for _ in range(dice.randrange(4)):
                await asyncio.sleep(0)

    async def read(following: Callable[[int], Following], channel: Channel, until: int) -> bool:
        for _ in range(dice.randrange(60)):
            await asyncio.sleep(0)
        after = dice.randrange(min(channel.committed + 1, until))
        async with followed(following(after), room=dice.randrange(1, 300_000)) as outlet:
            while not outlet.has_number(until):
                await outlet.until(lambda: outlet.is_full or outlet.has_number(until))
                for _ in range(dice.randrange(30)):
                    await asyncio.sleep(0)
                outlet.drain(room=dice.choice((1, 100_000, 10_000_000)))
            return outlet.numbers == list(range(after + 1, until + 1))

    async def scenario() -> None:
        async with opened(store) as log:
            sessions = {name: Session(log, name) for name in "abc"}
            readers = []
            for name, session in sessions.items():
                for kind in (SessionFollowing, SessionFollowing, RawFollowing):
                    follow = partial(kind, log, session.channel, name)
                    readers.append(read(follow, session.channel, totals[name]))
            readers += [read(partial(of_all, log), log.channel, everything) for _ in range(2)]
            writing = asyncio.gather(*(write(sessions[name], plan) for name, plan in plans.items()))
            assert await asyncio.gather(*readers) == [True] * 11
            await writing

    asyncio.run(scenario())


def test_live_and_replay_are_the_same_bytes(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = Session(log, "a")
            async with followed(of_session(log, session)) as live:
                for text in ("one", "two", "x" * 3 * PIECE_BYTES):
                    await session.append([delta(text), delta(text * 2)])
                await live.until_number(6)
            async with followed(of_session(log, session)) as replayed:
                await replayed.until_number(6)
            rows = store.read("a", 0, 99, 1 << 30)
            expected = b"".join(frame_of(row.sequence, row.body) for row in rows)
            assert (live.text, replayed.text) == (expected, expected)

    asyncio.run(scenario())


def test_a_reader_that_keeps_up_does_not_touch_the_store() -> None:
    class Unread(MemoryStore):
        def read(self, *_: object, **__: object) -> list[StoredEvent]:
            raise AssertionError("the store was read")

    async def scenario() -> None:
        async with opened(filled(Unread())) as log:
            session = Session(log, "a")
            async with followed(of_session(log, session)) as outlet:
                for number in range(1, 6):
                    await session.append([delta("x" * 3 * PIECE_BYTES)])
                    assert outlet.numbers[-1] == number

    asyncio.run(scenario())


def test_a_reader_that_falls_behind_continues_from_the_store(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = Session(log, "a")
            async with followed(of_session(log, session), room=10) as outlet:
                await session.append([delta("first")])
                assert outlet.is_full
                for _ in range(40):
                    await session.append([delta("x" * 100_000)])
                assert outlet.numbers == [1]
                outlet.drain()
                await outlet.until_number(41)
                assert outlet.numbers == list(range(1, 42))

    asyncio.run(scenario())


def test_nothing_is_written_to_a_full_reader(store: Store) -> None:
    """It is given one piece at a time, though an event has many."""

    async def scenario() -> None:
        async with opened(store) as log:
            session = Session(log, "a")
            await session.append([delta("x" * 10 * PIECE_BYTES, b'"%b"' % (b"y" * 10 * PIECE_BYTES))])
            kinds: list[Following] = [
                of_session(log, session),
                RawFollowing(log, session.channel, "a", 0),
                of_all(log),
            ]
            for following in kinds:
                async with followed(following, room=0) as outlet:
                    for number in range(1, 10):
                        await outlet.until(lambda outlet=outlet, number=number: len(outlet.writes) == number)  # type: ignore[misc]
                        assert outlet.is_full
                        outlet.drain(room=0)
                    outlet.drain()
                    await outlet.until_number(1)
                    assert max(map(len, outlet.writes)) <= PIECE_BYTES

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "raw", [b'{"text": "%b",\r\n"more": 1}' % (b"\xc3\xa9" * 200_000), b"no json \xff\n" * 40_000, None]
)
def test_large_events_with_their_payloads_are_whole(store: Store, raw: bytes | None) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = Session(log, "a")
            await session.append([delta("x" * 200_000, raw), delta("small", raw), delta("last")])
            rows = store.read("a", 0, 9, 1 << 30, with_raw=True)
            async with followed(RawFollowing(log, session.channel, "a", 0), room=0) as outlet:
                while not outlet.has_number(3):
                    await outlet.until(lambda: outlet.is_full)
                    outlet.drain(room=0)
                assert [body for _, body in outlet.numbered] == [with_raw_spliced(row) for row in rows]

    asyncio.run(scenario())


def test_frames_are_cut_where_pieces_end() -> None:
    frames = [(1, b"a" * 10), (2, b"b" * (2 * PIECE_BYTES + 5)), (3, b"c" * (PIECE_BYTES - 1)), (4, b"dd")]
    whole = b"".join(frame for _, frame in frames)
    for part in (0, 3):
        pieces = cut(frames, part)
        assert b"".join(piece.text for piece in pieces) == whole[part:]
        assert max(len(piece.text) for piece in pieces) <= PIECE_BYTES
        places = [(piece.after, piece.part) for piece in pieces]
        assert places == [(1, 0), (1, PIECE_BYTES), (1, 2 * PIECE_BYTES), (2, 0), (3, 0), (4, 0)]


# -- all sessions -------------------------------------------------------------------------------


def test_a_reader_of_all_sessions_follows_positions(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            a, b = Session(log, "a"), Session(log, "b")
            await a.append([delta("a1"), delta("a2")])
            async with followed(of_all(log, 1)) as outlet:
                await outlet.until_number(2)
                await asyncio.gather(b.append([delta("b1")]), a.append([delta("a3")]))
                assert deltas(outlet) == [(2, "a2"), (3, "b1"), (4, "a3")]

    asyncio.run(scenario())


def test_a_reader_of_all_sessions_gets_large_events_whole_even_if_positions_have_gaps() -> None:
    class Gapped(MemoryStore):
        def write(self, changes: Iterable[Change]) -> int:
            self._numbered += 4095
            return super().write(changes)

    async def scenario() -> None:
        async with opened(filled(Gapped())) as log:
            a, b = Session(log, "a"), Session(log, "b")
            sizes = (10, 3 * PIECE_BYTES, 10, 5 * PIECE_BYTES)
            for session, size in zip((a, b, a, b), sizes, strict=True):
                await session.append([delta("x" * size)])
            async with followed(of_all(log), room=0) as outlet:
                while not outlet.has_number(log.channel.committed):
                    await outlet.until(lambda: outlet.is_full)
                    outlet.drain(room=0)
                assert [len(text) for _, text in deltas(outlet)] == [*sizes]

    asyncio.run(scenario())


def test_a_reader_continues_after_deleted_events(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            a, b = Session(log, "a"), Session(log, "b")
            await a.append([delta("a1"), delta("a2")])
            await a.append([], DeleteSession("a"))
            async with followed(of_all(log)) as outlet:
                await b.append([delta("b1")])
                await outlet.until_number(3)
                assert deltas(outlet) == [(3, "b1")]

    asyncio.run(scenario())


def test_events_during_a_read_of_deleted_ones_are_not_lost() -> None:
    class SlowReading(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.looked = threading.Event()
            self.go_on = threading.Event()

        def read_log(
            self, after: int, limit: int, max_bytes: int, *, whole: bool = True
        ) -> list[StoredEvent]:
            found = super().read_log(after, limit, max_bytes, whole=whole)
            self.looked.set()
            assert self.go_on.wait(SECONDS)
            return found

    async def scenario() -> None:
        store = SlowReading()
        filled(store)
        async with opened(store) as log:
            a, b = Session(log, "a"), Session(log, "b")
            await a.append([delta("a1")])
            await a.append([], DeleteSession("a"))
            async with followed(of_all(log)) as outlet:
                await asyncio.to_thread(store.looked.wait, SECONDS)
                await b.append([delta("b1")])
                store.go_on.set()
                await outlet.until_number(2)
                assert deltas(outlet) == [(2, "b1")]

    asyncio.run(scenario())


@pytest.mark.parametrize("following", [None, 10, 20 * PIECE_BYTES], ids=["last", "small", "large"])
def test_a_reader_in_the_middle_of_an_event_that_is_deleted_is_let_go(
    store: Store, following: int | None
) -> None:
    """Whatever follows: it must not get the end of another event as the end of this one."""

    async def scenario() -> None:
        async with opened(store) as log:
            session, other = Session(log, "a"), Session(log, "b")
            await session.append([delta("x" * 10 * PIECE_BYTES)])
            if following is not None:
                await other.append([delta("y" * following)])
            outlet = RecordingOutlet(room=0)
            running = asyncio.create_task(of_all(log).run(outlet))
            await outlet.until(lambda: outlet.is_full)
            await session.append([], DeleteSession("a"))
            outlet.drain()
            await running
            assert outlet.numbers == []

    asyncio.run(scenario())


def test_a_reader_of_a_deleted_session_reads_no_events_of_its_successor(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session, successor = Session(log, "a"), Session(log, "a")
            await session.append([delta("x" * PIECE_BYTES) for _ in range(3)])
            outlet = RecordingOutlet(room=0)
            running = asyncio.create_task(of_session(log, session).run(outlet))
            await outlet.until(lambda: outlet.is_full)
            await session.append([], DeleteSession("a"))
            filled(store)
            await successor.append([delta("theirs") for _ in range(3)])
            session.channel.close(deleted=True)
            outlet.drain()
            await running
            assert b"theirs" not in outlet.text

    asyncio.run(scenario())


# -- ends ---------------------------------------------------------------------------------------


def test_readers_end_when_the_channel_closes(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = Session(log, "a")
            reading = asyncio.create_task(of_session(log, session).run(RecordingOutlet()))
            await asyncio.sleep(0)
            assert session.channel.readers == 1
            session.channel.close()
            await reading
            assert session.channel.readers == 0

    asyncio.run(scenario())


def test_a_disconnected_reader_is_released_at_once(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = Session(log, "a")
            outlet = RecordingOutlet()
            reading = asyncio.create_task(of_session(log, session).run(outlet))
            await asyncio.sleep(0)
            outlet.leave()
            await reading
            assert session.channel.readers == 0

    asyncio.run(scenario())


def test_a_reader_that_is_behind_gets_the_rest_when_the_log_is_closed(store: Store) -> None:
    async def scenario() -> None:
        log = Log(store)
        session = Session(log, "a")
        await session.append([delta("x" * 50_000) for _ in range(100)])
        outlet, stalled = RecordingOutlet(), RecordingOutlet(room=0)
        reading = [asyncio.create_task(of_session(log, session).run(reader)) for reader in (outlet, stalled)]
        await stalled.until(lambda: stalled.is_full)
        session.channel.close()
        await log.close()
        await asyncio.gather(*reading)
        assert outlet.numbers == list(range(1, 101))
        assert len(stalled.writes) == 1

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", [SessionFollowing, RawFollowing])
@pytest.mark.parametrize("when", ["live", "replayed", "loaded"])
def test_the_end_of_a_session_ends_its_streams(
    store: Store, kind: type[SessionFollowing | RawFollowing], when: str
) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session, outlet = Session(log, "a"), RecordingOutlet()
            ending = [delta("last"), draft_of(SessionEnded("completed", "agent"), "daemon", None, None)]
            if when == "live":
                reading = asyncio.create_task(kind(log, session.channel, "a", 0).run(outlet))
                await asyncio.sleep(0)
                await session.append(ending, view=ENDED)
            else:
                await session.append(ending, view=ENDED)
                assert session.channel.ended
                channel = session.channel if when == "replayed" else End("a", "", 2, ENDED).channel
                reading = asyncio.create_task(kind(log, channel, "a", 0).run(outlet))
            async with followed(of_all(log)) as everything:
                await reading
                await everything.until(lambda: 2 in everything.numbers)
                assert not everything.text.endswith(END)
            assert outlet.numbers == [1, 2]
            assert outlet.text.endswith(END)

    asyncio.run(scenario())


def test_a_turn_stream_runs_from_start_to_end(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session, outlet = Session(log, "a"), RecordingOutlet()
            following = TurnFollowing(log, session.channel, "a", 0, "turn_2")
            reading = asyncio.create_task(following.run(outlet))
            await asyncio.sleep(0)
            large = "x" * 3 * PIECE_BYTES
            await session.append([delta("before"), delta(large), delta(f'"turn_id":"turn_2" {large}')])
            await session.append([draft_of(TurnStarted("turn_2"), "daemon", None, None), delta("x")])
            await session.append(
                [delta(large), draft_of(SessionEnded("completed", "agent"), "daemon", None, None)], view=ENDED
            )
            await reading
            assert outlet.numbers == [4, 5, 6, 7]
            again = RecordingOutlet(room=0)
            reading = asyncio.create_task(TurnFollowing(log, session.channel, "a", 0, "turn_2").run(again))
            while not reading.done():
                again.drain(room=0)
                await asyncio.sleep(0)
            assert again.text == outlet.text

    asyncio.run(scenario())


# -- pings ----------------------------------------------------------------------------------------


def test_each_stream_is_pinged_once_in_a_round() -> None:
    class Pinged:
        pings = 0

        def ping(self) -> None:
            self.pings += 1

    class Broken(Pinged):
        def ping(self) -> None:
            super().ping()
            raise OSError("torn")

    async def scenario() -> None:
        pings = Pings()
        streams = [*(Pinged() for _ in range(25)), *(Broken() for _ in range(15))]
        for stream in streams:
            pings.add(stream)
        at_once = []
        for _ in range(PING_SECONDS):
            before = sum(stream.pings for stream in streams)
            pings.tick()
            at_once.append(sum(stream.pings for stream in streams) - before)
        assert {stream.pings for stream in streams} == {1}
        assert max(at_once) == 3
        for stream in streams:
            pings.remove(stream)

    asyncio.run(scenario())


class BrokenOutlet(RecordingOutlet):
    """An outlet that breaks when it is written to."""

    def write(self, text: bytes) -> None:
        raise OSError("torn")


def test_nothing_is_written_to_a_reader_that_has_just_gone(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = Session(log, "a")
            async with followed(of_session(log, session)) as outlet:
                await session.append([delta("one")])
                await outlet.until_number(1)
                outlet.leave()  # its task notices in the next round of the loop
                session.channel.publish([(2, frame_of(2, b"{}"))], ended=True)
            assert outlet.numbers == [1]

    asyncio.run(scenario())


def test_a_failing_reader_affects_no_other(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = Session(log, "a")
            broken = asyncio.create_task(of_session(log, session).run(BrokenOutlet()))
            async with followed(of_session(log, session)) as outlet:
                await session.append([delta("one")])
                await broken
                await session.append([delta("two")])
                await outlet.until_number(2)
                assert session.channel.readers == 1

    asyncio.run(scenario())


def test_a_ping_comes_neither_inside_a_frame_nor_into_a_full_outlet(store: Store) -> None:
    async def scenario() -> None:
        async with opened(store) as log:
            session = Session(log, "a")
            following = of_session(log, session)
            async with followed(following, room=0) as outlet:
                following.ping()
                assert outlet.writes == [PING]
                await session.append([delta("x" * 3 * PIECE_BYTES)])
                following.ping()
                assert outlet.writes == [PING]
                outlet.drain(room=0)
                await outlet.until(lambda: len(outlet.writes) == 2)
                assert outlet.is_full
                outlet.is_full = False
                following.ping()
                assert len(outlet.writes) == 2
                outlet.drain()
                await outlet.until_number(1)
                following.ping()
                assert outlet.writes[-1] == PING

    asyncio.run(scenario())


# -- native payloads ----------------------------------------------------------------------------


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
            session = Session(log, "a")
            async with followed(RawFollowing(log, session.channel, "a", 0)) as outlet:
                frame = b'{"native": true}'
                await session.append([delta("1", frame), delta("2", frame)])
                await outlet.until_number(2)
                assert [decode_event(body).raw for _, body in outlet.numbered] == [{"native": True}] * 2

    asyncio.run(scenario())


# -- the channel --------------------------------------------------------------------------------


def test_a_channel_without_readers_keeps_only_its_position() -> None:
    channel = Channel(3)
    channel.publish([(4, b"four"), (5, b"five")], ended=True)
    assert (channel.committed, channel.ended, channel.readers) == (5, True, 0)
