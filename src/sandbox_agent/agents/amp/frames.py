"""The lines that `amp --stream-json` and our delegate write and read, decoded. Only the fields we read."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct, field

from ...schema.events import AskedQuestion, Usage
from ..frames import DelegateAsk, DelegateReply


class ImageSource(Struct, frozen=True):
    media_type: str = "image/png"
    data: str = ""
    type: str = field(default_factory=lambda: "base64")


class Block(Struct, frozen=True, omit_defaults=True):
    """A content block: `text`, `thinking`, `redacted_thinking`, `tool_use`, `tool_result` or `image`."""

    type: str
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: Any = None  # the tool's own input
    tool_use_id: str = ""
    content: str | tuple[Block, ...] = ""
    is_error: bool = False
    source: ImageSource | None = None


class NativeUsage(Struct, frozen=True):
    input_tokens: int = 0
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int = 0
    max_tokens: int | None = None
    """The size of the context window."""

    def universal(self) -> Usage:
        cached, written = self.cache_read_input_tokens, self.cache_creation_input_tokens
        spent = self.input_tokens + (cached or 0) + (written or 0)
        return Usage(spent, self.output_tokens, cached, written)

    def context(self) -> Usage:
        """How full the context is after this call."""
        spent = self.universal()
        total = (spent.input_tokens or 0) + (spent.output_tokens or 0)
        return Usage(context_tokens=total, context_window=self.max_tokens)


class Message(Struct, frozen=True, omit_defaults=True):
    content: str | tuple[Block, ...] = ()
    """Blocks; a client may write plain text, which Amp refuses."""
    role: str = field(default_factory=lambda: "user")
    stop_reason: str | None = None
    usage: NativeUsage | None = None

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (Block("text", self.content),) if isinstance(self.content, str) else self.content


class Frame(Struct, frozen=True, tag_field="type"):
    """A line of stdout."""


class System(Frame, frozen=True, tag="system"):
    subtype: str = ""
    session_id: str | None = None
    mcp_servers: tuple[Any, ...] = ()


class User(Frame, frozen=True, tag="user", omit_defaults=True):
    """Amp also reads these."""

    message: Message
    parent_tool_use_id: str | None = None


class Assistant(Frame, frozen=True, tag="assistant"):
    message: Message
    parent_tool_use_id: str | None = None


class Result(Frame, frozen=True, tag="result"):
    subtype: str = "success"
    is_error: bool = False
    error: str | None = None
    result: str | None = None


class Question(Struct, frozen=True):
    """The delegate's request: may this tool run?"""

    tool: str
    input: Any = None  # the tool's own input
    tool_use_id: str | None = None


class UserQuestions(Struct, frozen=True):
    """The request of our MCP server: the model's questions for the user."""

    questions: tuple[AskedQuestion, ...]


class _AnyQuestion(Struct, frozen=True):
    tool: str | None = None


AnyFrame = System | User | Assistant | Result

_frames = msgspec.json.Decoder(AnyFrame)
_known_types = {frame.__struct_config__.tag for frame in AnyFrame.__args__}
_written = msgspec.json.Decoder(User | DelegateReply)
_question = msgspec.json.Decoder(Question)
_user_questions = msgspec.json.Decoder(UserQuestions)
_any_question = msgspec.json.Decoder(_AnyQuestion)


def decode(line: bytes) -> AnyFrame | None:
    """The frame on this line; None for an unknown type. A known type of the wrong shape raises."""
    try:
        frame: AnyFrame = _frames.decode(line)
    except msgspec.ValidationError:
        payload = msgspec.json.decode(line)
        if not isinstance(payload, dict) or payload.get("type") in _known_types or "type" not in payload:
            raise
        return None
    return frame


def decode_written(line: bytes) -> User | DelegateReply:
    """What a client wrote."""
    written: User | DelegateReply = _written.decode(line)
    return written


def decode_question(body: bytes) -> Question | UserQuestions:
    of_a_tool = _any_question.decode(body).tool is not None
    return _question.decode(body) if of_a_tool else _user_questions.decode(body)


def recorded_question(line: bytes) -> DelegateAsk | None:
    """A request of the delegate as a recording stores it: its fields beside type and id."""
    if b'"delegate"' not in line:
        return None
    try:
        facts = msgspec.json.decode(line, type=dict[str, Raw])
        kind, id = (msgspec.json.decode(facts.pop(name), type=str) for name in ("type", "id"))
    except (msgspec.DecodeError, KeyError):
        return None
    return DelegateAsk(id, msgspec.json.encode(facts)) if kind == "delegate" else None


class ToolInput(Struct, frozen=True):
    """The fields we read from the input of Amp's own tools."""

    path: str | None = None
    cmd: str | None = None
    command: str | None = None
    old_str: str | None = None
    new_str: str | None = None
    content: str | None = None
    todos: Any = None  # the format of this list has changed over time


class ImageInfo(Struct, frozen=True):
    mime_type: str = field(default="image/png", name="mimeType")


class ReadImage(Struct, frozen=True):
    """What `Read` reports for an image, also as a JSON string."""

    content: str
    is_image: Literal[True] = field(name="isImage")
    image_info: ImageInfo = field(default=ImageInfo(), name="imageInfo")
    path: str = field(default="", name="absolutePath")


class Truncation(Struct, frozen=True):
    lines: int = field(default=0, name="prefixLinesOmitted")


class ToolOutput(Struct, frozen=True):
    """Most results are a JSON string."""

    output: str | None = None
    truncation: Truncation | None = None
    exit_code: int | None = field(default=None, name="exitCode")
    diff: str | None = None


class ResultBlock(Struct, frozen=True):
    """A content block returned by an MCP server or an image tool: a JSON string holds several."""

    type: Literal["text", "image"]
    text: str = ""
    data: str = ""
    mime_type: str = field(default="image/png", name="mimeType")
