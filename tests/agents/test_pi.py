"""What the recordings of Pi do not show: what we write to it, and lines it rarely sends."""

from __future__ import annotations

import base64
import itertools
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
from sandbox_agent.agents.frames import UNREADABLE, OutFrame, encode_frame
from sandbox_agent.agents.pi import EXTENSION, Pi
from sandbox_agent.agents.pi.transcript import PiConversation
from sandbox_agent.agents.pi.wire import PiWire
from sandbox_agent.agents.replacements import Replacement
from sandbox_agent.agents.scribe import Rule, Scribe
from sandbox_agent.schema.events import (
    AgentUnparsed,
    ErrorEvent,
    Event,
    ItemCompleted,
    ItemDelta,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    TurnEnded,
    TurnStarted,
    Usage,
)
from sandbox_agent.schema.features import Catalogue, Mode, Model
from sandbox_agent.schema.inputs import Answer, Attachment, Decision, McpServer, Prompt, Settings
from sandbox_agent.schema.items import (
    FileRef,
    Image,
    Item,
    Reasoning,
    StatusPart,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
)
from sandbox_agent.schema.world import counted
from sandbox_agent.session.player import translate
from sandbox_agent.testing.rules import violations

RECORDINGS = sorted((Path(__file__).parents[1] / "transcripts" / "pi").glob("*/native.jsonl"))
USAGE = {"input": 10, "output": 4, "cacheRead": 3, "cacheWrite": 2, "totalTokens": 19, "cost": {"total": 0.5}}
PERMISSION = {"toolCallId": "call_1", "toolName": "bash", "input": {"command": "ls"}}
QUESTIONS = {
    "toolCallId": "call_1",
    "questions": [
        {"question": "Which?", "header": "Colour", "options": [{"label": "Red"}], "multiSelect": True},
        {"question": "Why?"},
    ],
}


class Session:
    """A wire with an open conversation, as the runtime would hold them."""

    def __init__(self, settings: Settings | None = None, *, resume: bool = False) -> None:
        self.settings = settings or Settings("/ws", "default")
        self.scribe = Scribe(counted(itertools.count().__next__))
        self.wire = PiWire(counted())
        start = Start(self.scribe, self.settings, Pi().metadata(None, self.settings), "uuid", resume)
        conversation = self.wire.open(start)
        assert isinstance(conversation, PiConversation)
        self.conversation = conversation
        conversation.announce("daemon")

    def feed(self, type: str, **frame: Any) -> None:
        self.wire.receive(msgspec.json.encode({"type": type, **frame}))

    def written(self) -> list[dict[str, Any]]:
        lines = [msgspec.json.decode(encode_frame(frame)) for frame in self.wire.outbox]
        self.wire.outbox.clear()
        return lines

    def prompt(self, text: str = "go") -> None:
        self.scribe.start_turn()
        self.scribe.user_message(text)
        self.wire.prompt(self.conversation, Prompt(text), {})

    def update(self, type: str, index: int = 0, **more: Any) -> None:
        self.feed("message_update", assistantMessageEvent={"type": type, "contentIndex": index, **more})

    def end_message(self, content: list[Any], stop: str = "stop", **more: Any) -> None:
        message = {"role": "assistant", "content": content, "stopReason": stop, **more}
        self.feed("message_end", message=message)

    def dialog(self, id: str, method: str, title: str, **more: Any) -> None:
        self.feed("extension_ui_request", id=id, method=method, title=title, **more)

    def titled(self, id: str, method: str, prefix: str, value: Any) -> None:
        self.dialog(id, method, prefix + msgspec.json.encode(value).decode())

    def run_tool(self, id: str = "call_1", name: str = "bash", args: Any = None) -> None:
        call = {"type": "toolCall", "id": id, "name": name, "arguments": args}
        self.end_message([call], "toolUse")
        self.feed("tool_execution_start", toolCallId=id, toolName=name, args=args)

    def data(self, *kinds: type) -> list[Any]:
        return [draft.data for draft in self.scribe.drafts if isinstance(draft.data, kinds)]

    def items(self, kind: str) -> list[Item]:
        return [data.item for data in self.data(ItemCompleted) if data.item.kind == kind]

    def broken_rules(self, *, complete: bool = True) -> list[str]:
        events = [
            Event("e", n, "t", "s", None, draft.source, draft.source == "daemon", draft.data.TYPE, draft.data)
            for n, draft in enumerate(self.scribe.drafts, 1)
        ]
        return violations(events, complete=complete)


def read_back(session: Session, frames: list[OutFrame]) -> list[Action]:
    """The actions that a reader finds in lines that we wrote, on a wire that saw the same dialogs."""
    reader = PiWire(counted())
    scribe = Scribe(counted(itertools.count().__next__))
    metadata = Pi().metadata(None, session.settings)
    reader.recorded_start = lambda settings, native_id: Start(scribe, settings, metadata, native_id)
    (began,) = reader.launched(["pi", "--mode", "rpc"])
    assert isinstance(began, Began)
    assert isinstance(began.conversation, PiConversation)
    began.conversation.calls.dialogs = dict(session.conversation.calls.dialogs)
    return [action for frame in frames for action in reader.sent(encode_frame(frame))]


# -- both directions ---------------------------------------------------------------------------


def test_a_prompt_reads_back_as_the_same_prompt() -> None:
    session = Session()
    session.written()
    session.wire.prompt(session.conversation, Prompt("hello"), {})
    (action,) = read_back(session, session.wire.outbox)
    assert isinstance(action, Prompted)
    assert action.prompt == Prompt("hello")


def test_images_are_sent_as_base64_and_other_files_by_path() -> None:
    session = Session()
    session.written()
    prompt = Prompt("look", (Attachment("/ws/a.png"), Attachment("/ws/notes.txt")))
    assert session.wire.wants(prompt) == ("/ws/a.png",)
    session.wire.prompt(session.conversation, prompt, {"/ws/a.png": b"picture"})
    (action,) = read_back(session, session.wire.outbox)
    assert isinstance(action, Prompted)
    assert [file.mime for file in action.prompt.attachments] == ["image/png"]
    (line,) = session.written()
    assert line == {
        "type": "prompt",
        "id": "sa2",
        "message": "look\n\nAttached files:\n- /ws/notes.txt",
        "images": [{"type": "image", "data": base64.b64encode(b"picture").decode(), "mimeType": "image/png"}],
    }


@pytest.mark.parametrize(
    "decision",
    [Decision("once"), Decision("always"), Decision("reject"), Decision("reject", "not: this one")],
)
def test_a_decision_reads_back_as_the_same_decision(decision: Decision) -> None:
    session = Session()
    session.titled("d1", "select", "permission:", PERMISSION)
    dialogs = read_back_dialogs(session)
    session.written()
    session.wire.decide(session.conversation, "d1", decision)
    (action,) = read_back(dialogs, session.wire.outbox)
    assert isinstance(action, Decided)
    assert (action.key, action.decision) == ("d1", decision)


@pytest.mark.parametrize("answers", [(("Red", "Blue"), ("because",)), ((), ()), None])
def test_answers_to_our_questions_read_back_the_same(answers: tuple[tuple[str, ...], ...] | None) -> None:
    session = Session()
    session.titled("d1", "input", "question:", QUESTIONS)
    dialogs = read_back_dialogs(session)
    session.written()
    session.wire.answer(session.conversation, "d1", Answer(answers))
    (action,) = read_back(dialogs, session.wire.outbox)
    assert isinstance(action, Answered)
    assert (action.key, action.answer) == ("d1", Answer(answers))


@pytest.mark.parametrize(
    ("method", "answer", "reply"),
    [
        ("select", (("Red",),), {"value": "Red"}),
        ("input", (("any text",),), {"value": "any text"}),
        ("editor", (("two\nlines",),), {"value": "two\nlines"}),
        ("confirm", (("yes",),), {"confirmed": True}),
        ("confirm", (("no",),), {"confirmed": False}),
        ("confirm", None, {"cancelled": True}),
    ],
)
def test_dialogs_of_other_extensions_are_questions(
    method: str, answer: tuple[tuple[str, ...], ...] | None, reply: dict[str, Any]
) -> None:
    session = Session()
    session.dialog("d1", method, "Colour?", options=["Red", "Blue"])
    dialogs = read_back_dialogs(session)
    session.written()
    session.wire.answer(session.conversation, "d1", Answer(answer))
    (action,) = read_back(dialogs, session.wire.outbox)
    assert isinstance(action, Answered)
    assert action.answer == Answer(answer)
    assert session.written() == [{"type": "extension_ui_response", "id": "d1", **reply}]


def read_back_dialogs(session: Session) -> Session:
    """The same dialogs, before any of them is answered."""
    other = Session()
    other.conversation.calls.dialogs = dict(session.conversation.calls.dialogs)
    return other


def test_a_cancel_empties_the_queue_and_answers_all_dialogs() -> None:
    session = Session()
    session.prompt()
    session.dialog("d1", "select", "Colour?", options=["Red"])
    session.written()
    session.wire.cancel(session.conversation)
    actions = read_back(read_back_dialogs(session), session.wire.outbox[:2])
    assert [type(action) for action in actions] == [Cancelled]
    assert [(line["type"], line.get("cancelled")) for line in session.written()] == [
        ("clear_queue", None),
        ("abort", None),
        ("extension_ui_response", True),
    ]


def test_a_model_and_a_level_are_switched_while_it_runs() -> None:
    session = Session(Settings("/ws", "default", model="p/a", variant="low"))
    session.written()
    changed = Settings("/ws", "default", model="p/org/b", variant="high")
    assert session.wire.configure(session.conversation, changed)
    assert session.conversation.settings == changed
    assert session.written() == [
        {"type": "set_model", "provider": "p", "modelId": "org/b", "id": "sa2"},
        {"type": "set_thinking_level", "level": "high", "id": "sa3"},
    ]


@pytest.mark.parametrize(
    "changed",
    [
        Settings("/ws", "default", model="half-a-name"),
        Settings("/ws", "default", model=None),
        Settings("/ws", "default", model="p/a", mcp={"demo": McpServer("demo")}),
    ],
)
def test_settings_that_cannot_be_switched_need_a_new_process(changed: Settings) -> None:
    session = Session(Settings("/ws", "default", model="p/a"))
    session.written()
    assert not session.wire.configure(session.conversation, changed)
    assert session.written() == []


# -- starting ----------------------------------------------------------------------------------


def state(messages: int) -> dict[str, Any]:
    model = {"id": "m", "provider": "p", "name": "M", "reasoning": True}
    return {"sessionId": "uuid-2", "model": model, "thinkingLevel": "low", "messageCount": messages}


def test_a_conversation_is_open_when_its_state_arrives() -> None:
    session = Session()
    assert session.written() == [{"type": "get_state", "id": "sa1"}]
    session.feed("response", id="sa1", command="get_state", success=True, data=state(0))
    assert session.wire.notices == [Ready(session.conversation)]
    assert session.conversation.native_id == "uuid-2"


def test_an_empty_session_in_place_of_the_old_one_means_it_is_lost() -> None:
    session = Session(resume=True)
    session.feed("response", id="sa1", command="get_state", success=True, data=state(0))
    (notice,) = session.wire.notices
    assert isinstance(notice, StartFailed)
    assert notice.gone


def test_a_session_with_messages_is_resumed() -> None:
    session = Session(resume=True)
    session.feed("response", id="sa1", command="get_state", success=True, data=state(2))
    assert session.wire.notices == [Ready(session.conversation)]


def test_the_first_line_of_a_one_shot_run_names_the_session() -> None:
    session = Session()
    session.feed("session", version=3, id="another", timestamp="2026-01-01T00:00:00Z", cwd="/ws")
    assert (session.conversation.native_id, session.data(ItemCompleted)) == ("another", [])


def test_the_catalogue_has_the_levels_of_each_model() -> None:
    wire = PiWire(counted())
    wire.list_catalogue("/ws")
    models = [
        {
            "id": "m",
            "provider": "p",
            "name": "M",
            "reasoning": True,
            "thinkingLevelMap": {"max": "x", "off": None},
        },
        {"id": "o/n", "provider": "p"},
    ]
    for id, command, data in (
        ("sa1", "get_state", state(0)),
        ("sa2", "get_available_models", {"models": models}),
    ):
        frame = {"type": "response", "id": id, "command": command, "success": True, "data": data}
        wire.receive(msgspec.json.encode(frame))
    levels = ("minimal", "low", "medium", "high", "max")
    listed = (Model("p/m", "M", levels, "low"), Model("p/o/n"))
    modes = (Mode("default", "Default", "Write code and run commands."),)
    assert wire.notices == [Listed(Catalogue(listed, modes, "p/m"))]


def test_the_unknown_model_is_never_reported() -> None:
    """Without configuration, Pi reports the model `unknown` of the provider `unknown`."""
    nothing = {"id": "unknown", "provider": "unknown", "name": "unknown"}
    wire = PiWire(counted())
    wire.list_catalogue("/ws")
    for request, data in zip(
        [msgspec.json.decode(encode_frame(frame)) for frame in wire.outbox],
        ({"sessionId": "u", "model": nothing}, {"commands": []}, {"models": []}),
        strict=True,
    ):
        response = {"type": "response", "command": request["type"], "success": True, "data": data}
        wire.receive(msgspec.json.encode({**response, "id": request["id"]}))
    assert wire.notices == [Listed(Catalogue((), Pi.modes))]

    session = Session()
    session.feed(
        "response", command="get_state", success=True, data={"sessionId": "u", "model": nothing}, id="sa1"
    )
    assert session.scribe.used is None or session.scribe.used.model is None


def recorded(*lines: tuple[str, Any]) -> list[tuple[str, str | None, str]]:
    """Session, native id and text of each user message in a recording."""
    text = (
        msgspec.json.encode({"dir": dir, "t": float(n), "msg": msg}) for n, (dir, msg) in enumerate(lines)
    )
    return [
        (played.event.session_id, played.event.native_session_id, played.event.data.item.content[0].text)
        for played in translate(Pi(), text)
        if isinstance(played.event.data, ItemCompleted)
        and played.event.data.item.role == "user"
        and isinstance(played.event.data.item.content[0], Text)
    ]


def answered(command: str, id: str, success: bool = True, **data: Any) -> tuple[str, Any]:
    return "out", {"type": "response", "command": command, "id": id, "success": success, "data": data}


def prompted(text: str) -> list[tuple[str, Any]]:
    return [
        ("in", {"type": "prompt", "id": "p", "message": text}),
        answered("prompt", "p", disposition="started"),
        ("out", {"type": "agent_start"}),
        ("out", {"type": "message_end", "message": {"role": "user", "content": text}}),
        ("out", {"type": "agent_settled", "aborted": False}),
    ]


def state_of(id: str) -> list[tuple[str, Any]]:
    return [("in", {"type": "get_state", "id": "s"}), answered("get_state", "s", sessionId=id)]


NEW_SESSION = ("in", {"type": "new_session", "id": "n"})
BACK = ("in", {"type": "switch_session", "id": "b", "sessionPath": "/pi/2026-11-16T12-12-17-674Z_a_1.jsonl"})


@pytest.mark.parametrize("argv", [[("cmd", ["pi", "--mode", "rpc"])], []])
def test_a_recorded_client_can_switch_sessions(argv: list[tuple[str, Any]]) -> None:
    lines = [
        *argv,
        *state_of("a_1"),
        *prompted("one"),
        NEW_SESSION,
        answered("new_session", "n", cancelled=False),
    ]
    lines += [*state_of("b"), *prompted("two"), BACK, answered("switch_session", "b", cancelled=False)]
    lines += prompted("three")
    assert recorded(*lines) == [("ses_1", "a_1", "one"), ("ses_2", "b", "two"), ("ses_1", "a_1", "three")]


@pytest.mark.parametrize("refused", [{"cancelled": True}, {"success": False}])
def test_a_switch_that_does_not_happen_changes_nothing(refused: dict[str, Any]) -> None:
    lines = [
        *state_of("a"),
        *prompted("one"),
        NEW_SESSION,
        answered("new_session", "n", **refused),
        *prompted("two"),
    ]
    assert recorded(*lines) == [("ses_1", "a", "one"), ("ses_1", "a", "two")]


@pytest.mark.parametrize("named", ["/pi/2026-11-16T12-12-17-674Z_a_1.jsonl", "a_1"])
def test_a_process_started_with_a_session_continues_it(named: str) -> None:
    lines = [
        ("cmd", ["pi", "--mode", "rpc"]),
        *state_of("a_1"),
        *prompted("one"),
        ("exit", {"returncode": 0}),
    ]
    lines += [("cmd", ["pi", "--mode", "rpc", "--session", named]), *prompted("two")]
    assert recorded(*lines) == [("ses_1", "a_1", "one"), ("ses_1", "a_1", "two")]


def test_a_catalogue_that_cannot_be_listed_says_why() -> None:
    wire = PiWire(counted())
    wire.list_catalogue("/ws")
    wire.receive(
        b'{"type":"response","id":"sa2","command":"get_available_models","success":false,"error":"no"}'
    )
    assert wire.notices == [ListFailed("no")]


def test_the_command_line_names_the_session_the_model_and_our_extension() -> None:
    place = Place(Path("/bin/pi"), Path("/data"), {})
    settings = Settings("/ws", "default", model="p/m", variant="high")
    launch = Pi().launch(place, settings, "uuid", resume=True)
    model = ["--model", "p/m", "--thinking", "high"]
    assert launch.argv == ["/bin/pi", "--mode", "rpc", "-e", str(EXTENSION), "--session-id", "uuid", *model]
    assert EXTENSION.is_file()
    assert launch.files == {}


def test_mcp_servers_are_given_in_a_private_file_to_our_extension() -> None:
    place = Place(Path("/bin/pi"), Path("/data"), {})
    servers = {
        "a": McpServer("demo", ("-x",), {"KEY": "secret"}),
        "b": McpServer(url="http://b/mcp", headers={"X": "y"}),
    }
    launch = Pi().launch(place, Settings("/ws", "default", mcp=servers), "uuid", resume=False)
    ((path, content),) = launch.files.items()
    assert launch.env["SANDBOX_AGENT_PI_MCP"] == path == "/data/launch/pi-uuid.mcp.json"
    assert "secret" not in " ".join([*launch.argv, *launch.env.values()])
    assert msgspec.json.decode(content) == {
        "a": {"exposure": "direct", "command": "demo", "args": ["-x"], "env": {"KEY": "secret"}},
        "b": {"exposure": "direct", "url": "http://b/mcp", "headers": {"X": "y"}},
    }


# -- permissions and questions ------------------------------------------------------------------


def test_a_command_asks_for_itself_and_an_edit_for_its_file() -> None:
    session = Session()
    session.prompt()
    session.run_tool(args={"command": "ls"})
    session.titled("d1", "select", "permission:", PERMISSION)
    edit = {"path": "a.py", "edits": [{"oldText": "one\n", "newText": "two\n"}]}
    session.titled("d2", "select", "permission:", {"toolCallId": "call_2", "toolName": "edit", "input": edit})
    command, change = (session.scribe.pending[key].ask for key in ("d1", "d2"))
    assert command is not None
    assert change is not None
    assert (command.kind, command.needs, command.always) == (
        "command",
        (Rule("bash", "ls"),),
        (Rule("bash", "ls"),),
    )
    assert (change.kind, change.paths, change.needs, change.always) == (
        "edit",
        ("a.py",),
        (Rule("edit", "a.py"),),
        (Rule("edit"),),
    )
    assert change.replacements == (Replacement("a.py", "one\n", "two\n"),)


@pytest.mark.parametrize(
    ("tool", "given", "kind", "title"),
    [
        ("bash", {"command": "ls -l"}, "command", "ls -l"),
        ("edit", {"path": "a.py", "edits": []}, "edit", "a.py"),
        ("read", {"path": "a.py"}, "read", "a.py"),
        ("grep", {"pattern": "def", "path": "src"}, "search", "def"),
        ("mcp__demo__add", {"a": 2}, "mcp", "demo/add"),
        ("ask_user", {"questions": []}, "other", "ask_user"),
    ],
)
def test_a_call_and_its_permission_have_a_kind_and_a_title(
    tool: str, given: dict[str, Any], kind: ToolKind, title: str
) -> None:
    session = Session()
    session.prompt()
    session.run_tool(name=tool, args=given)
    session.titled("d1", "select", "permission:", {"toolCallId": "call_1", "toolName": tool, "input": given})
    (call,) = session.items("tool_call")
    assert call.content == (ToolCall(tool, msgspec.json.encode(given).decode(), "call_1", kind, title),)
    (asked,) = session.data(PermissionRequested)
    assert (asked.metadata.kind, asked.metadata.title) == (kind, title)


def test_bypass_asks_nothing() -> None:
    session = Session(Settings("/ws", "default", "bypass"))
    session.prompt()
    session.written()
    session.titled("d1", "select", "permission:", PERMISSION)
    assert session.written() == [{"type": "extension_ui_response", "id": "d1", "value": "once"}]
    session.titled("d2", "input", "question:", QUESTIONS)
    assert list(session.scribe.pending) == ["d2"]
    assert session.wire.configure(session.conversation, Settings("/ws", "default"))
    session.titled("d3", "select", "permission:", PERMISSION)
    assert list(session.scribe.pending) == ["d2", "d3"]
    assert len(session.data(PermissionRequested)) == 1


def test_blocks_of_a_result_are_joined_as_the_model_reads_them() -> None:
    session = Session()
    session.prompt()
    session.run_tool(name="mcp__demo__list")
    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    session.feed(
        "tool_execution_end", toolCallId="call_1", toolName="mcp__demo__list", result={"content": blocks}
    )
    (result,) = session.items("tool_result")
    assert result.content == (ToolResult("call_1", "one\ntwo"),)


def test_a_permission_too_deep_to_be_written_is_refused() -> None:
    """Some depths can still be read, but no longer written."""
    refused = 0
    for depth in range(800, 1100):
        session = Session()
        session.prompt()
        session.written()
        deep = "[" * depth + "]" * depth
        title = f'permission:{{"toolCallId":"call_1","toolName":"bash","input":{deep}}}'
        session.dialog("d1", "select", title)
        written = session.written()
        assert len(session.scribe.pending) + len(written) == 1
        assert [draft.type for draft in session.scribe.drafts].count("agent.unparsed") == len(written)
        if written:
            reply = {"type": "extension_ui_response", "id": "d1", "value": f"reject:{UNREADABLE}"}
            assert written == [reply]
            refused += 1
    assert 0 < refused < 300


def test_a_dialog_of_an_unknown_shape_is_cancelled() -> None:
    session = Session()
    session.written()
    session.dialog("d1", "select", "Which?", options=7)
    assert session.written() == [{"type": "extension_ui_response", "id": "d1", "cancelled": True}]
    assert len(session.data(AgentUnparsed)) == 1


def test_a_permission_that_pi_does_not_wait_for_is_withdrawn_with_its_call() -> None:
    session = Session()
    session.prompt()
    session.run_tool(args={"command": "ls"})
    session.titled("d1", "select", "permission:", PERMISSION)
    aborted = {"content": [{"type": "text", "text": "aborted"}]}
    session.feed("tool_execution_end", toolCallId="call_1", toolName="bash", result=aborted, isError=True)
    (resolved,) = session.data(PermissionResolved)
    assert resolved.status == "reject"
    assert resolved.metadata.decided_by == "agent"


def test_our_questions_keep_their_options_and_their_call() -> None:
    session = Session()
    session.prompt()
    session.run_tool(name="ask_user", args={})
    session.titled("d1", "input", "question:", QUESTIONS)
    (asked,) = session.data(QuestionRequested)
    assert (asked.prompt, asked.options, asked.metadata.call_id) == ("Which?", ("Red",), "call_1")
    assert [(question.question, question.multi_select) for question in asked.metadata.questions] == [
        ("Which?", True),
        ("Why?", False),
    ]


def test_a_title_that_only_looks_like_ours_is_a_plain_question() -> None:
    session = Session()
    session.prompt()
    session.dialog("d1", "select", "permission: may I?", options=["yes"])
    (asked,) = session.data(QuestionRequested)
    assert asked.prompt == "permission: may I?"


# -- messages and turns -------------------------------------------------------------------------


def settle(session: Session, aborted: bool = False) -> TurnEnded:
    session.feed("agent_settled", aborted=aborted)
    ended: TurnEnded = session.data(TurnEnded)[-1]
    return ended


def test_a_turn_counts_cached_input_tools_and_compaction() -> None:
    session = Session()
    session.prompt()
    session.end_message([{"type": "text", "text": "hi"}], usage=USAGE)
    session.feed(
        "message_end", message={"role": "toolResult", "toolCallId": "x", "content": [], "usage": USAGE}
    )
    session.feed("compaction_end", reason="threshold", result={"summary": "s", "usage": USAGE})
    assert settle(session).metadata.usage == Usage(45, 12, 9, 6, None, 1.5, context_tokens=19)


def test_a_call_cut_off_by_a_failed_attempt_fails_at_once() -> None:
    session = Session()
    session.prompt()
    session.feed("agent_start")
    session.feed("message_start", message={"role": "assistant", "content": []})
    session.update("text_delta", 0, delta="I will")
    session.update("toolcall_start", 1, id="call_1", toolName="bash")
    session.update("toolcall_delta", 1, delta='{"comm')
    session.end_message([{"type": "text", "text": "I will"}], "error", errorMessage="terminated")
    (call,) = session.items("tool_call")
    (result,) = session.items("tool_result")
    assert (call.status, call.content) == (
        "failed",
        (ToolCall("bash", '{"comm', "call_1", "command", "bash"),),
    )
    assert (result.status, result.parent_id) == ("failed", call.parent_id)
    session.feed("agent_end", willRetry=True)
    session.end_message([{"type": "text", "text": "again"}])
    assert settle(session).metadata.stop_reason == "end_turn"
    assert session.data(ErrorEvent) == []
    assert session.broken_rules() == []


def test_redacted_thinking_is_private() -> None:
    """It is not streamed, and only the whole message shows what it is."""
    session = Session()
    session.prompt()
    hidden = "[Reasoning redacted]"
    session.feed("message_start", message={"role": "assistant"})
    session.update("thinking_start", 0)
    session.update("thinking_end", 0, content=hidden)
    session.update("text_start", 1)
    session.update("text_delta", 1, delta="yes")
    session.update("text_end", 1, content="yes")
    redacted = {"type": "thinking", "thinking": hidden, "redacted": True}
    session.end_message([redacted, {"type": "text", "text": "yes"}])
    session.feed("agent_settled", aborted=False)
    contents = [item.content for item in session.items("message") if item.role == "assistant"]
    assert contents == [(Reasoning(hidden, "private"),), (Text("yes"),)]
    assert session.broken_rules() == []


def test_thinking_is_complete_when_another_block_begins() -> None:
    session = Session()
    session.prompt()
    session.feed("message_start", message={"role": "assistant", "content": []})
    session.update("thinking_delta", 0, delta="hm")
    session.update("thinking_end", 0, content="hm")
    assert len(session.items("message")) == 1  # only the prompt
    session.update("text_start", 1)
    assert session.items("message")[-1].content == (Reasoning("hm", "public"),)
    session.update("text_delta", 1, delta="yes")
    session.end_message([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}], "aborted")
    thought, text = session.items("message")[1:]
    assert (thought.status, text.status) == ("completed", "failed")
    assert settle(session, aborted=True).metadata.stop_reason == "interrupted"
    assert session.broken_rules() == []


def test_text_that_was_not_streamed_gets_one_synthetic_delta() -> None:
    session = Session()
    session.prompt()
    session.end_message([{"type": "text", "text": "whole"}, {"type": "text", "text": ""}])
    assert [delta.delta for delta in session.data(ItemDelta)] == ["go", "whole"]
    settle(session)
    assert session.broken_rules() == []


def test_a_refusal_is_one_error_with_its_own_stop_reason() -> None:
    session = Session()
    session.prompt()
    session.end_message([], "error", errorMessage="The model refused", rawStopReason="refusal")
    assert settle(session).metadata.stop_reason == "refusal"
    assert session.data(ErrorEvent) == [ErrorEvent("The model refused", "refusal")]


def test_errors_left_by_an_abort_are_ignored() -> None:
    session = Session()
    session.prompt()
    session.conversation.cancelling = True
    session.end_message([], "error", errorMessage="This operation was aborted")
    assert settle(session).metadata.stop_reason == "interrupted"
    assert session.data(ErrorEvent) == []


def test_a_prompt_that_begins_with_a_slash_is_text_to_pi_and_a_command_is_not() -> None:
    session = Session()
    session.written()
    session.wire.prompt(session.conversation, Prompt("/plan it"), {})
    session.wire.prompt(session.conversation, Prompt("/plan it", command=True), {})
    assert [command["message"] for command in session.written()] == [" /plan it", "/plan it"]


def compact(session: Session) -> None:
    session.scribe.start_turn()
    session.wire.prompt(session.conversation, Prompt("/compact the rest", command=True), {})


def test_a_turn_that_compacts_ends_with_the_compaction() -> None:
    session = Session()
    session.written()
    compact(session)
    (asked,) = session.written()
    assert (asked["type"], asked["customInstructions"]) == ("compact", "the rest")
    session.feed("compaction_start", reason="manual")
    session.feed("compaction_end", reason="manual", aborted=False, willRetry=False)
    session.feed("response", id=asked["id"], command="compact", success=True, data={})
    (ended,) = session.data(TurnEnded)
    assert ended.metadata.stop_reason == "end_turn"


def test_a_refused_compaction_is_one_error() -> None:
    session = Session()
    compact(session)
    failed = {"reason": "manual", "aborted": False, "willRetry": False, "errorMessage": "Nothing to compact"}
    session.feed("compaction_end", **failed)
    session.feed("response", id="sa2", command="compact", success=False, error="Nothing to compact")
    (error,) = session.data(ErrorEvent)
    (ended,) = session.data(TurnEnded)
    assert (error.message, ended.metadata.stop_reason) == ("Nothing to compact", "error")


def test_a_refused_prompt_ends_its_turn() -> None:
    session = Session()
    session.prompt()
    session.feed("response", id="sa2", command="prompt", success=False, error="No API key found for p")
    (error,) = session.data(ErrorEvent)
    (ended,) = session.data(TurnEnded)
    assert (error.code, ended.metadata.stop_reason) == ("authentication_failed", "error")


def test_a_command_that_starts_the_agent_ends_with_the_agent() -> None:
    session = Session()
    session.prompt("/plan")
    session.feed("agent_start")
    session.feed("response", id="sa2", command="prompt", success=True, data={"disposition": "handled"})
    assert session.data(TurnEnded) == []
    assert settle(session).metadata.stop_reason == "end_turn"


def test_an_agent_that_wakes_up_by_itself_opens_a_turn_of_its_own() -> None:
    session = Session()
    session.feed("agent_start")
    session.feed("message_end", message={"role": "user", "content": "typed elsewhere"})
    session.end_message([{"type": "text", "text": "ok"}])
    settle(session)
    sources = [draft.source for draft in session.scribe.drafts if isinstance(draft.data, TurnStarted)]
    assert sources == ["agent"]
    assert [item.content for item in session.items("message")] == [(Text("typed elsewhere"),), (Text("ok"),)]
    assert session.broken_rules() == []


def test_a_version_without_settling_ends_its_turn_with_the_agent() -> None:
    session = Session()
    session.prompt()
    session.end_message([{"type": "text", "text": "ok"}])
    session.feed("agent_end", messages=[])
    assert [end.metadata.stop_reason for end in session.data(TurnEnded)] == ["end_turn"]


def test_injected_text_is_a_status() -> None:
    session = Session()
    session.prompt()
    message = {"role": "custom", "customType": "note", "content": "remember", "display": True}
    session.feed("message_end", message=message)
    (status,) = session.items("status")
    assert status.content[0] == StatusPart("injected", "note")


def test_an_unknown_type_is_kept_and_a_wrong_shape_is_reported() -> None:
    session = Session()
    session.feed("brand_new", fact=1)
    assert len(session.items("unknown")) == 1
    session.feed("tool_execution_start", toolCallId=7)
    assert session.broken_rules(complete=False) != []


# -- tools -------------------------------------------------------------------------------------


def test_repeated_call_ids_get_separate_results() -> None:
    session = Session()
    session.prompt()
    for output in ("one", "two"):
        session.run_tool(args={"command": "ls"})
        result = {"content": [{"type": "text", "text": output}], "structuredContent": {"exit_code": 0}}
        session.feed("tool_execution_end", toolCallId="call_1", toolName="bash", result=result)
    assert [item.content[0] for item in session.items("tool_result")] == [
        ToolResult("call_1", "one", 0),
        ToolResult("call_1#2", "two", 0),
    ]
    settle(session)
    assert session.broken_rules() == []


def test_calls_made_by_a_tool_belong_to_its_call() -> None:
    session = Session()
    session.prompt()
    session.run_tool("call_1", "codemode", {"code": "…"})
    inner = {"toolCallId": "call_1/1", "toolName": "read", "args": {"path": "a"}}
    session.feed("tool_execution_start", **inner, parentToolCallId="call_1")
    session.feed("tool_execution_end", toolCallId="call_1/1", toolName="read", result={"content": []})
    outer, nested = session.items("tool_call")
    assert nested.parent_id == outer.item_id
    settle(session)
    assert session.broken_rules() == []


def test_a_truncated_preview_continues_where_it_was() -> None:
    session = Session()
    session.prompt()
    session.run_tool(args={"command": "seq"})
    counted = "".join(f"{n}\n" for n in range(200))
    for text in (counted, f"{counted}200\n", f"{counted[100:]}200\n201\n", "something else"):
        content = [{"type": "text", "text": text}]
        session.feed("tool_execution_update", toolCallId="call_1", partialResult={"content": content})
    previews = [data.delta for data in session.data(ItemDelta)][1:]
    assert previews == [counted, "200\n", "201\n", "something else"]


def test_changes_and_images_accompany_the_output() -> None:
    session = Session()
    session.prompt()
    session.run_tool("call_1", "edit", {"path": "a.py", "edits": []})
    edited = {
        "content": [{"type": "text", "text": "ok"}],
        "details": {"patch": "--- a.py\n+++ a.py\n@@ -1,1 +1,1 @@\n-a\n+b\n"},
    }
    session.feed("tool_execution_end", toolCallId="call_1", toolName="edit", result=edited)
    session.run_tool("call_2", "read", {"path": "a.png"})
    picture = {"type": "image", "data": base64.b64encode(b"picture").decode(), "mimeType": "image/png"}
    session.feed("tool_execution_end", toolCallId="call_2", toolName="read", result={"content": [picture]})
    change, image = (item.content[1] for item in session.items("tool_result"))
    assert change == FileRef("a.py", "patch", diff="--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n")
    assert isinstance(image, Image)
    assert session.scribe.calls.blobs[image.path] == b"picture"


# -- invalid lines -----------------------------------------------------------------------------


def recorded_lines() -> list[bytes]:
    return [
        line
        for case in RECORDINGS
        for line in case.read_bytes().splitlines()
        if msgspec.json.decode(line)["dir"] == "out" and len(line) < 4_000
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.tuples(st.sampled_from(recorded_lines()), JSON, st.integers(0, 20)), max_size=8))
def test_no_line_breaks_the_wire(changed: list[tuple[bytes, Any, int]]) -> None:
    session = Session()
    session.prompt()
    for line, value, place in changed:
        frame = msgspec.json.decode(line)["msg"]
        names = list(frame)
        frame[names[place % len(names)]] = value
        session.wire.receive(msgspec.json.encode(frame))
        session.wire.receive(msgspec.json.encode(value))
    session.scribe.end_session("terminated")
    assert [violation for violation in session.broken_rules() if "agent.unparsed" not in violation] == []
