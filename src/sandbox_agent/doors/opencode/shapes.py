"""What OpenCode clients read: sessions, messages, parts, requests and bus events, in OpenCode's spelling."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field


def spelled(name: str) -> str:
    """`session_id` is `sessionID`, `file_path` is `filePath`."""
    first, *rest = name.split("_")
    return first + "".join("ID" if word == "id" else word.capitalize() for word in rest)


class Shape(Struct, frozen=True, omit_defaults=True, rename=spelled, kw_only=True):
    """Absent members are left out; a factory marks members that are always sent."""


# -- messages ---------------------------------------------------------------------------------


class Cache(Shape, frozen=True):
    read: int = field(default_factory=int)
    write: int = field(default_factory=int)


class Tokens(Shape, frozen=True):
    input: int = field(default_factory=int)
    output: int = field(default_factory=int)
    reasoning: int = field(default_factory=int)
    cache: Cache = field(default_factory=Cache)


class Span(Shape, frozen=True):
    start: int
    end: int | None = None


class Times(Shape, frozen=True):
    created: int
    updated: int | None = None
    completed: int | None = None


class ModelChoice(Shape, frozen=True):
    provider_id: str
    model_id: str
    variant: str | None = None


class Problem(Shape, frozen=True):
    """An error in OpenCode's words, e.g. `APIError`."""

    name: str
    data: dict[str, Any]


class Folders(Shape, frozen=True):
    cwd: str
    root: str


class UserMessage(Shape, frozen=True, tag_field="role", tag="user"):
    id: str
    session_id: str
    time: Times
    agent: str
    model: ModelChoice


class AssistantMessage(Shape, frozen=True, tag_field="role", tag="assistant"):
    id: str
    session_id: str
    parent_id: str
    time: Times
    mode: str
    agent: str
    path: Folders
    provider_id: str
    model_id: str
    cost: float = field(default_factory=float)
    tokens: Tokens = field(default_factory=Tokens)
    finish: str | None = None
    error: Problem | None = None


Message = UserMessage | AssistantMessage

# -- parts ------------------------------------------------------------------------------------


class Part(Shape, frozen=True, tag_field="type"):
    id: str
    session_id: str
    message_id: str


class TextPart(Part, frozen=True, tag="text"):
    text: str
    time: Span | None = None
    synthetic: bool = False


class ReasoningPart(Part, frozen=True, tag="reasoning"):
    text: str
    time: Span


class FilePart(Part, frozen=True, tag="file"):
    mime: str
    url: str
    filename: str | None = None


class ToolState(Shape, frozen=True):
    status: Literal["pending", "running", "completed", "error"]
    input: dict[str, Any]  # the tool's own input
    raw: str | None = None
    output: str | None = None
    error: str | None = None
    title: str | None = None
    metadata: dict[str, Any] | None = None  # what a client draws, different for each tool
    time: Span | None = None
    attachments: tuple[FilePart, ...] = ()


class ToolPart(Part, frozen=True, tag="tool"):
    tool: str
    call_id: str
    state: ToolState


class CompactionPart(Part, frozen=True, tag="compaction"):
    """The conversation up to here was replaced with a summary."""

    auto: bool


AnyPart = TextPart | ReasoningPart | FilePart | ToolPart | CompactionPart


class MessageWithParts(Shape, frozen=True):
    info: Message
    parts: tuple[AnyPart, ...]


# -- sessions ---------------------------------------------------------------------------------


class SessionModel(Shape, frozen=True):
    id: str
    provider_id: str
    variant: str | None = None


class Session(Shape, frozen=True):
    id: str
    slug: str
    project_id: str
    directory: str
    title: str
    agent: str
    model: SessionModel
    version: str
    time: Times
    path: str = field(default_factory=str)
    parent_id: str | None = None
    cost: float = field(default_factory=float)
    tokens: Tokens = field(default_factory=Tokens)


class FileDiff(Shape, frozen=True):
    file: str
    patch: str
    additions: int
    deletions: int
    status: Literal["added", "modified", "deleted"]


class Todo(Shape, frozen=True):
    content: str
    status: str
    priority: str = field(default_factory=lambda: "medium")


class Status(Shape, frozen=True):
    type: Literal["idle", "busy", "retry"]
    attempt: int | None = None
    message: str | None = None
    next: int | None = None


IDLE, BUSY = Status(type="idle"), Status(type="busy")

# -- requests ---------------------------------------------------------------------------------


class ToolOfRequest(Shape, frozen=True):
    message_id: str
    call_id: str


class Permission(Shape, frozen=True):
    id: str
    session_id: str
    permission: str
    patterns: tuple[str, ...] = field(default_factory=tuple)
    metadata: dict[str, Any] = field(default_factory=dict)
    always: tuple[str, ...] = field(default_factory=tuple)
    tool: ToolOfRequest | None = None


class Option(Shape, frozen=True):
    label: str
    description: str = field(default_factory=str)


class AskedQuestion(Shape, frozen=True):
    question: str
    header: str
    options: tuple[Option, ...]
    multiple: bool | None = None


class Question(Shape, frozen=True):
    id: str
    session_id: str
    questions: tuple[AskedQuestion, ...]
    tool: ToolOfRequest | None = None


# -- bus events -------------------------------------------------------------------------------


class Properties(Shape, frozen=True):
    """The properties of a bus event."""


class Nothing(Properties, frozen=True):
    pass


class AboutSession(Properties, frozen=True):
    session_id: str


class SessionChanged(AboutSession, frozen=True):
    info: Session


class StatusChanged(AboutSession, frozen=True):
    status: Status


class SessionFailed(AboutSession, frozen=True):
    error: Problem


class MessageChanged(AboutSession, frozen=True):
    info: Message


class MessageRemoved(AboutSession, frozen=True):
    message_id: str


class PartChanged(AboutSession, frozen=True):
    part: AnyPart
    time: int


class PartGrew(AboutSession, frozen=True):
    message_id: str
    part_id: str
    delta: str
    field: str = field(default_factory=lambda: "text")


class TodosChanged(AboutSession, frozen=True):
    todos: tuple[Todo, ...]


class DiffChanged(AboutSession, frozen=True):
    diff: list[FileDiff]


class Toast(Properties, frozen=True):
    """A message that a terminal interface shows for a few seconds."""

    message: str
    variant: str = field(default_factory=lambda: "error")
    duration: int = field(default_factory=lambda: 8000)


class PermissionAnswered(AboutSession, frozen=True):
    request_id: str
    reply: Literal["once", "always", "reject"]


class QuestionAnswered(AboutSession, frozen=True):
    request_id: str
    answers: tuple[tuple[str, ...], ...] | None = None


class BusEvent(Shape, frozen=True):
    type: str
    properties: Properties | Permission | Question
    id: str | None = None
