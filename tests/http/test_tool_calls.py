"""Tools that live in the client: the agent calls them, a client answers, and what was asked and answered is in the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.daemons import (
    Client,
    Daemon,
    client_of,
    done,
    refusal,
    results,
    running,
    statuses,
    stop_reason,
    texts,
)

WEATHER = {
    "name": "weather",
    "description": "The weather in a city.",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}},
        "required": ["city"],
    },
}
CALL = 'call weather {"city": "Bonn"}'


def waiting(client: Client, session: str) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = done(client.get(f"/v1/sessions/{session}/tool-calls"))["toolCalls"]
    return calls


def is_request(event: dict[str, Any]) -> bool:
    content = event["data"]["item"]["content"] if event["type"] == "item.started" else ()
    return any(part.get("label") == "tool_request" for part in content)


def asked(client: Client, session: str, message: str = CALL) -> dict[str, Any]:
    """Send the message and wait for the call that it causes."""
    with client.follow(session, client.info(session)["eventCount"]) as reader:
        client.send(session, message)
        reader.until(is_request)
    return waiting(client, session)[-1]


def reply(client: Client, session: str, call: dict[str, Any], **answer: object) -> Any:
    return client.post(f"/v1/sessions/{session}/tool-calls/{call['call_id']}/reply", answer)


def answer(client: Client, session: str, call: dict[str, Any], **outcome: object) -> None:
    assert reply(client, session, call, **outcome).status_code == 204


def rest(client: Client, session: str) -> list[dict[str, Any]]:
    with client.follow(session) as reader:
        return reader.until_type("turn.ended")


def test_a_client_answers_a_call(client: Client) -> None:
    session = client.create(tools=[WEATHER])
    call = asked(client, session)
    assert (call["name"], call["arguments"]) == ("weather", {"city": "Bonn"})
    assert client.info(session)["state"] == "requires_action"
    answer(client, session, call, output="rain")
    events = rest(client, session)
    assert waiting(client, session) == []
    assert texts(events)[-1] == "weather returned: rain"
    assert [result["content"][0]["output"] for result in results(events)] == ["rain"]
    ids = {part["call_id"] for event in events for part in parts(event) if part["type"] == "tool_call"}
    assert ids == {call["call_id"]}, "the request and the call in the transcript are the same"
    assert statuses(events, "tool_request")[-1]["decided_by"] == "client"


def parts(event: dict[str, Any]) -> list[dict[str, Any]]:
    item = event["data"].get("item")
    return list(item["content"]) if item and event["type"] == "item.completed" else []


def test_the_first_answer_wins(client: Client) -> None:
    session = client.create(tools=[WEATHER])
    call = asked(client, session)
    assert refusal(reply(client, session, {"call_id": "call_none"}, output="x"))[0] == 404
    answer(client, session, call, error="no such city")
    assert refusal(reply(client, session, call, output="rain")) == (409, "conflict")
    assert texts(rest(client, session))[-1] == "weather failed: no such city"
    assert refusal(reply(client, session, call, output="rain")) == (409, "conflict")


def test_two_sessions_in_one_directory_see_only_their_own_tools(client: Client) -> None:
    other = {**WEATHER, "name": "stocks"}
    first, second = client.create(tools=[WEATHER]), client.create(tools=[other])
    assert texts(client.turn(second, CALL))[-1] == "No MCP server has a tool weather."
    assert texts(client.turn(first, 'call stocks {"city": "Bonn"}'))[-1] == "No MCP server has a tool stocks."


@pytest.mark.parametrize("arguments", ['{"city": "bonn"}', "{}", "[]", '{"city": 1}'])
def test_arguments_that_do_not_match_the_schema_never_reach_a_client(client: Client, arguments: str) -> None:
    session = client.create(tools=[WEATHER])
    events = client.turn(session, f"call weather {arguments}")
    assert texts(events)[-1].startswith("weather failed: the arguments")
    assert statuses(events, "tool_request") == []


def test_a_call_that_nobody_answers_fails_with_a_reason(client: Client) -> None:
    session = client.create(tools=[WEATHER], toolTimeoutMs=200)
    events = client.turn(session, CALL)
    assert texts(events)[-1] == "weather failed: no client answered this call within 0.2 s"
    assert statuses(events, "tool_request")[-1]["decided_by"] == "daemon"


def test_a_cancelled_turn_takes_its_calls_with_it(client: Client) -> None:
    session = client.create(tools=[WEATHER])
    call = asked(client, session)
    client.post(f"/v1/sessions/{session}/cancel")
    assert waiting(client, session) == []
    assert client.info(session)["state"] == "idle"
    assert refusal(reply(client, session, call, output="rain")) == (409, "conflict")


@pytest.fixture
def own_daemon(tmp_path: Any) -> Iterator[Daemon]:
    with running(Daemon(tmp_path / "data")) as daemon:
        yield daemon


def test_a_call_that_waits_fails_when_the_daemon_is_killed(own_daemon: Daemon) -> None:
    with client_of(own_daemon) as client:
        session = client.create(tools=[WEATHER])
        call = asked(client, session)
        own_daemon.kill()
        own_daemon.start()
        assert waiting(client, session) == []
        assert refusal(reply(client, session, call, output="rain")) == (409, "conflict")
        assert stop_reason(client.events(session)) == "outcome_unknown"
        again = asked(client, session)
        assert again["call_id"] != call["call_id"]
        answer(client, session, again, output="sun")


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([{**WEATHER, "name": "no spaces"}], "`tools`"),
        ([WEATHER, WEATHER], "two tools are called `weather`"),
        ([{**WEATHER, "inputSchema": {"type": "array"}}], "must be an object"),
        ([{**WEATHER, "inputSchema": {"type": "objekt"}}], "must be an object"),
        ([{**WEATHER, "inputSchema": {"properties": {"x": {"type": 7}}}}], "schema of tool `weather`"),
        ([{**WEATHER, "inputSchema": {"$ref": "http://127.0.0.1:1/x"}}], "schema of tool `weather`"),
        ([{**WEATHER, "name": f"t{number}"} for number in range(129)], "129 tools"),
        ([{**WEATHER, "inputSchema": {"description": "x" * 300_000}}], "larger than"),
    ],
)
def test_tools_that_cannot_be_offered_are_refused(client: Client, tools: list[object], message: str) -> None:
    refused = client.post("/v1/sessions", {"agent": "mock", "tools": tools})
    assert refusal(refused) == (400, "invalid_request")
    assert message in refused.text


def test_the_name_of_the_server_for_tools_is_taken(client: Client) -> None:
    refused = client.post("/v1/sessions", {"agent": "mock", "mcp": {"client_tools": {"command": "true"}}})
    assert refusal(refused) == (400, "invalid_request")


@pytest.mark.parametrize(
    "outcome",
    [{}, {"output": "x", "error": "y"}, {"images": [{"data": "%%%"}]}, {"output": 1}],
)
def test_a_bad_answer_loses_nothing(client: Client, outcome: dict[str, object]) -> None:
    session = client.create(tools=[WEATHER])
    call = asked(client, session)
    assert refusal(reply(client, session, call, **outcome)) == (400, "invalid_request")
    assert waiting(client, session) == [call]
    answer(client, session, call, output="sun", images=[{"data": "aGk=", "mime": "image/png"}])
    assert texts(rest(client, session))[-1] == "weather returned: sun[image]"
