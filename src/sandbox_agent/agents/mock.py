"""The mock agent: a real process (`testing/mock_agent.py`) with a JSON lines protocol of our own.

It shows every feature without a key. The frames below are the whole protocol; the process defines the
keywords it answers to.
"""

from __future__ import annotations

import base64
import glob
import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from ..schema.events import AskedQuestion, ErrorCode, StopReason, Usage
from ..schema.features import COMPACT, Capabilities, Catalogue, Mode, Model
from ..schema.features import Command as Offered
from ..schema.inputs import Answer, Attachment, Decision, Prompt, Settings
from ..schema.items import ContentPart, FileRef, ToolKind, arguments_of
from ..schema.world import World
from .base import (
    Action,
    Agent,
    Answered,
    Began,
    Cancelled,
    Conversation,
    Decided,
    Files,
    KeptFiles,
    Launch,
    Listed,
    Place,
    Prompted,
    Ready,
    Start,
    StartFailed,
    Wire,
)
from .frames import InFrame
from .plain_asks import command_in, hosts_in, plain_ask
from .scribe import Ask, AskKind, Rule
from .titles import title_of

KINDS: dict[str, ToolKind] = {
    "bash": "command",
    "write": "edit",
    "edit": "edit",
    "read": "read",
    "task": "task",
}


class Frame(Struct, frozen=True, tag_field="type"):
    """A line that the mock agent writes."""


class ReadyFrame(Frame, frozen=True, tag="ready"):
    conversation: str


class Gone(Frame, frozen=True, tag="gone"):
    """The conversation to resume does not exist."""

    message: str


class TextFrame(Frame, frozen=True, tag="text"):
    id: str
    delta: str
    parent: str | None = None


class TextEnd(Frame, frozen=True, tag="text_end"):
    id: str
    text: str | None = None
    parent: str | None = None


class Thinking(Frame, frozen=True, tag="thinking"):
    id: str
    delta: str


class ThinkingEnd(Frame, frozen=True, tag="thinking_end"):
    id: str


class Call(Frame, frozen=True, tag="call"):
    id: str
    name: str
    input: Any
    parent: str | None = None
    """The call whose sub-agent makes this one, if any."""


class Output(Frame, frozen=True, tag="output"):
    id: str
    delta: str


class MadeImage(Struct, frozen=True):
    mime: str
    data: str


class Result(Frame, frozen=True, tag="result"):
    id: str
    output: str
    exit_code: int | None = None
    failed: bool = False
    files: tuple[FileRef, ...] = ()
    images: tuple[MadeImage, ...] = ()


class AskFrame(Frame, frozen=True, tag="ask"):
    id: str
    tool: str
    input: Any
    kind: AskKind
    call: str | None = None
    paths: tuple[str, ...] | None = None
    diff: str | None = None


class QuestionFrame(Frame, frozen=True, tag="question"):
    id: str
    questions: tuple[AskedQuestion, ...]
    call: str | None = None


class PlanFrame(Frame, frozen=True, tag="plan"):
    id: str
    plan: str


class Withdrawn(Frame, frozen=True, tag="withdrawn"):
    """The mock no longer waits for this answer."""

    id: str


class StatusFrame(Frame, frozen=True, tag="status"):
    label: str
    payload: Any = None
    detail: str | None = None


class ErrorFrame(Frame, frozen=True, tag="error"):
    message: str
    code: ErrorCode | None = None


class Spent(Frame, frozen=True, tag="spent"):
    """What the turn has spent so far."""

    usage: Usage


class TurnEnd(Frame, frozen=True, tag="turn_end"):
    stop_reason: StopReason
    usage: Usage | None = None


class End(Frame, frozen=True, tag="end"):
    """The agent itself ends the conversation."""


class Heartbeat(Frame, frozen=True, tag="heartbeat"):
    """Carries no information: ignored."""


AnyFrame = (
    ReadyFrame
    | Gone
    | TextFrame
    | TextEnd
    | Thinking
    | ThinkingEnd
    | Call
    | Output
    | Result
    | AskFrame
    | QuestionFrame
    | PlanFrame
    | Withdrawn
    | StatusFrame
    | ErrorFrame
    | Spent
    | TurnEnd
    | End
    | Heartbeat
)


class Command(Struct, frozen=True, tag_field="type", omit_defaults=True):
    """A line that the mock agent reads."""


class PromptCommand(Command, frozen=True, tag="prompt"):
    text: str
    files: tuple[Attachment, ...] = ()
    command: bool = False


class DecisionCommand(Command, frozen=True, tag="decision"):
    id: str
    reply: Literal["once", "always", "reject"]
    message: str | None = None


class AnswerCommand(Command, frozen=True, tag="answer"):
    id: str
    answers: tuple[tuple[str, ...], ...] | None = field(default_factory=lambda: None)
    message: str | None = None


class CancelCommand(Command, frozen=True, tag="cancel"):
    pass


class SetCommand(Command, frozen=True, tag="set"):
    settings: Settings


AnyCommand = PromptCommand | DecisionCommand | AnswerCommand | CancelCommand | SetCommand

_frames = msgspec.json.Decoder(AnyFrame)
_commands = msgspec.json.Decoder(AnyCommand)
_known_types = {frame.__struct_config__.tag for frame in AnyFrame.__args__}


class MockWire(Wire):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._conversation: Conversation | None = None
        self._replays = False
        """The agent replays the conversation it resumes, which is already in the log."""

    def conversations(self) -> Iterable[Conversation]:
        return () if self._conversation is None else (self._conversation,)

    def open(self, start: Start) -> Conversation:
        self._conversation = Conversation(self, start)
        self._replays = start.resume
        self.send(SetCommand(start.settings))
        return self._conversation

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        self.send(PromptCommand(prompt.text, prompt.attachments, prompt.command))

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        self.send(DecisionCommand(key, decision.reply, decision.message))

    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        self.send(AnswerCommand(key, answer.answers, answer.message))

    def cancel(self, conversation: Conversation) -> None:
        self.send(CancelCommand())

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        self.send(SetCommand(settings))
        return True

    def list_catalogue(self, directory: str) -> None:
        self.notices.append(Listed(Mock.catalogue))

    def launched(self, argv: list[str]) -> Iterator[Action]:
        options = dict(itertools.pairwise(argv))
        yield Began(self._recorded(options.get("--conversation") or options.get("--resume")))

    def sent(self, frame: bytes) -> Iterator[Action]:
        conversation = self._conversation
        if conversation is None:
            conversation = self._recorded(None)
            yield Began(conversation)
        match _commands.decode(frame):
            case PromptCommand(text, files, command):
                yield Prompted(conversation, Prompt(text, files, command))
            case DecisionCommand(id, reply, message):
                yield Decided(conversation, id, Decision(reply, message))
            case AnswerCommand(id, answers, message):
                yield Answered(conversation, id, Answer(answers, message))
            case CancelCommand():
                yield Cancelled(conversation)
            case SetCommand():
                pass

    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
        if self._conversation is None:
            self._recorded(None).announce("daemon")
        assert self._conversation is not None
        scribe = self._conversation.scribe
        try:
            message = _frames.decode(frame)
        except msgspec.ValidationError:
            payload = msgspec.json.decode(frame)
            if not isinstance(payload, dict) or payload.get("type") in _known_types:
                raise
            scribe.unknown(payload)
            return
        if isinstance(message, (ReadyFrame, Gone)):
            self._replays = False
        if not self._replays:
            self._translate(message)

    def _translate(self, message: AnyFrame) -> None:
        assert self._conversation is not None
        scribe = self._conversation.scribe
        if scribe.turn is None and self._belongs_to_a_turn(message):
            raise msgspec.ValidationError("it has no turn to belong to")
        if type(message) is TextFrame and message.parent is None:
            # Most frames are text, so skip the other cases.
            scribe.text(message.id, message.delta)
            return
        match message:
            case TextFrame(id, delta, parent):
                owner = self._parent(parent)
                scribe.text(id, delta, parent=owner, outlives_turn=owner is not None)
            case TextEnd(id, text, parent):
                scribe.end_text(id, text, parent=self._parent(parent))
            case Thinking(id, delta):
                scribe.text(id, delta, thinking="public")
            case ThinkingEnd(id):
                scribe.end_text(id)
            case Call(id, name, input, parent):
                owner = self._parent(parent)
                arguments = arguments_of(input)
                scribe.end_call(
                    id,
                    name,
                    arguments,
                    kind=KINDS.get(name, "other"),
                    title=title_of(name, input),
                    parent=owner,
                    outlives_turn=owner is not None,
                )
                scribe.start_result(id)
            case Output(id, delta):
                scribe.result_delta(id, delta)
            case Result(id, output, exit_code, failed, files, images):
                extra: list[ContentPart] = [*files]
                extra += [scribe.image(base64.b64decode(image.data), image.mime) for image in images]
                scribe.result(id, output, exit_code=exit_code, failed=failed, extra=extra)
            case AskFrame(id, tool, input, kind, call, paths, diff):
                rule = Rule(tool, arguments_of(input))
                scribe.ask(
                    id,
                    Ask(
                        tool,
                        input,
                        kind,
                        call,
                        paths,
                        diff,
                        needs=(rule,),
                        title=title_of(tool, input),
                        command=command_in(input),
                        hosts=hosts_in(input),
                    ),
                )
            case QuestionFrame(id, questions, call):
                scribe.question(id, questions, call=call)
            case PlanFrame(id, plan):
                scribe.plan(id, plan)
            case Withdrawn(id):
                scribe.withdraw(id, "agent", "the agent withdrew its request", source="agent")
            case StatusFrame(label, payload, detail):
                scribe.status(label, payload, detail)
            case ErrorFrame(text, code):
                scribe.error(text, code)
            case Spent(spent):
                scribe.spend(spent)
            case TurnEnd(stop_reason, usage):
                scribe.end_turn(stop_reason, usage)
            case End():
                scribe.agent_left("completed")
            case ReadyFrame(conversation):
                self._conversation.native_id = conversation
                self.notices.append(Ready(self._conversation))
            case Gone(text):
                self.notices.append(StartFailed(self._conversation, text, gone=True))
            case Heartbeat():
                pass

    def _belongs_to_a_turn(self, message: AnyFrame) -> bool:
        """Everything except updates of sub-agents and of calls that began earlier."""
        match message:
            case TextFrame(_, _, parent) | TextEnd(_, _, parent) | Call(_, _, _, parent):
                return self._parent(parent) is None
            case Output(id) | Result(id):
                return self._parent(id) is None
            case _:
                return isinstance(message, Thinking | ThinkingEnd)

    def _parent(self, call: str | None) -> str | None:
        assert self._conversation is not None
        return self._conversation.scribe.call_item(call) if call else None

    def _recorded(self, native_id: str | None) -> Conversation:
        assert self.recorded_start is not None
        return self.open(self.recorded_start(Settings(""), native_id))


class Mock(Agent):
    name = "mock"
    title = "Mock"
    stability = "stable"
    credentials = None
    capabilities = Capabilities(
        text_messages=True,
        tool_calls=True,
        tool_results=True,
        questions=True,
        permissions=True,
        plan_mode=True,
        images=True,
        file_attachments=True,
        session_lifecycle=True,
        error_events=True,
        reasoning=True,
        command_execution=True,
        file_changes=True,
        streaming_deltas=True,
        item_started=True,
        variants=True,
        status=True,
    )
    commands = (COMPACT,)
    modes = (
        Mode("build", "Build", "Answers according to keywords in the prompt; `help` lists them."),
        Mode("plan", "Plan", "Pretends to plan."),
    )
    catalogue = Catalogue(
        models=(
            Model("mock-1", "Mock One", ("low", "high"), "low"),
            Model("mock-2", "Mock Two"),
        ),
        modes=modes,
        default_model="mock-1",
        commands=(Offered("echo", "Say what follows.", "<text>"),),
    )

    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        program = Path(__file__).parents[1] / "testing" / "mock_agent.py"
        argv = [sys.executable, "-I", "-S", str(program), "--state", str(place.data_dir / "mock")]
        assert native_id is not None
        return Launch([*argv, "--resume" if resume else "--conversation", native_id])

    def ask_about(self, tool: str, input: Any) -> Ask:
        return plain_ask(tool, KINDS.get(tool, "other"), input)

    def wire(self, world: World) -> Wire:
        return MockWire(world)

    def choose_native_id(self, world: World) -> str | None:
        return world.make_id("mck")

    def conversation(self, place: Place, native_id: str) -> KeptFiles:
        return KeptFiles(place.data_dir / "mock", f"{glob.escape(native_id)}.jsonl")
