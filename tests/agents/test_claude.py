"""What the recordings of Claude Code do not show: what we write to it, and frames it rarely sends."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_agent.agents.base import (
    Action,
    Answered,
    Began,
    Cancelled,
    Decided,
    Listed,
    ListFailed,
    Place,
    Prompted,
    Ready,
    Start,
    StartFailed,
)
from sandbox_agent.agents.claude import Claude
from sandbox_agent.agents.claude.conversation import ClaudeConversation
from sandbox_agent.agents.claude.wire import MAX_WAITING, ClaudeWire
from sandbox_agent.agents.frames import encode_frame
from sandbox_agent.agents.scribe import Rule, Scribe
from sandbox_agent.schema.events import (
    AgentUnparsed,
    ErrorEvent,
    Event,
    ItemCompleted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    TurnEnded,
    TurnStarted,
    Usage,
)
from sandbox_agent.schema.features import Catalogue, Model
from sandbox_agent.schema.inputs import Answer, Attachment, Decision, McpServer, Prompt, Settings
from sandbox_agent.schema.items import (
    FileRef,
    Image,
    Item,
    Json,
    StatusPart,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
)
from sandbox_agent.schema.world import counted
from sandbox_agent.testing.rules import violations

RECORDINGS = sorted((Path(__file__).parents[1] / "transcripts" / "claude").glob("*/native.jsonl"))
INITIALIZED = {
    "models": [{"value": "default", "displayName": "Default", "supportedEffortLevels": ["low", "max"]}]
}
BASH = {"command": "touch a", "description": "touch a file"}
QUESTIONS = {
    "questions": [
        {"question": "Colour?", "header": "Colour", "options": [{"label": "Red"}, {"label": "Blue"}]},
        {"question": "Checks?", "multiSelect": True, "options": [{"label": "Lint"}, {"label": "Tests"}]},
    ]
}


class Session:
    """A wire with a conversation, as the runtime would hold them."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings("/ws")
        self.scribe = Scribe(counted(itertools.count().__next__))
        self.wire = ClaudeWire(counted())
        self.wire.connected()
        start = Start(self.scribe, self.settings, Claude().metadata(None, self.settings))
        self.conversation: ClaudeConversation = self.wire.open(start)
        self.conversation.announce("daemon")
        self.answer_request("initialize", response=INITIALIZED)
        self.written()

    def feed(self, **frame: Any) -> None:
        self.wire.receive(msgspec.json.encode(frame))

    def prompt(self, text: str = "go") -> str:
        """Open a turn and send its prompt; returns its uuid."""
        self.scribe.start_turn()
        self.scribe.user_message(text)
        self.wire.prompt(self.conversation, Prompt(text), {})
        uuid = self.written()[0]["uuid"]
        assert isinstance(uuid, str)
        return uuid

    def ask(self, tool: str, input: dict[str, Any], **more: Any) -> str:
        request = {"subtype": "can_use_tool", "tool_name": tool, "input": input, **more}
        self.feed(type="control_request", request_id="ask_1", request=request)
        return "ask_1"

    def answer_request(self, subtype: str, **reply: Any) -> None:
        """Answer the last request of this subtype that the wire has written."""
        sent = [line for line in self.peek() if line.get("request", {}).get("subtype") == subtype]
        status = "error" if "error" in reply else "success"
        self.feed(
            type="control_response",
            response={"subtype": status, "request_id": sent[-1]["request_id"], **reply},
        )

    def assistant(self, *blocks: dict[str, Any], id: str = "msg_1", **more: Any) -> None:
        self.feed(type="assistant", message={"id": id, "model": "opus", "content": blocks}, **more)

    def stream(self, **event: Any) -> None:
        self.feed(type="stream_event", event=event)

    def result(self, **more: Any) -> None:
        self.feed(type="result", subtype="success", is_error=False, terminal_reason="completed", **more)

    def peek(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(encode_frame(frame)) for frame in self.wire.outbox]

    def written(self) -> list[dict[str, Any]]:
        """What was written to the agent since the last call."""
        frames = self.peek()
        self.wire.outbox.clear()
        return frames

    def data(self) -> list[Any]:
        return [draft.data for draft in self.scribe.drafts]

    def items(self) -> list[Item]:
        """Every completed item except the prompts."""
        done = [data.item for data in self.data() if isinstance(data, ItemCompleted)]
        return [item for item in done if item.role != "user"]

    def broken_rules(self) -> list[str]:
        drafts = enumerate(self.scribe.drafts, 1)
        return violations(
            Event(
                "evt",
                n,
                "",
                "s",
                draft.native_session_id,
                draft.source,
                draft.source == "daemon",
                draft.data.TYPE,
                draft.data,
            )
            for n, draft in drafts
        )


def read_back(session: Session, *received: dict[str, Any]) -> list[Action]:
    """The actions that a reader finds in a recording of what the session wrote and received."""
    reader = ClaudeWire(counted())
    reader.recorded_start = lambda settings, native_id: Start(
        Scribe(counted(itertools.count().__next__)),
        settings,
        Claude().metadata(None, settings),
        native_id,
    )
    frames = [encode_frame(frame) for frame in session.wire.outbox]
    actions = list(
        reader.sent(b'{"type":"control_request","request_id":"r","request":{"subtype":"initialize"}}')
    )
    assert isinstance(actions[0], Began)
    for frame in received:
        reader.receive(msgspec.json.encode(frame))
    return [action for frame in frames for action in reader.sent(frame)]


def request(tool: str, input: dict[str, Any]) -> dict[str, Any]:
    body = {"subtype": "can_use_tool", "tool_name": tool, "input": input}
    return {"type": "control_request", "request_id": "ask_1", "request": body}


# -- what we write is read back -----------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt",
    [
        Prompt("/clear is only text"),
        Prompt(
            "look", (Attachment("/a.png", "image/png"), Attachment("/b c.txt", "text/plain", "notes.txt"))
        ),
        Prompt("", (Attachment("/no-mime"),)),
    ],
)
def test_a_prompt_is_read_back(prompt: Prompt) -> None:
    session = Session()
    session.wire.prompt(session.conversation, prompt, dict.fromkeys(session.wire.wants(prompt), b"PNG"))
    [action] = read_back(session)
    assert isinstance(action, Prompted)
    assert action.prompt == prompt


def test_only_a_command_is_not_sent_verbatim() -> None:
    session = Session()
    session.wire.outbox.clear()
    session.wire.prompt(session.conversation, Prompt("/clear"), {})
    session.wire.prompt(session.conversation, Prompt("/clear", command=True), {})
    text, command = (msgspec.json.decode(line) for line in session.wire.outbox if isinstance(line, bytes))
    assert (text["client_composed"], command.get("client_composed", False)) == (True, False)


def test_an_image_is_embedded_and_a_file_is_named() -> None:
    session = Session()
    prompt = Prompt("look", (Attachment("/a.png", "image/png"), Attachment("/b.txt")))
    assert session.wire.wants(prompt) == ("/a.png",)
    session.wire.prompt(session.conversation, prompt, {"/a.png": b"PNG"})
    [line] = session.written()
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"PNG").decode()}
    assert (line["client_composed"], line["message"]["content"]) == (
        True,
        [
            {"type": "text", "text": "look"},
            {"type": "text", "text": "Attached file: /a.png (image/png)"},
            {"type": "image", "source": source},
            {"type": "text", "text": "Attached file: /b.txt"},
        ],
    )


@pytest.mark.parametrize(
    "decision", [Decision("once"), Decision("always"), Decision("reject"), Decision("reject", "no")]
)
def test_a_decision_is_read_back(decision: Decision) -> None:
    session = Session()
    key = session.ask("Bash", BASH)
    session.wire.decide(session.conversation, key, decision)
    [action] = read_back(session, request("Bash", BASH))
    assert isinstance(action, Decided)
    assert (action.key, action.decision) == (key, decision)


def test_always_is_remembered_by_the_daemon_and_not_in_the_users_settings() -> None:
    session = Session()
    session.wire.decide(session.conversation, session.ask("Bash", BASH), Decision("always"))
    [line] = session.written()
    assert line["response"]["response"] == {
        "behavior": "allow",
        "updatedInput": BASH,
        "decisionClassification": "user_permanent",
    }


@pytest.mark.parametrize(
    "answer",
    [Answer((("Blue",), ("Lint", "Tests"))), Answer((("a, b",), ())), Answer(None), Answer(None, "no")],
)
def test_an_answer_is_read_back(answer: Answer) -> None:
    session = Session()
    key = session.ask("AskUserQuestion", QUESTIONS)
    session.wire.answer(session.conversation, key, answer)
    [action] = read_back(session, request("AskUserQuestion", QUESTIONS))
    assert isinstance(action, Answered)
    assert (action.key, action.answer) == (key, answer)


@pytest.mark.parametrize("answer", [Answer((("approve",),)), Answer(None, "keep planning")])
def test_the_answer_to_a_plan_is_read_back(answer: Answer) -> None:
    session = Session()
    key = session.ask("ExitPlanMode", {"plan": "1. Do it"})
    session.wire.answer(session.conversation, key, answer)
    [action] = read_back(session, request("ExitPlanMode", {"plan": "1. Do it"}))
    assert isinstance(action, Answered)
    assert (action.key, action.answer) == (key, answer)


def test_a_cancel_is_read_back() -> None:
    session = Session()
    session.wire.cancel(session.conversation)
    [action] = read_back(session)
    assert isinstance(action, Cancelled)


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        (Settings("/ws", permission_mode="plan"), "default"),
        (Settings("/ws", agent_mode="plan", permission_mode="acceptEdits"), "default"),
        (Settings("/ws", agent_mode="plan", permission_mode="bypass"), "bypassPermissions"),
    ],
)
def test_an_approved_plan_leaves_plan_mode(settings: Settings, mode: str) -> None:
    session = Session(settings)
    session.wire.answer(session.conversation, session.ask("ExitPlanMode", {}), Answer((("approve",),)))
    [line] = session.written()
    assert line["response"]["response"]["updatedPermissions"] == [
        {"type": "setMode", "mode": mode, "destination": "session"}
    ]


def test_a_plan_answered_with_text_is_rejected_with_it() -> None:
    session = Session()
    session.wire.answer(session.conversation, session.ask("ExitPlanMode", {}), Answer(None, "shorter"))
    [line] = session.written()
    assert line["response"]["response"]["message"] == "shorter"


def test_settings_are_switched_at_run_time() -> None:
    session = Session()
    settings = Settings("/ws", permission_mode="bypass", model="opus", variant="high")
    assert session.wire.configure(session.conversation, settings)
    requests = [line["request"] for line in session.written()]
    assert requests == [
        {"subtype": "set_model", "model": "opus"},
        {"subtype": "apply_flag_settings", "settings": {"effortLevel": "high"}},
        {"subtype": "set_permission_mode", "mode": "bypassPermissions"},
    ]


def test_a_changed_mcp_server_needs_a_new_process() -> None:
    session = Session()
    settings = Settings("/ws", mcp={"docs": McpServer(url="http://127.0.0.1:1")})
    assert not session.wire.configure(session.conversation, settings)


def test_a_model_that_claude_does_not_know_is_an_error() -> None:
    session = Session()
    session.wire.configure(session.conversation, Settings("/ws", model="nope"))
    session.answer_request("set_model", error="Model 'nope' not found", error_code="not_found")
    assert session.data()[-1] == ErrorEvent(
        "Model 'nope' not found", "model_not_found", {"request": "set_model", "error_code": "not_found"}
    )


# -- starting -----------------------------------------------------------------------------------


def place() -> Place:
    return Place(Path("/bin/claude"), Path("/data"), {})


def test_secrets_of_mcp_servers_are_not_in_the_command_line() -> None:
    server = McpServer(command="serve", args=("-v",), env={"KEY": "s3cret"})
    launch = Claude().launch(place(), Settings("/ws", mcp={"docs": server}), "id", resume=False)
    [(path, content)] = launch.files.items()
    assert "s3cret" not in " ".join(launch.argv)
    assert f"--mcp-config={path}" in launch.argv
    assert msgspec.json.decode(content) == {
        "mcpServers": {
            "docs": {"type": "stdio", "command": "serve", "args": ["-v"], "env": {"KEY": "s3cret"}}
        }
    }


def test_a_conversation_is_resumed_by_its_id() -> None:
    begun = Claude().launch(place(), Settings("/ws"), "id", resume=False).argv
    resumed = Claude().launch(place(), Settings("/ws"), "id", resume=True).argv
    assert (begun[-1], resumed[-1]) == ("--session-id=id", "--resume=id")


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        (Settings("/ws"), "default"),
        (Settings("/ws", permission_mode="bypass"), "bypassPermissions"),
        (Settings("/ws", permission_mode="bypass", agent_mode="plan"), "plan"),
    ],
)
def test_the_native_mode_follows_both_modes(settings: Settings, mode: str) -> None:
    assert f"--permission-mode={mode}" in Claude().launch(place(), settings, "id", resume=False).argv


def test_the_catalogue_waits_for_the_handshake() -> None:
    wire = ClaudeWire(counted())
    wire.connected()
    wire.list_catalogue("/ws")
    assert wire.notices == []
    wire.receive(
        msgspec.json.encode(
            {
                "type": "control_response",
                "response": {"subtype": "success", "request_id": "req_1", "response": INITIALIZED},
            }
        )
    )
    listed = Listed(Catalogue((Model("default", "Default", ("low", "max")),), Claude.modes, "default"))
    assert wire.notices == [listed]
    wire.list_catalogue("/ws")
    assert wire.notices == [listed, listed]


def test_a_refused_handshake_fails_the_start_and_the_listing() -> None:
    wire = ClaudeWire(counted())
    wire.connected()
    scribe = Scribe(counted(itertools.count().__next__))
    conversation = wire.open(Start(scribe, Settings("/ws"), Claude().metadata(None, Settings("/ws"))))
    wire.list_catalogue("/ws")
    reply = {"subtype": "error", "request_id": "req_1", "error": "no"}
    wire.receive(msgspec.json.encode({"type": "control_response", "response": reply}))
    assert wire.notices == [ListFailed("no"), StartFailed(conversation, "no")]


def test_a_conversation_is_ready_when_the_handshake_is_answered() -> None:
    session = Session()
    assert session.wire.notices == [Ready(session.conversation)]


# -- frames that the recordings do not show -----------------------------------------------------


def test_a_repeated_call_id_is_made_unique() -> None:
    session = Session()
    session.prompt()
    for message in ("msg_1", "msg_2"):
        session.assistant({"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}, id=message)
        block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": message}
        session.feed(type="user", message={"content": [block]})
    session.result()
    parts = [item.content[0] for item in session.items()]
    assert parts == [
        ToolCall("Read", "{}", "toolu_1", "read", "Read"),
        ToolResult("toolu_1", "msg_1"),
        ToolCall("Read", "{}", "toolu_1#2", "read", "Read"),
        ToolResult("toolu_1#2", "msg_2"),
    ]
    assert session.broken_rules() == []


def test_a_call_whose_block_ends_without_its_frame_is_abandoned() -> None:
    session = Session()
    session.prompt()
    session.stream(type="message_start", message={"id": "msg_1"})
    block = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}
    session.stream(type="content_block_start", index=0, content_block=block)
    session.stream(
        type="content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": '{"co'}
    )
    session.stream(type="content_block_stop", index=0)
    assert [(item.kind, item.status, item.content) for item in session.items()] == [
        ("tool_call", "failed", (ToolCall("Bash", '{"co', "toolu_1", "command", "Bash"),)),
        ("tool_result", "failed", (ToolResult("toolu_1", ""),)),
    ]


def test_text_that_arrives_before_its_message_opens_an_item() -> None:
    session = Session()
    session.prompt()
    session.stream(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "hi"})
    session.stream(type="content_block_stop", index=0)
    session.result()
    assert session.broken_rules() == []


def test_an_empty_block_produces_no_item() -> None:
    session = Session()
    session.prompt()
    session.assistant({"type": "text", "text": ""}, {"type": "redacted_thinking", "data": "x"})
    session.result()
    assert session.items() == []


def test_a_tools_image_is_stored() -> None:
    session = Session()
    session.prompt()
    session.assistant({"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}})
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"PNG").decode()}
    block = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": [{"type": "text", "text": "an image"}, {"type": "image", "source": source}],
    }
    session.feed(type="user", message={"content": [block]})
    [(name, data)] = session.scribe.calls.blobs.items()
    assert data == b"PNG"
    assert session.items()[-1].content == (ToolResult("toolu_1", "an image"), Image(name, "image/png"))


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("web_search", "search"),
        ("web_fetch", "fetch"),
        ("code_execution", "command"),
        ("bash_code_execution", "command"),
        ("text_editor_code_execution", "edit"),
        ("tool_search", "other"),
        ("advisor", "other"),
    ],
)
def test_a_provider_tool_has_its_result(tool: str, kind: ToolKind) -> None:
    session = Session()
    session.prompt()
    result = {"type": f"{tool}_tool_result", "tool_use_id": "srv_1", "content": {"type": "found"}}
    session.assistant({"type": "server_tool_use", "id": "srv_1", "name": tool, "input": {}})
    session.assistant(result)
    session.result()
    call, outcome = session.items()
    assert call.content == (ToolCall(tool, "{}", "srv_1", kind, tool),)
    assert (outcome.status, outcome.content) == ("completed", (ToolResult("srv_1", '{"type":"found"}'),))
    assert session.broken_rules() == []


def test_a_sub_agents_edit_names_only_the_file() -> None:
    session = Session()
    session.prompt()
    session.assistant({"type": "tool_use", "id": "agent", "name": "Agent", "input": {}})
    edit = {"type": "tool_use", "id": "edit", "name": "Edit", "input": {"file_path": "/ws/a"}}
    session.assistant(edit, id="msg_2", parent_tool_use_id="agent")
    done = {"type": "tool_result", "tool_use_id": "edit", "content": "ok"}
    session.feed(type="user", message={"content": [done]}, parent_tool_use_id="agent")
    assert session.items()[-1].content == (ToolResult("edit", "ok"), FileRef("/ws/a", "patch"))


def test_a_sub_agent_continues_after_the_turn() -> None:
    session = Session()
    session.prompt()
    session.assistant({"type": "tool_use", "id": "agent", "name": "Agent", "input": {}})
    started = {"type": "tool_result", "tool_use_id": "agent", "content": "started"}
    session.feed(type="user", message={"content": [started]})
    session.result()
    session.assistant({"type": "text", "text": "inner"}, id="msg_2", parent_tool_use_id="agent")
    call, inner = session.items()[0], session.items()[-1]
    assert (inner.content, inner.parent_id) == ((Text("inner"),), call.item_id)
    assert session.broken_rules() == []


def test_a_stopped_sub_agent_abandons_its_calls_and_no_others() -> None:
    session = Session()
    session.prompt()
    for agent in ("agent_1", "agent_2"):
        session.assistant({"type": "tool_use", "id": agent, "name": "Agent", "input": {}})
        session.feed(type="system", subtype="task_started", task_id=f"task_{agent}", tool_use_id=agent)
        call = {"type": "tool_use", "id": f"bash_{agent}", "name": "Bash", "input": BASH}
        session.assistant(call, id=f"msg_{agent}", parent_tool_use_id=agent)
    session.feed(type="system", subtype="task_notification", task_id="task_agent_1", status="stopped")
    results = [item for item in session.items() if item.kind == "tool_result"]
    assert [(item.status, item.content) for item in results] == [
        ("failed", (ToolResult("bash_agent_1", ""),)),
    ]


def test_a_sub_agent_without_a_known_start_opens_a_turn() -> None:
    """Its call is a stub, and a call belongs to a turn."""
    session = Session()
    session.assistant({"type": "text", "text": "here I am"}, parent_tool_use_id="call_unseen")
    session.result()
    session.scribe.close_background()
    assert session.broken_rules() == []


def test_a_failed_model_call_of_a_sub_agent_does_not_fail_the_turn() -> None:
    session = Session()
    session.prompt()
    session.assistant({"type": "tool_use", "id": "agent", "name": "Agent", "input": {}})
    error = {"error": "overloaded", "is_api_error_message": True, "api_error_status": 529}
    session.assistant({"type": "text", "text": "busy"}, id="msg_2", parent_tool_use_id="agent", **error)
    session.result()
    facts = {"message": "busy", "error": "overloaded", "api_error_status": 529}
    assert session.items()[1].content == (StatusPart("subagent_error", "busy"), Json(facts))
    assert [data for data in session.data() if isinstance(data, ErrorEvent)] == []
    assert session.broken_rules() == []


def test_a_wake_up_before_our_prompt_does_not_end_our_turn() -> None:
    session = Session()
    ours = session.prompt()
    spent = {"opus": {"inputTokens": 10, "outputTokens": 1, "costUSD": 0.5}}
    session.result(origin={"kind": "task-notification"}, model_usage_since_last_result=spent)
    assert session.scribe.turn is not None
    session.result(user_message_uuids=[ours], model_usage_since_last_result=spent)
    ended = session.data()[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.metadata.usage == Usage(20, 2, 0, 0, 0, 1.0)


def test_an_agent_that_wakes_up_has_a_turn_of_its_own() -> None:
    session = Session()
    session.feed(type="system", subtype="init", session_id="s1")
    session.result(origin={"kind": "task-notification"})
    turns = [draft for draft in session.scribe.drafts if isinstance(draft.data, TurnStarted | TurnEnded)]
    assert [draft.source for draft in turns] == ["agent", "agent"]


def test_a_prompt_that_is_cancelled_in_the_queue_ends_its_turn() -> None:
    session = Session()
    ours = session.prompt()
    session.feed(type="command_lifecycle", command_uuid=ours, state="queued")
    session.feed(type="command_lifecycle", command_uuid=ours, state="cancelled")
    ended = session.data()[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.metadata.stop_reason == "interrupted"


def test_a_request_that_claude_withdraws_is_rejected() -> None:
    session = Session()
    session.prompt()
    key = session.ask("Bash", BASH)
    session.feed(type="control_cancel_request", request_id=key)
    resolved = session.data()[-1]
    assert isinstance(resolved, PermissionResolved)
    assert resolved.metadata is not None
    assert (resolved.status, resolved.metadata.decided_by) == ("reject", "agent")


def test_requests_unanswered_at_the_end_of_the_turn_are_denied_to_claude() -> None:
    session = Session()
    session.prompt()
    session.ask("Bash", BASH, agent_id="background")
    session.result()
    [line] = session.written()
    assert (line["response"]["request_id"], line["response"]["response"]["behavior"]) == ("ask_1", "deny")
    assert session.broken_rules() == []


def test_an_unreadable_question_is_refused_so_that_claude_does_not_wait() -> None:
    session = Session()
    session.prompt()
    key = session.ask("AskUserQuestion", {"questions": [{"question": 7}]})
    [reply] = [line["response"] for line in session.written()]
    assert (reply["subtype"], reply["request_id"], reply["error"]) == (
        "error",
        key,
        "the request was not understood",
    )
    assert isinstance(session.data()[-1], AgentUnparsed)
    assert session.conversation.requests == {}


DEEP_INPUT = b'{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"a":%b}}}'
DEEP_UNKNOWN = b'{"type":"control_request","request_id":"r1","request":{"subtype":"new","a":%b}}'


@pytest.mark.parametrize("levels", [985, 3_000, 100_000])
@pytest.mark.parametrize("frame", [DEEP_INPUT, DEEP_UNKNOWN])
def test_a_request_that_is_nested_too_deep_is_refused_and_the_turn_goes_on(frame: bytes, levels: int) -> None:
    session = Session()
    session.prompt()
    session.wire.receive(frame % (b"[" * levels + b"]" * levels))
    [reply] = [line["response"] for line in session.written()]
    assert (reply["subtype"], reply["request_id"]) == ("error", "r1")
    assert isinstance(session.data()[-1], AgentUnparsed)
    assert (session.conversation.requests, session.scribe.pending) == ({}, {})
    session.result()
    assert isinstance(session.data()[-1], TurnEnded)


def test_a_request_of_any_depth_is_shown_or_refused() -> None:
    ends = set()
    for levels in range(850, 1_000):
        session = Session()
        session.prompt()
        session.wire.receive(DEEP_INPUT % (b"[" * levels + b"]" * levels))
        asked, refused = list(session.scribe.pending), session.written()
        assert list(session.conversation.requests) == asked
        ends.add((len(asked), len(refused)))
    assert ends == {(1, 0), (0, 1)}


def test_the_end_of_a_turn_counts_at_any_depth() -> None:
    session = Session()
    session.prompt()
    deep = b"[" * 3_000 + b"]" * 3_000
    session.wire.receive(b'{"type":"result","subtype":"success","terminal_reason":"completed","x":%b}' % deep)
    assert isinstance(session.data()[-1], TurnEnded)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (b'"is_error":false,"errors":"none"', "end_turn"),
        (b'"is_error":false,"usage":[1],"user_message_uuids":7', "end_turn"),
        (b'"is_error":"no"', "error"),
        (b'"subtype":null,"is_error":true,"terminal_reason":"aborted_streaming"', "interrupted"),
    ],
)
def test_a_turn_ends_whatever_the_shape_of_its_end(facts: bytes, reason: str) -> None:
    session = Session()
    session.prompt()
    session.wire.receive(b'{"type":"result",%b}' % facts)
    [ended] = [data for data in session.data() if isinstance(data, TurnEnded)]
    assert ended.metadata.stop_reason == reason
    assert len([data for data in session.data() if isinstance(data, ErrorEvent)]) == (reason == "error")
    assert len([data for data in session.data() if isinstance(data, AgentUnparsed)]) == 1


def test_an_allowed_tool_gets_its_input_back_unchanged() -> None:
    session = Session()
    session.prompt()
    written = b'{"a" : %b, "b":1.0}' % (b"[" * 850 + b"]" * 850)
    session.wire.receive(
        b'{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"T","input":%b}}'
        % written
    )
    assert list(session.scribe.pending) == ["r1"]
    deeper(120, lambda: session.wire.decide(session.conversation, "r1", Decision("once")))
    [line] = session.wire.outbox
    assert isinstance(line, bytes)
    assert b'"updatedInput":%b' % written in line


def deeper(frames: int, then: Callable[[], None]) -> None:
    """Call it from further down the stack."""
    if frames:
        deeper(frames - 1, then)
    else:
        then()


def test_the_number_of_open_requests_is_bounded() -> None:
    session = Session()
    session.prompt()
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": BASH}
    for n in range(MAX_WAITING + 1):
        session.feed(type="control_request", request_id=f"r{n}", request=request)
    [line] = session.written()
    assert (line["response"]["subtype"], line["response"]["request_id"]) == ("error", f"r{MAX_WAITING}")
    assert len(session.scribe.pending) == MAX_WAITING


@pytest.mark.parametrize(
    ("use", "kind", "title"),
    [
        ({"name": "Bash", "input": BASH}, "command", "touch a"),
        ({"name": "Write", "input": {"file_path": "/ws/a", "content": "x"}}, "edit", "/ws/a"),
        ({"name": "NotebookEdit", "input": {"notebook_path": "/ws/a.ipynb"}}, "edit", "/ws/a.ipynb"),
        ({"name": "Read", "input": {"file_path": "/ws/a"}}, "read", "/ws/a"),
        ({"name": "Grep", "input": {"path": "/ws", "pattern": "x+"}}, "search", "x+"),
        ({"name": "WebSearch", "input": {"query": "weather"}}, "search", "weather"),
        ({"name": "WebFetch", "input": {"url": "http://a", "prompt": "read"}}, "fetch", "http://a"),
        ({"name": "Task", "input": {"prompt": "do it all", "description": "the job"}}, "task", "the job"),
        ({"name": "mcp__demo__add_up", "input": {"path": "/a"}}, "mcp", "demo/add_up"),
        ({"type": "mcp_tool_use", "name": "add", "server_name": "demo", "input": {}}, "mcp", "demo/add"),
        ({"name": "TodoWrite", "input": {"todos": []}}, "other", "TodoWrite"),
    ],
)
def test_a_call_and_its_permission_have_a_kind_and_a_title(
    use: dict[str, Any], kind: str, title: str
) -> None:
    session = Session()
    session.prompt()
    session.assistant({"type": "tool_use", "id": "toolu_1", **use})
    [call] = session.items()
    [part] = call.content
    assert isinstance(part, ToolCall)
    assert (part.kind, part.title) == (kind, title)
    if "type" not in use:
        session.ask(use["name"], use["input"])
        asked = session.data()[-1]
        assert isinstance(asked, PermissionRequested)
        assert asked.metadata is not None
        assert (asked.metadata.kind, asked.metadata.title) == (kind, title)


RAN = {"stdout": "a", "stderr": "", "interrupted": False, "isImage": False}


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (RAN, 0),
        (RAN | {"interrupted": True}, None),
        (RAN | {"backgroundTaskId": "b1"}, None),
        (RAN | {"returnCodeInterpretation": "No matches found"}, None),
        ("anything", None),
        (None, None),
    ],
)
def test_the_exit_code_of_a_successful_command_is_reported(result: Any, code: int | None) -> None:
    session = Session()
    session.prompt()
    session.assistant({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": BASH})
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}
    session.feed(type="user", message={"content": [block]}, tool_use_result=result)
    assert session.items()[-1].content == (ToolResult("toolu_1", "a", code),)


def test_long_output_is_reported_as_far_as_claude_sends_it() -> None:
    session = Session()
    session.prompt()
    session.assistant({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": BASH})
    shown = (
        "<persisted-output>\nOutput too large (200KB). Full output saved to: /t\n\nPreview (first 2KB):\nxx"
    )
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": shown}
    result = RAN | {"stdout": "x" * 30_000, "stderr": "oops"}
    session.feed(type="user", message={"content": [block]}, tool_use_result=result)
    assert session.items()[-1].content == (ToolResult("toolu_1", "x" * 30_000 + "\noops", 0),)


def test_a_plan_without_a_text_still_has_a_prompt() -> None:
    session = Session()
    session.prompt()
    session.ask("ExitPlanMode", {})
    asked = session.data()[-1]
    assert isinstance(asked, QuestionRequested)
    assert asked.prompt == "The agent is ready to leave plan mode."


@pytest.mark.parametrize(
    ("tool", "input", "suggestions", "kind", "needs"),
    [
        ("Bash", {"command": "ls *"}, [], "command", Rule("Bash", "ls *")),
        ("Write", {"file_path": "/ws/b/../a"}, [], "edit", Rule("Write", "/ws/a")),
        ("mcp__x__y", {"q": 1}, [{"toolName": "mcp__x__y"}], "other", Rule("mcp__x__y")),
        (
            "WebFetch",
            {},
            [{"toolName": "WebFetch", "ruleContent": "domain:a.b"}],
            "read",
            Rule("WebFetch", "domain:a.b"),
        ),
        ("Skill", {"skill": "s"}, [], "other", Rule("Skill", '{"skill":"s"}')),
    ],
)
def test_a_permission_has_a_kind(
    tool: str, input: dict[str, Any], suggestions: list[Any], kind: str, needs: Rule
) -> None:
    session = Session()
    session.prompt()
    key = session.ask(tool, input, permission_suggestions=[{"type": "addRules", "rules": suggestions}])
    ask = session.scribe.pending[key].ask
    assert ask is not None
    assert (ask.kind, ask.needs) == (kind, (needs,))


def test_an_mcp_servers_form_is_declined_and_reported() -> None:
    session = Session()
    form = {"subtype": "elicitation", "message": "Your name?"}
    session.feed(type="control_request", request_id="r1", request=form)
    [line] = session.written()
    assert line["response"]["response"] == {"action": "decline"}
    assert session.items()[-1].content == (StatusPart("elicitation", "Your name?"), Json(form))


def test_a_limit_is_not_an_error() -> None:
    session = Session()
    session.prompt()
    session.feed(type="result", subtype="error_max_turns", is_error=True, errors=["Reached 1 turn"])
    ended = session.data()[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.metadata.stop_reason == "limit"
    assert session.items()[-1].content[0] == StatusPart("limit", "Reached 1 turn")


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "brand_new", "x": 1},
        {"type": "system", "subtype": "brand_new", "x": 1},
    ],
)
def test_a_message_of_an_unknown_type_is_kept(frame: dict[str, Any]) -> None:
    session = Session()
    session.feed(**frame)
    [item] = session.items()
    assert (item.kind, item.content) == ("unknown", (Json(frame),))


def test_a_known_message_of_the_wrong_shape_is_unparsed() -> None:
    session = Session()
    session.feed(type="assistant", message="no")
    assert isinstance(session.data()[-1], AgentUnparsed)


def test_a_retry_of_a_sub_agent_is_a_status_with_its_attempt_and_reason() -> None:
    session = Session()
    retry = {
        "agent_id": "a1",
        "attempt": 2,
        "max_retries": 10,
        "error_status": 529,
        "error_category": "overloaded",
    }
    session.feed(type="tool_progress", tool_use_id="t1", subagent_retry=retry)
    [item] = session.items()
    assert item.content[0] == StatusPart("retry", "sub-agent, attempt 2 of 10: overloaded")


def test_a_retry_of_a_sub_agent_in_another_form_is_still_a_status() -> None:
    session = Session()
    session.feed(type="tool_progress", tool_use_id="t1", subagent_retry={"attempt": "second"})
    [item] = session.items()
    assert item.content[0] == StatusPart("retry", "sub-agent, another attempt")


@pytest.mark.parametrize("type", ["keep_alive", "prompt_suggestion", "tool_progress", "transcript_mirror"])
def test_frames_without_meaning_to_a_reader_are_ignored(type: str) -> None:
    session = Session()
    before = session.data()
    session.feed(type=type)
    assert session.data() == before


# -- invalid frames -----------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def recorded_frames() -> list[dict[str, Any]]:
    """One frame of each kind in the recordings."""
    kinds: dict[tuple[Any, ...], dict[str, Any]] = {}
    for recording in RECORDINGS:
        for line in recording.read_bytes().splitlines():
            record = msgspec.json.decode(line)
            if record["dir"] == "out" and isinstance(frame := record["msg"], dict):
                event = frame.get("event") or frame.get("request") or {}
                kind = (frame["type"], frame.get("subtype"), event.get("type"), event.get("subtype"))
                kinds.setdefault(kind, frame)
    return list(kinds.values())


FRAMES = recorded_frames()


@given(st.lists(st.tuples(st.sampled_from(FRAMES), st.text(max_size=8), json_values), max_size=5))
def test_no_frame_breaks_the_wire_or_the_rules(mutations: list[tuple[dict[str, Any], str, Any]]) -> None:
    session = Session()
    session.prompt()
    for frame, name, value in mutations:
        target = name if name in frame else sorted(frame)[len(name) % len(frame)]
        session.feed(**{**frame, target: value})
    session.scribe.end_turn("outcome_unknown", source="daemon")
    session.scribe.close_background()
    assert [rule for rule in session.broken_rules() if "agent.unparsed" not in rule] == []


@given(json_values)
def test_no_line_of_json_breaks_the_wire(value: Any) -> None:
    session = Session()
    session.wire.receive(msgspec.json.encode(value))
