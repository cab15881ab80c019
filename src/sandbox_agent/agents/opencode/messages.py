"""OpenCode's sessions, messages and parts.

Only what we read is declared, with defaults for all that may be absent, so that a slightly different payload
still decodes. Names are the agent's own; `GET /doc` of a running server describes them all.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

T = TypeVar("T")
U = TypeVar("U")


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
    slug: str = ""
    version: str | None = None
    time: Time = Time()

    @property
    def plan_file(self) -> str:
        """The end of the path of its plan file; which directory holds it depends on the working directory."""
        return f"plans/{self.time.created:.0f}-{self.slug}.md"


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
    summary: Any = None  # the changes of its turn; a new message has none yet


class AssistantMessage(Message, frozen=True, tag="assistant"):
    parentID: str = ""
    mode: str = ""
    providerID: str = ""
    modelID: str = ""
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

    @property
    def is_injected(self) -> bool:
        """Neither typed by the user nor generated: a message from the agent's program to its model."""
        return self.synthetic or self.text.startswith("<system-reminder>")


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
    """`input` excludes cache and `output` excludes reasoning."""

    input: float = 0
    output: float = 0
    reasoning: float = 0
    cache: Cache = Cache()

    def total(self) -> float:
        """All tokens in the context of this call."""
        return self.input + self.cache.read + self.cache.write + self.output + self.reasoning


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
    """A prompt for a sub-agent, of a slash command or a client: the agent makes the call for it."""

    prompt: str = ""


class AgentPart(Part, frozen=True, tag="agent"):
    """A sub-agent that the user mentioned by name."""


class SnapshotPart(Part, frozen=True, tag="snapshot"):
    pass


class PatchPart(Part, frozen=True, tag="patch"):
    """The files that a step changed; the results of its tools have more detail."""


AnyPart = (
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
    """What tools report beside their output; MCP tools and plugins put anything here."""

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


# -- decoding ---------------------------------------------------------------------------------

_part: msgspec.json.Decoder[AnyPart] = msgspec.json.Decoder(AnyPart)
_part_types = {kind.__struct_config__.tag for kind in AnyPart.__args__}


class _Typed(Struct):
    type: str


def decode_part(raw: Raw) -> AnyPart | None:
    """A single part; None for an unknown type. A known type of the wrong shape raises."""
    try:
        return _part.decode(raw)
    except msgspec.ValidationError:
        if msgspec.json.decode(raw, type=_Typed).type in _part_types:
            raise
        return None


def lenient(raw: Raw, shape: type[T], otherwise: U) -> T | U:
    """Decodes metadata that others may give any shape: an unexpected shape counts as absent."""
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError:
        return otherwise
