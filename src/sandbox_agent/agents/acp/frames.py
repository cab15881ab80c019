"""Frames of the Agent Client Protocol, version 1: JSON-RPC, with only the fields we read or write.

Session updates are a table from the protocol's names to classes. Updates and methods with no meaning to a
reader are listed in `IGNORED_UPDATES` and `IGNORED`. Any other name is unknown.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from ..jsonrpc import RequestId

PROTOCOL_VERSION = 1

AUTHENTICATION_REQUIRED = -32000
RESOURCE_NOT_FOUND = -32002
REQUEST_CANCELLED = -32800


class Native(Struct, frozen=True, rename="camel", kw_only=True):
    """A native object; camelCase on the wire."""


# -- what we write ----------------------------------------------------------------------------


EXTENSIONS: dict[str, Any] = {
    "claudeCode": {
        "options": {
            # Otherwise a classifier approves commands while Claude plans, and no request reaches us.
            "settings": {"useAutoModeDuringPlan": False},
            "forwardSubagentText": True,
        }
    }
}
"""Extensions for one agent, which the others ignore: here for claude-agent-acp."""


class Command(Native, frozen=True, kw_only=True, omit_defaults=True):
    """Parameters of a request we send."""


class ClientInfo(Native, frozen=True, kw_only=True):
    name: str
    title: str
    version: str


class Initialize(Native, frozen=True, kw_only=True):
    protocol_version: int
    client_capabilities: dict[str, Any]
    client_info: ClientInfo


class OpenSession(Native, frozen=True, kw_only=True):
    """`session/new`; with an id, `session/load` and `session/resume`."""

    cwd: str
    mcp_servers: list[dict[str, Any]]
    session_id: str | UnsetType = UNSET
    meta: dict[str, Any] = field(name="_meta", default_factory=lambda: EXTENSIONS)


class OnSession(Command, frozen=True, kw_only=True):
    """`session/cancel`, `session/delete`."""

    session_id: str


class PromptSession(Command, frozen=True, kw_only=True):
    session_id: str
    prompt: list[dict[str, Any]]


class SetMode(Command, frozen=True, kw_only=True):
    session_id: str
    mode_id: str


class SetModel(Command, frozen=True, kw_only=True):
    session_id: str
    model_id: str


class SetOption(Command, frozen=True, kw_only=True):
    session_id: str
    config_id: str
    value: str


# -- content ----------------------------------------------------------------------------------


class Resource(Native, frozen=True, kw_only=True):
    uri: str = ""
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None


class Content(Native, frozen=True, kw_only=True):
    """A content block of any type: text, image, audio, resource_link or resource."""

    type: str
    text: str = ""
    data: str = ""
    mime_type: str | None = None
    uri: str | None = None
    name: str | None = None
    resource: Resource | None = None


class ToolContent(Native, frozen=True, kw_only=True):
    """What a tool shows: a content block, a diff, or a terminal (which we do not offer)."""

    type: str
    content: Content | None = None
    path: str = ""
    old_text: str | None = None
    new_text: str = ""


class Location(Native, frozen=True, kw_only=True):
    path: str = ""


# -- updates of a session ---------------------------------------------------------------------


class Update(Native, frozen=True, kw_only=True):
    meta: Any = field(name="_meta", default=None)  # extensions to the protocol

    @property
    def parent(self) -> str | None:
        """The call whose sub-agent this update belongs to, if the agent says so (claude-agent-acp)."""
        extension = self.meta.get("claudeCode") if isinstance(self.meta, dict) else None
        parent = extension.get("parentToolUseId") if isinstance(extension, dict) else None
        return parent if isinstance(parent, str) else None


class Chunk(Update, frozen=True, kw_only=True):
    content: Content
    message_id: str | None = None


class MessageChunk(Chunk, frozen=True, kw_only=True):
    pass


class ThoughtChunk(Chunk, frozen=True, kw_only=True):
    pass


class ToolCall(Update, frozen=True, kw_only=True):
    """A new call, or an update of one with the same fields, all but the id optional."""

    tool_call_id: str
    title: str | None = None
    name: str | None = None
    kind: str | None = None
    status: str | None = None
    content: tuple[ToolContent, ...] | None = None
    locations: tuple[Location, ...] | None = None
    raw_input: Any = None
    raw_output: Any = None


class ToolCallUpdate(ToolCall, frozen=True, kw_only=True):
    pass


class Entries(Native, frozen=True, kw_only=True):
    entries: Any = ()


class Plan(Update, frozen=True, kw_only=True):
    """The agent's complete to-do list; a removed plan has no entries."""

    entries: Any = ()
    plan: Entries | None = None


class CommandInput(Native, frozen=True, kw_only=True):
    hint: str | None = None


class SlashCommand(Native, frozen=True, kw_only=True):
    name: str
    description: str | None = None
    input: CommandInput | None = None


class Commands(Update, frozen=True, kw_only=True):
    available_commands: tuple[SlashCommand, ...] = ()


class CurrentMode(Update, frozen=True, kw_only=True):
    current_mode_id: str


class ConfigOptions(Update, frozen=True, kw_only=True):
    config_options: tuple[ConfigOption, ...] = ()


class SessionInfo(Update, frozen=True, kw_only=True):
    title: str | None = None


class Cost(Native, frozen=True, kw_only=True):
    amount: float
    currency: str = "USD"


class UsageUpdate(Update, frozen=True, kw_only=True):
    """How full the context is, and what the session has cost so far."""

    used: int = 0
    size: int = 0
    cost: Cost | None = None


class Notice(Update, frozen=True, kw_only=True):
    title: str = ""


class Compaction(Update, frozen=True, kw_only=True):
    status: str | None = None


UPDATES: dict[str, type[Update]] = {
    "agent_message_chunk": MessageChunk,
    "agent_thought_chunk": ThoughtChunk,
    "tool_call": ToolCall,
    "tool_call_update": ToolCallUpdate,
    "plan": Plan,
    "plan_update": Plan,
    "plan_removed": Plan,
    "available_commands_update": Commands,
    "current_mode_update": CurrentMode,
    "config_option_update": ConfigOptions,
    "session_info_update": SessionInfo,
    "usage_update": UsageUpdate,
    "notice": Notice,
    "compaction_update": Compaction,
}

IGNORED_UPDATES = {
    "user_message_chunk",  # the echo of our prompt, or history
    "compaction_summary_chunk",  # the agent's own notes
}

IGNORED = {"_auth/status_update", "auth/status_update", "elicitation/complete"}


class Updated(Native, frozen=True, kw_only=True):
    """The parameters of `session/update`."""

    session_id: str = ""
    update: Raw


class UpdateKind(Native, frozen=True, kw_only=True):
    session_update: str


# -- requests from the agent ------------------------------------------------------------------


class Option(Native, frozen=True, kw_only=True):
    option_id: str
    name: str = ""
    kind: str = ""


class PermissionRequest(Native, frozen=True, kw_only=True):
    session_id: str = ""
    tool_call: ToolCallUpdate
    options: tuple[Option, ...] = ()


class Choice(Native, frozen=True, kw_only=True):
    const: str
    title: str | None = None
    description: str | None = None


class Items(Native, frozen=True, kw_only=True):
    enum: tuple[str, ...] = ()
    any_of: tuple[Choice, ...] = ()


class Property(Native, frozen=True, kw_only=True):
    """A field of a form: a JSON schema of a primitive type, or of a list of choices."""

    type: str = "string"
    title: str | None = None
    description: str | None = None
    enum: tuple[str, ...] | None = None
    one_of: tuple[Choice, ...] | None = None
    items: Items | None = None


class Schema(Native, frozen=True, kw_only=True):
    properties: dict[str, Property] = {}


class Elicitation(Native, frozen=True, kw_only=True):
    session_id: str = ""
    tool_call_id: str | None = None
    mode: str = "form"
    message: str = ""
    requested_schema: Schema = Schema()


class CancelRequest(Native, frozen=True, kw_only=True):
    request_id: RequestId | None = None


# -- answers to our requests ------------------------------------------------------------------


class AgentInfo(Native, frozen=True, kw_only=True, omit_defaults=True):
    name: str | None = None
    title: str | None = None
    version: str | None = None


class AuthMethod(Native, frozen=True, kw_only=True):
    id: str = ""
    name: str = ""
    description: str | None = None


class PromptCapabilities(Native, frozen=True, kw_only=True):
    image: bool = False


class McpCapabilities(Native, frozen=True, kw_only=True):
    http: bool = False
    sse: bool = False


class SessionCapabilities(Native, frozen=True, kw_only=True):
    """A capability is present if it is an object, even an empty one."""

    resume: dict[str, Any] | None = None
    delete: dict[str, Any] | None = None


class AgentCapabilities(Native, frozen=True, kw_only=True):
    load_session: bool = False
    prompt_capabilities: PromptCapabilities = PromptCapabilities()
    mcp_capabilities: McpCapabilities = McpCapabilities()
    session_capabilities: SessionCapabilities = SessionCapabilities()


class Initialized(Native, frozen=True, kw_only=True):
    protocol_version: int = PROTOCOL_VERSION
    agent_capabilities: AgentCapabilities | None = None
    agent_info: AgentInfo | None = None
    auth_methods: tuple[AuthMethod, ...] | None = None


class Mode(Native, frozen=True, kw_only=True):
    id: str
    name: str = ""
    description: str | None = None


class Modes(Native, frozen=True, kw_only=True):
    current_mode_id: str = ""
    available_modes: tuple[Mode, ...] = ()


class Model(Native, frozen=True, kw_only=True):
    model_id: str
    name: str | None = None


class Models(Native, frozen=True, kw_only=True):
    """How agents listed their models before session options existed."""

    current_model_id: str = ""
    available_models: tuple[Model, ...] = ()


class OptionValue(Native, frozen=True, kw_only=True):
    """A value of an option, or a group of values."""

    value: str | None = None
    name: str = ""
    description: str | None = None
    options: tuple[OptionValue, ...] = ()


class ConfigOption(Native, frozen=True, kw_only=True):
    id: str
    type: str = "select"
    category: Any = None  # a name; agents may send anything here
    current_value: Any = None  # a string, or a bool
    options: tuple[OptionValue, ...] = ()


class SessionOpened(Native, frozen=True, kw_only=True):
    """The answer to `session/new`, `session/load` and `session/resume`."""

    session_id: str | None = None
    modes: Modes | None = None
    models: Models | None = None
    config_options: tuple[ConfigOption, ...] | None = None


class OptionSet(Native, frozen=True, kw_only=True):
    """The answer to `session/set_config_option`, and the empty one to the other setters."""

    config_options: tuple[ConfigOption, ...] | None = None


class TokenUsage(Native, frozen=True, kw_only=True):
    total_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    thought_tokens: int | None = None
    cached_read_tokens: int | None = None
    cached_write_tokens: int | None = None


class Prompted(Native, frozen=True, kw_only=True):
    stop_reason: str = "end_turn"
    usage: TokenUsage | None = None


# -- our answers ------------------------------------------------------------------------------


class Remark(Struct, frozen=True, omit_defaults=True):
    """Our decision, where the protocol cannot express it."""

    reply: Literal["once", "always", "reject"] | None = None
    message: str | None = None


class OurMeta(Struct, frozen=True):
    remark: Remark = field(name="sandbox-agent", default_factory=Remark)


class Outcome(Native, frozen=True, kw_only=True, omit_defaults=True):
    outcome: str = ""
    option_id: str | None = None


class PermissionAnswer(Native, frozen=True, kw_only=True):
    outcome: Outcome = Outcome()
    meta: OurMeta | UnsetType = field(name="_meta", default=UNSET)


class FormAnswer(Native, frozen=True, kw_only=True):
    action: str = ""
    content: dict[str, Any] | UnsetType | None = UNSET


# -- frames a recorded client wrote ---------------------------------------------------------------


class SentSession(Native, frozen=True, kw_only=True):
    session_id: str | None = None
    cwd: str = "/"


class SentPrompt(Native, frozen=True, kw_only=True):
    session_id: str | None = None
    prompt: tuple[Content, ...] = ()


updates = {name: msgspec.json.Decoder(kind) for name, kind in UPDATES.items()}
