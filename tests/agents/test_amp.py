"""What the recordings of Amp do not show: what we write to it, how it is started, and how its delegate asks."""

from __future__ import annotations

import base64
import itertools
import json
import socket
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_agent.agents.amp import Amp, user_settings
from sandbox_agent.agents.amp.modes import ASK_USER
from sandbox_agent.agents.amp.transcript import AmpConversation
from sandbox_agent.agents.amp.wire import AmpWire
from sandbox_agent.agents.base import (
    Action,
    Answered,
    Began,
    Decided,
    Ending,
    Launch,
    Place,
    Prompted,
    Ready,
    Start,
)
from sandbox_agent.agents.failures import Failure
from sandbox_agent.agents.frames import UNREADABLE, DelegateAsk, DelegateReply, OutFrame, encode_frame
from sandbox_agent.agents.replacements import Replacement
from sandbox_agent.agents.scribe import Rule, Scribe
from sandbox_agent.schema.events import (
    AgentUnparsed,
    ErrorEvent,
    Event,
    ItemCompleted,
    PermissionRequested,
    QuestionRequested,
    QuestionResolved,
    TurnEnded,
    TurnStarted,
    Usage,
)
from sandbox_agent.schema.inputs import Answer, Attachment, Decision, McpServer, Prompt, Settings
from sandbox_agent.schema.items import FileRef, Image, Item, Text, ToolCall, ToolKind, ToolResult
from sandbox_agent.schema.world import counted, look
from sandbox_agent.testing.rules import violations

RECORDINGS = sorted((Path(__file__).parents[1] / "transcripts" / "amp").glob("*/native.jsonl"))
BASH = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"cmd": "ls"}}


class Session:
    """A wire with an open conversation, as the runtime would hold them."""

    def __init__(self, settings: Settings | None = None, *, resumed: bool = False) -> None:
        self.settings = settings or Settings("/ws")
        world = counted(itertools.count().__next__)
        if Path(self.settings.directory).is_dir():
            world = msgspec.structs.replace(world, look=look)
        self.scribe = Scribe(world)
        self.wire = AmpWire(counted())
        metadata = Amp().metadata(None, self.settings)
        conversation = self.wire.open(Start(self.scribe, self.settings, metadata, "T-1", resumed))
        assert isinstance(conversation, AmpConversation)
        self.conversation = conversation
        conversation.announce("daemon")

    def feed(self, type: str, **frame: Any) -> None:
        self.wire.receive(msgspec.json.encode({"type": type, **frame}))

    def asked(self, id: str, **question: Any) -> None:
        self.wire.receive(DelegateAsk(id, msgspec.json.encode(question)))

    def prompt(self, text: str = "go") -> None:
        self.scribe.start_turn()
        self.scribe.user_message(text)
        self.wire.prompt(self.conversation, Prompt(text), {})
        self.wire.outbox.clear()

    def say(
        self, *content: Any, stop: str | None = "end_turn", parent: str | None = None, **more: Any
    ) -> None:
        message = {"role": "assistant", "content": content, "stop_reason": stop, **more}
        self.feed("assistant", message=message, parent_tool_use_id=parent)

    def tell(self, *content: Any, parent: str | None = None) -> None:
        self.feed("user", message={"role": "user", "content": content}, parent_tool_use_id=parent)

    def data(self, *kinds: type[Any]) -> list[Any]:
        types = {kind.TYPE for kind in kinds}
        return [draft.data for draft in self.scribe.drafts if draft.type in types]

    def items(self, kind: str) -> list[Item]:
        return [data.item for data in self.data(ItemCompleted) if data.item.kind == kind]

    def broken_rules(self) -> list[str]:
        events = [
            Event("e", n, "t", "s", None, draft.source, draft.source == "daemon", draft.data.TYPE, draft.data)
            for n, draft in enumerate(self.scribe.drafts, 1)
        ]
        return violations(events)


def text(content: str) -> dict[str, str]:
    return {"type": "text", "text": content}


def result(content: Any, id: str = "toolu_1", *, failed: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed}


def read_back(frames: list[OutFrame]) -> list[Action]:
    reader = AmpWire(counted())
    scribe = Scribe(counted(itertools.count().__next__))
    metadata = Amp().metadata(None, Settings("/"))
    reader.recorded_start = lambda settings, native_id: Start(scribe, settings, metadata, native_id)
    (began,) = reader.launched(["amp", "-x", "--stream-json", "--stream-json-input"])
    assert isinstance(began, Began)
    return [action for frame in frames for action in reader.sent(encode_frame(frame))]


# -- both directions ---------------------------------------------------------------------------


def test_a_prompt_reads_back_as_the_same_prompt() -> None:
    session = Session()
    session.wire.prompt(session.conversation, Prompt("hello"), {})
    (action,) = read_back(session.wire.outbox)
    assert isinstance(action, Prompted)
    assert action.prompt == Prompt("hello")
    (line,) = session.wire.outbox
    content = [{"type": "text", "text": "hello"}]
    assert msgspec.json.decode(encode_frame(line)) == {
        "type": "user",
        "message": {"role": "user", "content": content},
    }


def test_a_prompt_that_amp_refuses_for_its_format_is_a_prompt() -> None:
    (action,) = read_back([b'{"type":"user","message":{"role":"user","content":"hello"}}'])
    assert isinstance(action, Prompted)
    assert action.prompt == Prompt("hello")


def test_images_are_sent_as_base64_and_other_files_by_path() -> None:
    session = Session()
    prompt = Prompt("look", (Attachment("/ws/a.png"), Attachment("/ws/notes.txt")))
    assert session.wire.wants(prompt) == ("/ws/a.png",)
    session.wire.prompt(session.conversation, prompt, {"/ws/a.png": b"picture"})
    (action,) = read_back(session.wire.outbox)
    assert isinstance(action, Prompted)
    assert [file.mime for file in action.prompt.attachments] == ["image/png"]
    data = base64.b64encode(b"picture").decode()
    assert msgspec.json.decode(encode_frame(session.wire.outbox[0]))["message"]["content"] == [
        {"type": "text", "text": "look\n\nAttached file: /ws/notes.txt"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
    ]


@pytest.mark.parametrize("decision", [Decision("once"), Decision("reject"), Decision("reject", "not this")])
def test_a_decision_reads_back_as_the_same_decision(decision: Decision) -> None:
    session = Session()
    session.wire.decide(session.conversation, "d1", decision)
    (action,) = read_back(session.wire.outbox)
    assert isinstance(action, Decided)
    assert (action.key, action.decision) == ("d1", decision)


def test_always_is_sent_as_once_because_the_daemon_remembers_it() -> None:
    session = Session()
    session.wire.decide(session.conversation, "d1", Decision("always"))
    assert session.wire.outbox == [DelegateReply("d1", allow=True)]


def test_a_cancel_writes_nothing_because_a_signal_follows() -> None:
    session = Session()
    session.wire.cancel(session.conversation)
    assert session.wire.outbox == []
    assert AmpWire.interrupts_by_signal


@pytest.mark.parametrize(
    ("changed", "in_place"),
    [
        (Settings("/ws", permission_mode="plan"), True),
        (Settings("/ws", permission_mode="bypass"), False),
        (Settings("/ws", agent_mode="rush"), False),
    ],
)
def test_changed_start_options_need_a_new_process(changed: Settings, in_place: bool) -> None:
    session = Session()
    assert session.wire.configure(session.conversation, changed) is in_place


# -- starting ----------------------------------------------------------------------------------


def launch(tmp_path: Path, settings: Settings, *, resume: bool = False) -> Launch:
    place = Place(Path("/bin/amp"), Path("/data"), {"HOME": str(tmp_path)})
    return Amp().launch(place, settings, "T-1" if resume else None, resume)


def settings_of(launch: Launch) -> dict[str, Any]:
    path = launch.argv[launch.argv.index("--settings-file") + 1]
    settings: dict[str, Any] = msgspec.json.decode(launch.files[path])
    return settings


def servers_of(launch: Launch) -> dict[str, Any]:
    path = launch.argv[launch.argv.index("--mcp-config") + 1]
    servers: dict[str, Any] = msgspec.json.decode(launch.files[path])
    return servers


def test_everything_but_reading_is_delegated(tmp_path: Path) -> None:
    started = launch(tmp_path, Settings("/ws"))
    *allowed, last = settings_of(started)["amp.permissions"]
    assert started.delegate
    assert {rule["action"] for rule in allowed} == {"allow"}
    assert not {"Bash", "create_file", "edit_file", "apply_patch"} & {rule["tool"] for rule in allowed}
    assert last == {"tool": "*", "action": "delegate", "to": "/data/launch/amp-delegate"}
    assert started.files["/data/launch/amp-delegate"].startswith(b"#!")


def test_the_users_settings_and_rejections_are_kept(tmp_path: Path) -> None:
    own = tmp_path / ".config" / "amp" / "settings.json"
    own.parent.mkdir(parents=True)
    rejected = '{"tool": "Bash", "action": "reject", "matches": {"cmd": "*//*"}}'
    allowed = '{"tool": "Bash", "action": "allow"}'
    own.write_text(
        f'// mine\n{{"amp.url": "http://x/", /* more */ "amp.permissions": [{allowed}, {rejected},],}}'
    )
    settings = settings_of(launch(tmp_path, Settings("/ws")))
    assert settings["amp.url"] == "http://x/"
    assert settings["amp.permissions"][0] == {"tool": "Bash", "action": "reject", "matches": {"cmd": "*//*"}}
    assert {"tool": "Bash", "action": "allow"} not in settings["amp.permissions"]


def test_unreadable_settings_count_as_empty(tmp_path: Path) -> None:
    broken = tmp_path / "mine.json"
    broken.write_text("{")
    assert user_settings({"AMP_SETTINGS_FILE": str(broken)}) == {}


def test_bypass_asks_nothing(tmp_path: Path) -> None:
    started = launch(tmp_path, Settings("/ws", permission_mode="bypass"))
    assert settings_of(started)["amp.dangerouslyAllowAll"] is True


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan", "bypass"])
def test_the_model_may_ask_the_user_in_every_mode(tmp_path: Path, mode: Any) -> None:
    started = launch(tmp_path, Settings("/ws", permission_mode=mode))
    assert started.delegate
    assert list(servers_of(started)) == ["sandbox_agent"]
    assert {"tool": ASK_USER, "action": "allow"} in settings_of(started)["amp.permissions"]


def test_a_thread_is_continued_by_its_id_in_its_mode_with_its_servers(tmp_path: Path) -> None:
    servers = {"demo": McpServer("demo", env={"KEY": "secret"})}
    started = launch(tmp_path, Settings("/ws", agent_mode="rush", mcp=servers), resume=True)
    assert started.argv[:4] == ["/bin/amp", "threads", "continue", "T-1"]
    assert started.argv[started.argv.index("--mode") + 1] == "rush"
    assert servers_of(started)["demo"] == {"command": "demo", "args": [], "env": {"KEY": "secret"}}
    assert "secret" not in " ".join(started.argv)


def test_a_lost_thread_is_reported_on_stderr() -> None:
    assert Amp().is_gone("Thread T-01a1 does not exist.\n")
    assert not Amp().is_gone("Unauthorized")


def test_a_conversation_is_open_when_amp_names_its_thread() -> None:
    session = Session()
    session.feed("system", subtype="init", session_id="T-1", tools=[], mcp_servers=[])
    assert session.wire.notices == [Ready(session.conversation)]
    assert session.conversation.native_id == "T-1"


# -- turns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "stop", "reason"),
    [
        ("done", "end_turn", "end_turn"),
        ("cut o", None, "max_tokens"),
        ("", None, "refusal"),
        ("I would rather not.", None, "refusal"),
        ("cut o", "max_tokens", "max_tokens"),
    ],
)
def test_a_message_without_a_call_ends_the_turn(answer: str, stop: str | None, reason: str) -> None:
    session = Session()
    session.prompt()
    session.say(text(answer), stop=stop)
    assert [end.metadata.stop_reason for end in session.data(TurnEnded)] == [reason]
    assert session.broken_rules() == []


def test_a_turns_usage_includes_its_sub_agents() -> None:
    session = Session()
    session.prompt()
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2}
    task = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "inner"}}
    session.say(task, stop="tool_use", usage=usage)
    session.tell(text("inner"), parent="toolu_1")
    session.say(text("inner says"), parent="toolu_1", usage=usage)
    session.tell(result("inner done"))
    session.say(text("done"), usage=usage)
    (ended,) = session.data(TurnEnded)
    assert ended.metadata.usage == Usage(45, 6, 15, context_tokens=17)
    (call,) = session.items("tool_call")
    by_text = {item.content[0].text: item.parent_id for item in session.items("message")}  # type: ignore[union-attr]
    assert by_text == {"go": None, "inner says": call.item_id, "done": None}
    assert session.broken_rules() == []


def test_another_clients_message_is_a_user_item_in_a_turn_of_its_own() -> None:
    session = Session()
    session.tell(text("typed elsewhere"))
    session.say(text("ok"))
    sources = [draft.source for draft in session.scribe.drafts if isinstance(draft.data, TurnStarted)]
    assert sources == ["agent"]
    assert session.items("message")[0].content == (Text("typed elsewhere"),)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("Unauthorized. Check your access token.", "authentication_failed"),
        ("the key is invalid", "authentication_failed"),
        ("Model Provider Overloaded Try again in a few seconds.", "overloaded"),
        ("Context Limit Reached This conversation has reached the context window limit.", "context_too_long"),
        ('429 {"type":"error","error":{"type":"rate_limit_error","message":"slow"}}', "rate_limited"),
        ("terminated", "connection_failed"),
    ],
)
def test_an_error_result_is_one_error_of_the_turn(message: str, code: str) -> None:
    session = Session()
    session.prompt()
    session.feed("result", subtype="error_during_execution", is_error=True, error=message)
    (error,) = session.data(ErrorEvent)
    (ended,) = session.data(TurnEnded)
    assert (error.message, error.code, ended.metadata.stop_reason) == (message, code, "error")


@pytest.mark.parametrize("failed", [False, True])
def test_the_last_line_of_a_process_reports_its_end(failed: bool) -> None:
    session = Session()
    session.prompt()
    session.feed("result", is_error=failed, error="broken" if failed else None)
    assert session.wire.notices == [Ending(session.conversation)]


def test_a_resumed_thread_may_fail_over_an_older_message_before_it_reads_ours() -> None:
    session = Session(resumed=True)
    session.prompt()
    session.feed("result", subtype="error_during_execution", is_error=True, error="429 slow down")
    failure = Failure("429 slow down", "rate_limited", {"subtype": "error_during_execution", "status": 429})
    assert session.wire.notices == [Ending(session.conversation, unread=failure)]
    assert session.data(ErrorEvent, TurnEnded) == []


def test_a_resumed_thread_may_answer_an_older_message_before_it_reads_ours() -> None:
    session = Session(resumed=True)
    session.prompt()
    session.say(text("to the older one"))
    assert session.data(TurnEnded) == []
    session.tell(text("go"))
    session.say(text("to ours"))
    assert [item.content for item in session.items("message")][1:] == [
        (Text("to the older one"),),
        (Text("to ours"),),
    ]
    assert len(session.data(TurnEnded)) == 1
    assert session.broken_rules() == []


def test_results_have_exit_code_and_change() -> None:
    session = Session()
    session.prompt()
    edit = {"type": "tool_use", "id": "toolu_2", "name": "edit_file", "input": {"path": "a.py"}}
    session.say(BASH, edit, stop="tool_use")
    diff = "```diff\n--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a\n+b\n```"
    output = json.dumps({"diff": diff, "lineRange": [1, 1]})
    session.tell(result('{"output":"no\\n","exitCode":2}', failed=True), result(output, "toolu_2"))
    session.say(text("done"))
    ran, changed = (item.content for item in session.items("tool_result"))
    assert ran == (ToolResult("toolu_1", "no\n", 2),)
    assert changed[1] == FileRef("a.py", "patch", diff="--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n")
    assert session.broken_rules() == []


# -- permissions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("native", "output"),
    [
        (
            {"output": "end", "truncation": {"prefixLinesOmitted": 7}},
            "--- Truncated 7 lines above this ---\nend",
        ),
        (
            {"output": "end", "truncation": {"prefixLinesOmitted": 1}},
            "--- Truncated 1 line above this ---\nend",
        ),
        ({"output": "all", "truncation": None}, "all"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ([], "[]"),
        (
            [{"title": "A page", "url": "https://a.example/"}],
            '[{"title":"A page","url":"https://a.example/"}]',
        ),
    ],
)
def test_a_result_is_reported_as_the_model_reads_it(native: Any, output: str) -> None:
    session = Session()
    session.prompt()
    session.say(BASH, stop="tool_use")
    session.tell(result(msgspec.json.encode(native).decode()))
    (item,) = session.items("tool_result")
    assert item.content == (ToolResult("toolu_1", output),)


def test_images_among_the_blocks_of_a_result_are_stored() -> None:
    session = Session()
    session.prompt()
    session.say(BASH, stop="tool_use")
    image = {"type": "image", "data": base64.b64encode(b"picture").decode(), "mimeType": "image/png"}
    session.tell(result(msgspec.json.encode([{"type": "text", "text": "done"}, image]).decode()))
    (item,) = session.items("tool_result")
    [(name, data)] = session.scribe.calls.blobs.items()
    assert item.content == (ToolResult("toolu_1", "done"), Image(name, "image/png"))
    assert data == b"picture"


@pytest.mark.parametrize(
    ("blocks", "seen"),
    [
        ([], ""),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
    ],
)
def test_the_blocks_of_an_mcp_result_are_joined_as_the_model_reads_them(blocks: list[Any], seen: str) -> None:
    session = Session()
    session.prompt()
    session.say(
        {"type": "tool_use", "id": "toolu_1", "name": "mcp__demo__give", "input": {}}, stop="tool_use"
    )
    session.tell(result(json.dumps(blocks)))
    (item,) = session.items("tool_result")
    assert item.content == (ToolResult("toolu_1", seen),)


def test_an_image_that_was_read_is_stored() -> None:
    session = Session()
    session.prompt()
    session.say({"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}, stop="tool_use")
    read = {
        "absolutePath": "/ws/a.png",
        "content": base64.b64encode(b"picture").decode(),
        "isImage": True,
        "imageInfo": {"mimeType": "image/png", "size": 7},
    }
    session.tell(result(msgspec.json.encode(read).decode()))
    [(name, data)] = session.scribe.calls.blobs.items()
    assert data == b"picture"
    [seen] = session.items("tool_result")
    assert seen.content == (ToolResult("toolu_1", "/ws/a.png"), Image(name, "image/png"))


def test_a_delegate_that_asks_before_the_message_arrives_asks_for_the_same_call() -> None:
    session = Session()
    session.prompt()
    session.asked("d1", tool="Bash", input={"cmd": "ls"}, thread="T-1", tool_use_id="toolu_1")
    session.say(BASH, stop="tool_use")
    (asked,) = session.data(PermissionRequested)
    assert asked.metadata.call_id == "toolu_1"
    ask = session.scribe.pending["d1"].ask
    assert ask is not None
    assert (ask.kind, ask.needs, ask.always) == ("command", (Rule("Bash", "ls"),), (Rule("Bash", "ls"),))


def test_a_delegate_that_asks_early_about_a_reused_id_asks_for_the_next_call() -> None:
    session = Session()
    session.prompt()
    session.say(BASH, stop="tool_use")
    session.tell(result("ok"))
    session.asked("d1", tool="Bash", input={"cmd": "ls"}, tool_use_id="toolu_1")
    session.say(BASH, stop="tool_use")
    [asked] = session.data(PermissionRequested)
    call = session.items("tool_call")[-1].content[0]
    assert isinstance(call, ToolCall)
    assert asked.metadata.call_id == call.call_id == "toolu_1#2"


def test_an_edit_shows_what_it_would_change() -> None:
    session = Session()
    session.prompt()
    given = {"path": "/ws/a.py", "old_str": "one\n", "new_str": "two\n"}
    session.asked("d1", tool="edit_file", input=given, tool_use_id="toolu_1")
    ask = session.scribe.pending["d1"].ask
    assert ask is not None
    assert (ask.kind, ask.paths, ask.always) == ("edit", ("/ws/a.py",), (Rule("edit_file"),))
    assert ask.replacements == (Replacement("/ws/a.py", "one\n", "two\n"),)


@pytest.mark.parametrize(
    ("tool", "given", "kind", "title"),
    [
        ("Bash", {"cmd": "ls  -l\n| wc"}, "command", "ls -l | wc"),
        ("edit_file", {"path": "/ws/a.py", "old_str": "one"}, "edit", "/ws/a.py"),
        ("Read", {"path": "/ws/a.py"}, "read", "/ws/a.py"),
        ("Grep", {"pattern": "def ", "path": "/ws"}, "search", "def"),
        ("web_search", {"objective": "news", "search_queries": ["x"]}, "search", "news"),
        ("read_web_page", {"url": "https://a.example/"}, "fetch", "https://a.example/"),
        ("Task", {"description": "a job", "prompt": "do it"}, "task", "a job"),
        ("mcp__demo__add", {"a": 2}, "mcp", "demo/add"),
        ("chart", {}, "other", "chart"),
    ],
)
def test_a_call_and_its_permission_have_a_kind_and_a_title(
    tool: str, given: dict[str, Any], kind: ToolKind, title: str
) -> None:
    session = Session()
    session.prompt()
    session.say({"type": "tool_use", "id": "toolu_1", "name": tool, "input": given}, stop="tool_use")
    session.asked("d1", tool=tool, input=given, tool_use_id="toolu_1")
    (call,) = session.items("tool_call")
    assert call.content == (ToolCall(tool, msgspec.json.encode(given).decode(), "toolu_1", kind, title),)
    (asked,) = session.data(PermissionRequested)
    assert (asked.metadata.kind, asked.metadata.title) == (kind, title)


@pytest.mark.parametrize(
    "body", [b"what?", b"[]", b"{}", b'{"tool":7}', b"\xff", b'{"tool":"x","input":"\\ud800"}']
)
def test_an_invalid_question_is_refused(body: bytes) -> None:
    session = Session()
    session.prompt()
    session.wire.receive(DelegateAsk("d1", body))
    assert session.wire.outbox == [DelegateReply("d1", False, UNREADABLE)]
    assert len(session.data(AgentUnparsed)) == 1


def test_a_question_too_deep_to_be_written_is_refused() -> None:
    """Some depths can still be read, but no longer written."""
    refused = 0
    for depth in range(800, 1100):
        session = Session()
        session.prompt()
        session.wire.receive(
            DelegateAsk("d1", b'{"tool":"Bash","input":{"cmd":%b}}' % (b"[" * depth + b"]" * depth))
        )
        assert len(session.scribe.pending) + len(session.wire.outbox) == 1
        assert [draft.type for draft in session.scribe.drafts].count("agent.unparsed") == len(
            session.wire.outbox
        )
        refused += len(session.wire.outbox)
    assert 0 < refused < 300


def test_a_question_is_read_back_from_a_recording() -> None:
    asked = DelegateAsk("d1", b'{"tool":"Bash","input":{"cmd":"ls"}}')
    recorded = b'{"tool":"Bash","input":{"cmd":"ls"},"type":"delegate","id":"d1"}'
    assert encode_frame(asked) == recorded
    assert AmpWire(counted()).recorded_frame(recorded) == asked
    line = b'{"type":"system","subtype":"delegate"}'
    assert AmpWire(counted()).recorded_frame(line) == line


@pytest.mark.parametrize(
    ("answer", "code", "stderr"),
    [
        (b'{"allow":true}\n', 0, ""),
        (b'{"allow":false,"message":"not today"}\n', 2, "not today"),
        (b'{"allow":false}\n', 2, "The user rejected this call."),
        (b"", 2, "The permission was not answered."),
    ],
)
def test_the_delegate_asks_and_reports_the_answer(
    tmp_path: Path, answer: bytes, code: int, stderr: str
) -> None:
    with listening(tmp_path / "s", answer) as received:
        ran = run_delegate(tmp_path, f"unix:{tmp_path / 's'}")
    assert (ran.returncode, ran.stderr) == (code, stderr)
    asked = {"tool": "Bash", "tool_use_id": "toolu_1", "thread": "T-1", "input": {"cmd": "ls"}}
    assert [msgspec.json.decode(line) for line in received] == [asked]


def test_a_delegate_without_a_daemon_rejects(tmp_path: Path) -> None:
    ran = run_delegate(tmp_path, f"unix:{tmp_path / 'nobody'}")
    assert ran.returncode == 2
    assert ran.stderr.startswith("The permission could not be asked for")


@contextmanager
def listening(path: Path, answer: bytes) -> Iterator[list[bytes]]:
    """A daemon that receives one request and answers it; yields what it received."""
    received: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def serve() -> None:
            connection, _ = server.accept()
            with connection, connection.makefile("rwb") as stream:
                received.append(stream.readline())
                stream.write(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield received
        thread.join()


def run_delegate(tmp_path: Path, address: str) -> subprocess.CompletedProcess[str]:
    """Run the program as Amp does: the file that `launch` gives, without arguments."""
    files = launch(tmp_path, Settings("/ws")).files
    program = tmp_path / "amp-delegate"
    program.write_bytes(files["/data/launch/amp-delegate"])
    program.chmod(stat.S_IRWXU)
    env = {
        "AGENT_TOOL_NAME": "Bash",
        "AGENT_TOOL_USE_ID": "toolu_1",
        "AMP_THREAD_ID": "T-1",
        "SANDBOX_AGENT_DELEGATE": address,
    }
    return subprocess.run(
        [program], input='{"cmd":"ls"}', env=env, text=True, capture_output=True, check=False, timeout=30
    )


@pytest.mark.parametrize(
    ("seen", "diff"),
    [
        (None, "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new\n"),
        ("old\n", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"),
        ("new\n", None),  # it was already written
        ("", None),  # it was about to be written
    ],
)
def test_in_bypass_a_file_that_may_have_been_read_too_late_has_no_diff(
    tmp_path: Path, seen: str | None, diff: str | None
) -> None:
    file = tmp_path / "x"
    session = Session(Settings(str(tmp_path), permission_mode="bypass"))
    session.prompt()
    if seen is not None:
        file.write_text(seen)
    given = {"path": str(file), "content": "new\n"}
    session.say({"type": "tool_use", "id": "toolu_1", "name": "create_file", "input": given}, stop="tool_use")
    file.write_text("new\n")
    session.tell(result(f"Successfully created file {file}"))
    (item,) = session.items("tool_result")
    assert item.content[1:] == (FileRef(str(file), "write", diff=diff),)


# -- questions ---------------------------------------------------------------------------------

RED = {"question": "Which?", "header": "Colour", "options": [{"label": "Red"}, {"label": "Blue"}]}
ASK = {"type": "tool_use", "id": "toolu_1", "name": ASK_USER, "input": {"questions": [RED]}}
ANSWERED = (("Red",),)


def test_a_question_waits_for_its_answer_and_belongs_to_its_call() -> None:
    session = Session()
    session.prompt()
    session.say(ASK, stop="tool_use")
    session.asked("d1", questions=[{**RED, "multi_select": True}])
    (asked,) = session.data(QuestionRequested)
    assert (asked.prompt, asked.options, asked.metadata.call_id) == ("Which?", ("Red", "Blue"), "toolu_1")
    assert asked.metadata.questions[0].multi_select
    session.scribe.answer("d1", ANSWERED, "client")
    session.wire.answer(session.conversation, "d1", Answer(ANSWERED))
    assert session.wire.outbox == [DelegateReply("d1", True, answers=ANSWERED)]
    session.tell(result("Which?\nRed"))
    session.say(text("Red it is."))
    (resolved,) = session.data(QuestionResolved)
    assert (resolved.status, resolved.response) == ("answered", "Red")
    assert session.items("tool_call")[0].content[0] == ToolCall(
        ASK_USER, msgspec.json.encode(ASK["input"]).decode(), "toolu_1", "other", "sandbox_agent/ask_user"
    )
    assert session.broken_rules() == []


def test_a_question_whose_call_ends_without_it_is_withdrawn() -> None:
    session = Session()
    session.prompt()
    session.say(ASK, stop="tool_use")
    session.asked("d1", questions=[RED])
    session.tell(result("it was cancelled", failed=True))
    (resolved,) = session.data(QuestionResolved)
    assert (resolved.status, resolved.metadata.decided_by) == ("rejected", "agent")


@pytest.mark.parametrize("asked", [{"questions": [RED]}, {"tool": "Bash", "input": {"cmd": "ls"}}])
def test_a_call_left_by_an_old_turn_is_not_asked_for(asked: dict[str, Any]) -> None:
    session = Session(resumed=True)
    session.asked("before", **asked)
    session.prompt()
    session.asked("after", **asked)
    refused = [DelegateReply("before", False), DelegateReply("after", False)]
    assert [*session.wire.outbox] == refused[1:]  # the prompt has emptied it
    assert session.scribe.pending == {}
    session.tell(text("go"))
    session.asked("now", **asked)
    assert list(session.scribe.pending) == ["now"]


def test_an_unreadable_question_is_refused() -> None:
    session = Session()
    session.prompt()
    session.asked("d1", questions="what?")
    assert session.wire.outbox == [DelegateReply("d1", False, UNREADABLE)]
    assert len(session.data(AgentUnparsed)) == 1


def call_server(tmp_path: Path, *requests: dict[str, Any]) -> dict[Any, Any]:
    """The replies of the server as Amp starts it, by id."""
    server = servers_of(launch(tmp_path, Settings("/ws")))["sandbox_agent"]
    env = {"SANDBOX_AGENT_DELEGATE": f"unix:{tmp_path / 's'}"}
    with subprocess.Popen(
        [server["command"], *server["args"]], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for request in requests:
            process.stdin.write(msgspec.json.encode({"jsonrpc": "2.0", **request}) + b"\n")
        process.stdin.flush()
        expected = sum("id" in request for request in requests)
        replies = [msgspec.json.decode(process.stdout.readline()) for _ in range(expected)]
        process.stdin.close()
        assert process.wait(10) == 0
    return {reply.pop("id"): reply for reply in replies}


def test_the_question_server_lists_its_tool(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    replies = call_server(
        tmp_path,
        {"id": 0, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": "list", "method": "tools/list"},
        {"id": 2, "method": "ping"},
        {"id": 3, "method": "resources/list"},
    )
    assert replies[0]["result"]["protocolVersion"] == "2025-06-18"
    (tool,) = replies["list"]["result"]["tools"]
    assert f"mcp__sandbox_agent__{tool['name']}" == ASK_USER
    assert replies[2]["result"] == {}
    assert replies[3]["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (b'{"allow":true,"answers":[["Red","Blue"]]}\n', "Which?\nRed, Blue"),
        (b'{"allow":false,"answers":null}\n', "The user did not answer."),
        (b"", "The user did not answer."),
    ],
)
def test_the_question_server_asks_and_returns_the_answer(tmp_path: Path, answer: bytes, reply: str) -> None:
    asked = {"question": "Which?", "options": ["Red", {"label": "Blue", "description": "sky"}]}
    call = {"name": "ask_user", "arguments": {"questions": [asked]}}
    with listening(tmp_path / "s", answer) as received:
        replies = call_server(tmp_path, {"id": 1, "method": "tools/call", "params": call})
    assert replies[1]["result"] == {"content": [{"type": "text", "text": reply}], "isError": False}
    (line,) = received
    assert msgspec.json.decode(line) == {
        "questions": [
            {
                "question": "Which?",
                "header": "",
                "options": [{"label": "Red", "description": ""}, {"label": "Blue", "description": "sky"}],
                "multi_select": False,
            }
        ]
    }


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        {"questions": []},
        {"questions": ["Which?"]},
        {"questions": [{"question": "Which?", "options": "Red"}]},
        {"questions": [{"question": "Which?", "options": [{}]}]},
        {"questions": [RED]},  # no daemon listens
    ],
)
def test_the_question_server_says_why_it_could_not_ask(tmp_path: Path, arguments: object) -> None:
    call = {"name": "ask_user", "arguments": arguments}
    replies = call_server(tmp_path, {"id": 1, "method": "tools/call", "params": call})
    (content,) = replies[1]["result"]["content"]
    assert replies[1]["result"]["isError"] is True
    assert content["text"].startswith("The question could not be asked: ")


def test_an_answer_is_read_back_from_a_recording() -> None:
    session = Session()
    session.prompt()
    session.asked("d1", questions=[RED])
    reply = encode_frame(DelegateReply("d1", True, answers=ANSWERED))
    assert list(session.wire.sent(reply)) == [Answered(session.conversation, "d1", Answer(ANSWERED))]


# -- invalid lines -----------------------------------------------------------------------------


def test_an_unknown_type_is_kept() -> None:
    session = Session()
    session.feed("brand_new", fact=1)
    session.feed("system", subtype="brand_new")
    assert len(session.items("unknown")) == 2


def recorded_lines() -> list[bytes]:
    lines = [line for case in RECORDINGS for line in case.read_bytes().splitlines()]
    return [line for line in lines if msgspec.json.decode(line)["dir"] == "out"]


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
        session.wire.receive(session.wire.recorded_frame(msgspec.json.encode(frame)))
        session.wire.receive(msgspec.json.encode(value))
        session.wire.receive(DelegateAsk("d", msgspec.json.encode(value)))
    session.scribe.end_session("terminated")
    assert [violation for violation in session.broken_rules() if "agent.unparsed" not in violation] == []
