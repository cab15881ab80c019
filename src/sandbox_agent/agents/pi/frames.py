"""The lines that `pi --mode rpc` writes and reads, decoded. One struct per type; only the fields we read.

Messages and content blocks are one flat struct each: extensions may add roles and blocks, and the rest of a
line with an unknown block is still readable.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from ...schema.events import Usage
from ..retries import retry_detail

NOTHING = Raw(b"null")


class Native(Struct, frozen=True, rename="camel"):
    """A part of a line."""


class Cost(Native, frozen=True):
    total: float = 0.0


class NativeUsage(Native, frozen=True):
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int | None = None
    total_tokens: int = 0
    cost: Cost = Cost()

    def universal(self) -> Usage | None:
        """Pi counts cached input separately from `input`. A call that was cut short reports zeros, which mean
        nothing.
        """
        spent = self.input + self.cache_read + self.cache_write
        if not (spent or self.output or self.total_tokens):
            return None
        return Usage(
            spent, self.output, self.cache_read, self.cache_write, self.reasoning, float(self.cost.total)
        )

    def total(self) -> int:
        return self.total_tokens or self.input + self.cache_read + self.cache_write + self.output


class Block(Native, frozen=True):
    """A content block: `text`, `thinking`, `toolCall` or `image`."""

    type: str
    text: str = ""
    thinking: str = ""
    redacted: bool = False
    id: str = ""
    name: str = ""
    arguments: Any = None  # the tool's own input
    data: str = ""
    mime_type: str = ""


class Message(Native, frozen=True):
    role: str
    content: str | tuple[Block, ...] = ()
    stop_reason: str | None = None
    raw_stop_reason: str | None = None
    error_message: str | None = None
    usage: NativeUsage | None = None
    provider: str | None = None
    model: str | None = None
    tool_call_id: str | None = None
    custom_type: str | None = None
    summary: str | None = None
    command: str | None = None
    output: str | None = None

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (Block("text", self.content),) if isinstance(self.content, str) else self.content

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks if block.type == "text")


class Update(Native, frozen=True):
    """The part of a `message_update` about one block of the assistant's message."""

    type: str
    content_index: int = 0
    delta: str = ""
    content: str = ""
    id: str = ""
    tool_name: str = ""
    tool_call: Block | None = None


class ToolOutput(Native, frozen=True):
    content: tuple[Block, ...] = ()
    structured_content: Raw = NOTHING
    details: Raw = NOTHING

    @property
    def text(self) -> str:
        """As the model reads it: Pi puts each block on its own line."""
        return "\n".join(block.text for block in self.content if block.type == "text")


class Frame(Native, frozen=True, tag_field="type"):
    """A line that Pi writes."""


class Response(Frame, frozen=True, tag="response"):
    command: str = ""
    success: bool = True
    id: str | int | None = None
    error: str | None = None
    data: Raw = NOTHING


class SessionHeader(Frame, frozen=True, tag="session"):
    """The first line of `--mode json`."""

    id: str


class AgentStart(Frame, frozen=True, tag="agent_start"):
    pass


class AgentEnd(Frame, frozen=True, tag="agent_end"):
    will_retry: bool | None = None
    """Absent in versions without `agent_settled`."""


class AgentSettled(Frame, frozen=True, tag="agent_settled"):
    aborted: bool = False


class TurnStart(Frame, frozen=True, tag="turn_start"):
    """One model call begins; our turn spans from the prompt to `agent_settled`."""


class TurnEnd(Frame, frozen=True, tag="turn_end"):
    pass


class MessageStart(Frame, frozen=True, tag="message_start"):
    message: Message


class MessageUpdate(Frame, frozen=True, tag="message_update"):
    assistant_message_event: Update


class MessageEnd(Frame, frozen=True, tag="message_end"):
    message: Message


class ToolStart(Frame, frozen=True, tag="tool_execution_start"):
    tool_call_id: str
    tool_name: str = ""
    args: Any = None
    parent_tool_call_id: str | None = None


class ToolUpdate(Frame, frozen=True, tag="tool_execution_update"):
    tool_call_id: str
    partial_result: ToolOutput = ToolOutput()


class ToolEnd(Frame, frozen=True, tag="tool_execution_end"):
    tool_call_id: str
    tool_name: str = ""
    result: ToolOutput = ToolOutput()
    is_error: bool = False


class QueueUpdate(Frame, frozen=True, tag="queue_update"):
    steering: tuple[str, ...] = ()
    follow_up: tuple[str, ...] = ()


class SessionInfoChanged(Frame, frozen=True, tag="session_info_changed"):
    name: str | None = None


class ThinkingLevelChanged(Frame, frozen=True, tag="thinking_level_changed"):
    level: str = ""


class CompactionStart(Frame, frozen=True, tag="compaction_start"):
    reason: str | None = None


class CompactionResult(Native, frozen=True, omit_defaults=True):
    summary: str | None = None
    tokens_before: int | None = None
    estimated_tokens_after: int | None = None
    usage: NativeUsage | None = None


class CompactionEnd(Frame, frozen=True, tag="compaction_end"):
    reason: str | None = None
    result: CompactionResult | None = None
    aborted: bool = False
    will_retry: bool = False
    error_message: str | None = None


class Retry(Frame, frozen=True):
    """Pi repeats a model call that failed."""

    attempt: int | None = None
    max_attempts: int | None = None
    error_message: str | None = None

    @property
    def detail(self) -> str:
        return retry_detail(self.attempt, self.max_attempts, self.error_message)


class AutoRetryStart(Retry, frozen=True, tag="auto_retry_start"):
    pass


class AutoRetryEnd(Frame, frozen=True, tag="auto_retry_end"):
    success: bool = False
    attempt: int | None = None
    final_error: str | None = None

    @property
    def detail(self) -> str:
        if self.success:
            return f"{retry_detail(self.attempt)} succeeded"
        return f"gave up after {retry_detail(self.attempt, reason=self.final_error)}"


class SummarizationRetryScheduled(Retry, frozen=True, tag="summarization_retry_scheduled"):
    pass


class SummarizationRetryStart(Frame, frozen=True, tag="summarization_retry_attempt_start"):
    pass


class SummarizationRetryFinished(Frame, frozen=True, tag="summarization_retry_finished"):
    pass


class EntryAppended(Frame, frozen=True, tag="entry_appended"):
    """An entry of Pi's session file, meant for Pi itself: ignored."""


class BashExecutionUpdate(Frame, frozen=True, tag="bash_execution_update"):
    """Output of a shell command that a client ran beside the agent: ignored, because the client gets it."""


class ExtensionError(Frame, frozen=True, tag="extension_error"):
    extension_path: str | None = None
    event: str | None = None
    error: str = ""


class Dialog(Frame, frozen=True, tag="extension_ui_request"):
    """An extension asks (`select`, `confirm`, `input`, `editor`) or notifies (`notify`, `setStatus`, …)."""

    id: str
    method: str
    title: str = ""
    message: str = ""
    options: tuple[str, ...] = ()
    placeholder: str | None = None
    prefill: str | None = None


AnyFrame = (
    Response
    | SessionHeader
    | AgentStart
    | AgentEnd
    | AgentSettled
    | TurnStart
    | TurnEnd
    | MessageStart
    | MessageUpdate
    | MessageEnd
    | ToolStart
    | ToolUpdate
    | ToolEnd
    | QueueUpdate
    | SessionInfoChanged
    | ThinkingLevelChanged
    | CompactionStart
    | CompactionEnd
    | AutoRetryStart
    | AutoRetryEnd
    | SummarizationRetryScheduled
    | SummarizationRetryStart
    | SummarizationRetryFinished
    | EntryAppended
    | BashExecutionUpdate
    | ExtensionError
    | Dialog
)

_decoder = msgspec.json.Decoder(AnyFrame)
_known_types = {frame.__struct_config__.tag for frame in AnyFrame.__args__}


def decode(line: bytes) -> AnyFrame | None:
    """The frame on this line; None for an unknown type. A known type of the wrong shape raises."""
    try:
        frame: AnyFrame = _decoder.decode(line)
    except msgspec.ValidationError:
        payload = msgspec.json.decode(line)
        if not isinstance(payload, dict) or payload.get("type") in _known_types or "type" not in payload:
            raise
        return None
    return frame


class _Waiting(Struct, frozen=True):
    type: Literal["extension_ui_request"]
    id: str


def waiting_in(line: bytes) -> str | None:
    """The id of a dialog of an unknown shape: its extension may wait for an answer."""
    try:
        return msgspec.json.decode(line, type=_Waiting).id
    except (msgspec.DecodeError, RecursionError):
        return None


# -- answers ---------------------------------------------------------------------------------------


class NativeModel(Native, frozen=True):
    id: str
    provider: str = ""
    name: str | None = None
    reasoning: bool = False
    thinking_level_map: dict[str, Any] | None = None
    context_window: int | None = None

    @property
    def full_name(self) -> str | None:
        """Without configuration, Pi reports the model `unknown` of the provider `unknown`."""
        return None if self.id == "unknown" else f"{self.provider}/{self.id}"


class State(Native, frozen=True):
    """The answer to `get_state`."""

    session_id: str
    session_name: str | None = None
    model: NativeModel | None = None
    thinking_level: str | None = None
    message_count: int = 0


class Switched(Native, frozen=True):
    """The answer to `new_session` and `switch_session`."""

    cancelled: bool = False


class Models(Native, frozen=True):
    models: tuple[NativeModel, ...] = ()


class CommandInfo(Native, frozen=True):
    name: str
    description: str | None = None


class Commands(Native, frozen=True):
    commands: tuple[CommandInfo, ...] = ()


class Accepted(Native, frozen=True):
    """The answer to `prompt`, `steer` and `follow_up`: `started`, `queued` or `handled`."""

    disposition: str = "started"


class Edit(Native, frozen=True):
    old_text: str = ""
    new_text: str = ""


class ToolArguments(Native, frozen=True):
    """The fields we read from the arguments of Pi's own tools."""

    path: str | None = None
    command: str | None = None
    content: str | None = None
    edits: tuple[Edit, ...] = ()


class EditDetails(Native, frozen=True):
    patch: str | None = None


class CommandOutcome(Struct, frozen=True):
    exit_code: int | None = None
