"""The door at `/mcp`: all versions of the protocol, the tools, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator
from tests.daemons import Client, Daemon, Reader, client_of, running, texts
from tests.doors.mcp.calls import PATH, STATELESS, call, failure, post, request

TOOLS = ["run", "send", "wait", "answer", "cancel", "sessions", "agents", "events"]


# -- the protocol -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "agreed"), [("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("1999", "2025-11-25")]
)
def test_the_handshake_agrees_on_a_version(native: Client, asked: str, agreed: str) -> None:
    result = request(native, "initialize", {"protocolVersion": asked, "capabilities": {}})
    assert result["protocolVersion"] == agreed
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert "resultType" not in request(native, "tools/list")
    assert request(native, "ping") == {}


def test_a_stateless_request_is_independent(native: Client) -> None:
    found = request(native, "server/discover", {"_meta": STATELESS})
    assert found["supportedVersions"] == ["2026-07-28"]
    listed = request(native, "tools/list", {"_meta": STATELESS})
    assert {found["resultType"], listed["resultType"]} == {"complete"}
    assert listed["cacheScope"] == "private"
    unknown = {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    error = post(native, "tools/list", {"_meta": unknown}).json()["error"]
    assert (error["code"], error["data"]["supported"]) == (-32022, ["2026-07-28"])


def test_schemas_are_plain(native: Client) -> None:
    tools = request(native, "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == TOOLS
    written = json.dumps(tools)
    assert not any(word in written for word in ("$ref", "anyOf", "oneOf", "null"))
    for tool in tools:
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
    hints = {tool["name"]: tool["annotations"] for tool in tools}
    assert hints["wait"]["readOnlyHint"]
    assert not hints["run"]["readOnlyHint"]
    assert hints["run"]["openWorldHint"]


def test_headers_must_say_what_the_message_says(native: Client) -> None:
    answer = post(native, "tools/list", {}, **{"mcp-method": "tools/call"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)
    answer = post(native, "tools/call", {"name": "run", "arguments": {}}, **{"mcp-name": "agents"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


def test_other_methods_and_messages(native: Client) -> None:
    assert native.get(PATH).status_code == 405
    assert native.delete(PATH).status_code == 204
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert native.post(PATH, note).status_code == 202
    assert (
        native.request("POST", PATH, content=b"{", headers={"content-type": "application/json"}).status_code
        == 400
    )
    assert native.post(PATH, [note]).status_code == 400
    assert native.request("POST", PATH, content=b"{}").status_code == 415
    assert post(native, "resources/list").json()["error"]["code"] == -32601
    unknown = post(native, "tools/call", {"name": "destroy", "arguments": {}}).json()
    assert unknown["error"] == {"code": -32602, "message": "there is no tool destroy"}


def test_the_token_is_needed(tmp_path: Path) -> None:
    token = "a-token-of-some-length"
    with running(Daemon(tmp_path / "data", "--token", token)) as daemon:
        with client_of(daemon) as stranger:
            refused = post(stranger, "tools/list")
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert post(stranger, "tools/list", **{"x-sandbox-token": token}).status_code == 200
        with client_of(daemon, token) as client:
            assert post(client, "tools/list").status_code == 200
            assert post(client, "tools/list", origin="https://evil.example").status_code == 403


# -- tools ------------------------------------------------------------------------------------


@pytest.mark.door("MCP", "models", "modes", "usage")
def test_what_tools_return_matches_their_schemas(native: Client, tmp_path: Path) -> None:
    schemas = {tool["name"]: tool["outputSchema"] for tool in request(native, "tools/list")["tools"]}
    session = call(native, "run", agent="mock", prompt="hello", directory=str(tmp_path))["session_id"]
    waiting = call(native, "run", session_id=session, prompt="permission hello")
    permission = waiting["waiting"]["permissions"][0]["permission_id"]
    expected = {
        "run": waiting,
        "answer": call(native, "answer", session_id=session, permission_id=permission, reply="once"),
        "wait": call(native, "wait", session_id=session),
        "send": call(native, "send", session_id=session, prompt="hello"),
        "cancel": call(native, "cancel", session_id=session),
        "sessions": call(native, "sessions", limit=3),
        "agents": call(native, "agents", agent="mock"),
        "events": call(native, "events", session_id=session),
    }
    assert expected.keys() == schemas.keys()
    for name, result in expected.items():
        strict = {**schemas[name], "additionalProperties": False}
        assert [error.message for error in Draft202012Validator(strict).iter_errors(result)] == []


def test_a_turn_goes_on_after_the_call(native: Client, tmp_path: Path) -> None:
    begun = call(native, "run", agent="mock", prompt="slow 1", directory=str(tmp_path), timeout_s=0.2)
    assert begun["status"] in ("starting", "running")
    ended = call(native, "wait", session_id=begun["session_id"])
    assert (ended["status"], ended["stop_reason"]) == ("ended", "end_turn")
    assert ended["text"] == texts(native.events(begun["session_id"]))[-1]
    again = call(native, "wait", session_id=begun["session_id"], after=ended["offset"], timeout_s=0)
    assert (again["status"], again["text"], again["turn_id"]) == ("ended", "", ended["turn_id"])


def test_a_client_that_leaves_only_stops_waiting(native: Client, daemon: Daemon, tmp_path: Path) -> None:
    session = native.create(directory=str(tmp_path))
    arguments = {"session_id": session, "prompt": "slow 1"}
    params = {"name": "run", "arguments": arguments, "_meta": {"progressToken": "p"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with Reader(daemon, PATH, {"accept": "application/json, text/event-stream"}, body) as reader:
        progress = next(frame.data for frame in reader.frames() if "data" in frame.fields)
        assert progress["method"] == "notifications/progress"
        assert progress["params"]["progressToken"] == "p"
    assert call(native, "wait", session_id=session)["stop_reason"] == "end_turn"


def test_a_repeated_call_with_the_same_key_runs_the_prompt_once(native: Client, tmp_path: Path) -> None:
    arguments = {"agent": "mock", "prompt": "hello", "directory": str(tmp_path)}
    params = {"name": "run", "arguments": arguments}
    key = f"key-{tmp_path}"
    first, second = (
        request(native, "tools/call", params, **{"idempotency-key": key})["structuredContent"] for _ in "12"
    )
    assert first == second
    native.sessions.append(first["session_id"])
    assert native.info(first["session_id"])["turns"] == 1
    other = {**params, "arguments": {**arguments, "prompt": "bye"}}
    mismatch = request(native, "tools/call", other, **{"idempotency-key": key})
    assert mismatch["isError"]


@pytest.mark.door("MCP", "queued prompts")
def test_a_named_turn_is_waited_for_also_while_it_is_queued(native: Client, tmp_path: Path) -> None:
    session = native.create(directory=str(tmp_path))
    native.send(session, "slow 1")
    queued = call(native, "send", session_id=session, prompt="hello")
    ended = call(native, "wait", session_id=session, turn_id=queued["turn_id"])
    assert (ended["status"], ended["turn_id"]) == ("ended", queued["turn_id"])
    assert ended["text"] == texts(native.events(session))[-1]
    assert "has no turn" in failure(native, "wait", session_id=session, turn_id="turn_unknown")


def test_long_text_and_long_events_are_cut(native: Client, tmp_path: Path) -> None:
    session = native.create(directory=str(tmp_path))
    ended = call(native, "run", session_id=session, prompt="flood 200 500")
    assert len(ended["text"].encode()) < 20_200
    assert "bytes omitted" in ended["text"]
    reply = texts(native.events(session))[-1]
    assert reply.endswith(ended["text"][-1000:])
    seen: list[int] = []
    while True:
        page = call(native, "events", session_id=session, offset=len(seen), limit=1000)
        assert len(json.dumps(page)) < 60_000
        seen += [event["sequence"] for event in page["events"]]
        assert page["offset"] == len(seen)
        if not page["has_more"]:
            break
    assert seen == list(range(1, native.info(session)["eventCount"] + 1))


@pytest.mark.door("MCP", "questions")
def test_questions_are_answered_and_declined(native: Client, tmp_path: Path) -> None:
    session = native.create(directory=str(tmp_path))
    for answers in ([["Red"]], None):
        asked = call(native, "run", session_id=session, prompt="question")
        (question,) = asked["waiting"]["questions"]
        given = {} if answers is None else {"answers": answers}
        ended = call(native, "answer", session_id=session, question_id=question["question_id"], **given)
        assert (ended["status"], bool(ended["text"])) == ("ended", True)


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("run", {}, "prompt"),
        ("run", {"prompt": "  ", "agent": "mock"}, "prompt"),
        ("run", {"prompt": "hi"}, "agent"),
        ("run", {"prompt": "hi", "agent": "nobody"}, "nobody"),
        ("run", {"prompt": "hi", "agent": "mock", "timeout_s": 51}, "timeout_s"),
        ("run", {"prompt": "hi", "agent": "mock", "permission_mode": "root"}, "permission_mode"),
        ("run", {"prompt": "hi", "agent": "mock", "directory": "/no/such/folder"}, "/no/such/folder"),
        ("run", {"prompt": "hi", "agent": "mock", "session_id": "x"}, "agent"),
        ("run", {"prompt": "hi", "session_id": "../x"}, "../x"),
        ("wait", {"session_id": "x", "turn": 1}, "turn"),
        ("answer", {"session_id": "x"}, "x"),
        ("events", {"session_id": "x", "offset": -1}, "offset"),
        ("agents", {"agent": "nobody"}, "nobody"),
    ],
)
def test_bad_arguments_are_results_that_a_model_can_read(
    native: Client, tool: str, arguments: dict[str, object], named: str
) -> None:
    assert named in failure(native, tool, **arguments)


def test_a_door_that_is_not_used_is_not_loaded() -> None:
    script = (
        "import sys, sandbox_agent.http.serve; print([name for name in sys.modules if '.doors.mcp' in name])"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
