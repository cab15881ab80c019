"""Commands of the agent: listed, run as turns, and never confused with plain text."""

from __future__ import annotations

from typing import Any

from tests.daemons import Client, refusal, texts


def run(client: Client, session: str, path: str, body: object = None, **headers: str) -> list[dict[str, Any]]:
    """The events of the turn that a request begins."""
    answer = client.post(f"/v1/sessions/{session}/{path}", body, **headers)
    assert answer.status_code == 202, answer.text
    turn = answer.json()["turnId"]
    with client.follow(session) as reader:
        return reader.until(lambda event: event["type"] == "turn.ended" and event["data"]["turn_id"] == turn)


def labels(events: list[dict[str, Any]]) -> list[str]:
    done = (event["data"]["item"] for event in events if event["type"] == "item.completed")
    return [part["label"] for item in done for part in item["content"] if part["type"] == "status"]


def test_the_commands_of_an_agent_are_listed(client: Client) -> None:
    session = client.create()
    listed = client.get(f"/v1/sessions/{session}/commands")
    assert listed.status_code == 200
    assert [command["name"] for command in listed.json()["commands"]] == ["compact", "echo"]
    assert listed.json()["commands"][1] == {
        "name": "echo",
        "description": "Say what follows.",
        "arguments": "<text>",
    }
    assert client.get("/v1/agents/mock/commands").json() == listed.json()


def test_commands_are_listed_even_if_no_process_runs(client: Client) -> None:
    session = client.create()
    client.post(f"/v1/sessions/{session}/terminate")
    listed = client.get(f"/v1/sessions/{session}/commands").json()["commands"]
    assert [command["name"] for command in listed] == ["compact", "echo"]


def test_a_command_is_a_turn_with_its_own_text(client: Client) -> None:
    session = client.create()
    events = run(client, session, "commands/echo", {"arguments": "two words"})
    assert texts(events) == ["two words"]
    items = [event["data"]["item"] for event in events if event["type"] == "item.completed"]
    assert items[0]["role"] == "user"
    assert items[0]["content"][0]["text"] == "/echo two words"


def test_a_session_is_compacted_in_a_turn(client: Client) -> None:
    session = client.create()
    client.turn(session, "one")
    assert "compaction" in labels(run(client, session, "compact"))


def test_a_command_is_sent_once_under_one_key(client: Client) -> None:
    session = client.create()
    path = f"/v1/sessions/{session}/compact"
    turns = [client.post(path, None, **{"idempotency-key": "k"}).json()["turnId"] for _ in range(3)]
    assert len(set(turns)) == 1
    other = client.post(
        f"/v1/sessions/{session}/messages", {"message": "/compact"}, **{"idempotency-key": "k"}
    )
    assert refusal(other) == (422, "idempotency_mismatch")


def test_a_command_waits_for_its_turn(client: Client) -> None:
    session = client.create()
    client.send(session, "slow 60")
    answer = client.post(f"/v1/sessions/{session}/commands/echo", {"arguments": "later"})
    assert answer.json()["queued"] is True
    client.post(f"/v1/sessions/{session}/cancel")
    turn = answer.json()["turnId"]
    with client.follow(session) as reader:
        events = reader.until(
            lambda event: event["type"] == "turn.ended" and event["data"]["turn_id"] == turn
        )
    assert texts(events)[-1] == "later"


def test_a_message_behind_a_slash_is_text_unless_it_says_that_it_is_a_command(client: Client) -> None:
    session = client.create()
    assert texts(client.turn(session, "/echo hello")) == [
        "You said: /echo hello (message 1 of this conversation)"
    ]
    assert texts(client.turn(session, "/echo hello", command=True)) == ["hello"]


def test_what_the_agent_does_not_offer_is_refused(client: Client) -> None:
    session = client.create()
    unknown = client.post(f"/v1/sessions/{session}/commands/nothing", {})
    assert refusal(unknown) == (400, "invalid_request")
    assert unknown.json()["detail"] == "Mock has no command `/nothing` here"
    for text in ("/nothing at all", "echo", "/", "/ echo"):
        sent = client.post(f"/v1/sessions/{session}/messages", {"message": text, "command": True})
        assert refusal(sent) == (400, "invalid_request")
    assert client.info(session)["eventCount"] == len(client.events(session))
    assert not any(event["type"] == "turn.started" for event in client.events(session))


def test_commands_of_no_session_are_not_found(client: Client) -> None:
    assert refusal(client.get("/v1/sessions/nobody/commands")) == (404, "session_not_found")
    assert refusal(client.post("/v1/sessions/nobody/compact")) == (404, "session_not_found")


def test_an_ended_session_runs_no_command(client: Client) -> None:
    session = client.create()
    client.post(f"/v1/sessions/{session}/terminate")
    assert refusal(client.post(f"/v1/sessions/{session}/compact")) == (409, "conflict")
