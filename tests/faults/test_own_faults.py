"""An internal error between an agent and the log ends only what it affects, with a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import (
    Client,
    Daemon,
    agent_pid,
    agent_pids,
    gone_within,
    is_alive,
    of_type,
    refusal,
    running,
    stop_reason,
    texts,
    types,
    wait_until,
)

FAULTY = Path(__file__).with_name("faulty_daemon.py")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with running(Daemon(tmp_path / "data", inside=[sys.executable, str(FAULTY)])) as daemon:
        yield daemon


def shows_traceback(daemon: Daemon, error: str) -> None:
    def is_shown() -> bool:
        before, found, _ = daemon.stderr().partition(error)
        return bool(found) and "Traceback (most recent call last)" in before

    wait_until(is_shown)


def until_turns_end(client: Client, session: str, turns: int) -> list[dict[str, Any]]:
    """Readers may be disconnected: they reconnect after the last event they saw."""
    events: list[dict[str, Any]] = []
    while types(events).count("turn.ended") < turns:
        with client.follow(session, after=len(events)) as reader:
            for frame in reader.events():
                events.append(frame.data)
                if types(events).count("turn.ended") == turns:
                    break
    return events


@pytest.mark.parametrize(
    ("message", "error"),
    [("fault in the wire", "RuntimeError: the wire broke"), ("pace 100 20", "TypeError: ")],
    ids=["wire", "log"],
)
def test_it_ends_that_turn_and_process_alone(
    daemon: Daemon, client: Client, message: str, error: str
) -> None:
    bystander = client.create()
    other = agent_pid(daemon)
    session = client.create()
    [agent] = set(agent_pids(daemon)) - {other}
    client.turn(session, "hello")
    with client.follow(bystander) as reader:
        client.send(bystander, "pace 3 400")
        reader.until_agent_speaks()
        client.send(session, message)
        events = until_turns_end(client, session, 2)
        assert events == client.events(session)[: len(events)]
        assert stop_reason(events) in ("error", "outcome_unknown")
        assert gone_within([agent], 5) == []
        shows_traceback(daemon, error)
        assert stop_reason(reader.until_type("turn.ended")) == "end_turn"
    assert is_alive(other)
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 3 of this conversation)"]


def test_one_inside_an_adapter_is_an_event_and_a_traceback(daemon: Daemon, client: Client) -> None:
    client.expects_unparsed = True
    events = client.turn(client.create(), "fault in the adapter")
    assert stop_reason(events) == "end_turn"
    assert "RuntimeError: the adapter broke" in of_type(events, "agent.unparsed")[0]["error"]
    shows_traceback(daemon, "RuntimeError: the adapter broke")


def test_one_in_a_step_refuses_the_command_alone(daemon: Daemon, client: Client) -> None:
    bystander = client.create()
    refused = client.post("/v1/sessions/broken", {"agent": "mock", "model": "fault in a step"})
    assert refusal(refused) == (500, "internal")
    shows_traceback(daemon, "RuntimeError: the step broke")
    assert refusal(client.get("/v1/sessions/broken")) == (404, "session_not_found")
    assert stop_reason(client.turn(bystander, "hi")) == "end_turn"
    assert len(agent_pids(daemon)) == 1


def test_one_before_the_agent_is_ready_fails_its_start_at_once(daemon: Daemon, client: Client) -> None:
    refused = client.post("/v1/sessions/broken", {"agent": "faulty-at-start"})
    assert refusal(refused) == (500, "internal")
    shows_traceback(daemon, "RuntimeError: the wire broke at once")
    assert refusal(client.get("/v1/sessions/broken")) == (404, "session_not_found")
    assert gone_within(agent_pids(daemon), 5) == []
