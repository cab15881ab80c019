"""Time: a machine that sleeps, a wall clock that jumps, an agent that is silent for minutes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.daemons import (
    Client,
    Daemon,
    Reader,
    agent_pid,
    client_of,
    descendants,
    of_type,
    running,
    runs_after,
    stop_reason,
    texts,
)
from tests.faults.preload import Faults

from sandbox_agent.config import Config

YEAR = 365 * 24 * 3600


@pytest.fixture
def faults(tmp_path: Path) -> Faults:
    return Faults(tmp_path)


@pytest.fixture
def daemon(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Daemon]:
    """With a clock that can jump, where a test asks for one."""
    env = request.getfixturevalue("faults").env if "faults" in request.fixturenames else {}
    with running(Daemon(tmp_path / "data", env=env)) as daemon:
        yield daemon


def numbers(text: str) -> list[int]:
    """What `pace` counted."""
    return [int(delta.partition("@")[0]) for delta in text.split()]


def is_of_another_year_than(other: dict[str, Any]) -> Callable[[dict[str, Any]], bool]:
    return lambda event: bool(event["time"][:4] != other["time"][:4])


# -- a machine that sleeps ----------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [1.5, pytest.param(30, marks=pytest.mark.long)])
def test_a_machine_that_sleeps_loses_nothing(daemon: Daemon, client: Client, seconds: float) -> None:
    """Daemon and agent are stopped and woken up in the middle of a turn, as by a laptop's lid."""
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "pace 40 10")
        reader.until_agent_speaks()
        sleepers = [daemon.pid, *descendants(daemon.pid)]
        for pid in sleepers:
            os.kill(pid, signal.SIGSTOP)
        assert runs_after(daemon.pid, seconds)
        for pid in sleepers:
            os.kill(pid, signal.SIGCONT)
        reader.until_type("turn.ended")
    events = client.events(session)
    assert stop_reason(events) == "end_turn"
    assert numbers(texts(events)[0]) == list(range(40))


@pytest.mark.long
def test_a_machine_that_sleeps_while_a_session_ends_ends_it_when_it_wakes_up(
    daemon: Daemon, client: Client
) -> None:
    session = client.create()
    with client.follow(session) as reader, ThreadPoolExecutor(1) as pool:
        client.send(session, "hang")
        reader.until_agent_speaks()
        pool.submit(client.post, f"/v1/sessions/{session}/terminate")
        reader.until_type("session.ended")
        os.kill(daemon.pid, signal.SIGSTOP)
        assert runs_after(daemon.pid, 8)
        os.kill(daemon.pid, signal.SIGCONT)
        assert client.post(f"/v1/sessions/{session}/terminate").status_code == 204


# -- a wall clock that jumps --------------------------------------------------------------------


def test_a_wall_clock_that_jumps_ends_nothing_and_counts_for_nothing(
    daemon: Daemon, client: Client, faults: Faults
) -> None:
    session = client.create(turnTimeoutMs=60_000)
    agent = agent_pid(daemon)
    with client.follow(session) as reader:
        client.send(session, "slow 50")
        seen = reader.until_agent_speaks()
        for jump in (-YEAR, YEAR):
            faults.jump_to(jump)
            seen += reader.until(is_of_another_year_than(seen[-1]))
        client.post(f"/v1/sessions/{session}/cancel")
        seen += reader.until_type("turn.ended")
    [ended] = of_type(seen, "turn.ended")
    assert ended["metadata"]["stop_reason"] == "interrupted"
    assert 0 < ended["metadata"]["duration_ms"] < 60_000
    assert seen == client.events(session)
    assert agent_pid(daemon) == agent  # it did not count as idle for a year


def test_a_turn_that_a_restart_ends_in_the_past_has_no_negative_length(
    daemon: Daemon, client: Client, faults: Faults
) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "slow 60")
        reader.until_agent_speaks()
        daemon.kill()
    faults.jump_to(-YEAR)
    daemon.start()
    [ended] = of_type(client.events(session), "turn.ended")
    assert ended["metadata"]["stop_reason"] == "outcome_unknown"
    assert ended["metadata"]["duration_ms"] >= 0
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]


# -- silence ------------------------------------------------------------------------------------

TIME_SETTINGS = {
    "idle_seconds": "an agent without a turn is stopped",
    "start_seconds": "a start, a resume or a list must be answered",
    "drain_seconds": "what runs may go on after SIGTERM",
    "lease_seconds": "a node of a shared log that is silent for so long is replaced",
    "max_turn_seconds": "a budget of the operator's, unlimited by default",
    "max_session_seconds": "a budget of the operator's, unlimited by default",
}
"""Every setting that is a time. Unless the operator sets a budget, none limits a turn, a request or a stream in progress."""


def test_no_setting_limits_a_turn_a_request_or_a_stream() -> None:
    timed = {
        name
        for name in msgspec.structs.asdict(Config())
        if any(word in name for word in ("second", "timeout"))
    }
    assert timed == TIME_SETTINGS.keys()
    assert (Config().max_turn_seconds, Config().max_session_seconds) == (None, None)


def test_silence_ends_nothing_however_short_the_times_that_are_set(tmp_path: Path) -> None:
    """Two seconds of silence are ten times as long as everything that can be set."""
    short = ("--idle-seconds", "0.2", "--start-seconds", "5", "--drain-seconds", "0.2")
    daemon = Daemon(tmp_path / "data", "--no-token", *short)
    with running(daemon), client_of(daemon) as client:
        stays_silent(client, 2)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_silence_of_150_seconds_ends_nothing(daemon: Daemon, client: Client) -> None:
    stays_silent(client, 150)


def stays_silent(client: Client, seconds: int) -> None:
    """A turn whose agent says nothing for so long, seen by a reader and by the stream of the message itself."""
    session = client.create()
    message = {"message": f"pace 2 {seconds * 1000}"}
    with (
        client.follow(session) as reader,
        client.reader(f"/v1/sessions/{session}/messages/stream", body=message) as stream,
    ):
        for each in (reader, stream):
            wait_patiently(each, seconds)
            events = each.until_type("turn.ended")
            assert numbers(texts(events)[0]) == [0, 1]
            assert stop_reason(events) == "end_turn"


def wait_patiently(reader: Reader, seconds: float) -> None:
    """Pings arrive more often than that, so a shorter timeout would only test the client."""
    reader.socket.settimeout(seconds + 20)
