"""Frames of the Agent Client Protocol, version 1, as an agent reads and writes them. Only the fields we use are declared."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

from ...schema.options import ConfigOption

PROTOCOL_VERSION = 1

AUTHENTICATION_REQUIRED = -32000
RESOURCE_NOT_FOUND = -32002
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800

Status = Literal["pending", "in_progress", "completed", "failed"]


class Read(Struct, frozen=True, rename="camel", kw_only=True):
    """Something that a client sends."""


class Written(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """Something that we send. Fields that are always sent have no default."""


# -- parameters of a client's requests ------------------------------------------------------------


class ElicitationOffer(Read, frozen=True, kw_only=True):
    form: dict[str, Any] | None = None


class SessionOffer(Read, frozen=True, kw_only=True):
    notices: dict[str, Any] | None = None
    compaction: dict[str, Any] | None = None


class ClientCapabilities(Read, frozen=True, kw_only=True):
    elicitation: ElicitationOffer | None = None
    session: SessionOffer | None = None

    @property
    def shows_forms(self) -> bool:
        return self.elicitation is not None and self.elicitation.form is not None

    @property
    def shows_notices(self) -> bool:
        return self.session is not None and self.session.notices is not None

    @property
    def shows_compaction(self) -> bool:
        return self.session is not None and self.session.compaction is not None


class Initialize(Read, frozen=True, kw_only=True):
    client_capabilities: ClientCapabilities | None = None


class Authenticate(Read, frozen=True, kw_only=True):
    method_id: str


class NameValue(Read, frozen=True, kw_only=True):
    name: str
    value: str


class McpServer(Read, frozen=True, kw_only=True):
    """A server on stdio, or with a `type`, one at a URL."""

    name: str
    type: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    env: tuple[NameValue, ...] = ()
    url: str | None = None
    headers: tuple[NameValue, ...] = ()


class OurSettings(Read, frozen=True, kw_only=True):
    agent: str | None = None
    message: str | None = None


class OurMeta(Read, frozen=True, kw_only=True):
    """Our own member of `_meta`, for what the protocol cannot express."""

    ours: OurSettings = field(name="sandbox-agent", default_factory=OurSettings)


class NewSession(Read, frozen=True, kw_only=True):
    cwd: str
    mcp_servers: tuple[McpServer, ...] | None = None
    meta: OurMeta | None = field(name="_meta", default=None)


class OpenSession(Read, frozen=True, kw_only=True):
    """`session/load` and `session/resume`. MCP servers are those of the session's creation."""

    session_id: str
    cwd: str


class OnSession(Read, frozen=True, kw_only=True):
    session_id: str


class ListSessions(Read, frozen=True, kw_only=True):
    cwd: str | None = None
    cursor: str | None = None


class Resource(Read, frozen=True, kw_only=True):
    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None


class Block(Read, frozen=True, kw_only=True):
    """A content block of any type."""

    type: str
    text: str | None = None
    data: str | None = None
    mime_type: str | None = None
    uri: str | None = None
    name: str | None = None
    resource: Resource | None = None


class Prompt(Read, frozen=True, kw_only=True):
    session_id: str
    prompt: tuple[Block, ...]


class SetMode(Read, frozen=True, kw_only=True):
    session_id: str
    mode_id: str


class SetOption(Read, frozen=True, kw_only=True):
    session_id: str
    config_id: str
    value: str


# -- a client's answers ---------------------------------------------------------------------------


class Outcome(Read, frozen=True, kw_only=True):
    outcome: str
    option_id: str | None = None


class PermissionAnswer(Read, frozen=True, kw_only=True):
    outcome: Outcome
    meta: OurMeta | None = field(name="_meta", default=None)


class FormAnswer(Read, frozen=True, kw_only=True):
    action: str
    content: dict[str, Any] | None = None


# -- content --------------------------------------------------------------------------------------


class TextContent(Written, frozen=True, kw_only=True, tag_field="type", tag="text"):
    text: str


class ImageContent(Written, frozen=True, kw_only=True, tag_field="type", tag="image"):
    data: str
    mime_type: str


class LinkContent(Written, frozen=True, kw_only=True, tag_field="type", tag="resource_link"):
    uri: str
    name: str


Content = TextContent | ImageContent | LinkContent


class Shown(Written, frozen=True, kw_only=True, tag_field="type", tag="content"):
    """A content block of a tool call."""

    content: Content


class Diff(Written, frozen=True, kw_only=True, tag_field="type", tag="diff"):
    path: str
    old_text: str | None
    """None for a file that did not exist."""
    new_text: str


ToolContent = Shown | Diff


class Location(Written, frozen=True, kw_only=True):
    path: str
    line: int | None = None


# -- updates of a session -------------------------------------------------------------------------


class Update(Written, frozen=True, kw_only=True, tag_field="sessionUpdate"):
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class UserMessage(Update, frozen=True, kw_only=True, tag="user_message_chunk"):
    message_id: str
    content: Content


class AgentMessage(Update, frozen=True, kw_only=True, tag="agent_message_chunk"):
    message_id: str
    content: Content


class AgentThought(Update, frozen=True, kw_only=True, tag="agent_thought_chunk"):
    message_id: str
    content: Content


class ToolCall(Update, frozen=True, kw_only=True, tag="tool_call"):
    tool_call_id: str
    title: str
    name: str
    kind: str
    status: Status


class ToolCallFields(Written, frozen=True, kw_only=True):
    """What is known about a call."""

    meta: dict[str, Any] | None = field(name="_meta", default=None)
    tool_call_id: str
    title: str | None = None
    name: str | None = None
    kind: str | None = None
    status: Status | None = None
    content: tuple[ToolContent, ...] | None = None
    locations: tuple[Location, ...] | None = None
    raw_input: Any = None  # the tool's own input
    raw_output: Any = None


class ToolCallUpdate(
    ToolCallFields, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="tool_call_update"
):
    """The fields that changed."""


class PlanEntry(Written, frozen=True, kw_only=True):
    content: str
    priority: str
    status: str


class Plan(Update, frozen=True, kw_only=True, tag="plan"):
    entries: tuple[PlanEntry, ...]


class CommandInput(Written, frozen=True, kw_only=True):
    hint: str


class AvailableCommand(Written, frozen=True, kw_only=True):
    name: str
    description: str
    input: CommandInput | None = None


class AvailableCommands(Update, frozen=True, kw_only=True, tag="available_commands_update"):
    available_commands: tuple[AvailableCommand, ...]


class CurrentMode(Update, frozen=True, kw_only=True, tag="current_mode_update"):
    current_mode_id: str


class ConfigOptions(Update, frozen=True, kw_only=True, tag="config_option_update"):
    config_options: tuple[ConfigOption, ...]


class SessionTitle(Update, frozen=True, kw_only=True, tag="session_info_update"):
    title: str
    updated_at: str


class Cost(Written, frozen=True, kw_only=True):
    amount: float
    currency: str


class ContextUsage(Update, frozen=True, kw_only=True, tag="usage_update"):
    used: int
    size: int
    cost: Cost | None = None


class Notice(Update, frozen=True, kw_only=True, tag="notice"):
    severity: str
    title: str
    description: str | None = None


class Compaction(Update, frozen=True, kw_only=True, tag="compaction_update"):
    compaction_id: str
    status: str


AnyUpdate = Update | ToolCallUpdate


class Updated(Written, frozen=True, kw_only=True):
    """Parameters of `session/update`."""

    session_id: str
    update: AnyUpdate


# -- our answers ----------------------------------------------------------------------------------


class AgentInfo(Written, frozen=True, kw_only=True):
    name: str
    title: str
    version: str


class Initialized(Written, frozen=True, kw_only=True):
    protocol_version: int
    agent_capabilities: dict[str, Any]
    agent_info: AgentInfo
    auth_methods: tuple[()]


class Mode(Written, frozen=True, kw_only=True):
    id: str
    name: str
    description: str | None = None


class Modes(Written, frozen=True, kw_only=True):
    current_mode_id: str
    available_modes: tuple[Mode, ...]


class Opened(Written, frozen=True, kw_only=True):
    """The answer to `session/new`, `session/load` and `session/resume`."""

    session_id: str | UnsetType = UNSET
    modes: Modes
    config_options: tuple[ConfigOption, ...]


class OptionsSet(Written, frozen=True, kw_only=True):
    config_options: tuple[ConfigOption, ...]


class ListedSession(Written, frozen=True, kw_only=True):
    session_id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
    meta: dict[str, Any] | None = field(name="_meta", default=None)


class ListedSessions(Written, frozen=True, kw_only=True):
    sessions: tuple[ListedSession, ...]
    next_cursor: str | None = None


class TokenUsage(Written, frozen=True, kw_only=True):
    input_tokens: int
    output_tokens: int
    total_tokens: int
    thought_tokens: int | None = None
    cached_read_tokens: int | None = None
    cached_write_tokens: int | None = None


class Prompted(Written, frozen=True, kw_only=True):
    stop_reason: str
    usage: TokenUsage | None = None


class Empty(Written, frozen=True, kw_only=True):
    pass


# -- our requests ---------------------------------------------------------------------------------


class PermissionOption(Written, frozen=True, kw_only=True):
    option_id: str
    name: str
    kind: Literal["allow_once", "allow_always", "reject_once"]


class RequestPermission(Written, frozen=True, kw_only=True):
    session_id: str
    tool_call: ToolCallFields
    options: tuple[PermissionOption, ...]


class Choice(Written, frozen=True, kw_only=True):
    const: str
    title: str
    description: str | None = None


class Choices(Written, frozen=True, kw_only=True):
    any_of: tuple[Choice, ...]


class Property(Written, frozen=True, kw_only=True):
    type: Literal["string", "array"]
    title: str | None = None
    description: str | None = None
    one_of: tuple[Choice, ...] | None = None
    items: Choices | None = None


class Form(Written, frozen=True, kw_only=True):
    type: str
    properties: dict[str, Property]
    required: tuple[str, ...] | None = None


class Elicit(Written, frozen=True, kw_only=True):
    session_id: str
    mode: Literal["form"]
    message: str
    requested_schema: Form
    tool_call_id: str | None = None


class CancelRequest(Written, frozen=True, kw_only=True):
    request_id: int
