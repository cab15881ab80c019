"""Limits: sessions in memory, queued messages, the size of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemons import Client, Daemon, client_of, done, refusal, running, wait_until


@pytest.fixture
def short_lived(tmp_path: Path) -> Iterator[Client]:
    """A daemon that stops an agent as soon as it is idle."""
    daemon = Daemon(tmp_path / "data", "--no-token", "--idle-seconds", "0.2")
    with running(daemon), client_of(daemon) as client:
        yield client


def count(client: Client, name: str) -> int:
    found = re.search(rf"^sandbox_agent_{name} (\d+)", client.get("/metrics").text, re.MULTILINE)
    assert found is not None
    return int(found[1])


def test_an_idle_session_is_unloaded(short_lived: Client) -> None:
    sessions = [short_lived.create() for _ in range(4)]
    for session in sessions:
        short_lived.turn(session, "hi")
    wait_until(lambda: count(short_lived, "sessions_loaded") == 0)
    assert count(short_lived, "agent_processes") == 0
    # And it is there again when it is needed.
    assert short_lived.turn(sessions[0], "hi")[-1]["type"] == "turn.ended"


def test_a_session_that_is_looked_at_is_not_loaded(short_lived: Client) -> None:
    session, ended = short_lived.create(), short_lived.create()
    short_lived.turn(session, "hi")
    assert short_lived.post(f"/v1/sessions/{ended}/terminate").status_code == 204
    wait_until(lambda: count(short_lived, "sessions_loaded") == 0)
    for each in (session, ended):
        path = f"/v1/sessions/{each}"
        for what in ("", "/events", "/queue", "/permissions", "/questions"):
            done(short_lived.get(path + what))
        with short_lived.follow(each) as reader:
            next(reader.events())
        assert count(short_lived, "sessions_loaded") == 0
    wait_until(lambda: count(short_lived, "readers") == 0)


def test_a_command_that_changes_nothing_leaves_nothing_in_memory(short_lived: Client) -> None:
    session = short_lived.create()
    wait_until(lambda: count(short_lived, "sessions_loaded") == 0)
    path = f"/v1/sessions/{session}"
    assert short_lived.post(f"{path}/cancel").status_code == 204
    assert refusal(short_lived.post(f"{path}/permissions/no/reply", {"reply": "once"}))[0] == 404
    assert refusal(short_lived.delete(f"{path}/queue/no"))[0] == 404
    done(short_lived.patch(path, {"title": "New"}))
    wait_until(lambda: count(short_lived, "sessions_loaded") == 0)


def test_the_messages_that_wait_come_in_pages(client: Client) -> None:
    session = client.create()
    path = f"/v1/sessions/{session}/queue"
    with client.follow(session) as reader:
        client.send(session, "hang")
        reader.until_agent_speaks()
    sent = [client.send(session, f"number {number}") for number in range(60)]
    found, cursor = [], ""
    while cursor is not None:
        page = done(client.get(path, limit=25, **({"cursor": cursor} if cursor else {})))
        assert len(page["messages"]) <= 25
        found += [message["turnId"] for message in page["messages"]]
        cursor = page.get("nextCursor")
    assert found == sent
    assert len(done(client.get(path))["messages"]) == 50
    assert refusal(client.get(path, limit=101)) == (400, "invalid_request")


@pytest.mark.slow
def test_a_queue_takes_64_mebibytes_and_no_more(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "hang")
        reader.until_agent_speaks()
    body = {"message": "x" * 900_000}
    path = f"/v1/sessions/{session}/messages"
    taken = 0
    while (answer := client.post(path, body)).status_code == 202:
        taken += 1
    assert refusal(answer) == (429, "rate_limited")
    assert int(answer.headers["retry-after"]) > 0
    assert taken == (64 << 20) // 900_000
    assert client.post(path, {"message": "a short one"}).status_code == 202


@pytest.mark.slow
def test_a_queue_takes_a_thousand_messages_and_no_more(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "hang")
        reader.until_agent_speaks()
    waiting = [client.send(session, "later") for _ in range(1_000)]
    path = f"/v1/sessions/{session}/messages"
    assert refusal(client.post(path, {"message": "one more"})) == (429, "rate_limited")
    assert client.delete(f"/v1/sessions/{session}/queue/{waiting[500]}").status_code == 204
    client.send(session, "one more")
