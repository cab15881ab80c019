"""JSON-RPC frames of `codex app-server`, with only the fields we read.

Notifications and items are tables from codex's names to classes. Notifications with no meaning to a reader
are listed in `IGNORED`. Any other name is unknown.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from msgspec import Raw, Struct

from ..jsonrpc import RequestId


class Native(Struct, frozen=True, rename="camel", kw_only=True):
    """A native object; camelCase on the wire."""


class Params(Native, frozen=True, kw_only=True):
    """Parameters of a notification or a request."""

    thread_id: str | None = None
    turn_id: str | None = None


# -- answers to our requests ------------------------------------------------------------------


class ThreadInfo(Native, frozen=True, kw_only=True):
    id: str
    name: str | None = None
    cli_version: str | None = None
    forked_from_id: str | None = None


class ThreadOpened(Native, frozen=True, kw_only=True):
    """The answer to `thread/start`, `thread/resume` and `thread/fork`."""

    thread: ThreadInfo
    model: str | None = None
    reasoning_effort: str | None = None
    cwd: str | None = None


class TurnError(Native, frozen=True, kw_only=True):
    message: str = ""
    codex_error_info: Any = None  # a name, or an object with one name as its key
    additional_details: str | None = None


class Turn(Native, frozen=True, kw_only=True):
    id: str
    root_turn_id: str | None = None
    status: str = "inProgress"
    error: TurnError | None = None
    duration_ms: int | None = None


class TurnAnswer(Native, frozen=True, kw_only=True):
    """The answer to `turn/start` and `review/start`; `turn/steer` names only the turn's id."""

    turn: Turn | None = None
    turn_id: str | None = None


class Effort(Native, frozen=True, kw_only=True):
    reasoning_effort: str


class ListedModel(Native, frozen=True, kw_only=True):
    id: str
    display_name: str | None = None
    supported_reasoning_efforts: tuple[Effort, ...] = ()
    default_reasoning_effort: str | None = None
    is_default: bool = False


class ModelPage(Native, frozen=True, kw_only=True):
    data: tuple[ListedModel, ...]
    next_cursor: str | None = None


# -- items ------------------------------------------------------------------------------------


class Item(Native, frozen=True, kw_only=True):
    id: str


class TextInput(Native, tag_field="type", tag="text", frozen=True, kw_only=True):
    text: str


class ImageInput(Native, tag_field="type", tag="image", frozen=True, kw_only=True):
    url: str | None = None
    file_id: str | None = None


class LocalImageInput(Native, tag_field="type", tag="localImage", frozen=True, kw_only=True):
    path: str


class AudioInput(Native, tag_field="type", tag="audio", frozen=True, kw_only=True):
    url: str = ""


class LocalAudioInput(Native, tag_field="type", tag="localAudio", frozen=True, kw_only=True):
    path: str


class SkillInput(Native, tag_field="type", tag="skill", frozen=True, kw_only=True):
    path: str
    name: str | None = None


class MentionInput(Native, tag_field="type", tag="mention", frozen=True, kw_only=True):
    path: str
    name: str | None = None


UserInput = (
    TextInput | ImageInput | LocalImageInput | AudioInput | LocalAudioInput | SkillInput | MentionInput
)


class UserMessage(Item, frozen=True, kw_only=True):
    content: tuple[UserInput, ...] = ()


class HookPrompt(Item, frozen=True, kw_only=True):
    """Text that a hook adds to the conversation as if the user had written it."""

    fragments: Any = None


class AgentMessage(Item, frozen=True, kw_only=True):
    text: str = ""


class Plan(Item, frozen=True, kw_only=True):
    text: str = ""


class Reasoning(Item, frozen=True, kw_only=True):
    summary: tuple[str, ...] = ()
    content: tuple[str, ...] = ()


class CommandExecution(Item, frozen=True, kw_only=True):
    command: str = ""
    cwd: str | None = None
    source: str = "agent"
    status: str = "inProgress"
    aggregated_output: str | None = None
    exit_code: int | None = None


class ChangeKind(Struct, frozen=True, omit_defaults=True):
    type: str
    move_path: str | None = None


class Change(Native, frozen=True, kw_only=True):
    path: str
    kind: ChangeKind
    diff: str = ""


class FileChange(Item, frozen=True, kw_only=True):
    changes: tuple[Change, ...] = ()
    status: str = "inProgress"


class McpResult(Native, frozen=True, kw_only=True):
    content: tuple[Any, ...] = ()
    structured_content: Any = None


class McpError(Native, frozen=True, kw_only=True):
    message: str = ""


class McpToolCall(Item, frozen=True, kw_only=True):
    server: str
    tool: str
    status: str = "inProgress"
    arguments: Any = None
    result: McpResult | None = None
    error: McpError | None = None

    @property
    def name(self) -> str:
        return f"{self.server}.{self.tool}"


class DynamicToolCall(Item, frozen=True, kw_only=True):
    """A tool that a client gave to codex and runs itself."""

    tool: str
    namespace: str | None = None
    arguments: Any = None
    status: str = "inProgress"
    content_items: tuple[Any, ...] | None = None
    success: bool | None = None


class CollabAgentToolCall(Item, frozen=True, kw_only=True):
    """The first generation of sub-agent tools: spawnAgent, sendInput, wait and so on."""

    tool: str
    status: str = "inProgress"
    receiver_thread_ids: tuple[str, ...] = ()
    prompt: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    agents_states: Any = None


class SubAgentActivity(Item, frozen=True, kw_only=True):
    """The second generation reports only that a sub-agent was started, messaged, stopped or has finished."""

    kind: str
    agent_thread_id: str
    agent_path: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None


class FunctionCallOutput(Item, frozen=True, kw_only=True):
    name: str
    namespace: str | None = None
    output: Any = None


class WebSearch(Item, frozen=True, kw_only=True):
    query: str = ""
    action: Any = None
    results: Any = None


class ImageView(Item, frozen=True, kw_only=True):
    path: str


class ImageGeneration(Item, frozen=True, kw_only=True):
    status: str = ""
    revised_prompt: str | None = None
    failure: Any = None
    saved_path: str | None = None
    result: str | None = None
    """The image in base64."""


class Sleep(Item, frozen=True, kw_only=True):
    duration_ms: int | None = None


class EnteredReviewMode(Item, frozen=True, kw_only=True):
    review: str = ""


class ExitedReviewMode(Item, frozen=True, kw_only=True):
    review: str = ""


class ContextCompaction(Item, frozen=True, kw_only=True):
    pass


ITEMS: dict[str, type[Item]] = {
    "userMessage": UserMessage,
    "hookPrompt": HookPrompt,
    "agentMessage": AgentMessage,
    "functionCallOutput": FunctionCallOutput,
    "plan": Plan,
    "reasoning": Reasoning,
    "commandExecution": CommandExecution,
    "fileChange": FileChange,
    "mcpToolCall": McpToolCall,
    "dynamicToolCall": DynamicToolCall,
    "collabAgentToolCall": CollabAgentToolCall,
    "subAgentActivity": SubAgentActivity,
    "webSearch": WebSearch,
    "imageView": ImageView,
    "sleep": Sleep,
    "imageGeneration": ImageGeneration,
    "enteredReviewMode": EnteredReviewMode,
    "exitedReviewMode": ExitedReviewMode,
    "contextCompaction": ContextCompaction,
}


class _Typed(Struct, frozen=True):
    type: str


_typed = msgspec.json.Decoder(_Typed)
_items = {name: msgspec.json.Decoder(kind) for name, kind in ITEMS.items()}


def item_of(raw: Raw) -> Item | None:
    """The item, or None if its type is unknown."""
    decoder = _items.get(_typed.decode(raw).type)
    return decoder.decode(raw) if decoder else None


# -- notifications ----------------------------------------------------------------------------


class TurnStarted(Params, frozen=True, kw_only=True):
    turn: Turn


class TurnCompleted(Params, frozen=True, kw_only=True):
    turn: Turn


class ItemStarted(Params, frozen=True, kw_only=True):
    item: Raw


class ItemCompleted(Params, frozen=True, kw_only=True):
    item: Raw


class TurnDiffUpdated(Params, frozen=True, kw_only=True):
    diff: str = ""


class TextDelta(Params, frozen=True, kw_only=True):
    """A piece of a message or of a plan."""

    item_id: str
    delta: str = ""


class SummaryDelta(Params, frozen=True, kw_only=True):
    item_id: str
    delta: str = ""
    summary_index: int = 0


class ThoughtDelta(Params, frozen=True, kw_only=True):
    item_id: str
    delta: str = ""
    content_index: int = 0


class OutputDelta(Params, frozen=True, kw_only=True):
    """A piece of the output of a command or a patch."""

    item_id: str
    delta: str = ""


class TerminalInteraction(Params, frozen=True, kw_only=True):
    item_id: str
    stdin: str = ""


class McpProgress(Params, frozen=True, kw_only=True):
    item_id: str
    message: str = ""


class ErrorNotice(Params, frozen=True, kw_only=True):
    error: TurnError
    will_retry: bool = False


class Tokens(Native, frozen=True, kw_only=True):
    """Token counts of one thread; `input` includes cached tokens, `output` includes reasoning."""

    total_tokens: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0


class ThreadUsage(Native, frozen=True, kw_only=True):
    total: Tokens
    last: Tokens
    model_context_window: int | None = None


class TokenUsageUpdated(Params, frozen=True, kw_only=True):
    token_usage: ThreadUsage


class PlanUpdated(Params, frozen=True, kw_only=True):
    explanation: str | None = None
    plan: Any = None


class Reverted(Params, frozen=True, kw_only=True):
    """The thread is back at an earlier turn, and so are its token counts."""


class NameUpdated(Params, frozen=True, kw_only=True):
    thread_name: str | None = None


class Warned(Params, frozen=True, kw_only=True):
    """`warning` and `guardianWarning`."""

    message: str


class McpStatus(Params, frozen=True, kw_only=True):
    name: str
    status: str
    error: str | None = None


class RequestResolved(Params, frozen=True, kw_only=True):
    request_id: RequestId


class Fact(Params, frozen=True, kw_only=True):
    """A notification reported unchanged, as a status item with this label."""

    LABEL: ClassVar[str]


class ModelRerouted(Fact, frozen=True, kw_only=True):
    LABEL: ClassVar[str] = "model"


class ModelVerification(Fact, frozen=True, kw_only=True):
    LABEL: ClassVar[str] = "model_verification"


class AuthRecovery(Fact, frozen=True, kw_only=True):
    LABEL: ClassVar[str] = "authentication"


class GoalUpdated(Fact, frozen=True, kw_only=True):
    LABEL: ClassVar[str] = "goal"


class HookCompleted(Fact, frozen=True, kw_only=True):
    LABEL: ClassVar[str] = "hook"


class ApprovalReview(Fact, frozen=True, kw_only=True):
    LABEL: ClassVar[str] = "approval_review"


NOTIFICATIONS: dict[str, type[Params]] = {
    "error": ErrorNotice,
    "warning": Warned,
    "guardianWarning": Warned,
    "turn/started": TurnStarted,
    "turn/completed": TurnCompleted,
    "turn/plan/updated": PlanUpdated,
    "turn/diff/updated": TurnDiffUpdated,
    "item/started": ItemStarted,
    "item/completed": ItemCompleted,
    "item/agentMessage/delta": TextDelta,
    "item/plan/delta": TextDelta,
    "item/reasoning/summaryTextDelta": SummaryDelta,
    "item/reasoning/textDelta": ThoughtDelta,
    "item/commandExecution/outputDelta": OutputDelta,
    "item/commandExecution/terminalInteraction": TerminalInteraction,
    "item/fileChange/outputDelta": OutputDelta,
    "item/mcpToolCall/progress": McpProgress,
    "item/autoApprovalReview/completed": ApprovalReview,
    "serverRequest/resolved": RequestResolved,
    "thread/tokenUsage/updated": TokenUsageUpdated,
    "thread/reverted": Reverted,
    "thread/name/updated": NameUpdated,
    "thread/goal/updated": GoalUpdated,
    "hook/completed": HookCompleted,
    "mcpServer/startupStatus/updated": McpStatus,
    "model/rerouted": ModelRerouted,
    "model/verification": ModelVerification,
    "modelProvider/authRecoveryStarted": AuthRecovery,
    "modelProvider/authRecoveryCompleted": AuthRecovery,
}

IGNORED = frozenset(
    {
        # Repeated elsewhere: by the answer to a request, or by an item.
        "thread/started",
        "thread/status/changed",
        "thread/compacted",
        "item/fileChange/patchUpdated",
        "item/reasoning/summaryPartAdded",
        "item/autoApprovalReview/started",
        "autoApprovalReview/strictReviewRequired",
        "hook/started",
        "thread/settings/updated",
        "thread/goal/cleared",
        # Unloading or bookkeeping: the conversation can be resumed.
        "thread/closed",
        "thread/archived",
        "thread/unarchived",
        "thread/deleted",
        "thread/readState/changed",
        "thread/attachment/updated",
        "thread/prediction/updated",
        "thread/queue/changed",
        "thread/project/updated",
        "thread/environment/connected",
        "thread/environment/disconnected",
        # Hints for codex's own user interfaces.
        "turn/moderationMetadata",
        "model/safetyBuffering/updated",
        "skills/changed",
        "project/changed",
        "app/list/updated",
        "remoteControl/status/changed",
        "fs/changed",
        # About the process and the account, not a conversation.
        "configWarning",
        "deprecationNotice",
        "account/updated",
        "account/rateLimits/updated",
        "account/login/completed",
        "account/gatewayOAuth/changed",
        "mcpServer/oauthLogin/completed",
        "mcpServer/event/stream/notification",
        "externalAgentConfig/import/progress",
        "externalAgentConfig/import/completed",
        "windows/worldWritableWarning",
        "windowsSandbox/setupCompleted",
        # Features we never enable.
        "rawResponseItem/completed",
        "rawResponse/completed",
        "command/exec/outputDelta",
        "process/outputDelta",
        "process/exited",
        "fuzzyFileSearch/sessionUpdated",
        "fuzzyFileSearch/sessionCompleted",
        "thread/realtime/started",
        "thread/realtime/itemAdded",
        "thread/realtime/item/started",
        "thread/realtime/item/transcript/delta",
        "thread/realtime/item/completed",
        "thread/realtime/transcript/delta",
        "thread/realtime/transcript/done",
        "thread/realtime/outputAudio/delta",
        "thread/realtime/sdp",
        "thread/realtime/error",
        "thread/realtime/closed",
    }
)
