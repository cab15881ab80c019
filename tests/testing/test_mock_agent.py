"""The mock agent's process, driven over real pipes: its frames decode, and the resulting events keep the ten
rules.
"""

from __future__ import annotations

import base64
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.mock import (
    AnswerCommand,
    AnyFrame,
    AskFrame,
    Call,
    CancelCommand,
    Command,
    DecisionCommand,
    End,
    ErrorFrame,
    Frame,
    Gone,
    Output,
    PlanFrame,
    PromptCommand,
    QuestionFrame,
    ReadyFrame,
    Result,
    SetCommand,
    StatusFrame,
    TextEnd,
    TextFrame,
    Thinking,
    ThinkingEnd,
    TurnEnd,
    Withdrawn,
)
from sandbox_agent.schema.events import (
    AgentUnparsed,
    ErrorEvent,
    Event,
    ItemCompleted,
    SessionEnded,
    TurnEnded,
    decode_event,
)
from sandbox_agent.schema.inputs import Attachment, Settings
from sandbox_agent.schema.items import FileRef, Item
from sandbox_agent.session.player import translate
from sandbox_agent.testing import mock_agent
from sandbox_agent.testing.recorder import RecordedProcess, Recording
from sandbox_agent.testing.rules import violations

PROGRAM = Path(mock_agent.__file__)
DOCS = Path(__file__).parents[2] / "docs"
TIMEOUT = 20.0

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")

frames = msgspec.json.Decoder(AnyFrame)

Respond = Callable[[Frame], Command | None]


def accept_all(frame: Frame) -> Command | None:
    """A client that accepts everything, and chooses the first option."""
    match frame:
        case AskFrame(id):
            return DecisionCommand(id, "once")
        case QuestionFrame(id, questions):
            return AnswerCommand(id, tuple((question.options[0].label,) for question in questions))
        case PlanFrame(id):
            return AnswerCommand(id, (("approve",),))
    return None


def reject_all(frame: Frame) -> Command | None:
    match frame:
        case AskFrame(id):
            return DecisionCommand(id, "reject", "not today")
        case QuestionFrame(id) | PlanFrame(id):
            return AnswerCommand(id, None, "not today")
    return None


def cancel_on(kind: type[Frame]) -> Respond:
    return lambda frame: CancelCommand() if isinstance(frame, kind) else None


class Client:
    """Starts the mock agent in a directory of its own and talks to it."""

    def __init__(self, home: Path) -> None:
        self.workspace = home / "workspace"
        self.workspace.mkdir()
        self.state = home / "state"
        self.recording = Recording()
        self._process: RecordedProcess | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.process.pid

    def start(self, *, resume: bool = False, name: str = "talk") -> None:
        argv = [sys.executable, "-I", "-S", str(PROGRAM), "--state", str(self.state)]
        argv += ["--resume" if resume else "--conversation", name]
        self._process = RecordedProcess(self.recording, argv, self.workspace)

    def send(self, command: Command) -> None:
        self.send_line(msgspec.json.encode(command))

    def send_line(self, line: bytes) -> None:
        assert self._process is not None
        self._process.send(line)

    def read(self) -> bytes | None:
        assert self._process is not None
        return self._process.receive(TIMEOUT)

    def frame(self) -> Frame | None:
        line = self.read()
        return None if line is None else frames.decode(line)

    def until_ready(self) -> list[Frame | None]:
        """The frames before it is ready: the history of a resumed conversation."""
        frames: list[Frame | None] = []
        while (frame := self.frame()) != ReadyFrame("talk"):
            assert frame is not None
            frames.append(frame)
        return frames

    def ask(self, text: str, *files: Attachment, respond: Respond = accept_all) -> list[Frame]:
        """The frames of one turn, or those until the process ends."""
        self.send(PromptCommand(text, files))
        seen: list[Frame] = []
        while (frame := self.frame()) is not None:
            seen.append(frame)
            if isinstance(frame, TurnEnd):
                break
            if (command := respond(frame)) is not None:
                self.send(command)
        return seen

    def exit_code(self) -> int:
        """Close the agent's input and wait until it exits."""
        assert self._process is not None
        process, self._process = self._process, None
        return process.finish(TIMEOUT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.process.kill()
            self.exit_code()

    def events(self) -> list[Event]:
        """The events that a client of the daemon would read."""
        recorded = translate(AGENTS["mock"], self.recording.lines)
        return [decode_event(msgspec.json.encode(line.event)) for line in recorded]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    client = Client(tmp_path)
    yield client
    client.kill()


@pytest.fixture
def agent(client: Client) -> Client:
    client.start()
    assert client.frame() == ReadyFrame("talk")
    return client


def texts_of(seen: Sequence[Frame | None]) -> list[str]:
    """The texts of a turn, from their deltas."""
    texts: dict[str, str] = {}
    for frame in seen:
        if isinstance(frame, TextFrame):
            texts[frame.id] = texts.get(frame.id, "") + frame.delta
    return list(texts.values())


def outline(seen: Sequence[Frame]) -> list[str]:
    """The types of a turn's frames, with repetitions collapsed."""
    names = [str(frame.__struct_config__.tag) for frame in seen]
    return [name for place, name in enumerate(names) if place == 0 or names[place - 1] != name]


def of(kind: type[Frame], seen: Sequence[Frame]) -> Any:
    """The only frame of a kind."""
    (only,) = (frame for frame in seen if isinstance(frame, kind))
    return only


def stop_reasons(events: list[Event]) -> list[str]:
    return [event.data.metadata.stop_reason for event in events if isinstance(event.data, TurnEnded)]


def completed(events: list[Event]) -> list[Item]:
    return [event.data.item for event in events if isinstance(event.data, ItemCompleted)]


# -- every keyword ------------------------------------------------------------------------------

OUTLINES = {
    "help": ["text", "text_end", "turn_end"],
    "spend 1": ["text", "text_end", "spent", "turn_end"],
    "markdown": ["text", "text_end", "turn_end"],
    "thinking": ["thinking", "thinking_end", "text", "text_end", "turn_end"],
    "tool": ["call", "output", "result", "text", "text_end", "turn_end"],
    "parallel": ["call", "output", "result", "output", "result", "text", "text_end", "turn_end"],
    "edit": ["call", "ask", "result", "text", "text_end", "turn_end"],
    "permission": ["call", "ask", "output", "result", "text", "text_end", "turn_end"],
    "pair": ["call", "ask", "call", "ask", "result", "text", "text_end", "turn_end"],
    "late 0": ["call", "ask", "output", "result", "text", "text_end", "turn_end"],
    "question": ["question", "text", "text_end", "turn_end"],
    "multi": ["question", "text", "text_end", "turn_end"],
    "plan": [
        *("text", "text_end", "plan", "call", "output", "result"),
        *("text", "text_end", "turn_end"),
    ],
    "image": ["call", "result", "text", "text_end", "turn_end"],
    "usage": ["text", "text_end", "status", "turn_end"],
    "subagent": [
        *("call", "text", "text_end", "call", "output", "result"),
        *("text", "text_end", "turn_end"),
    ],
    "error": ["text", "text_end", "error", "turn_end"],
    "bigline 4k": ["text", "text_end", "turn_end"],
    "flood 20": ["text", "text_end", "turn_end"],
    "pace 3 1": ["text", "text_end", "turn_end"],
    "memory": ["text", "text_end", "turn_end"],
    "anything else": ["text", "text_end", "turn_end"],
}


def test_every_keyword_with_an_answer_works_in_one_conversation(agent: Client) -> None:
    assert {prompt: outline(agent.ask(prompt)) for prompt in OUTLINES} == OUTLINES
    assert agent.exit_code() == 0
    events = agent.events()
    assert violations(events) == []
    reasons = ["error" if prompt == "error" else "end_turn" for prompt in OUTLINES]
    assert stop_reasons(events) == reasons


def test_every_keyword_is_tested_and_documented() -> None:
    asked_elsewhere = {"demo", "unparsed", "nested", "slow", "crash", "hang", "orphan", "end", "call"}
    assert mock_agent.KEYWORDS.keys() == {
        *(prompt.split()[0] for prompt in OUTLINES if prompt != "anything else"),
        *asked_elsewhere,
    }
    page = (DOCS / "agents" / "mock.mdx").read_text()
    assert re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE) == [
        each.usage for each in mock_agent.KEYWORDS.values()
    ]


def test_help_names_every_keyword(agent: Client) -> None:
    (text,) = texts_of(agent.ask("HELP!"))
    assert re.findall(r"^- `([^`]+)`: ", text, re.MULTILINE) == [
        each.usage for each in mock_agent.KEYWORDS.values()
    ]


@pytest.mark.parametrize("respond", [accept_all, reject_all])
def test_demo_shows_a_bit_of_everything(agent: Client, respond: Respond) -> None:
    seen = agent.ask("demo please", respond=respond)
    kinds = {type(frame) for frame in seen}
    everything = {TextFrame, TextEnd, Thinking, ThinkingEnd, Call, Output, Result, AskFrame, QuestionFrame}
    assert kinds == everything | {StatusFrame, TurnEnd}
    assert agent.exit_code() == 0
    assert violations(agent.events()) == []


def test_an_argument_that_is_not_a_number_is_refused(agent: Client) -> None:
    (text,) = texts_of(agent.ask("flood gates"))
    assert text.startswith("I did not understand that: `flood [N] [BYTES]`")


# -- requests -----------------------------------------------------------------------------------


def test_an_accepted_command_really_runs(agent: Client) -> None:
    seen = agent.ask("permission one two")
    call = of(Call, seen)
    ask = of(AskFrame, seen)
    assert call == Call(call.id, "bash", {"command": "echo one two"})
    assert ask == AskFrame(ask.id, "bash", {"command": "echo one two"}, "command", call.id)
    assert of(Result, seen) == Result(call.id, "one two\n", 0)
    assert texts_of(seen) == ["The command said: one two"]


def test_a_rejected_command_fails_and_the_turn_goes_on(agent: Client) -> None:
    seen = agent.ask("permission", respond=reject_all)
    output = "The user rejected this call. (not today)"
    assert of(Result, seen) == Result(of(Call, seen).id, output, failed=True)
    assert texts_of(seen) == ["You did not allow bash (not today), so I leave it."]
    assert of(TurnEnd, seen).stop_reason == "end_turn"


def test_an_edit_is_written_when_it_is_accepted(agent: Client) -> None:
    path = agent.workspace / "mock-edit.txt"
    rejected = agent.ask("edit", respond=reject_all)
    assert not path.exists()
    assert of(Result, rejected).failed
    first = agent.ask("edit")
    assert path.read_text() == "line 1, from message 2\n"
    diff = "--- /dev/null\n+++ b/mock-edit.txt\n@@ -0,0 +1 @@\n+line 1, from message 2\n"
    ask = of(AskFrame, first)
    assert (ask.kind, ask.paths, ask.diff) == ("edit", (str(path),), diff)
    assert of(Result, first).files == (FileRef(str(path), "write", diff=diff),)
    second = agent.ask("edit")
    assert path.read_text() == "line 1, from message 2\nline 2, from message 3\n"
    (file,) = of(Result, second).files
    assert file.action == "patch"


@pytest.mark.parametrize(
    "mode, asked", [("default", ["edit", "command"]), ("acceptEdits", ["edit", "command"]), ("bypass", [])]
)
def test_the_permission_mode_decides_what_is_asked(agent: Client, mode: Any, asked: list[str]) -> None:
    agent.send(SetCommand(Settings("/", permission_mode=mode)))
    seen = agent.ask("edit") + agent.ask("permission")
    assert [frame.kind for frame in seen if isinstance(frame, AskFrame)] == asked
    assert [frame.failed for frame in seen if isinstance(frame, Result)] == [False, False]


def test_answers_to_several_questions_are_understood(agent: Client) -> None:
    def choose(frame: Frame) -> Command | None:
        if not isinstance(frame, QuestionFrame):
            return None
        return AnswerCommand(frame.id, (("Large",), ("Cheese", "Olives"), ("in an hour",)))

    seen = agent.ask("multi", respond=choose)
    assert [question.multi_select for question in of(QuestionFrame, seen).questions] == [False, True, False]
    assert texts_of(seen) == ["You chose: Large; Cheese, Olives; in an hour."]
    rejected = agent.ask("question", respond=reject_all)
    assert texts_of(rejected) == ["You rejected the question (not today). I go on without an answer."]


def test_a_plan_is_carried_out_only_when_approved(agent: Client) -> None:
    approved = agent.ask("plan")
    assert texts_of(approved)[-1] == "The plan was approved, and it is done."
    rejected = agent.ask("plan", respond=reject_all)
    assert texts_of(rejected)[-1] == "The plan was not approved (not today). I keep planning."
    assert not any(isinstance(frame, Call) for frame in rejected)


# -- cancel -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt, awaited, before_the_end",
    [
        ("permission", AskFrame, ["call", "ask", "withdrawn", "result"]),
        ("edit", AskFrame, ["call", "ask", "withdrawn", "result"]),
        ("multi", QuestionFrame, ["question", "withdrawn"]),
        ("plan", PlanFrame, ["text", "text_end", "plan", "withdrawn"]),
        ("slow 60", TextFrame, ["text", "heartbeat"]),
        ("pace 10 60000", TextFrame, ["text"]),
    ],
)
def test_cancel_withdraws_pending_requests(
    agent: Client, prompt: str, awaited: type[Frame], before_the_end: list[str]
) -> None:
    seen = agent.ask(prompt, respond=cancel_on(awaited))
    assert outline(seen) == [*before_the_end, "turn_end"]
    assert of(TurnEnd, seen).stop_reason == "interrupted"
    # A second cancel finds nothing to stop, and the conversation goes on.
    agent.send(CancelCommand())
    assert texts_of(agent.ask("still there?")) == ["You said: still there? (message 2 of this conversation)"]
    assert agent.exit_code() == 0
    events = agent.events()
    assert violations(events) == []
    assert stop_reasons(events) == ["interrupted", "end_turn"]


def test_a_flood_can_be_cancelled(agent: Client) -> None:
    agent.send(PromptCommand("flood 50m 4k"))
    assert isinstance(agent.frame(), TextFrame)
    agent.send(CancelCommand())
    while not isinstance(frame := agent.frame(), TurnEnd):
        assert isinstance(frame, TextFrame)
    assert frame.stop_reason == "interrupted"


def test_a_prompt_during_a_turn_waits(agent: Client) -> None:
    agent.send(PromptCommand("question"))
    question = agent.frame()
    assert isinstance(question, QuestionFrame)
    agent.send(PromptCommand("second"))
    agent.send(DecisionCommand("no-such-id", "once"))
    agent.send(AnswerCommand(question.id, (("Blue",),)))
    first: list[Frame | None] = []
    while not isinstance(frame := agent.frame(), TurnEnd):
        first.append(frame)
    second: list[Frame | None] = []
    while not isinstance(frame := agent.frame(), TurnEnd):
        second.append(frame)
    assert texts_of(first) == ["You chose: Blue."]
    assert texts_of(second) == ["You said: second (message 2 of this conversation)"]


# -- resume -------------------------------------------------------------------------------------


def test_a_resumed_conversation_remembers(client: Client) -> None:
    client.start()
    assert client.frame() == ReadyFrame("talk")
    client.ask("first")
    client.ask("crash 3")
    assert client.exit_code() == 3
    client.start(resume=True)
    told_again = client.until_ready()
    assert texts_of(told_again) == ["You said: first (message 1 of this conversation)"]
    assert texts_of(client.ask("third")) == ["You said: third (message 3 of this conversation)"]
    assert texts_of(client.ask("memory")) == ["You said before:\n\n1. first\n2. crash 3\n3. third"]
    assert client.exit_code() == 0
    events = client.events()
    assert violations(events) == []
    assert stop_reasons(events) == ["end_turn", "error", "end_turn", "end_turn"]
    assert {event.session_id for event in events} == {"ses_1"}


def test_a_prompt_is_stored_before_its_turn_shows_anything(agent: Client) -> None:
    agent.send(PromptCommand("hang"))
    assert isinstance(agent.frame(), TextFrame)
    stored = (agent.state / "talk.jsonl").read_text()
    assert stored == '{"prompt": "hang"}\n'


def test_half_a_stored_line_is_ignored(client: Client) -> None:
    client.state.mkdir()
    stored = client.state / "talk.jsonl"
    stored.write_text('{"prompt": "one"}\n{"answer": "You sa')
    for expected in ("You said before:\n\n1. one", "You said before:\n\n1. one\n2. memory"):
        client.start(resume=True)
        client.until_ready()
        assert texts_of(client.ask("memory")) == [expected]
        assert client.exit_code() == 0


def test_an_unknown_conversation_is_gone(client: Client) -> None:
    client.start(resume=True)
    assert client.frame() == Gone("there is no conversation talk")
    assert client.exit_code() == 1
    (ended,) = [event.data for event in client.events() if isinstance(event.data, SessionEnded)]
    assert ended == SessionEnded("error", "daemon", "there is no conversation talk", 1)


def test_a_conversation_begins_only_once(agent: Client) -> None:
    agent.ask("hello")
    assert agent.exit_code() == 0
    agent.start()
    assert agent.frame() is None
    assert agent.exit_code() == 1


def test_a_conversation_without_a_prompt_leaves_nothing(agent: Client) -> None:
    assert agent.exit_code() == 0
    assert not agent.state.exists()


# -- settings, files, numbers -------------------------------------------------------------------


def test_settings_show_in_the_answers(agent: Client) -> None:
    agent.send(SetCommand(Settings("/", agent_mode="plan", model="mock-2", variant="high")))
    said_so = "Planning: You said: hi (message 1 of this conversation, model mock-2, variant high)"
    assert texts_of(agent.ask("hi")) == [said_so]
    agent.send(SetCommand(Settings("/")))
    assert texts_of(agent.ask("hi")) == ["You said: hi (message 2 of this conversation)"]


def test_images_are_created_and_described(agent: Client, tmp_path: Path) -> None:
    (image,) = of(Result, agent.ask("image")).images
    path = tmp_path / "one.png"
    path.write_bytes(base64.b64decode(image.data))
    size = path.stat().st_size
    assert texts_of(agent.ask("image", Attachment(str(path), "image/png"))) == [
        f"I saw one.png (a PNG of 8 by 8 pixels, {size} bytes)."
    ]
    text = tmp_path / "a.txt"
    text.write_text("12345")
    seen = agent.ask("look", Attachment(str(text), filename="notes.txt"), Attachment("/nowhere/b.txt"))
    assert texts_of(seen) == [
        "You said: look (message 3 of this conversation, with notes.txt (a file, 5 bytes), "
        "with b.txt (not readable))"
    ]


def test_usage_depends_only_on_text_lengths(agent: Client) -> None:
    turns = [agent.ask(prompt) for prompt in ("four", "thinking", "usage")]
    usages = [of(TurnEnd, seen).usage for seen in turns]
    assert [(usage.input_tokens, usage.cache_read_tokens) for usage in usages] == [(1, 0), (3, 1), (5, 3)]
    assert [(usage.output_tokens, usage.reasoning_tokens) for usage in usages] == [(12, 0), (27, 22), (6, 0)]
    status = of(StatusFrame, turns[2])
    window = {"context_window": 200_000}
    assert status == StatusFrame("usage", msgspec.to_builtins(usages[2]) | window, "this turn")


def test_a_sub_agents_frames_name_the_call_that_started_it(agent: Client) -> None:
    seen = agent.ask("subagent")
    task = next(frame for frame in seen if isinstance(frame, Call))
    inner = [frame for frame in seen if isinstance(frame, TextFrame | Call) and frame.parent == task.id]
    assert {type(frame) for frame in inner} == {TextFrame, Call}
    assert agent.exit_code() == 0
    items = completed(agent.events())
    started = next(item.item_id for item in items if item.native_item_id == task.id)
    assert [item.kind for item in items if item.parent_id == started] == [
        "message",
        "tool_call",
        "tool_result",
    ]


# -- failures -----------------------------------------------------------------------------------


def test_invalid_lines_are_reported_and_the_turn_goes_on(agent: Client) -> None:
    agent.send(PromptCommand("unparsed"))
    while b"turn_end" not in (agent.read() or b"turn_end"):
        pass
    assert agent.exit_code() == 0
    events = agent.events()
    assert [event.data.error.split(":")[0] for event in events if isinstance(event.data, AgentUnparsed)] == [
        "DecodeError",
        "ValidationError",
    ]
    assert [item.kind for item in completed(events)] == ["message", "message", "unknown", "message"]
    assert all("agent.unparsed" in violation for violation in violations(events))


def test_a_reported_error_ends_the_turn(agent: Client) -> None:
    seen = agent.ask("error")
    assert of(ErrorFrame, seen) == ErrorFrame("the model is overloaded", "overloaded")
    assert of(TurnEnd, seen).stop_reason == "error"


@pytest.mark.parametrize("prompt, code", [("crash", 1), ("crash 42", 42)])
def test_a_crash_leaves_two_lines_on_stderr(agent: Client, prompt: str, code: int) -> None:
    assert outline(agent.ask(prompt)) == ["text"]
    assert agent.exit_code() == code
    events = agent.events()
    assert violations(events) == []
    (error,) = [event.data for event in events if isinstance(event.data, ErrorEvent)]
    assert error == ErrorEvent(
        f"the agent's process exited (exit code {code})",
        "agent_process_exited",
        {
            "exit_code": code,
            "signal": None,
            "stderr": {
                "truncated": False,
                "head": "mock agent: something is terribly wrong\nmock agent: giving up",
                "total_lines": 2,
            },
        },
    )


def test_the_agent_can_end_the_conversation(agent: Client) -> None:
    seen = agent.ask("end")
    assert texts_of(seen) == ["Goodbye."]
    assert agent.frame() == End()
    assert agent.frame() is None
    assert agent.exit_code() == 0
    events = agent.events()
    assert violations(events) == []
    assert events[-1].data == SessionEnded("completed", "agent")


@pytest.mark.parametrize("prompt", ["slow 60", "question"])
def test_sigterm_ends_it_at_once(agent: Client, prompt: str) -> None:
    agent.send(PromptCommand(prompt))
    agent.read()
    os.kill(agent.pid, signal.SIGTERM)
    assert agent.exit_code() == -signal.SIGTERM


@pytest.mark.parametrize("prompt", ["slow 60", "question"])
def test_the_end_of_its_input_ends_it_at_once(agent: Client, prompt: str) -> None:
    agent.send(PromptCommand(prompt))
    agent.read()
    assert agent.exit_code() == 0


@needs_proc
def test_only_sigkill_ends_a_hang(agent: Client) -> None:
    agent.send(PromptCommand("hang"))
    assert isinstance(agent.frame(), TextFrame)
    agent.send(CancelCommand())
    assert ignores(agent.pid, signal.SIGTERM)
    os.kill(agent.pid, signal.SIGKILL)
    assert agent.read() is None
    assert agent.exit_code() == -signal.SIGKILL


def ignores(pid: int, number: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    (ignored,) = re.findall(r"^SigIgn:\s+([0-9a-f]+)$", status, re.MULTILINE)
    return bool(int(ignored, 16) >> (number - 1) & 1)


@needs_proc
def test_orphans_outlive_their_turn_outside_the_process_group(agent: Client) -> None:
    (text,) = texts_of(agent.ask("orphan"))
    pids = {kind: int(pid) for kind, pid in re.findall(r"- (\w+) (\d+)", text)}
    try:
        groups = {kind: os.getpgid(pid) for kind, pid in pids.items()}
        sessions = {kind: os.getsid(pid) for kind, pid in pids.items()}
        parents = {kind: parent_of(pid) == agent.pid for kind, pid in pids.items()}
    finally:
        for pid in pids.values():
            os.kill(pid, signal.SIGKILL)
    own = os.getpgid(agent.pid), os.getsid(agent.pid)
    assert list(pids) == ["plain", "group", "session", "daemon"]
    assert (groups["plain"], sessions["plain"]) == own
    assert (groups["group"], sessions["group"]) == (pids["group"], own[1])
    assert (groups["session"], sessions["session"]) == (pids["session"], pids["session"])
    assert own[1] != sessions["daemon"] != pids["daemon"]
    assert parents == {"plain": True, "group": True, "session": True, "daemon": False}
    assert agent.exit_code() == 0


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


# -- volume -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["300", "64k", "8m"])
def test_a_big_line_is_as_long_as_asked(agent: Client, size: str) -> None:
    agent.send(PromptCommand(f"bigline {size}"))
    line = agent.read()
    assert line is not None
    assert len(line) + 1 == {"300": 300, "64k": 65_536, "8m": 8_388_608}[size]
    assert isinstance(frames.decode(line), TextFrame)


def test_a_flood_is_complete_and_in_order(agent: Client) -> None:
    (text,) = texts_of(agent.ask("flood 20000"))
    assert text == "".join(f"{n:015d} " for n in range(20_000))


@pytest.mark.parametrize("size, first", [(1, "01"), (4, "000 001 "), (20, "000000000000000.... ")])
def test_flood_takes_the_size_of_a_delta(agent: Client, size: int, first: str) -> None:
    seen = agent.ask(f"flood 12 {size}")
    assert [len(frame.delta) for frame in seen if isinstance(frame, TextFrame)] == [size] * 12
    assert texts_of(seen)[0].startswith(first)


def test_pace_keeps_its_schedule(agent: Client) -> None:
    (text,) = texts_of(agent.ask("pace 7 40 3"))
    deltas = [word.split("@") for word in text.split()]
    assert [int(place) for place, _ in deltas] == list(range(7))
    began = float(deltas[0][1])
    # It may be late on a busy machine, but never early.
    assert [float(time) - began > n // 3 * 0.04 - 0.01 for n, (_, time) in enumerate(deltas)] == [True] * 7


def test_a_prompt_of_megabytes_arrives_whole(agent: Client) -> None:
    (text,) = texts_of(agent.ask("x" * 3_000_000))
    assert text == "You said: " + "x" * 3_000_000 + " (message 1 of this conversation)"


def test_a_command_that_is_not_json_is_skipped(agent: Client) -> None:
    agent.send_line(b"[1]")
    agent.send_line(b"nonsense")
    assert texts_of(agent.ask("hi")) == ["You said: hi (message 1 of this conversation)"]


def test_state_and_conversation_are_required_arguments() -> None:
    assert mock_agent.main(["--state", "/nowhere"]) == 2
    assert mock_agent.main(["--state", "/nowhere", "--conversation", "../up"]) == 2


def test_withdrawn_names_what_was_asked(agent: Client) -> None:
    seen = agent.ask("question", respond=cancel_on(QuestionFrame))
    assert of(Withdrawn, seen) == Withdrawn(of(QuestionFrame, seen).id)
