"""A door of any node drives the sessions of all nodes."""

from __future__ import annotations

from typing import Any

from tests.cluster.nodes import Node, Nodes, outcomes
from tests.daemons import Reader, done
from tests.doors.mcp.calls import call

STREAM = {"accept": "text/event-stream"}
SERVER = "/v1/acp/sdk-1"


def test_tools_reach_a_session_of_another_node(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    assert call(two.client, "run", session_id=session, prompt="hello")["text"].startswith("You said: hello")
    asked = call(two.client, "run", session_id=session, prompt="permission")
    assert asked["status"] == "waiting"
    (waiting,) = asked["waiting"]["permissions"]
    answered = call(
        two.client, "answer", session_id=session, permission_id=waiting["permission_id"], reply="once"
    )
    assert (answered["status"], answered["stop_reason"]) == ("ended", "end_turn")
    sent = call(two.client, "send", session_id=session, prompt="slow")
    assert call(two.client, "cancel", session_id=session)["session_id"] == session
    ended = call(two.client, "wait", session_id=session, turn_id=sent["turn_id"])
    assert ended["stop_reason"] == "interrupted"
    assert len(outcomes(one.client.events(session))) == 3


def test_a_repeated_call_on_another_node_runs_the_prompt_once(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "run", "arguments": {"session_id": session, "prompt": "hello"}},
    }
    texts = set()
    for node in (two, two, one):
        answer = node.client.post(
            "/mcp", message, accept="application/json", **{"idempotency-key": "k"}
        ).json()
        texts.add(answer["result"]["structuredContent"]["text"])
    assert len(texts) == 1
    assert outcomes(one.client.events(session)) == ["end_turn"]


def test_openai_clients_continue_a_session_of_another_node(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    first = done(one.client.post("/openai/v1/responses", {"model": "mock", "input": "hello"}))
    second = done(
        two.client.post(
            "/openai/v1/responses",
            {"model": "mock", "input": "permission", "previous_response_id": first["id"]},
        )
    )
    assert second["status"] == "completed"
    # The node that took the request answers for its client.
    assert "Not permitted" in str(second["output"])


def test_opencode_clients_use_a_session_of_another_node(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    with two.client.reader("/opencode/global/event", STREAM) as stream:
        _until(stream, "server.connected")
        body = {"parts": [{"type": "text", "text": "permission"}]}
        assert two.client.post(f"/opencode/session/{session}/prompt_async", body).status_code == 204
        asked = _until(stream, "permission.asked")
        (listed,) = done(two.client.get("/opencode/permission"))
        assert listed["id"] == asked["id"]
        assert done(two.client.post(f"/opencode/permission/{asked['id']}/reply", {"reply": "once"})) is True
        _until(stream, "session.idle")
    body = {"parts": [{"type": "text", "text": "hello"}]}
    answered = done(two.client.post(f"/opencode/session/{session}/message", body))
    assert answered["info"]["finish"] == "stop"
    assert len(done(two.client.get(f"/opencode/session/{session}/message"))) == 4


def _until(stream: Reader, type: str) -> dict[str, Any]:
    for frame in stream.frames():
        if "data" in frame.fields:
            event = frame.data["payload"]
            if event["type"] == type:
                properties: dict[str, Any] = event["properties"]
                return properties
    raise AssertionError("the stream ended")


def test_an_editor_uses_a_session_of_another_node(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "permission"}]}
    _post(two, "initialize", {"protocolVersion": 1}, 0)
    with two.client.reader(SERVER, STREAM) as stream:
        _post(two, "session/prompt", prompt, 2)
        for frame in stream.frames():
            if "data" not in frame.fields:
                continue
            message = frame.data
            if message.get("method") == "session/request_permission":
                result = {"outcome": {"outcome": "selected", "optionId": "once"}}
                two.client.post(SERVER, {"jsonrpc": "2.0", "id": message["id"], "result": result})
            if message.get("id") == 2 and "method" not in message:
                break
    assert message["result"]["stopReason"] == "end_turn", message


def _post(node: Node, method: str, params: object, id: int) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params, "id": id}
    assert node.client.post(f"{SERVER}?agent=mock", message).status_code == 202
