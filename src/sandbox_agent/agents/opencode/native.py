"""OpenCode's own words: the frames of its server, its events, messages and parts.

Only what we read is declared, with defaults for all that may be absent, so that a slightly different payload still
decodes. Names are the agent's; `GET /doc` of a running server describes them all.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Raw, Struct, field

# -- frames -----------------------------------------------------------------------------------


class Frame(Struct, frozen=True):
    """What comes in: an answer (`status`), an event (`data`), or the end of the event stream (`closed`)."""

    status: int | None = None
    request: str = field(name="for", default="")
    id: str | None = None
    body: Raw = Raw(b"null")
    sse: str | None = None
    data: Raw = Raw(b"")
    closed: Any = None


class Request(Struct, frozen=True):
    """What goes out. The link repeats `id` in the answer; recordings have none."""

    method: str
    path: str
    body: Any = None
    id: str | None = None


# -- sessions and messages --------------------------------------------------------------------


class Time(Struct, frozen=True):
    created: float = 0
    completed: float | None = None
    start: float = 0
    end: float | None = None


class Session(Struct, frozen=True):
    id: str
    directory: str = ""
    parentID: str | None = None
    title: str = ""
    version: str | None = None
    time: Time = Time()


class ErrorData(Struct, frozen=True):
    message: str = ""
    statusCode: int | None = None
    responseBody: str | None = None
    providerID: str | None = None


class NativeError(Struct, frozen=True):
    name: str = "UnknownError"
    data: ErrorData = ErrorData()


class Message(Struct, frozen=True, tag_field="role"):
    id: str
    time: Time = Time()


class UserMessage(Message, frozen=True, tag="user"):
    summary: Any = None  # the changes of its turn; a message that is new has none yet


class AssistantMessage(Message, frozen=True, tag="assistant"):
    parentID: str = ""
    mode: str = ""
    finish: str | None = None
    error: NativeError | None = None
    summary: bool = False


AnyMessage = UserMessage | AssistantMessage

# -- parts ------------------------------------------------------------------------------------


class Part(Struct, frozen=True, tag_field="type"):
    id: str
    messageID: str


class TextPart(Part, frozen=True, tag="text"):
    text: str = ""
    synthetic: bool = False
    time: Time = Time()


class ReasoningPart(Part, frozen=True, tag="reasoning"):
    text: str = ""
    time: Time = Time()


class FilePart(Struct, frozen=True, tag_field="type", tag="file"):
    url: str
    id: str = ""
    messageID: str = ""
    mime: str | None = None
    filename: str | None = None


class State(Struct, frozen=True, tag_field="status"):
    input: dict[str, Any] = {}
    metadata: Raw = Raw(b"{}")


class Pending(State, frozen=True, tag="pending"):
    pass


class Running(State, frozen=True, tag="running"):
    pass


class Completed(State, frozen=True, tag="completed"):
    output: str = ""
    attachments: tuple[FilePart, ...] = ()


class Failed(State, frozen=True, tag="error"):
    error: str = ""


class ToolPart(Part, frozen=True, tag="tool"):
    tool: str
    callID: str
    state: Pending | Running | Completed | Failed


class Cache(Struct, frozen=True):
    read: float = 0
    write: float = 0


class Tokens(Struct, frozen=True):
    """`input` is without cache and `output` without reasoning."""

    input: float = 0
    output: float = 0
    reasoning: float = 0
    cache: Cache = Cache()


class StepStart(Part, frozen=True, tag="step-start"):
    pass


class StepFinish(Part, frozen=True, tag="step-finish"):
    reason: str = ""
    tokens: Tokens = Tokens()
    cost: float = 0


class CompactionPart(Part, frozen=True, tag="compaction"):
    auto: bool = False
    overflow: bool = False


class RetryPart(Part, frozen=True, tag="retry"):
    attempt: int = 0
    error: NativeError = NativeError()


class SubtaskPart(Part, frozen=True, tag="subtask"):
    """A prompt for a sub-agent, of a slash command or of a client: the agent makes the call for it."""

    prompt: str = ""


class AgentPart(Part, frozen=True, tag="agent"):
    """A sub-agent that the user mentioned by name."""


class SnapshotPart(Part, frozen=True, tag="snapshot"):
    pass


class PatchPart(Part, frozen=True, tag="patch"):
    """The files that a step changed, which the results of its tools tell better."""


class UnknownPart(Struct, frozen=True):
    payload: Any
    type: str = ""


_AnyPart = (
    TextPart
    | ReasoningPart
    | FilePart
    | ToolPart
    | StepStart
    | StepFinish
    | CompactionPart
    | RetryPart
    | SubtaskPart
    | AgentPart
    | SnapshotPart
    | PatchPart
)
AnyPart = _AnyPart | UnknownPart


class Change(Struct, frozen=True):
    """A file that `apply_patch` changed."""

    filePath: str
    type: str = "update"
    patch: str | None = None
    movePath: str | None = None


class FileDiff(Struct, frozen=True):
    file: str
    patch: str | None = None


class ToolMetadata(Struct, frozen=True):
    """What tools tell beside their output; MCP tools and plug-ins put anything here."""

    output: str | None = None
    exit: int | None = None
    sessionId: str | None = None
    background: bool = False
    filepath: str | None = None
    exists: bool = False
    filediff: FileDiff | None = None
    files: tuple[Change, ...] = ()


class AskMetadata(Struct, frozen=True):
    filepath: str | None = None
    diff: str | None = None
    files: tuple[Change, ...] = ()


# -- events -----------------------------------------------------------------------------------


class SessionEvent(Struct, frozen=True):
    sessionID: str = ""


class SessionCreated(SessionEvent, frozen=True):
    info: Session = Session("")


class SessionUpdated(SessionEvent, frozen=True):
    info: Session = Session("")


class SessionDeleted(SessionEvent, frozen=True):
    info: Session = Session("")


class Status(Struct, frozen=True):
    type: str
    attempt: int = 0
    message: str = ""
    next: int | float | None = None
    action: Any = None


class SessionStatus(SessionEvent, frozen=True, kw_only=True):
    status: Status


class SessionIdle(SessionEvent, frozen=True):
    pass


class SessionCompacted(SessionEvent, frozen=True):
    pass


class SessionError(SessionEvent, frozen=True):
    error: NativeError | None = None


class MessageUpdated(SessionEvent, frozen=True, kw_only=True):
    info: AnyMessage


class MessageRemoved(SessionEvent, frozen=True, kw_only=True):
    messageID: str


class PartUpdated(SessionEvent, frozen=True, kw_only=True):
    part: Raw


class PartRemoved(SessionEvent, frozen=True, kw_only=True):
    partID: str


class PartDelta(SessionEvent, frozen=True, kw_only=True):
    messageID: str
    partID: str
    field: str = "text"
    delta: str = ""


class CallRef(Struct, frozen=True):
    messageID: str
    callID: str


class PermissionAsked(SessionEvent, frozen=True, kw_only=True):
    id: str
    permission: str
    patterns: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    metadata: Raw = Raw(b"{}")
    tool: CallRef | None = None


class PermissionReplied(SessionEvent, frozen=True, kw_only=True):
    requestID: str
    reply: Literal["once", "always", "reject"]


class Option(Struct, frozen=True):
    label: str
    description: str = ""


class Question(Struct, frozen=True):
    question: str
    header: str = ""
    options: tuple[Option, ...] = ()
    multiple: bool = False


class QuestionAsked(SessionEvent, frozen=True, kw_only=True):
    id: str
    questions: tuple[Question, ...] = ()
    tool: CallRef | None = None


class QuestionReplied(SessionEvent, frozen=True, kw_only=True):
    requestID: str
    answers: tuple[tuple[str, ...], ...] = ()


class QuestionRejected(SessionEvent, frozen=True, kw_only=True):
    requestID: str


class TodoUpdated(SessionEvent, frozen=True):
    todos: Any = ()  # shown as it is


AnyEvent = (
    SessionCreated
    | SessionUpdated
    | SessionDeleted
    | SessionStatus
    | SessionIdle
    | SessionCompacted
    | SessionError
    | MessageUpdated
    | MessageRemoved
    | PartUpdated
    | PartRemoved
    | PartDelta
    | PermissionAsked
    | PermissionReplied
    | QuestionAsked
    | QuestionReplied
    | QuestionRejected
    | TodoUpdated
)

EVENTS: dict[str, type[AnyEvent]] = {
    "session.created": SessionCreated,
    "session.updated": SessionUpdated,
    "session.deleted": SessionDeleted,
    "session.status": SessionStatus,
    "session.idle": SessionIdle,
    "session.compacted": SessionCompacted,
    "session.error": SessionError,
    "message.updated": MessageUpdated,
    "message.removed": MessageRemoved,
    "message.part.updated": PartUpdated,
    "message.part.removed": PartRemoved,
    "message.part.delta": PartDelta,
    "permission.asked": PermissionAsked,
    "permission.replied": PermissionReplied,
    "question.asked": QuestionAsked,
    "question.replied": QuestionReplied,
    "question.rejected": QuestionRejected,
    "todo.updated": TodoUpdated,
}

IGNORED = frozenset(
    {
        # The server and its surroundings.
        "server.connected",
        "server.heartbeat",
        "server.instance.disposed",
        "global.disposed",
        "sync",  # /global/event says everything a second time under this type
        "plugin.added",
        "catalog.updated",
        "models-dev.refreshed",
        "integration.updated",
        "integration.connection.updated",
        "reference.updated",
        "installation.updated",
        "installation.update-available",
        "project.updated",
        "project.directories.updated",
        "workspace.ready",
        "workspace.failed",
        "workspace.status",
        "worktree.ready",
        "worktree.failed",
        "vcs.branch.updated",
        "file.edited",
        "file.watcher.updated",
        "lsp.updated",
        "lsp.client.diagnostics",
        "mcp.tools.changed",
        "mcp.browser.open.failed",
        "pty.created",
        "pty.updated",
        "pty.exited",
        "pty.deleted",
        "tui.prompt.append",
        "tui.command.execute",
        "tui.toast.show",
        "tui.session.select",
        # What other events tell better.
        "session.diff",
        "command.executed",
        # The second API, which repeats the first or serves conversations that are not ours.
        "permission.v2.asked",
        "permission.v2.replied",
        "question.v2.asked",
        "question.v2.replied",
        "question.v2.rejected",
        "session.next.agent.switched",
        "session.next.model.switched",
        "session.next.moved",
        "session.next.prompted",
        "session.next.prompt.admitted",
        "session.next.context.updated",
        "session.next.synthetic",
        "session.next.shell.started",
        "session.next.shell.ended",
        "session.next.step.started",
        "session.next.step.ended",
        "session.next.step.failed",
        "session.next.text.started",
        "session.next.text.delta",
        "session.next.text.ended",
        "session.next.reasoning.started",
        "session.next.reasoning.delta",
        "session.next.reasoning.ended",
        "session.next.tool.input.started",
        "session.next.tool.input.delta",
        "session.next.tool.input.ended",
        "session.next.tool.called",
        "session.next.tool.progress",
        "session.next.tool.success",
        "session.next.tool.failed",
        "session.next.retried",
        "session.next.compaction.started",
        "session.next.compaction.delta",
        "session.next.compaction.ended",
        "session.next.revert.staged",
        "session.next.revert.cleared",
        "session.next.revert.committed",
    }
)


class Payload(Struct, frozen=True):
    """An event before its type is looked at; `payload` is there on `/global/event`, which wraps them."""

    id: str | None = None
    type: str = ""
    properties: Raw = Raw(b"{}")
    directory: str | None = None
    payload: Payload | None = None


class Owner(Struct, frozen=True):
    """Whose an event of an unknown type is, as far as it says."""

    sessionID: str = ""


# -- answers ----------------------------------------------------------------------------------


class Listed(Struct, frozen=True):
    """One entry of `GET /session/{id}/message`."""

    info: AnyMessage
    parts: tuple[Raw, ...] = ()


class AgentInfo(Struct, frozen=True):
    name: str
    mode: str = "primary"
    description: str = ""
    hidden: bool = False


class ModelInfo(Struct, frozen=True):
    name: str | None = None
    variants: dict[str, Any] = {}


class Provider(Struct, frozen=True):
    id: str
    models: dict[str, ModelInfo] = {}


class Providers(Struct, frozen=True):
    providers: tuple[Provider, ...] = ()
    default: dict[str, str] = {}


class Config(Struct, frozen=True):
    model: str | None = None


class McpStatus(Struct, frozen=True):
    status: str = ""
    error: str | None = None


# -- what a client writes, read back ----------------------------------------------------------


class PermissionRule(Struct, frozen=True):
    permission: str
    pattern: str
    action: Literal["allow", "ask", "deny"]


class SessionModel(Struct, frozen=True, omit_defaults=True):
    id: str
    providerID: str
    variant: str | None = None


class CreateBody(Struct, frozen=True, omit_defaults=True):
    title: str | None = None
    agent: str | None = None
    model: SessionModel | None = None
    permission: tuple[PermissionRule, ...] = ()


class PromptModel(Struct, frozen=True):
    providerID: str
    modelID: str


class TextInput(Struct, frozen=True, tag_field="type", tag="text"):
    text: str


class FileInput(Struct, frozen=True, omit_defaults=True, tag_field="type", tag="file"):
    url: str
    mime: str
    filename: str | None = None


class AgentInput(Struct, frozen=True, tag_field="type", tag="agent"):
    name: str


class SubtaskInput(Struct, frozen=True, tag_field="type", tag="subtask"):
    prompt: str


class PromptBody(Struct, frozen=True, omit_defaults=True):
    parts: tuple[TextInput | FileInput | AgentInput | SubtaskInput, ...] = ()
    messageID: str | None = None
    model: PromptModel | None = None
    agent: str | None = None
    variant: str | None = None
    noReply: bool = False


class CommandBody(Struct, frozen=True):
    command: str
    arguments: str = ""
    messageID: str | None = None


class ReplyBody(Struct, frozen=True, omit_defaults=True):
    reply: Literal["once", "always", "reject"]
    message: str | None = None


class OldReplyBody(Struct, frozen=True):
    response: Literal["once", "always", "reject"]


class AnswersBody(Struct, frozen=True):
    answers: tuple[tuple[str, ...], ...]


# -- decoding ---------------------------------------------------------------------------------

T = TypeVar("T")
U = TypeVar("U")

_frame = msgspec.json.Decoder(Frame)
_payload = msgspec.json.Decoder(Payload)
_part: msgspec.json.Decoder[_AnyPart] = msgspec.json.Decoder(_AnyPart)
_part_types = {kind.__struct_config__.tag for kind in _AnyPart.__args__}


class _Typed(Struct):
    type: str


def decode_frame(frame: bytes) -> Frame:
    return _frame.decode(frame)


def decode_payload(data: Raw) -> tuple[Payload, str | None]:
    """The event and the directory it belongs to, where that is told."""
    outer = _payload.decode(data)
    return (outer.payload, outer.directory) if outer.payload else (outer, None)


def decode_part(raw: Raw) -> AnyPart:
    kind = msgspec.json.decode(raw, type=_Typed).type
    if kind not in _part_types:
        return UnknownPart(msgspec.json.decode(raw), kind)
    return _part.decode(raw)


def lenient(raw: Raw, shape: type[T], otherwise: U) -> T | U:
    """Facts that others may give any shape: what is not as we know it is as good as absent."""
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError:
        return otherwise
