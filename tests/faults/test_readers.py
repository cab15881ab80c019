"""Readers that drop, stall or race: each sees every event exactly once, and none of them slows another."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import (
    Client,
    Daemon,
    Frame,
    Reader,
    client_of,
    of_type,
    running,
    stop_reason,
    texts,
    types,
    wait_until,
)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("readers") / "data")) as daemon:
        yield daemon


def ids_to_the_end(reader: Reader) -> list[int]:
    """The ids of all frames up to the end of the turn. Only the first is decoded: there are many."""
    ids = []
    for frame in reader.events():
        ids.append(frame.id)
        if is_end(frame):
            return ids
    raise AssertionError("the stream ended before the turn")


def is_end(frame: Frame) -> bool:
    return '"type":"turn.ended"' in frame.text


def memory(daemon: Daemon) -> int:
    """The daemon's resident memory, in bytes."""
    status = Path(f"/proc/{daemon.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def test_a_reader_that_drops_again_and_again_sees_everything_once(client: Client) -> None:
    session = client.create()
    client.send(session, "pace 600 1")
    seen: list[dict[str, Any]] = []
    while not seen or seen[-1]["type"] != "turn.ended":
        last = seen[-1]["sequence"] if seen else None
        with client.follow(session, last_event_id=last) as reader:
            for _, frame in zip(range(37), reader.events(), strict=False):
                seen.append(frame.data)
                if is_end(frame):
                    break
    assert seen == client.events(session)


def test_a_reader_that_stops_reading_gets_everything_later_and_slows_no_one_down(
    client: Client, daemon: Daemon
) -> None:
    session = client.create()
    path = f"/v1/sessions/{session}/events/sse"
    before = memory(daemon)
    with client.reader(path, receive_buffer=4096) as stalled, client.follow(session) as quick:
        client.send(session, "flood 50000")
        ids = ids_to_the_end(quick)
        grown = memory(daemon) - before
        assert ids == list(range(1, len(ids) + 1))
        assert len(ids) > 50_000
        assert ids_to_the_end(stalled) == ids
    assert grown < 64 << 20


@pytest.mark.parametrize("query", ["", "?include_raw=true"])
@pytest.mark.parametrize("prompt", ["flood 20000 200", "bigline 12m"])
def test_a_reader_that_does_not_read_costs_next_to_nothing(tmp_path: Path, prompt: str, query: str) -> None:
    """Measured with a second batch: the first one has paid for threads, caches and the allocator."""
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        session = client.create()
        client.turn(session, prompt)
        path = f"/v1/sessions/{session}/events/sse{query}"
        stalled, sizes = [], []
        for count in (20, 40):
            stalled += [client.reader(path, receive_buffer=4096) for _ in range(count)]
            wait_until_quiet(daemon)
            sizes.append(memory(daemon))
        for reader in stalled:
            reader.close()
        assert sizes[1] - sizes[0] < 40 * (256 << 10)


def wait_until_quiet(daemon: Daemon) -> None:
    """Wait until it uses no more CPU time."""

    def used() -> int:
        fields = Path(f"/proc/{daemon.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    last, since = used(), time.monotonic()

    def is_quiet() -> bool:
        nonlocal last, since
        if (now := used()) > last + 1:
            last, since = now, time.monotonic()
        return time.monotonic() - since > 1

    wait_until(is_quiet)


@pytest.mark.slow
def test_readers_at_full_speed_get_every_event_of_a_burst(client: Client) -> None:
    session = client.create()
    with ThreadPoolExecutor(4) as pool:
        readers = [client.follow(session) for _ in range(3)] + [client.reader("/v1/events/sse")]
        reads = [pool.submit(ids_to_the_end, reader) for reader in readers]
        client.send(session, "pace 20000 1 20000")
        counts = [read.result() for read in reads]
        for reader in readers:
            reader.close()
    total = client.info(session)["eventCount"]
    assert counts[:3] == [list(range(1, total + 1))] * 3
    # It began after `session.started`, and the news that the turn began has a place between two events.
    assert len(counts[3]) == total - 1
    assert counts[3][-1] - counts[3][0] == total - 1
    assert counts[3] == sorted(counts[3])


def test_a_flood_in_one_session_does_not_stop_another(client: Client) -> None:
    noisy, quiet = client.create(), client.create()
    with client.follow(noisy) as reader:
        client.send(noisy, "flood 300000 200")
        reader.until_agent_speaks()
        for number in (1, 2, 3):
            expected = f"You said: hi (message {number} of this conversation)"
            assert texts(client.turn(quiet, "hi")) == [expected]
        assert client.info(noisy)["state"] == "running"
    assert client.post(f"/v1/sessions/{noisy}/cancel").status_code == 204
    assert stop_reason(client.events(noisy, after=client.info(noisy)["eventCount"] - 2)) == "interrupted"


def test_a_message_in_the_instant_a_turn_ends_is_not_stranded(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader, ThreadPoolExecutor(3) as pool:

        def send_some(name: int) -> list[str]:
            return [client.send(session, f"{name} {number}") for number in range(15)]

        sent = [turn for turns in pool.map(send_some, range(3)) for turn in turns]
        left = set(sent)
        while left:
            ended = reader.until_type("turn.ended")[-1]["data"]["turn_id"]
            left.remove(ended)
    events = client.events(session)
    started = [data["turn_id"] for data in of_type(events, "turn.started")]
    assert sorted(started) == sorted(sent)
    for name in range(3):
        own = [turn for turn in started if turn in sent[name * 15 : name * 15 + 15]]
        assert own == sent[name * 15 : name * 15 + 15]  # in the order they were accepted


def test_readers_come_and_go_while_events_flow(client: Client) -> None:
    session = client.create()

    def read(after: int) -> list[str]:
        with client.follow(session, after=after) as reader:
            found = []
            for frame in reader.events():
                found.append(frame.text)
                if is_end(frame):
                    return found
        raise AssertionError("the stream ended")

    with client.follow(session) as first, ThreadPoolExecutor(4) as pool:
        client.send(session, "pace 1500 1 5")
        reads = []
        for offset in (0, 50, 100, 150):
            next(frame for frame in first.events() if frame.id > offset)
            reads.append(pool.submit(read, offset))
        streams = [read.result() for read in reads]
    for offset, stream in zip((0, 50, 100, 150), streams, strict=True):
        assert stream == streams[0][offset:]


def test_an_abandoned_stream_is_released(client: Client) -> None:
    session = client.create()
    for _ in range(50):
        with client.follow(session) as reader:
            next(reader.events())
    with client.follow(session) as reader:
        next(reader.events())

        def readers() -> float:
            figures = client.get("/metrics").text
            return float(figures.partition("\nsandbox_agent_readers ")[2].split()[0])

        wait_until(lambda: readers() <= 1)
    assert types(client.events(session)) == ["session.started"]
