"""A session seen through a door and natively at the same time is the same: texts, thoughts, calls, outputs, permissions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import Client, Daemon, client_of, of_type, running
from tests.doors.acp.acp_client import FORMS, AcpClient, acp_program
from tests.doors.acp.conftest import environment
from tests.doors.opencode.conftest import OpenCode
from tests.doors.opencode.tui import TOKEN

PROMPTS = [
    "markdown",
    "thinking",
    "tool 3",
    "parallel",
    "permission hello",
    "question",
    "subagent",
    "flood 50 10",
]

Seen = dict[str, list[Any]]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("same") / "data", "--token", TOKEN)) as daemon:
        yield daemon


@pytest.fixture
def native(daemon: Daemon) -> Iterator[Client]:
    with client_of(daemon, TOKEN) as native:
        yield native


def natively(events: list[dict[str, Any]]) -> Seen:
    seen: Seen = {"text": [], "thoughts": [], "outputs": [], "asked": []}
    for data in of_type(events, "item.completed"):
        item = data["item"]
        if item["role"] == "user":
            continue
        for part in item["content"]:
            if part["type"] == "text" and item["kind"] == "message":
                seen["text"].append(part["text"])
            elif part["type"] == "reasoning":
                seen["thoughts"].append(part["text"])
            elif part["type"] == "tool_result":
                seen["outputs"].append(part["output"])
    seen["asked"] = [data["action"] for data in of_type(events, "permission.requested")]
    return {kind: sorted(found) for kind, found in seen.items()}


def in_opencode(opencode: OpenCode, session: str) -> Seen:
    children = opencode.get(f"/session/{session}/children")
    messages = [
        message
        for id in (session, *(child["id"] for child in children))
        for message in opencode.get(f"/session/{id}/message")
    ]
    parts = [part for each in messages if each["info"]["role"] == "assistant" for part in each["parts"]]
    calls = [part["state"] for part in parts if part["type"] == "tool"]
    return {
        "text": sorted(part["text"] for part in parts if part["type"] == "text"),
        "thoughts": sorted(part["text"] for part in parts if part["type"] == "reasoning"),
        "outputs": sorted(state.get("output") or state["error"] for state in calls),
        "asked": [],
    }


def test_opencode_shows_what_the_events_say(daemon: Daemon, native: Client, tmp_path: Path) -> None:
    asked: list[str] = []
    with OpenCode(daemon, tmp_path) as opencode, opencode.watch() as watcher:
        session = opencode.create()
        native.sessions.append(session)
        for number, prompt in enumerate(PROMPTS, 1):
            opencode.prompt_async(session, prompt)
            while len(of_type(native.events(session), "turn.ended")) < number:
                watcher.until(lambda screen: screen.pending or screen.status.get(session) == "idle")
                for request in list(watcher.screen.pending.values()):
                    asked += _answered(opencode, request)
                watcher.until(lambda screen: not screen.pending)
        expected = natively(native.events(session))
        assert in_opencode(opencode, session) == {**expected, "asked": []}
        assert asked == expected["asked"]


def _answered(opencode: OpenCode, request: dict[str, Any]) -> list[str]:
    """The permission that it asked for, if it did."""
    if "permission" in request:
        opencode.post(f"/permission/{request['id']}/reply", {"reply": "once"})
        return [request["permission"]]
    answers = [[each["options"][0]["label"]] for each in request["questions"]]
    opencode.post(f"/question/{request['id']}/reply", {"answers": answers})
    return []


def in_acp(editor: AcpClient) -> Seen:
    text: dict[str, str] = {}
    thoughts: dict[str, str] = {}
    outputs: dict[str, str] = {}
    for update in editor.updates:
        match update["sessionUpdate"]:
            case "agent_message_chunk":
                text[update["messageId"]] = text.get(update["messageId"], "") + update["content"]["text"]
            case "agent_thought_chunk":
                thoughts[update["messageId"]] = (
                    thoughts.get(update["messageId"], "") + update["content"]["text"]
                )
            case "tool_call_update" if "rawOutput" in update:
                outputs[update["toolCallId"]] = update["rawOutput"]["output"]
    asked = [each for each in editor.asked if each["method"] == "session/request_permission"]
    return {
        "text": sorted(text.values()),
        "thoughts": sorted(thoughts.values()),
        "outputs": sorted(outputs.values()),
        "asked": [request["params"]["toolCall"]["name"] for request in asked],
    }


def test_an_editor_shows_what_the_events_say(daemon: Daemon, native: Client, tmp_path: Path) -> None:
    environ = {**environment(daemon), "SANDBOX_AGENT_TOKEN": TOKEN}
    with acp_program("--agent", "mock", env=environ) as editor:
        editor.initialize(**FORMS)
        session = editor.new(tmp_path)
        native.sessions.append(session)
        for prompt in PROMPTS:
            editor.answer(editor.send_prompt(session, prompt))
        live = in_acp(editor)
        expected = natively(native.events(session))
        assert live == expected
    with acp_program("--agent", "mock", env=environ) as again:
        again.initialize(**FORMS)
        again.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
        # What was answered is not asked again.
        assert in_acp(again) == {**expected, "asked": []}


UNASKED = ["markdown", "thinking", "tool 3", "parallel", "subagent", "flood 50 10"]
"""Prompts that need no answer."""


def agent_texts(events: list[dict[str, Any]]) -> list[str]:
    """Its messages in order, without thoughts and sub-agents."""
    items = [data["item"] for data in of_type(events, "item.completed")]
    calls = {item["item_id"] for item in items if item["kind"] == "tool_call"}
    return [
        part["text"]
        for item in items
        if (item["kind"], item["role"]) == ("message", "assistant") and item.get("parent_id") not in calls
        for part in item["content"]
        if part["type"] == "text"
    ]


@pytest.mark.parametrize("prompt", UNASKED)
def test_openai_and_mcp_say_what_the_events_say(daemon: Daemon, native: Client, prompt: str) -> None:
    answered = native.post("/openai/v1/responses", {"model": "mock", "input": prompt}).json()
    session, turn = answered["metadata"]["session_id"], answered["metadata"]["turn_id"]
    native.sessions.append(session)
    events = native.events(session)
    paragraphs = [item["content"][0]["text"] for item in answered["output"] if item["type"] == "message"]
    assert "".join(paragraphs) == "\n\n".join(agent_texts(events))
    (ended,) = of_type(events, "turn.ended")
    assert answered["usage"]["output_tokens"] == ended["metadata"]["usage"]["output_tokens"]
    # The same turn, read by an MCP client.
    wait = {"name": "wait", "arguments": {"session_id": session, "turn_id": turn}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": wait}
    content = native.post("/mcp", body, accept="application/json").json()["result"]["structuredContent"]
    assert (content["text"], content["stop_reason"]) == (
        "".join(paragraphs),
        ended["metadata"]["stop_reason"],
    )
