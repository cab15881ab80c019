"""The Codex adapter: what it writes, that it reads back what it writes, and what the recordings do not show."""

from __future__ import annotations

import itertools
import json
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
    Wait,
)
from sandbox_agent.agents.codex import Codex
from sandbox_agent.agents.codex.conversation import CodexConversation
from sandbox_agent.agents.codex.frames import IGNORED, NOTIFICATIONS
from sandbox_agent.agents.codex.requests import CommandApproval
from sandbox_agent.agents.codex.threads import MAX_ORPHANED_BYTES, MAX_ORPHANS, Threads
from sandbox_agent.agents.codex.wire import LATE_SECONDS, CodexWire
from sandbox_agent.agents.frames import encode_frame
from sandbox_agent.agents.scribe import Rule, Scribe
from sandbox_agent.schema.events import (
    AgentUnparsed,
    AskedQuestion,
    Choice,
    ErrorEvent,
    Event,
    ItemCompleted,
    PermissionRequested,
    QuestionRequested,
    SessionStarted,
    TurnEnded,
    TurnMetadata,
    TurnStarted,
    Usage,
    decode_event,
)
from sandbox_agent.schema.features import Catalogue, Model
from sandbox_agent.schema.inputs import Answer, Attachment, Decision, McpServer, Prompt, Reply, Settings
from sandbox_agent.schema.items import FileRef, Image, Item, Json, StatusPart, Text, ToolCall, ToolResult
from sandbox_agent.schema.world import counted, look
from sandbox_agent.session.player import translate
from sandbox_agent.testing.rules import violations

RECORDINGS = sorted(Path(__file__).parents[1].glob("transcripts/codex/*/native.jsonl"))
THREAD = "thread-1"
HOME = Settings("/ws")


class Link:
    """A connected wire with one open thread, and a second wire that reads what the first one writes."""

    def __init__(self, settings: Settings = HOME, *, resume: bool = False) -> None:
        self.wire = CodexWire(counted())
        self.reader = CodexWire(counted())
        self.reader.recorded_start = _start
        self.actions: list[Action] = []
        self._ids = itertools.count(0)
        self.wire.connected()
        self.answer(userAgent="codex")
        start = msgspec.structs.replace(_start(settings, THREAD if resume else None), resume=resume)
        self.conversation: CodexConversation = self.wire.open(start)
        self.scribe = self.conversation.scribe
        self.answer(thread={"id": THREAD}, model="gpt-5.5")

    def written(self) -> list[Any]:
        """What was written since the last call, without the ids of requests, which only count up."""
        frames, self.wire.outbox = self.wire.outbox, []
        return [_without_own_id(self._read_along(encode_frame(frame))) for frame in frames]

    def _read_along(self, frame: bytes) -> Any:
        self.actions += self.reader.sent(frame)
        message = json.loads(frame)
        if isinstance(message.get("id"), str):
            self._last_request = message["id"]
        return message

    def handle(self, message: Any) -> None:
        frame = json.dumps(message).encode()
        self.reader.receive(frame)
        self.wire.receive(frame)

    def answer(self, **result: Any) -> None:
        """Codex answers the last request."""
        self.written()
        self.handle({"id": self._last_request, "result": result})

    def refuse(self, message: str) -> None:
        self.written()
        self.handle({"id": self._last_request, "error": {"code": -32600, "message": message}})

    def tell(self, method: str, thread: str = THREAD, **params: Any) -> None:
        self.handle({"method": method, "params": {"threadId": thread, "turnId": "t1", **params}})

    def ask(self, method: str, **params: Any) -> str:
        """Codex sends a request; returns its key."""
        id = next(self._ids)
        self.handle({"id": id, "method": method, "params": {"threadId": THREAD, "turnId": "t1", **params}})
        return str(id)

    def prompt(self, text: str = "hello", turn: str = "t1") -> None:
        for scribe in (self.scribe, self.reader_conversation.scribe):
            scribe.start_turn()
            scribe.user_message(text)
        self.wire.prompt(self.conversation, Prompt(text), {})
        self.answer(turn={"id": turn})

    def start_turn(self, text: str = "hello", turn: str = "t1") -> None:
        self.prompt(text, turn)
        self.tell("turn/started", turn={"id": turn, "rootTurnId": turn})

    def end_turn(
        self, status: str = "completed", thread: str = THREAD, turn: str = "t1", **facts: Any
    ) -> None:
        self.tell("turn/completed", thread, turn={"id": turn, "status": status, **facts})

    @property
    def reader_conversation(self) -> CodexConversation:
        return next(action.conversation for action in self.actions if isinstance(action, Began))  # type: ignore[return-value]

    def events(self) -> list[Event]:
        return [
            Event(f"evt_{n}", n, "", "s", draft.native_session_id, draft.source, draft.source == "daemon", draft.data.TYPE, draft.data)
            for n, draft in enumerate(self.scribe.drafts, 1)
        ]  # fmt: skip

    def items(self, *kinds: str) -> list[Item]:
        done = [event.data.item for event in self.events() if isinstance(event.data, ItemCompleted)]
        return [item for item in done if item.kind in kinds]


def _start(settings: Settings, native_id: str | None) -> Start:
    world = counted(lambda: 0.0)
    if Path(settings.directory).is_dir():
        world = msgspec.structs.replace(world, look=look)
    scribe = Scribe(world)
    return Start(scribe, settings, Codex().metadata(None, settings), native_id)


def _without_own_id(message: Any) -> Any:
    return (
        {name: value for name, value in message.items() if name != "id"} if "method" in message else message
    )


def _command(id: str, status: str = "inProgress", **facts: Any) -> Any:
    return {"type": "commandExecution", "id": id, "command": "ls", "cwd": "/ws", "status": status, **facts}


# -- opening ----------------------------------------------------------------------------------


def test_threads_opened_during_the_handshake_wait_for_it() -> None:
    wire = CodexWire(counted())
    wire.connected()
    wire.open(_start(HOME, None))
    hello = json.loads(encode_frame(wire.outbox.pop()))
    assert wire.outbox == []
    assert hello["method"] == "initialize"
    assert hello["params"]["capabilities"]["experimentalApi"] is True
    assert set(hello["params"]["capabilities"]["optOutNotificationMethods"]) < IGNORED
    wire.receive(json.dumps({"id": hello["id"], "result": {}}).encode())
    assert [json.loads(encode_frame(frame))["method"] for frame in wire.outbox] == [
        "initialized",
        "thread/start",
    ]


def opening(settings: Settings) -> Any:
    """The parameters that a thread is started with."""
    link = Link()
    link.wire.open(_start(settings, None))
    [frame] = link.written()
    return frame["params"]


def test_a_failed_handshake_fails_waiting_threads() -> None:
    wire = CodexWire(counted())
    wire.connected()
    conversation = wire.open(_start(HOME, None))
    wire.list_catalogue("/")
    hello = json.loads(encode_frame(wire.outbox.pop()))
    wire.receive(json.dumps({"id": hello["id"], "error": {"code": 1, "message": "too old"}}).encode())
    assert wire.notices == [StartFailed(conversation, "too old"), ListFailed("too old")]
    assert list(wire.conversations()) == []


@pytest.mark.parametrize(
    ("mode", "policy", "sandbox"),
    [
        ("default", "untrusted", "dangerFullAccess"),
        ("acceptEdits", "untrusted", "dangerFullAccess"),
        ("plan", "on-request", "readOnly"),
        ("bypass", "never", "dangerFullAccess"),
    ],
)
def test_a_permission_mode_sets_the_threads_policy_and_its_turns_sandbox(
    mode: Any, policy: str, sandbox: str
) -> None:
    settings = Settings("/ws", permission_mode=mode)
    # If a thread may write from the start, codex marks the workspace as trusted in the user's config.toml.
    assert opening(settings) == {"cwd": "/ws", "approvalPolicy": policy, "sandbox": "read-only"}
    link = Link(settings)
    link.wire.prompt(link.conversation, Prompt("x"), {})
    [frame] = link.written()
    assert frame["params"]["sandboxPolicy"] == {"type": sandbox}
    read_back = "default" if mode == "acceptEdits" else mode
    assert link.reader_conversation.settings.permission_mode == read_back


def test_mcp_servers_and_effort_are_in_the_threads_config() -> None:
    mcp = {
        "local": McpServer("npx", ("-y", "x"), {"A": "b"}),
        "far": McpServer(url="https://x/mcp", headers={"k": "v"}),
    }
    assert opening(Settings("/ws", model="gpt-5.5", variant="high", mcp=mcp)) == {
        "cwd": "/ws",
        "model": "gpt-5.5",
        "approvalPolicy": "untrusted",
        "sandbox": "read-only",
        "config": {
            "mcp_servers": {
                "local": {"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}},
                "far": {"url": "https://x/mcp", "http_headers": {"k": "v"}},
            },
            "model_reasoning_effort": "high",
        },
    }


def test_a_thread_that_codex_does_not_know_is_gone() -> None:
    link = Link()
    lost = link.wire.open(Start(link.scribe, HOME, Codex().metadata(None, HOME), "thread-0", resume=True))
    [asked] = link.written()
    assert asked["method"] == "thread/resume"
    assert (asked["params"]["threadId"], asked["params"]["excludeTurns"]) == ("thread-0", True)
    link.wire.notices.clear()
    link.refuse("no rollout found for thread id thread-0")
    message = "no rollout found for thread id thread-0"
    assert link.wire.notices == [StartFailed(lost, message, gone=True)]


def test_facts_of_an_opened_thread_are_in_session_started() -> None:
    link = Link()
    assert link.wire.notices == [Ready(link.conversation)]
    [started] = link.events()
    assert (started.source, started.native_session_id) == ("agent", THREAD)
    assert isinstance(started.data, SessionStarted)
    assert started.data.metadata is not None
    assert started.data.metadata.model == "gpt-5.5"


# -- round trips: what we write, we read back --------------------------------------------------


def test_compact_is_a_separate_request() -> None:
    link = Link()
    link.wire.prompt(link.conversation, Prompt("/compact", command=True), {})
    (asked,) = link.written()
    assert (asked["method"], asked["params"]) == ("thread/compact/start", {"threadId": THREAD})


def test_a_prompt_is_read_back() -> None:
    link = Link()
    prompt = Prompt("look", (Attachment("/ws/a.png"), Attachment("/ws/b.txt")))
    link.wire.prompt(link.conversation, prompt, {})
    assert link.written() == [
        {
            "method": "turn/start",
            "params": {
                "threadId": THREAD,
                "input": [
                    {"type": "text", "text": "look"},
                    {"type": "localImage", "path": "/ws/a.png"},
                    {"type": "text", "text": "Attached file: /ws/b.txt"},
                ],
                "sandboxPolicy": {"type": "dangerFullAccess"},
            },
        }
    ]
    assert link.actions[1:] == [Prompted(link.reader_conversation, prompt)]


_CHANGES = [
    {"path": "/ws/new", "kind": {"type": "add"}, "diff": "one\n"},
    {
        "path": "/ws/old",
        "kind": {"type": "update", "move_path": "/ws/moved"},
        "diff": "@@ -1 +1 @@\n-a\n+b\n\n\nMoved to: /ws/moved",
    },
]
_MCP_META = {"codex_approval_kind": "mcp_tool_call", "tool_params": {}}
_NETWORK = {"network": {"enabled": True}, "fileSystem": None}

_COMMAND_REPLIES = ({"decision": "accept"}, {"decision": "decline"})
APPROVALS: list[tuple[str, dict[str, Any], tuple[Any, Any]]] = [
    ("item/commandExecution/requestApproval", {"itemId": "c1", "command": "ls", "cwd": "/ws"}, _COMMAND_REPLIES),
    (
        "item/commandExecution/requestApproval",
        {"itemId": "c1", "networkApprovalContext": {"host": "h", "protocol": "https"}},
        _COMMAND_REPLIES,
    ),
    ("item/fileChange/requestApproval", {"itemId": "f1", "reason": None}, _COMMAND_REPLIES),
    (
        "item/permissions/requestApproval",
        {"itemId": "p1", "cwd": "/ws", "reason": "net", "permissions": _NETWORK},
        (
            {"permissions": _NETWORK, "scope": "turn"},
            {"permissions": {}, "scope": "turn"},
        ),
    ),
    (
        "mcpServer/elicitation/request",
        {"serverName": "demo", "mode": "form", "message": "Allow?", "_meta": _MCP_META},
        (
            {"action": "accept", "content": {}, "_meta": None},
            {"action": "decline", "content": None, "_meta": None},
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("method", "params", "replies"), APPROVALS)
@pytest.mark.parametrize(("n", "reply"), [(0, "once"), (0, "always"), (1, "reject")])
def test_a_decision_is_read_back(
    method: str, params: dict[str, Any], replies: tuple[Any, Any], n: int, reply: Reply
) -> None:
    """An "always" is remembered by the daemon alone: codex would no longer ask, and a rule could deny nothing."""
    link = Link()
    link.start_turn()
    key = link.ask(method, **params)
    assert list(link.scribe.pending) == [key]
    link.wire.decide(link.conversation, key, Decision(reply))
    assert link.written() == [{"id": 0, "result": replies[n]}]
    sent: Reply = "reject" if reply == "reject" else "once"
    assert link.actions[-1] == Decided(link.reader_conversation, key, Decision(sent))
    assert link.wire._rpc.open_requests == link.reader._rpc.open_requests == {}


_FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name"},
        "age": {"type": "integer"},
        "sure": {"type": "boolean"},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
    },
}  # fmt: skip
_COLOUR = {
    "id": "colour",
    "header": "Colour",
    "question": "Which?",
    "options": [{"label": "Red", "description": "r"}],
}
_WORDS = {"id": "words", "header": "", "question": "Say it", "options": None}

INQUIRIES: list[tuple[str, dict[str, Any], tuple[tuple[str, ...], ...] | None, Any]] = [
    (
        "item/tool/requestUserInput",
        {"itemId": "q1", "questions": [_COLOUR, _WORDS], "isBlocking": True},
        (("Red",), ("my own",)),
        {"answers": {"colour": {"answers": ["Red"]}, "words": {"answers": ["my own"]}}},
    ),
    ("item/tool/requestUserInput", {"itemId": "q1", "questions": [_COLOUR]}, None, {"answers": {}}),
    (
        "mcpServer/elicitation/request",
        {"serverName": "demo", "mode": "form", "message": "Who?", "_meta": None, "requestedSchema": _FORM},
        (("Ada",), ("36",), ("true",), ("Large",), ("a", "b")),
        {
            "action": "accept",
            "content": {"name": "Ada", "age": 36, "sure": True, "size": "l", "tags": ["a", "b"]},
            "_meta": None,
        },
    ),
    (
        "mcpServer/elicitation/request",
        {"serverName": "demo", "mode": "form", "message": "Who?", "_meta": None, "requestedSchema": _FORM},
        None,
        {"action": "decline", "content": None, "_meta": None},
    ),
    (
        "mcpServer/elicitation/request",
        {"serverName": "demo", "mode": "url", "message": "Log in", "url": "https://x", "elicitationId": "e"},
        (("accept",),),
        {"action": "accept", "content": {}, "_meta": None},
    ),
]


@pytest.mark.parametrize(("method", "params", "answers", "reply"), INQUIRIES)
def test_an_answer_is_read_back(
    method: str, params: dict[str, Any], answers: tuple[tuple[str, ...], ...] | None, reply: Any
) -> None:
    link = Link()
    link.start_turn()
    key = link.ask(method, **params)
    link.wire.answer(link.conversation, key, Answer(answers))
    assert link.written() == [{"id": 0, "result": reply}]
    assert link.actions[-1] == Answered(link.reader_conversation, key, Answer(answers))


@pytest.mark.parametrize(("action", "reply"), [("allow", "always"), ("deny", "reject")])
def test_a_network_rule_of_another_client_is_read_by_its_action(action: str, reply: Reply) -> None:
    rule = {"network_policy_amendment": {"host": "example.com", "action": action}}
    answer = {"decision": {"applyNetworkPolicyAmendment": rule}}
    request = CommandApproval(thread_id=THREAD, turn_id="t1", item_id="c1")
    assert request.read(msgspec.Raw(msgspec.json.encode(answer))) == reply


def test_questions_are_shown_as_codex_sends_them() -> None:
    link = Link()
    link.start_turn()
    link.ask("item/tool/requestUserInput", itemId="q1", questions=[_COLOUR, _WORDS])
    asked = link.events()[-1].data
    assert isinstance(asked, QuestionRequested)
    assert (asked.prompt, asked.options) == ("Which?", ("Red",))
    assert asked.metadata.questions == (
        AskedQuestion("Which?", "Colour", (Choice("Red", "r"),)),
        AskedQuestion("Say it", "", ()),
    )


def test_a_cancel_is_read_back_and_kills_the_commands() -> None:
    link = Link()
    link.start_turn()
    link.wire.cancel(link.conversation)
    assert link.written() == [
        {"method": "turn/interrupt", "params": {"threadId": THREAD, "turnId": "t1"}},
        {"method": "thread/backgroundTerminals/clean", "params": {"threadId": THREAD}},
    ]
    assert link.actions[-1] == Cancelled(link.reader_conversation)


def _cancelled_in_a_command() -> Link:
    """Codex has ended the turn but not yet reported the end of its command."""
    link = Link()
    link.start_turn()
    link.tell("item/started", item=_command("c1"))
    link.wire.cancel(link.conversation)
    link.wire.notices.clear()
    link.written()
    link.end_turn("interrupted")
    assert link.wire.notices == [Wait(link.conversation, LATE_SECONDS)]
    assert not any(isinstance(event.data, TurnEnded) for event in link.events())
    return link


def test_a_cancelled_turn_waits_for_the_output_of_its_command() -> None:
    link = _cancelled_in_a_command()
    link.tell("item/completed", item=_command("c1", "failed", aggregatedOutput="all of it\n", exitCode=-1))
    [result] = link.items("tool_result")
    assert isinstance(result.content[0], ToolResult)
    assert result.content[0].output == "all of it\n"
    ended = link.events()[-1].data
    assert isinstance(ended, TurnEnded)
    assert ended.metadata.stop_reason == "interrupted"
    before = len(link.scribe.drafts)
    link.wire.waited(link.conversation)
    assert len(link.scribe.drafts) == before


@pytest.mark.parametrize("ends_by", ["time", "cancel", "turn"])
def test_a_turns_wait_for_the_output_of_its_command_is_bounded(ends_by: str) -> None:
    link = _cancelled_in_a_command()
    if ends_by == "time":
        link.wire.waited(link.conversation)
    elif ends_by == "cancel":
        link.wire.cancel(link.conversation)
    else:
        link.tell("turn/started", turn={"id": "t2"})
    turns = [event.data for event in link.events() if isinstance(event.data, TurnStarted | TurnEnded)]
    assert isinstance(turns[1], TurnEnded)
    assert turns[1].metadata.stop_reason == "interrupted"
    assert len(turns) == (3 if ends_by == "turn" else 2)
    assert violations(link.events(), complete=ends_by != "turn") == []


def test_a_turn_that_has_ended_is_not_ended_again() -> None:
    link = _cancelled_in_a_command()
    link.scribe.end_turn("interrupted", source="daemon")
    link.start_turn("next", "t2")
    assert link.scribe.turn is not None
    link.end_turn(turn="t2")
    assert link.scribe.turn is None


def test_a_cancel_before_codex_has_started_the_turn_waits_for_it() -> None:
    link = Link()
    link.prompt()
    link.wire.cancel(link.conversation)
    assert link.written() == []
    link.tell("turn/started", turn={"id": "t1"})
    assert [frame["method"] for frame in link.written()][:1] == ["turn/interrupt"]


def test_an_idle_conversation_has_nothing_to_cancel() -> None:
    link = Link()
    link.wire.cancel(link.conversation)
    link.start_turn()
    assert link.written() == []


def test_closing_stops_the_turn_then_its_commands_and_leaves_the_thread() -> None:
    link = Link()
    link.start_turn()
    link.wire.close(link.conversation)
    stopping = json.loads(link.wire.outbox[0])  # type: ignore[arg-type]
    methods = [frame["method"] for frame in link.written()]
    assert methods == ["turn/interrupt", "thread/backgroundTerminals/clean"]
    link.handle({"id": stopping["id"], "result": {}})
    assert [frame["method"] for frame in link.written()] == ["thread/unsubscribe"]
    before = len(link.scribe.drafts)
    link.end_turn("interrupted")
    assert (len(link.scribe.drafts), list(link.wire.conversations())) == (before, [])


def test_changed_settings_are_sent_once_with_the_next_prompt() -> None:
    link = Link()
    plan = Settings("/ws", permission_mode="plan", variant="high")
    assert link.wire.configure(link.conversation, plan)
    link.wire.prompt(link.conversation, Prompt("one"), {})
    link.wire.prompt(link.conversation, Prompt("two"), {})
    link.wire.configure(link.conversation, HOME)
    link.wire.prompt(link.conversation, Prompt("three"), {})
    turns = [
        {name: value for name, value in frame["params"].items() if name not in ("threadId", "input")}
        for frame in link.written()
    ]
    collaboration = {"model": "gpt-5.5", "reasoning_effort": "high", "developer_instructions": None}
    assert turns == [
        {
            "model": "gpt-5.5",
            "effort": "high",
            "approvalPolicy": "on-request",
            "sandboxPolicy": {"type": "readOnly"},
            "collaborationMode": {"mode": "plan", "settings": collaboration},
        },
        {"sandboxPolicy": {"type": "readOnly"}},
        {
            "model": "gpt-5.5",
            "approvalPolicy": "untrusted",
            "sandboxPolicy": {"type": "dangerFullAccess"},
            "collaborationMode": {"mode": "default", "settings": {**collaboration, "reasoning_effort": None}},
        },
    ]


def test_a_new_directory_needs_a_new_thread() -> None:
    link = Link()
    assert not link.wire.configure(link.conversation, Settings("/elsewhere"))


def test_the_agent_mode_plan_restricts_nothing() -> None:
    link = Link(Settings("/ws", agent_mode="plan"))
    link.wire.prompt(link.conversation, Prompt("x"), {})
    [frame] = link.written()
    assert frame["params"]["sandboxPolicy"] == {"type": "dangerFullAccess"}
    assert frame["params"]["collaborationMode"]["mode"] == "plan"


def test_the_catalogue_is_read_page_by_page() -> None:
    link = Link()
    link.wire.notices.clear()
    link.wire.list_catalogue("/ws")
    efforts = [{"reasoningEffort": "low", "description": ""}, {"reasoningEffort": "high", "description": ""}]
    model = {
        "id": "a",
        "displayName": "A",
        "supportedReasoningEfforts": efforts,
        "defaultReasoningEffort": "low",
    }
    link.answer(data=[{**model, "isDefault": True}], nextCursor="more")
    assert link.written() == [{"method": "model/list", "params": {"cursor": "more"}}]
    link.answer(data=[{"id": "b"}], nextCursor=None)
    models = (Model("a", "A", ("low", "high"), "low"), Model("b"))
    assert link.wire.notices == [Listed(Catalogue(models, Codex.modes, "a"))]


# -- what codex says ---------------------------------------------------------------------------


def test_a_patch_is_requested_with_its_paths_and_reported_with_its_diffs() -> None:
    link = Link()
    link.start_turn()
    patch = {"type": "fileChange", "id": "f1", "changes": _CHANGES, "status": "inProgress"}
    link.tell("item/started", item=patch)
    key = link.ask("item/fileChange/requestApproval", itemId="f1")
    ask = link.scribe.pending[key].ask
    added = "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+one\n"
    moved = (
        "diff --git a/old b/moved\nrename from old\nrename to moved\n"
        "--- a/old\n+++ b/moved\n@@ -1 +1 @@\n-a\n+b\n"
    )
    assert ask is not None
    requested = link.scribe.pending[key].requested
    assert isinstance(requested, PermissionRequested)
    assert requested.metadata is not None
    assert (ask.kind, ask.paths) == ("edit", ("/ws/new", "/ws/old", "/ws/moved"))
    assert requested.metadata.diff == added + moved
    assert ask.needs == tuple(Rule("apply_patch", path) for path in ("/ws/new", "/ws/old", "/ws/moved"))
    link.wire.decide(link.conversation, key, Decision("once"))
    link.scribe.decide(key, "accept", "client")
    link.tell("item/completed", item={**patch, "status": "completed"})
    [result] = link.items("tool_result")
    assert result.content[1:] == (
        FileRef("/ws/new", "write", diff=added),
        FileRef("/ws/old", "move", "/ws/moved", moved),
    )


def _turn_diff(name: str, *lines: str, head: str = "") -> str:
    old = head or f"--- a/{name}"
    return f"diff --git a/{name} b/{name}\n{old}\n+++ b/{name}\n" + "".join(f"{line}\n" for line in lines)


def _write(link: Link, file: Path, text: str, *turn_diffs: str, seen: str | None = None) -> str | None:
    """A patch without approval: the file is written before it is reported. Returns the diff that we report."""
    before = len(link.items("tool_result"))
    patch = {
        "type": "fileChange",
        "id": f"f{before}",
        "changes": [{"path": str(file), "kind": {"type": "add"}, "diff": text}],
    }
    file.write_text(text if seen is None else seen)
    link.tell("item/started", item={**patch, "status": "inProgress"})
    file.write_text(text)
    link.tell("item/completed", item={**patch, "status": "completed"})
    for diff in turn_diffs:
        link.tell("turn/diff/updated", diff=diff)
    if not turn_diffs:
        link.tell("item/agentMessage/delta", itemId="m", delta="Done.")
    [*_, result] = link.items("tool_result")
    assert len(link.items("tool_result")) == before + 1
    [change] = result.content[1:]
    assert isinstance(change, FileRef)
    assert (change.path, change.action) == (str(file), "write")
    return change.diff


NEW = "--- /dev/null\n+++ b/x.txt\n@@ -0,0 +1 @@\n+new\n"


def test_an_overwritten_file_that_was_not_read_is_not_new(tmp_path: Path) -> None:
    link = Link(Settings(str(tmp_path), permission_mode="bypass"))
    link.start_turn()
    first = _turn_diff("x.txt", "@@ -1,2 +1 @@", "-old", "-file", "+new")
    assert _write(link, tmp_path / "x.txt", "new\n", first, first) == (
        "--- a/x.txt\n+++ b/x.txt\n@@ -1,2 +1 @@\n-old\n-file\n+new\n"
    )
    # The turn's diff starts from the state at the start of the turn; our diff starts from the previous
    # change.
    second = _turn_diff("x.txt", "@@ -1,2 +1 @@", "-old", "-file", "+newer")
    assert _write(link, tmp_path / "x.txt", "newer\n", second) == (
        "--- a/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-new\n+newer\n"
    )


@pytest.mark.parametrize(
    "turn_diffs",
    [
        (_turn_diff("x.txt", "@@ -0,0 +1 @@", "+new", head="new file mode 100644\n--- /dev/null"),),
        (_turn_diff("x.txt", "@@ -1 +1 @@", "-other", "+file"),),  # it fits nothing
    ],
)
def test_a_file_without_a_known_earlier_state_is_new(tmp_path: Path, turn_diffs: tuple[str, ...]) -> None:
    link = Link(Settings(str(tmp_path), permission_mode="bypass"))
    link.start_turn()
    assert _write(link, tmp_path / "x.txt", "new\n", *turn_diffs) == NEW


@pytest.mark.parametrize("seen", ["", "ne"])
def test_a_file_read_while_it_is_written_is_reported_as_it_was(tmp_path: Path, seen: str) -> None:
    link = Link(Settings(str(tmp_path), permission_mode="bypass"))
    link.start_turn()
    diff = _turn_diff("x.txt", "@@ -1,2 +1 @@", "-old", "-file", "+new")
    written = _write(link, tmp_path / "x.txt", "new\n", diff, seen=seen)
    assert written == "--- a/x.txt\n+++ b/x.txt\n@@ -1,2 +1 @@\n-old\n-file\n+new\n"


def test_a_missing_file_written_empty_is_new(tmp_path: Path) -> None:
    link = Link(Settings(str(tmp_path), permission_mode="bypass"))
    link.start_turn()
    empty = "diff --git a/x.txt b/x.txt\nnew file mode 100644\n"
    assert _write(link, tmp_path / "x.txt", "", f"{empty}index 0000000..e69de29\n") == empty


def test_an_unchanged_file_has_no_diff(tmp_path: Path) -> None:
    link = Link(Settings(str(tmp_path), permission_mode="bypass"))
    link.start_turn()
    assert _write(link, tmp_path / "x.txt", "new\n") is None  # codex reports none either


def test_a_patch_that_waits_for_a_diff_is_reported_before_its_turn_ends(tmp_path: Path) -> None:
    link = Link(Settings(str(tmp_path), permission_mode="bypass"))
    link.start_turn()
    (tmp_path / "x.txt").write_text("new\n")
    change = {"path": str(tmp_path / "x.txt"), "kind": {"type": "add"}, "diff": "new\n"}
    patch = {"type": "fileChange", "id": "f", "changes": [change]}
    link.tell("item/started", item={**patch, "status": "inProgress"})
    link.tell("item/completed", item={**patch, "status": "completed"})
    assert link.items("tool_result") == []
    link.end_turn()
    [result] = link.items("tool_result")
    assert result.status == "completed"
    [raw] = [
        draft.raw
        for draft in link.scribe.drafts
        if isinstance(draft.data, ItemCompleted) and draft.data.item.kind == "tool_result"
    ]
    assert raw is not None
    assert b"item/completed" in raw
    assert violations(link.events()) == []


def test_a_request_for_a_command_belongs_to_its_call_even_before_its_item() -> None:
    link = Link()
    link.start_turn()
    key = link.ask("item/commandExecution/requestApproval", itemId="c1", command="ls", cwd="/ws")
    link.tell("item/started", item=_command("c1"))
    link.scribe.decide(key, "accept", "client")
    link.tell("item/completed", item=_command("c1", "completed", aggregatedOutput="x\n", exitCode=0))
    link.end_turn()
    [call] = link.items("tool_call")
    [result] = link.items("tool_result")
    arguments = '{"command":"ls","cwd":"/ws"}'
    assert call.content == (ToolCall("exec_command", arguments, "c1", "command", "ls"),)
    assert result.content == (ToolResult("c1", "x\n", 0),)
    assert violations(link.events()) == []


def test_a_command_that_outlives_its_turn_ends_later() -> None:
    link = Link()
    link.start_turn()
    link.tell("item/started", item=_command("c1"))
    link.end_turn()
    link.tell("item/commandExecution/outputDelta", itemId="c1", delta="late\n")
    link.tell(
        "item/completed", item=_command("c1", "completed", aggregatedOutput="early\nlate\n", exitCode=0)
    )
    [result] = link.items("tool_result")
    assert (result.status, result.content) == ("completed", (ToolResult("c1", "early\nlate\n", 0),))
    assert violations(link.events()) == []


def test_an_item_that_ends_after_an_interrupt_is_not_reported_again() -> None:
    link = Link()
    link.start_turn()
    link.tell("item/started", item=_command("c1"))
    link.end_turn("interrupted")
    link.start_turn(turn="t2")
    before = len(link.scribe.drafts)
    link.tell("item/completed", item=_command("c1", "failed", exitCode=-1))
    link.tell("item/started", item=_command("never-seen"))
    assert len(link.scribe.drafts) == before
    link.end_turn(turn="t2")
    assert violations(link.events()) == []


def test_repeated_call_ids_are_distinguished() -> None:
    link = Link()
    link.start_turn()
    for _ in range(2):
        link.tell("item/started", item=_command("c1"))
        link.tell("item/completed", item=_command("c1", "completed", exitCode=0))
    link.end_turn()
    assert [item.content[0].call_id for item in link.items("tool_result")] == ["c1", "c1#2"]  # type: ignore[union-attr]
    assert violations(link.events()) == []


def test_output_before_its_command_opens_a_stub() -> None:
    link = Link()
    link.start_turn()
    link.tell("item/commandExecution/outputDelta", itemId="c1", delta="x")
    link.tell("item/completed", item=_command("c1", "completed", aggregatedOutput="x", exitCode=0))
    link.end_turn()
    assert violations(link.events()) == []


def test_a_sub_agents_early_frames_belong_to_its_call() -> None:
    link = Link()
    link.start_turn()
    spawn = {
        "type": "collabAgentToolCall",
        "id": "s1",
        "tool": "spawnAgent",
        "prompt": "go",
        "status": "inProgress",
    }
    link.tell("item/started", item=spawn)
    link.tell("turn/started", "child", turn={"id": "t9", "rootTurnId": "t1"})
    link.tell("item/started", "child", turnId="t9", item={"type": "userMessage", "id": "u", "content": [{"type": "text", "text": "go"}]})  # fmt: skip
    link.tell("item/agentMessage/delta", "child", turnId="t9", itemId="m1", delta="hi")
    assert link.items("message")[1:] == []
    link.tell("item/completed", item={**spawn, "status": "completed", "receiverThreadIds": ["child"]})
    link.end_turn()
    tokens = {"inputTokens": 10, "outputTokens": 2}
    link.tell("item/completed", "child", turnId="t9", item={"type": "agentMessage", "id": "m1", "text": "hi"})
    link.tell("thread/tokenUsage/updated", "child", turnId="t9", tokenUsage={"total": tokens, "last": tokens})
    link.end_turn(thread="child", turn="t9")
    [call] = link.items("tool_call")
    message = link.items("message")[-1]
    assert (message.parent_id, message.content) == (call.item_id, (Text("hi"),))
    turns = [event.data for event in link.events() if isinstance(event.data, TurnStarted | TurnEnded)]
    assert len(turns) == 2
    assert violations(link.events()) == []


def test_a_turns_usage_includes_its_sub_agents_and_nothing_earlier() -> None:
    link = Link(resume=True)
    old = {"inputTokens": 100, "outputTokens": 50}
    link.tell("thread/tokenUsage/updated", turnId="t0", tokenUsage={"total": old, "last": old})
    link.start_turn()
    agent = {"type": "subAgentActivity", "id": "s1", "kind": "started", "agentThreadId": "child"}
    link.tell("item/started", item=agent)
    link.tell("item/completed", item=agent)
    link.tell("turn/started", "child", turn={"id": "t9", "rootTurnId": "t1"})
    child = {"inputTokens": 7, "outputTokens": 3}
    link.tell("thread/tokenUsage/updated", "child", turnId="t9", tokenUsage={"total": child, "last": child})
    new = {"inputTokens": 120, "outputTokens": 60}
    for _ in range(2):  # compaction repeats it
        link.tell("thread/tokenUsage/updated", tokenUsage={"total": new, "last": old})
    link.end_turn(durationMs=5)
    # The turn waits a moment for its sub-agents to end, and reports their usage last.
    assert link.scribe.turn is not None
    child = {"inputTokens": 8, "outputTokens": 4}
    link.tell("thread/tokenUsage/updated", "child", turnId="t9", tokenUsage={"total": child, "last": child})
    link.end_turn(thread="child", turn="t9")
    ended = link.events()[-1].data
    assert isinstance(ended, TurnEnded)
    assert ended.metadata.usage == Usage(28, 14, 0, 0, 0)


@pytest.mark.parametrize("notified", [True, False])
def test_a_failed_sub_agent_is_no_error_of_the_turn(notified: bool) -> None:
    link = Link()
    link.start_turn()
    agent = {"type": "subAgentActivity", "id": "s1", "kind": "started", "agentThreadId": "child"}
    link.tell("item/completed", item=agent)
    link.tell("turn/started", "child", turn={"id": "t9", "rootTurnId": "t1"})
    error = {"message": "slow down", "codexErrorInfo": "rateLimitExceeded"}
    if notified:
        link.tell("error", "child", turnId="t9", error=error, willRetry=False)
    link.end_turn("failed", "child", "t9", error=error)
    link.end_turn()
    assert [event.data for event in link.events() if isinstance(event.data, ErrorEvent)] == []
    [call] = link.items("tool_call")
    [failed] = link.items("status")
    facts = {"message": "slow down", "code": "rate_limited", "codexErrorInfo": "rateLimitExceeded"}
    assert failed.parent_id == call.item_id
    assert failed.content == (StatusPart("subagent_error", "slow down"), Json(facts))
    assert violations(link.events()) == []


def test_a_turn_waits_once_for_a_sub_agent_that_keeps_working() -> None:
    link = Link()
    link.start_turn()
    agent = {"type": "subAgentActivity", "id": "s1", "kind": "started", "agentThreadId": "child"}
    link.tell("item/completed", item=agent)
    link.tell("turn/started", "child", turn={"id": "t9", "rootTurnId": "t1"})
    link.end_turn()
    link.wire.waited(link.conversation)
    assert link.scribe.turn is None
    link.start_turn("next", "t2")
    link.end_turn(turn="t2")
    assert link.scribe.turn is None


def test_a_forks_usage_excludes_its_inherited_history() -> None:
    def recorded(*steps: tuple[str, Any]) -> list[bytes]:
        return [json.dumps({"dir": dir, "t": 0, "msg": msg}).encode() for dir, msg in steps]

    def used(turn: str, tokens: int) -> Any:
        total = {"inputTokens": tokens, "outputTokens": 1}
        last = {"inputTokens": 50, "outputTokens": 1}
        params = {"threadId": "fork", "turnId": turn, "tokenUsage": {"total": total, "last": last}}
        return {"method": "thread/tokenUsage/updated", "params": params}

    def turn(method: str, **facts: Any) -> Any:
        return {"method": method, "params": {"threadId": "fork", "turn": {"id": "t1", **facts}}}

    lines = recorded(
        ("in", {"id": 1, "method": "thread/fork", "params": {"threadId": THREAD}}),
        ("out", {"id": 1, "result": {"thread": {"id": "fork", "forkedFromId": THREAD}, "cwd": "/ws"}}),
        ("out", used("t0", 100)),
        ("in", {"id": 2, "method": "turn/start", "params": {"threadId": "fork", "input": []}}),
        ("out", {"id": 2, "result": {"turn": {"id": "t1"}}}),
        ("out", turn("turn/started")),
        ("out", used("t1", 150)),
        ("out", turn("turn/completed", status="completed")),
    )
    data = [line.event.data for line in translate(Codex(), lines)]
    assert isinstance(data[0], SessionStarted)
    assert data[0].metadata is not None
    assert data[0].metadata.directory == "/ws"  # it is not named: it is the one the other works in
    [ended] = [each for each in data if isinstance(each, TurnEnded)]
    assert ended.metadata.usage is not None
    assert ended.metadata.usage.input_tokens == 50
    assert [each.item.content[0] for each in data if isinstance(each, ItemCompleted)] == [StatusPart("usage")]


def test_a_sub_agent_that_waits_at_the_end_of_the_turn_is_refused() -> None:
    link = Link()
    link.start_turn()
    agent = {"type": "subAgentActivity", "id": "s1", "kind": "started", "agentThreadId": "child"}
    link.tell("item/completed", item=agent)
    link.ask(
        "item/commandExecution/requestApproval", threadId="child", turnId="t9", itemId="c1", command="ls"
    )
    link.written()
    link.end_turn()
    assert link.written() == [{"id": 0, "result": {"decision": "decline"}}]
    assert link.scribe.pending == {}


def test_a_repeated_request_is_shown_once() -> None:
    link = Link()
    link.start_turn()
    frame = {"id": 0, "method": "item/commandExecution/requestApproval"}
    for _ in range(2):
        link.handle(
            {**frame, "params": {"threadId": THREAD, "turnId": "t1", "itemId": "c1", "command": "ls"}}
        )
    link.end_turn("interrupted")
    assert violations(link.events()) == []


def test_approvals_of_parallel_mcp_calls_belong_to_their_calls() -> None:
    link = Link()
    link.start_turn()
    calls = {"c1": ("write", {"n": 1}), "c2": ("write", {"n": 2}), "c3": ("erase", {"n": 1})}
    for id, (tool, arguments) in calls.items():
        call = {"type": "mcpToolCall", "id": id, "server": "demo", "tool": tool, "arguments": arguments}
        link.tell("item/started", item={**call, "status": "inProgress"})
    for tool, arguments in calls.values():
        link.ask(
            "mcpServer/elicitation/request",
            serverName="demo",
            message=f'Allow the demo MCP server to run tool "{tool}"?',
            _meta={"codex_approval_kind": "mcp_tool_call", "tool_params": arguments},
        )
    asked = [event.data for event in link.events() if isinstance(event.data, PermissionRequested)]
    assert [request.metadata.call_id for request in asked] == list(calls)
    assert [request.action for request in asked] == ["demo.write", "demo.write", "demo.erase"]


def test_a_request_that_codex_withdraws_is_rejected() -> None:
    link = Link()
    link.start_turn()
    key = link.ask("item/commandExecution/requestApproval", itemId="c1", command="ls")
    link.tell("serverRequest/resolved", requestId=0)
    assert link.scribe.pending == {}
    link.wire.decide(link.conversation, key, Decision("once"))
    assert link.written() == []


def test_a_retry_is_a_status_and_fails_the_interrupted_message() -> None:
    link = Link()
    link.start_turn()
    link.tell("item/agentMessage/delta", itemId="m1", delta="half")
    link.tell("error", willRetry=True, error={"message": "Reconnecting... 1/5", "codexErrorInfo": "other"})
    error = {"message": "gone", "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 401}}}
    link.tell("error", willRetry=False, error=error)
    link.end_turn("failed", error=error)
    assert [item.status for item in link.items("message")] == ["completed", "failed"]
    assert [event.data for event in link.events() if isinstance(event.data, ErrorEvent)] == [
        ErrorEvent(
            "gone",
            "authentication_failed",
            {"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 401}}, "status": 401},
        )
    ]


def test_a_prompt_that_codex_refuses_ends_its_turn() -> None:
    link = Link()
    link.scribe.start_turn()
    link.wire.prompt(link.conversation, Prompt("x"), {})
    link.refuse("no")
    assert [event.data for event in link.events()[2:]] == [
        ErrorEvent("no", "invalid_request", {"code": -32600}),
        TurnEnded("turn_1", TurnMetadata("error", 0)),
    ]


@pytest.mark.parametrize(
    ("message", "info", "code"),
    [
        ('{"error":{"message":"prompt is too long: 9 > 8"}}', "badRequest", "context_too_long"),
        ("prompt is too long", {"httpConnectionFailed": {"httpStatusCode": 400}}, "context_too_long"),
        ('{"type":"invalid_request_error","message":"the prompt is too long"}', None, "context_too_long"),
        ("the model may not", "badRequest", "invalid_request"),
    ],
)
def test_a_prompt_that_is_too_long_has_its_own_error_code(message: str, info: Any, code: str) -> None:
    link = Link()
    link.start_turn()
    link.end_turn("failed", error={"message": message, "codexErrorInfo": info})
    [error] = [event.data for event in link.events() if isinstance(event.data, ErrorEvent)]
    assert error.code == code


def test_another_clients_message_is_a_user_item_of_the_agent() -> None:
    link = Link()
    link.start_turn("mine")
    for text in ("mine", "theirs"):
        item = {"type": "userMessage", "id": text, "content": [{"type": "text", "text": text}]}
        link.tell("item/started", item=item)
        link.tell("item/completed", item=item)
    messages = [(item.native_item_id, item.content) for item in link.items("message")]
    assert messages == [(None, (Text("mine"),)), ("theirs", (Text("theirs"),))]


def test_the_echo_of_a_prompt_without_text_is_not_a_new_message() -> None:
    link = Link()
    link.scribe.start_turn()
    link.scribe.user_message("", [Attachment("/ws/x.png")])
    link.wire.prompt(link.conversation, Prompt("", (Attachment("/ws/x.png"),)), {})
    link.answer(turn={"id": "t1"})
    link.tell("turn/started", turn={"id": "t1", "rootTurnId": "t1"})
    item = {"type": "userMessage", "id": "u1", "content": [{"type": "localImage", "path": "/ws/x.png"}]}
    link.tell("item/started", item=item)
    link.tell("item/completed", item=item)
    assert [item.native_item_id for item in link.items("message")] == [None]


def test_a_turn_that_codex_begins_by_itself_has_no_user_message() -> None:
    link = Link()
    link.tell("turn/started", turn={"id": "t1"})
    link.end_turn()
    events = [(event.type, event.source) for event in link.events()[1:]]
    assert events == [("turn.started", "agent"), ("turn.ended", "agent")]


def test_a_tools_image_is_stored() -> None:
    link = Link()
    link.start_turn()
    content = [{"type": "text", "text": "see"}, {"type": "image", "data": "AAEC", "mimeType": "image/png"}]
    item = {"type": "mcpToolCall", "id": "m1", "server": "s", "tool": "t", "status": "completed", "result": {"content": content}}  # fmt: skip
    link.tell("item/completed", item=item)
    [result] = link.items("tool_result")
    assert [type(part) for part in result.content] == [ToolResult, Image]
    assert list(link.scribe.calls.blobs.values()) == [b"\x00\x01\x02"]


def test_two_threads_on_one_process_do_not_mix() -> None:
    link = Link()
    other = link.wire.open(_start(HOME, None))
    link.answer(thread={"id": "thread-2"})
    link.tell("item/agentMessage/delta", itemId="m", delta="one")
    link.tell("item/agentMessage/delta", "thread-2", itemId="m", delta="two")
    for conversation, text in ((link.conversation, "one"), (other, "two")):
        conversation.scribe.close_background()
        done = conversation.scribe.drafts[-1].data
        assert isinstance(done, ItemCompleted)
        assert done.item.content == (Text(text),)


# -- what we do not know -----------------------------------------------------------------------


def test_no_notification_is_both_read_and_ignored() -> None:
    assert NOTIFICATIONS.keys() & IGNORED == set()


def test_unknown_messages_and_items_are_kept_unchanged() -> None:
    link = Link()
    link.tell("thread/dreamt", about="sheep")
    link.tell("item/completed", item={"type": "dream", "id": "d1"})
    assert [item.content for item in link.items("unknown")] == [
        (
            Json(
                {"method": "thread/dreamt", "params": {"threadId": THREAD, "turnId": "t1", "about": "sheep"}}
            ),
        ),
        (Json({"type": "dream", "id": "d1"}),),
    ]


@pytest.mark.parametrize(
    "method",
    ["attestation/generate", "currentTime/read", "item/tool/call", "applyPatchApproval", "thread/askedAnew"],
)
def test_an_unsupported_request_is_refused_at_once(method: str) -> None:
    link = Link()
    link.ask(method)
    error = {"message": f"{method} is not supported", "code": -32601}
    assert link.written() == [{"id": 0, "error": error}]


MCP = {"type": "mcpToolCall", "id": "x", "server": "demo", "tool": "echo", "arguments": {"path": "/a"}}
PATCH = {"type": "fileChange", "id": "x", "changes": [{"path": "/ws/a", "kind": {"type": "add"}}]}


@pytest.mark.parametrize(
    ("item", "name", "kind", "title"),
    [
        ({"type": "commandExecution", "command": "/bin/bash -lc 'ls \"a b\"'"}, "exec_command", "command", 'ls "a b"'),
        ({"type": "commandExecution", "command": "bash -lc 'oops"}, "exec_command", "command", "bash -lc 'oops"),
        ({"type": "commandExecution", "command": "git log"}, "exec_command", "command", "git log"),
        (PATCH, "apply_patch", "edit", "/ws/a"),
        (MCP, "demo.echo", "mcp", "demo/echo"),
        ({"type": "dynamicToolCall", "tool": "lookup", "arguments": {"n": 1}}, "lookup", "other", "lookup"),
        ({"type": "collabAgentToolCall", "tool": "spawnAgent", "prompt": "look"}, "spawnAgent", "task", "look"),
        ({"type": "webSearch", "query": "weather"}, "web_search", "search", "weather"),
        ({"type": "imageView", "path": "/ws/a.png"}, "view_image", "read", "/ws/a.png"),
    ],
)  # fmt: skip
def test_a_call_has_a_kind_and_a_title(item: dict[str, Any], name: str, kind: str, title: str) -> None:
    link = Link()
    link.start_turn()
    link.tell("item/completed", item={"id": "x", "status": "completed", **item})
    [call] = link.items("tool_call")
    [part] = call.content
    assert isinstance(part, ToolCall)
    assert (part.name, part.kind, part.title) == (name, kind, title)


@pytest.mark.parametrize(
    ("method", "params", "kind", "title"),
    [
        ("item/commandExecution/requestApproval", {"itemId": "c", "command": "sh -c 'rm a'"}, "command", "rm a"),
        ("item/commandExecution/requestApproval", {"itemId": "c", "networkApprovalContext": {"host": "h"}}, "fetch", "h"),
        ("item/fileChange/requestApproval", {"itemId": "x"}, "edit", "/ws/a"),
        ("item/permissions/requestApproval", {"itemId": "p", "reason": "need network"}, "other", "need network"),
        (
            "mcpServer/elicitation/request",
            {"serverName": "demo", "_meta": {"codex_approval_kind": "mcp_tool_call"}},
            "mcp",
            "demo/echo",
        ),
    ],
)  # fmt: skip
def test_a_permission_has_a_kind_and_a_title(method: str, params: Any, kind: str, title: str) -> None:
    link = Link()
    link.start_turn()
    link.tell("item/started", item=MCP if "mcp" in method else PATCH)
    link.ask(method, **params)
    asked = link.events()[-1].data
    assert isinstance(asked, PermissionRequested)
    assert asked.metadata is not None
    assert (asked.metadata.kind, asked.metadata.title) == (kind, title)


@pytest.mark.parametrize("levels", [985, 3_000, 100_000])
def test_a_request_that_is_nested_too_deep_is_refused_and_reported(levels: int) -> None:
    link = Link()
    link.start_turn()
    deep = b"[" * levels + b"]" * levels
    for frame in (
        b'{"id":7,"method":"item/permissions/requestApproval","params":{"threadId":"%b","turnId":"t1",'
        b'"itemId":"p","permissions":%b}}' % (THREAD.encode(), deep),
        b'{"method":"item/started","params":{"threadId":"%b","turnId":"t1","item":{"type":"mcpToolCall",'
        b'"id":"m","server":"s","tool":"t","arguments":%b}}}' % (THREAD.encode(), deep),
    ):
        link.wire.receive(frame)
    refusals = [json.loads(encode_frame(frame)) for frame in link.wire.outbox]
    assert [(refusal["id"], refusal["error"]["code"]) for refusal in refusals] == [(7, -32602)]
    assert [type(event.data) for event in link.events()[-2:]] == [AgentUnparsed] * 2
    assert (link.scribe.pending, link.wire._rpc.open_requests) == ({}, {})
    link.end_turn()
    assert isinstance(link.events()[-1].data, TurnEnded)


def test_a_request_of_any_depth_is_shown_or_refused() -> None:
    link = Link()
    link.start_turn()
    ends = set()
    for levels in range(850, 1_000):
        link.wire.receive(
            b'{"id":%d,"method":"item/permissions/requestApproval","params":{"threadId":"%b","turnId":"t1",'
            b'"itemId":"p","permissions":%b}}' % (levels, THREAD.encode(), b"[" * levels + b"]" * levels)
        )
        asked = str(levels) in link.scribe.pending
        assert asked == (str(levels) in link.wire._rpc.open_requests)
        ends.add((asked, len(link.wire.outbox)))
        link.wire.outbox.clear()
    assert ends == {(True, 0), (False, 1)}


_DEEP = b"[" * 3_000 + b"]" * 3_000


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        (b'{"threadId":"thread-1","turn":{"id":"t1","status":"completed","items":%b}}' % _DEEP, "end_turn"),
        (b'{"threadId":"thread-1","turn":{"id":"t1","status":"completed","durationMs":"long"}}', "end_turn"),
        (b'{"threadId":"thread-1","turn":{"id":"t1","status":"interrupted","error":7}}', "interrupted"),
        (b'{"threadId":"thread-1","turn":{"id":"t1","status":{"type":"completed"}}}', "error"),
        (b'{"threadId":"thread-1","turn":{"id":7,"status":"completed"}}', "end_turn"),
        (b'{"threadId":"thread-1","turn":"t1"}', "error"),
        (b'{"threadId":"thread-1"}', "error"),
        (b'{"threadId":["thread-1"],"turn":{"id":"t1","status":"completed"}}', "end_turn"),
        (b'["thread-1"]', "error"),
    ],
)
def test_a_turn_ends_whatever_the_shape_of_its_end(params: bytes, reason: str) -> None:
    link = Link()
    link.start_turn()
    link.wire.receive(b'{"method":"turn/completed","params":%b}' % params)
    events = [event.data for event in link.events()]
    [ended] = [data for data in events if isinstance(data, TurnEnded)]
    assert ended.metadata.stop_reason == reason
    assert len([data for data in events if isinstance(data, ErrorEvent)]) == (reason == "error")
    assert [violation for violation in violations(link.events()) if "agent.unparsed" not in violation] == []
    assert len([data for data in events if isinstance(data, AgentUnparsed)]) == 1


def test_the_end_of_another_turn_ends_nothing_whatever_its_shape() -> None:
    link = Link()
    link.start_turn()
    link.tell("turn/completed", turn={"id": "t0", "status": 7})
    link.tell("turn/completed", "elsewhere", turn=7)
    assert link.scribe.turn is not None


def test_granted_permissions_are_returned_at_any_depth() -> None:
    link = Link()
    link.start_turn()
    deep = b'{"a":' * 850 + b"1" + b"}" * 850
    link.wire.receive(
        b'{"id":7,"method":"item/permissions/requestApproval","params":{"threadId":"%b","turnId":"t1",'
        b'"itemId":"p","permissions":%b}}' % (THREAD.encode(), deep)
    )
    assert list(link.scribe.pending) == ["7"]
    _much_deeper(120, lambda: link.wire.decide(link.conversation, "7", Decision("once")))
    assert link.wire.outbox == [b'{"id":7,"result":{"permissions":%b,"scope":"turn"}}' % deep]


def _much_deeper(frames: int, then: Callable[[], None]) -> None:
    """Call it from further down the stack."""
    if frames:
        _much_deeper(frames - 1, then)
    else:
        then()


def test_threads_without_an_owner_are_bounded_and_their_requests_refused() -> None:
    threads = Threads()
    assert threads.keep("first", b"x" * 100) == []
    for n in range(MAX_ORPHANS - 1):
        assert threads.keep(f"other {n}", b"x") == []
    assert threads.keep("one more", b"y") == [b"x" * 100]
    assert threads.keep("large", b"z" * MAX_ORPHANED_BYTES)[-1] == b"y"
    link = Link()
    link.handle(
        {"id": 5, "method": "item/fileChange/requestApproval", "params": {"threadId": "lost", "itemId": "f"}}
    )
    assert link.written() == []
    for n in range(MAX_ORPHANS):
        link.tell("turn/started", thread=f"other {n}", turn={"id": "t"})
    assert link.written() == [{"id": 5, "error": {"message": "no client can answer", "code": -32601}}]


def test_a_request_of_the_wrong_shape_is_refused_and_reported() -> None:
    link = Link()
    link.start_turn()
    link.ask("item/commandExecution/requestApproval", itemId=5)
    assert link.written() == [
        {"id": 0, "error": {"message": "the request was not understood", "code": -32602}}
    ]
    assert link.events()[-1].type == "agent.unparsed"


def test_a_failing_mcp_server_is_a_status() -> None:
    link = Link()
    link.tell("mcpServer/startupStatus/updated", name="demo", status="starting", error=None)
    link.tell("mcpServer/startupStatus/updated", name="demo", status="failed", error="no such file")
    [item] = link.items("status")
    facts = {"name": "demo", "status": "failed", "error": "no such file"}
    assert item.content == (StatusPart("mcp", "no such file"), Json(facts))


FRAMES = [
    json.loads(line)["msg"]
    for path in RECORDINGS
    for line in path.read_bytes().splitlines()
    if json.loads(line)["dir"] == "out"
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def mutated(frame: Any, draw: Any) -> Any:
    """The frame with one of its values replaced, at any depth."""
    if isinstance(frame, dict) and frame and draw(st.integers(0, 4)):
        name = draw(st.sampled_from(sorted(frame)))
        return {**frame, name: mutated(frame[name], draw)}
    return draw(JSON)


@given(st.data())
def test_receive_never_raises(data: st.DataObject) -> None:
    link = Link()
    link.start_turn()
    for _ in range(3):
        frame = mutated(data.draw(st.sampled_from(FRAMES)), data.draw)
        if isinstance(frame, dict) and isinstance(frame.get("params"), dict):
            frame["params"]["threadId"] = THREAD
        link.wire.receive(json.dumps(frame).encode())
    link.wire.receive(data.draw(st.binary(max_size=20)))


@given(st.sampled_from(RECORDINGS), st.data())
def test_the_rules_hold_when_frames_are_lost(path: Path, data: st.DataObject) -> None:
    lines = path.read_bytes().splitlines()
    lost = data.draw(st.sets(st.integers(0, len(lines)), max_size=5))
    end = data.draw(st.integers(1, len(lines)))
    kept = [line for n, line in enumerate(lines[:end]) if n not in lost]
    sessions: dict[str, list[Event]] = {}
    for recorded in translate(Codex(), kept):
        event = decode_event(msgspec.json.encode(recorded.event))
        sessions.setdefault(event.session_id, []).append(event)
    assert {name: violations(events) for name, events in sessions.items()} == {name: [] for name in sessions}


# -- facts -------------------------------------------------------------------------------------


def launched(home: Path, **environ: str) -> list[str]:
    place = Place(Path("/bin/codex"), home, {"CODEX_HOME": str(home), **environ})
    return Codex().launch(place, HOME, None, False).argv[1:]


def test_a_key_in_the_environment_becomes_a_provider(tmp_path: Path) -> None:
    assert launched(tmp_path, OPENAI_API_KEY="k", OPENAI_BASE_URL="http://127.0.0.1:1/v1") == [
        "app-server",
        "-c",
        'model_provider="sandbox-agent"',
        "-c",
        'model_providers.sandbox-agent.name="OpenAI"',
        "-c",
        'model_providers.sandbox-agent.base_url="http://127.0.0.1:1/v1"',
        "-c",
        'model_providers.sandbox-agent.env_key="OPENAI_API_KEY"',
        "-c",
        'model_providers.sandbox-agent.wire_api="responses"',
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("auth.json", "{}"),
        ("config.toml", 'model_provider = "mine"'),
        ("config.toml", 'profile = "p"\n[profiles.p]\nmodel_provider = "mine"'),
        ("config.toml", 'cli_auth_credentials_store = "keyring"'),
        ("config.toml", "not toml ="),
    ],
)
def test_a_home_with_a_provider_is_left_alone(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert launched(tmp_path, OPENAI_API_KEY="k") == ["app-server"]


def test_without_a_key_codex_starts_without_overrides(tmp_path: Path) -> None:
    assert launched(tmp_path) == ["app-server"]
