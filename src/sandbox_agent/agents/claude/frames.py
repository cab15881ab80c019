"""What the `claude` program writes in stream-json mode, decoded: one JSON object per line.

Declares only the fields we read; all that may be absent have defaults. Where the agent may add types (content
blocks, stream events, system messages), a `Tagged` decoder distinguishes an unknown type from a wrong shape.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct, field

T = TypeVar("T")


class Tagged(Generic[T]):
    """Decodes a union by its tag. An undeclared tag gives None; a declared one of the wrong shape raises."""

    def __init__(self, union: Any, tag_field: str = "type") -> None:
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(union)
        self._tags = {member.__struct_config__.tag for member in union.__args__}
        self._tag_field = tag_field

    def decode(self, raw: bytes | Raw) -> T | None:
        try:
            return self._decoder.decode(raw)
        except msgspec.ValidationError:
            payload = msgspec.json.decode(raw)
            if not isinstance(payload, dict):
                raise
            tag = payload.get(self._tag_field)
            if not isinstance(tag, str) or tag in self._tags:
                raise
            return None


# -- content blocks ---------------------------------------------------------------------------


class Block(Struct, frozen=True, tag_field="type"):
    pass


class TextBlock(Block, frozen=True, tag="text"):
    text: str = ""


class ThinkingBlock(Block, frozen=True, tag="thinking"):
    thinking: str = ""


class RedactedThinking(Block, frozen=True, tag="redacted_thinking"):
    """Encrypted thinking: no text, no item."""


class ToolUse(Block, frozen=True, tag="tool_use"):
    id: str
    name: str
    input: Any = None


class ServerToolUse(Block, frozen=True, tag="server_tool_use"):
    """A tool that runs at the model's provider."""

    id: str
    name: str
    input: Any = None


class McpToolUse(Block, frozen=True, tag="mcp_tool_use"):
    id: str
    name: str
    input: Any = None
    server_name: str = ""


class ImageSource(Struct, frozen=True):
    type: str = ""
    media_type: str = ""
    data: str = ""


class ImageBlock(Block, frozen=True, tag="image"):
    source: ImageSource = ImageSource()


class ToolResultBlock(Block, frozen=True, tag="tool_result"):
    tool_use_id: str
    content: str | list[Raw] | None = None
    is_error: bool | None = None


class McpToolResult(Block, frozen=True, tag="mcp_tool_result"):
    tool_use_id: str
    content: str | list[Raw] | None = None
    is_error: bool | None = None


class ProviderResult(Block, frozen=True):
    """The result of a tool that the model's provider runs."""

    tool_use_id: str
    content: Any = None


class WebSearchResult(ProviderResult, frozen=True, tag="web_search_tool_result"):
    pass


class WebFetchResult(ProviderResult, frozen=True, tag="web_fetch_tool_result"):
    pass


class CodeResult(ProviderResult, frozen=True, tag="code_execution_tool_result"):
    pass


class BashCodeResult(ProviderResult, frozen=True, tag="bash_code_execution_tool_result"):
    pass


class EditorCodeResult(ProviderResult, frozen=True, tag="text_editor_code_execution_tool_result"):
    pass


class ToolSearchResult(ProviderResult, frozen=True, tag="tool_search_tool_result"):
    pass


class AdvisorResult(ProviderResult, frozen=True, tag="advisor_tool_result"):
    pass


AnyProviderResult = (
    WebSearchResult
    | WebFetchResult
    | CodeResult
    | BashCodeResult
    | EditorCodeResult
    | ToolSearchResult
    | AdvisorResult
)
AnyToolUse = ToolUse | ServerToolUse | McpToolUse
AnyToolResult = ToolResultBlock | McpToolResult
AnyBlock = (
    TextBlock | ThinkingBlock | RedactedThinking | AnyToolUse | ImageBlock | AnyToolResult | AnyProviderResult
)
blocks: Tagged[AnyBlock] = Tagged(AnyBlock)


# -- the stream of one API message ------------------------------------------------------------


class Event(Struct, frozen=True, tag_field="type"):
    pass


class ApiUsage(Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None

    def total(self) -> int:
        """All tokens in the context of this call."""
        cached = (self.cache_read_input_tokens or 0) + (self.cache_creation_input_tokens or 0)
        return (self.input_tokens or 0) + cached + (self.output_tokens or 0)


class MessageHead(Struct, frozen=True):
    id: str = ""
    model: str = ""


class MessageStart(Event, frozen=True, tag="message_start"):
    message: MessageHead = MessageHead()


class BlockStart(Event, frozen=True, tag="content_block_start"):
    index: int
    content_block: Raw


class Delta(Struct, frozen=True):
    """`text_delta`, `thinking_delta` and `input_json_delta`; the others (signatures, citations) are ignored."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    partial_json: str = ""


class BlockDelta(Event, frozen=True, tag="content_block_delta"):
    index: int
    delta: Delta


class BlockStop(Event, frozen=True, tag="content_block_stop"):
    index: int


class MessageDelta(Event, frozen=True, tag="message_delta"):
    """Stop reason and usage. `result` repeats them, but with the usage of all calls together."""

    usage: ApiUsage = ApiUsage()


class MessageStop(Event, frozen=True, tag="message_stop"):
    pass


class Ping(Event, frozen=True, tag="ping"):
    pass


class StreamError(Event, frozen=True, tag="error"):
    """The stream broke; the program retries, or reports it in `result`."""


AnyEvent = (
    MessageStart | BlockStart | BlockDelta | BlockStop | MessageDelta | MessageStop | Ping | StreamError
)
events: Tagged[AnyEvent] = Tagged(AnyEvent)


# -- control requests that claude sends -------------------------------------------------------


class Request(Struct, frozen=True, tag_field="subtype"):
    pass


class RuleValue(Struct, frozen=True):
    toolName: str = ""
    ruleContent: str | None = None


class Suggestion(Struct, frozen=True):
    type: str = ""
    rules: tuple[RuleValue, ...] = ()


class CanUseTool(Request, frozen=True, tag="can_use_tool"):
    tool_name: str
    input: dict[str, Any] = field(default_factory=dict)
    tool_use_id: str | None = None
    agent_id: str | None = None
    blocked_path: str | None = None
    permission_suggestions: tuple[Suggestion, ...] | None = None


class ToolInput(Struct, frozen=True):
    """The input of `can_use_tool` as Claude wrote it."""

    input: Raw = Raw(b"{}")


class HookCallback(Request, frozen=True, tag="hook_callback"):
    pass


class McpMessage(Request, frozen=True, tag="mcp_message"):
    pass


class Elicitation(Request, frozen=True, tag="elicitation"):
    message: str = ""


class UserDialog(Request, frozen=True, tag="request_user_dialog"):
    """A dialog of a kind that we did not declare: the protocol expects no answer."""


AnyRequest = CanUseTool | HookCallback | McpMessage | Elicitation | UserDialog
requests: Tagged[AnyRequest] = Tagged(AnyRequest, "subtype")
inputs = msgspec.json.Decoder(ToolInput)


# -- system messages --------------------------------------------------------------------------


class Named(Struct, frozen=True):
    name: str = ""
    status: str | None = None


class SystemMessage(Struct, frozen=True, tag_field="subtype"):
    pass


class Init(SystemMessage, frozen=True, tag="init"):
    """The state of the session; sent at the beginning of every turn."""

    session_id: str
    cwd: str | None = None
    model: str | None = None
    permissionMode: str | None = None
    tools: tuple[str, ...] = ()
    mcp_servers: tuple[Named, ...] = ()
    agents: tuple[str, ...] = ()
    claude_code_version: str | None = None


class Status(SystemMessage, frozen=True, tag="status"):
    status: str | None = None
    permissionMode: str | None = None
    compact_result: str | None = None
    compact_error: str | None = None


class ApiRetry(SystemMessage, frozen=True, tag="api_retry"):
    attempt: int | None = None
    max_retries: int | None = None
    error: str | None = None
    error_status: int | None = None

    @property
    def reason(self) -> str:
        """Claude's name for the failure, else the HTTP status; without either, the API never answered."""
        if self.error not in (None, "unknown"):
            return str(self.error)
        return f"status {self.error_status}" if self.error_status else "connection failed"


class StateChanged(SystemMessage, frozen=True, tag="session_state_changed"):
    state: str = ""


class LocalCommandOutput(SystemMessage, frozen=True, tag="local_command_output"):
    content: str = ""


class LocalCommand(SystemMessage, frozen=True, tag="local_command"):
    content: str = ""


class TaskStarted(SystemMessage, frozen=True, tag="task_started"):
    task_id: str = ""
    tool_use_id: str | None = None


class TaskProgress(SystemMessage, frozen=True, tag="task_progress"):
    task_id: str = ""
    tool_use_id: str | None = None


class TaskUpdated(SystemMessage, frozen=True, tag="task_updated"):
    task_id: str = ""
    tool_use_id: str | None = None


class TaskNotification(SystemMessage, frozen=True, tag="task_notification"):
    task_id: str = ""
    tool_use_id: str | None = None


class TitleChanged(SystemMessage, frozen=True, tag="session_title_changed"):
    title: str = ""


AnyTask = TaskStarted | TaskProgress | TaskUpdated | TaskNotification
AnySystem = (
    Init | Status | TitleChanged | ApiRetry | StateChanged | LocalCommandOutput | LocalCommand | AnyTask
)
systems: Tagged[AnySystem] = Tagged(AnySystem, "subtype")


# -- lines ------------------------------------------------------------------------------------


class Line(Struct, frozen=True, tag_field="type"):
    pass


class ApiMessage(Struct, frozen=True):
    id: str = ""
    model: str = ""
    content: str | list[Raw] = ""


class Assistant(Line, frozen=True, tag="assistant"):
    """One content block of an API message or, from the model `<synthetic>`, text of the program itself."""

    message: ApiMessage
    parent_tool_use_id: str | None = None
    error: str | None = None
    is_api_error_message: bool = False
    api_error: str | None = None
    api_error_status: int | None = None
    api_error_type: str | None = None
    aborted: bool = False
    local_command_source: Any = None


class Origin(Struct, frozen=True):
    """Who caused a message or a turn: `human`, `peer`, `task-notification`, ..."""

    kind: str = ""


class UserContent(Struct, frozen=True):
    content: str | list[Raw] = ""


class User(Line, frozen=True, tag="user"):
    message: UserContent
    parent_tool_use_id: str | None = None
    isReplay: bool = False
    isSynthetic: bool = False
    tool_use_result: Raw = Raw(b"null")
    uuid: str | None = None
    origin: Origin | None = None


class ModelUsage(Struct, frozen=True):
    inputTokens: int = 0
    outputTokens: int = 0
    cacheReadInputTokens: int = 0
    cacheCreationInputTokens: int = 0
    thinkingTokens: int | None = None
    contextWindow: int | None = None
    costUSD: float | None = None


class Result(Line, frozen=True, tag="result"):
    """The end of a turn."""

    subtype: str = "success"
    is_error: bool = False
    terminal_reason: str | None = None
    stop_reason: str | None = None
    result: str | None = None
    errors: tuple[str, ...] = ()
    api_error: str | None = None
    api_error_status: int | None = None
    api_error_type: str | None = None
    startup_failure_reason: str | None = None
    usage: ApiUsage | None = None
    model_usage_since_last_result: dict[str, ModelUsage] | None = None
    model_usage: dict[str, ModelUsage] = field(name="modelUsage", default={})  # of the whole session
    user_message_uuids: tuple[str, ...] = ()
    queued_turn_count: int = 0
    origin: Origin | None = None


class StreamEvent(Line, frozen=True, tag="stream_event"):
    event: Raw
    parent_tool_use_id: str | None = None
    api_message_id: str | None = None


class System(Line, frozen=True, tag="system"):
    subtype: str


class ControlRequest(Line, frozen=True, tag="control_request"):
    request_id: str
    request: Raw


class Reply(Struct, frozen=True):
    subtype: str
    request_id: str
    response: Raw = Raw(b"null")
    error: str | None = None
    error_code: str | None = None


class ControlResponse(Line, frozen=True, tag="control_response"):
    response: Reply


class ControlCancel(Line, frozen=True, tag="control_cancel_request"):
    request_id: str


class CommandLifecycle(Line, frozen=True, tag="command_lifecycle"):
    """The state of the message that was sent with this uuid."""

    command_uuid: str = ""
    state: str = ""


class SubagentRetry(Struct, frozen=True):
    """A sub-agent repeats a request that failed."""

    attempt: int | None = None
    max_retries: int | None = None
    error_category: str | None = None


class ToolProgress(Line, frozen=True, tag="tool_progress"):
    subagent_retry: Any = None
    """A `SubagentRetry`, as far as it can be read."""
    parent_tool_use_id: str | None = None


class ConversationReset(Line, frozen=True, tag="conversation_reset"):
    """`/clear`: the next `init` names the new session."""


class AuthStatus(Line, frozen=True, tag="auth_status"):
    pass


class RateLimit(Line, frozen=True, tag="rate_limit_event"):
    pass


class ToolUseSummary(Line, frozen=True, tag="tool_use_summary"):
    pass


class ActiveGoal(Line, frozen=True, tag="active_goal"):
    pass


class PromptSuggestion(Line, frozen=True, tag="prompt_suggestion"):
    """A suggested next prompt: for an input field, not for a transcript."""


class KeepAlive(Line, frozen=True, tag="keep_alive"):
    pass


class TranscriptMirror(Line, frozen=True, tag="transcript_mirror"):
    pass


AnyLine = (
    Assistant
    | User
    | Result
    | StreamEvent
    | System
    | ControlRequest
    | ControlResponse
    | ControlCancel
    | CommandLifecycle
    | ToolProgress
    | ConversationReset
    | AuthStatus
    | RateLimit
    | ToolUseSummary
    | ActiveGoal
    | PromptSuggestion
    | KeepAlive
    | TranscriptMirror
)
lines: Tagged[AnyLine] = Tagged(AnyLine)


# -- the answer to `initialize` ---------------------------------------------------------------


class ModelInfo(Struct, frozen=True):
    value: str
    displayName: str | None = None
    supportedEffortLevels: tuple[str, ...] | None = None


class CommandInfo(Struct, frozen=True):
    name: str
    description: str | None = None
    argumentHint: Any = None  # from the user's own file, usually a string


class Initialized(Struct, frozen=True):
    models: tuple[ModelInfo, ...] = ()
    commands: tuple[CommandInfo, ...] = ()
