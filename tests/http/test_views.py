"""What clients see matches what they can read: state, counts and pending requests, polled as fast as possible."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.daemons import Client, client_of, done, stop_reason, texts, wait_until

ROUNDS = 60


def test_a_client_that_sees_idle_can_read_the_end_of_the_turn(client: Client) -> None:
    session = client.create()
    for number in range(1, ROUNDS + 1):
        client.send(session, "hi")
        while (info := client.info(session))["state"] != "idle":
            pass
        events = client.events(session, after=max(0, info["eventCount"] - 1))
        assert [event["type"] for event in events] == ["turn.ended"], number
        assert events[0]["sequence"] == info["eventCount"]


def test_the_count_of_events_is_always_an_offset_to_read_from(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader, client_of(client.daemon) as other:
        client.send(session, "flood 20000 64")
        reader.until_agent_speaks()
        states = []
        for _ in range(150):
            info = other.info(session)
            states.append(info["state"])
            page = other.get(f"/v1/sessions/{session}/events", offset=info["eventCount"], limit=1)
            assert page.status_code == 200, page.text
        assert stop_reason(reader.until_type("turn.ended")) == "end_turn"
    assert "running" in states


@pytest.mark.parametrize(
    ("kind", "message", "verb", "body"),
    [
        ("permissions", "permission x", "reply", {"reply": "once"}),
        ("questions", "question", "reply", {"answers": [["Red"]]}),
        ("questions", "question", "reject", {}),
    ],
)
def test_of_two_answers_to_what_a_list_shows_the_loser_conflicts(
    client: Client, kind: str, message: str, verb: str, body: dict[str, object]
) -> None:
    session = client.create()
    at_once = threading.Barrier(2)

    def answer(other: Client, path: str) -> int:
        at_once.wait()
        return other.post(path, body).status_code

    with (
        client_of(client.daemon) as first,
        client_of(client.daemon) as second,
        ThreadPoolExecutor(2) as pool,
    ):
        for number in range(ROUNDS):
            client.send(session, message)
            wait_until(lambda: client.pending(session, kind) != [])
            id = client.pending(session, kind)[0]["permission_id" if kind == "permissions" else "question_id"]
            path = f"/v1/sessions/{session}/{kind}/{id}/{verb}"
            answers = list(pool.map(answer, (first, second), (path, path)))
            assert sorted(answers) == [204, 409], number
            assert client.pending(session, kind) == []
            wait_until(lambda: client.info(session)["state"] == "idle")


def test_a_message_that_waits_is_withdrawn_before_the_agent_ends_the_session(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "slow 60")
        client.send(session, "end")
        waiting = [client.send(session, "never"), client.send(session, "never again")]
        client.post(f"/v1/sessions/{session}/cancel")
        events = reader.until_type("session.ended")
    assert events[-1]["data"]["reason"] == "completed"
    changes = [
        data["item"]["content"][1]["json"]
        for data in (event["data"] for event in events if event["type"] == "item.completed")
        if data["item"]["kind"] == "status" and data["item"]["content"][0]["label"] == "queue"
    ]
    assert [change["turn_id"] for change in changes if change["state"] == "withdrawn"] == waiting
    assert texts(events)[-1] == "Goodbye."
    assert done(client.get(f"/v1/sessions/{session}/queue"))["messages"] == []
