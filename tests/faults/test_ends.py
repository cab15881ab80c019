"""Ends that cannot be written yet: processes still end, and no client gets an answer that a crash could undo."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.daemons import (
    Client,
    Daemon,
    agent_pid,
    gone_within,
    of_type,
    refusal,
    running,
    statuses,
    stop_reason,
    texts,
    types,
    wait_until,
)
from tests.faults.preload import Faults

Act = Callable[[Client, str], int]


@pytest.fixture
def faults(tmp_path: Path) -> Faults:
    return Faults(tmp_path)


@pytest.fixture
def daemon(tmp_path: Path, faults: Faults) -> Iterator[Daemon]:
    with running(Daemon(tmp_path / "data", env=faults.env)) as daemon:
        yield daemon
        faults.refuse_writing(False)
        faults.slow_down(0)


def is_ready(client: Client) -> bool:
    return client.get("/v1/ready").status_code == 200


def busy(client: Client) -> str:
    """A session with a turn that runs and a message that waits."""
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "pace 1000 100")
        reader.until_agent_speaks()
    client.send(session, "later")
    return session


def terminate(client: Client, session: str) -> int:
    return client.post(f"/v1/sessions/{session}/terminate").status_code


def delete(client: Client, session: str) -> int:
    return client.delete(f"/v1/sessions/{session}").status_code


def cancel(client: Client, session: str) -> int:
    return client.post(f"/v1/sessions/{session}/cancel").status_code


# -- a disk that takes nothing --------------------------------------------------------------------


@pytest.mark.parametrize("act", [terminate, delete])
def test_an_end_that_cannot_be_written_is_not_acknowledged(
    daemon: Daemon, client: Client, faults: Faults, act: Act
) -> None:
    """The processes are gone, the answer is 503, and after a crash the message that waits is answered."""
    session = busy(client)
    agent = agent_pid(daemon)
    faults.refuse_writing(True)
    assert act(client, session) == 503
    assert gone_within([agent], 5) == []
    daemon.kill()
    faults.refuse_writing(False)
    daemon.start()
    with client.follow(session) as reader:
        events = reader.until(lambda event: event["type"] == "turn.ended" and event["source"] == "agent")
    assert "session.ended" not in types(events)
    assert texts(events)[-1].startswith("You said: later")
    assert [data["metadata"]["stop_reason"] for data in of_type(events, "turn.ended")] == [
        "outcome_unknown",
        "end_turn",
    ]


def test_an_end_is_written_once_there_is_space(daemon: Daemon, client: Client, faults: Faults) -> None:
    session = busy(client)
    with client.follow(session) as reader:
        faults.refuse_writing(True)
        assert terminate(client, session) == 503
        assert terminate(client, session) == 503
        assert client.info(session)["state"] == "running"
        faults.refuse_writing(False)
        events = reader.rest()
    assert types(events)[-1] == "session.ended"
    assert stop_reason(events) == "interrupted"
    assert [status["state"] for status in statuses(events, "queue")] == ["queued", "withdrawn"]
    assert terminate(client, session) == 204
    assert client.info(session)["state"] == "ended"


def test_a_cancel_is_answered_when_the_end_of_the_turn_is_written(client: Client, faults: Faults) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "pace 1000 100")
        events = reader.until_agent_speaks()
        faults.refuse_writing(True)
        assert cancel(client, session) == 503
        assert client.info(session)["state"] == "running"
        faults.refuse_writing(False)
        events += reader.until_type("turn.ended")
    assert stop_reason(events) == "interrupted"
    assert cancel(client, session) == 204
    assert events == client.events(session)
    assert stop_reason(client.turn(session, "hi")) == "end_turn"


def test_a_daemon_that_cannot_write_can_be_stopped(daemon: Daemon, client: Client, faults: Faults) -> None:
    session = busy(client)
    agent = agent_pid(daemon)
    faults.refuse_writing(True)
    wait_until(lambda: not is_ready(client))
    assert daemon.stop() in (0, -signal.SIGTERM)
    assert gone_within([agent], 1) == []
    assert "Traceback" not in daemon.stderr()
    faults.refuse_writing(False)
    daemon.start()
    with client.follow(session) as reader:
        events = reader.until(lambda event: event["type"] == "turn.ended" and event["source"] == "agent")
    ends = [data["metadata"]["stop_reason"] for data in of_type(events, "turn.ended")]
    assert ends == ["outcome_unknown", "end_turn"]


# -- a disk that takes its time ---------------------------------------------------------------------


@pytest.mark.slow
def test_a_reported_end_is_durable_on_a_slow_disk(daemon: Daemon, client: Client, faults: Faults) -> None:
    """Another session writes all the time, so that the end waits for two syncs."""
    session, other = busy(client), client.create()
    with client.follow(other) as reader:
        client.send(other, "pace 1000 20")
        reader.until_agent_speaks()
        faults.slow_down(3_500)
        reader.until_agent_speaks()
        answer = terminate(client, session)
    daemon.kill()
    faults.slow_down(0)
    daemon.start()
    assert (answer, client.info(session)["state"]) == (204, "ended")


# -- changes that are refused -----------------------------------------------------------------------


def test_a_change_of_mode_that_was_refused_is_not_in_force(client: Client, faults: Faults) -> None:
    session = client.create()
    with client.follow(session) as reader:
        faults.refuse_writing(True)
        refused = client.patch(f"/v1/sessions/{session}", {"permissionMode": "bypass"})
        assert refusal(refused) == (503, "unavailable")
        assert client.info(session)["permissionMode"] == "default"
        faults.refuse_writing(False)
        wait_until(lambda: is_ready(client))
        assert client.info(session)["permissionMode"] == "default"
        client.send(session, "permission x")
        asked = reader.until(lambda event: event["type"] in ("permission.requested", "turn.ended"))
    assert asked[-1]["type"] == "permission.requested"
    assert len(client.pending(session)) == 1


def test_a_message_that_was_refused_never_becomes_a_turn(client: Client, faults: Faults) -> None:
    session = client.create()
    faults.refuse_writing(True)
    refused = client.post(f"/v1/sessions/{session}/messages", {"message": "refused"})
    assert refusal(refused) == (503, "unavailable")
    faults.refuse_writing(False)
    wait_until(lambda: is_ready(client))
    client.turn(session, "taken")
    assert [text.split()[2] for text in texts(client.events(session))] == ["taken"]
