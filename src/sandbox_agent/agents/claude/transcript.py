"""Turns what Claude says in a conversation into items: streamed messages, tool calls and results, facts, the end of a turn.

One API message comes twice, as stream events and as `assistant` frames of one finished block each. The frame comes before the
block's `content_block_stop`; a block that stops without it was abandoned (a broken stream, a refusal). Sub-agents are not
streamed: their frames name the call that started them in `parent_tool_use_id`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct, field

from ...schema.events import StopReason, Usage
from ...schema.items import ContentPart, arguments_of
from ..base import Conversation, Start, Wire
from ..files import bytes_in
from ..scribe import Turn
from .facts import FACTS, IGNORED
from .frames import (
    AnyBlock,
    AnySystem,
    AnyTask,
    AnyToolResult,
    AnyToolUse,
    ApiRetry,
    Assistant,
    BlockDelta,
    BlockStart,
    BlockStop,
    CanUseTool,
    ImageBlock,
    Init,
    LocalCommand,
    LocalCommandOutput,
    McpToolResult,
    McpToolUse,
    MessageDelta,
    MessageStart,
    MessageStop,
    Named,
    Ping,
    ProviderResult,
    RedactedThinking,
    Result,
    ServerToolUse,
    StateChanged,
    Status,
    StreamError,
    StreamEvent,
    TaskNotification,
    TaskProgress,
    TaskStarted,
    TaskUpdated,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUse,
    User,
    blocks,
    events,
    systems,
)
from .outcome import Failure, error_code_of, error_details_of, message_of, stop_reason_of, usage_of
from .tools import ask_of, exit_code_of, file_ref_of, path_of, plan_of, questions_of

LEAVING_PLAN = "The agent is ready to leave plan mode."

SOMEBODY_ELSE = {"human", "channel", "peer"}
"""Origins of a user message that a person or another program sent, not the agent's own program."""


class Call(Struct):
    """A tool call, by the agent's id for it."""

    key: str
    name: str
    message: str
    owner: str | None = None
    """The id of the call that started the sub-agent whose call this is."""
    path: str | None = None
    plan: str | None = None


class Part(Struct):
    """A block of a message that is being streamed."""

    key: str
    kind: Literal["text", "thinking", "call", "other"]
    done: bool = False


class Message(Struct):
    """The API message that is being received, of the main loop or of one sub-agent."""

    id: str
    parts: dict[int, Part] = field(default_factory=dict)
    text_item: str | None = None
    """Its last text: the parent of the calls that follow."""


class Facts(Struct, frozen=True, omit_defaults=True):
    """What a session runs with, as `init` tells it."""

    model: str | None = None
    permissionMode: str | None = None
    cwd: str | None = None
    tools: tuple[str, ...] = ()
    mcp_servers: tuple[Named, ...] = ()
    agents: tuple[str, ...] = ()
    claude_code_version: str | None = None


class ClaudeConversation(Conversation):
    """A conversation and the translation of its frames."""

    def __init__(self, wire: Wire, start: Start) -> None:
        super().__init__(wire, start)
        self.requests: dict[str, CanUseTool] = {}
        """What Claude waits for, by request id."""
        self.awaiting: set[str] = set()
        """Prompts, by uuid, that no result has answered yet."""
        self._begun: set[str] = set()  # of those, the ones that Claude works on
        self._calls: dict[str, Call] = {}
        self._tasks: dict[str, str] = {}  # task id -> the id of the call that started it
        self._messages: dict[str | None, Message] = {}
        self._facts = Facts()
        self._failure: Failure | None = None
        self._carried: Usage | None = None
        self._own_turn: Turn | None = None

    # -- what the model says ------------------------------------------------------------------

    def stream(self, frame: StreamEvent) -> None:
        owner = frame.parent_tool_use_id
        match events.decode(frame.event):
            case MessageStart(head):
                self._wake_up(owner)
                self._begin_message(owner, head.id)
            case BlockStart(index, raw):
                self._start_block(owner, self._message(owner, frame.api_message_id), index, raw)
            case BlockDelta(index) as delta:
                self._delta(owner, self._message(owner, frame.api_message_id), index, delta)
            case BlockStop(index):
                message = self._message(owner, frame.api_message_id)
                self._abandon([part for at, part in message.parts.items() if at == index])
            case MessageStop():
                self._abandon(self._message(owner, frame.api_message_id).parts.values())
            case MessageDelta() | Ping() | StreamError():
                pass
            case None:
                self.scribe.unknown(msgspec.json.decode(frame.event))

    def assistant(self, frame: Assistant) -> None:
        owner = frame.parent_tool_use_id
        content = _decoded(frame.message.content)
        text = _text_of(content)
        if frame.is_api_error_message or frame.error is not None:
            self._note_failure(owner, frame, text)
        elif frame.local_command_source is not None or frame.message.model == "<synthetic>":
            if text:
                self.scribe.system(text, parent=self._parent(owner))
        else:
            self._wake_up(owner)
            message = self._message(owner, frame.message.id)
            if message.id != frame.message.id:
                message = self._begin_message(owner, frame.message.id)
            for block, raw in content:
                self._finish_block(owner, message, block, raw, frame.aborted)

    def _note_failure(self, owner: str | None, frame: Assistant, text: str) -> None:
        """The turn's failure is told by `result`; a sub-agent's is a fact about its call."""
        if owner is None:
            self._failure = Failure(text, frame.error)
            return
        facts = {"message": text, "error": frame.error, "api_error_status": frame.api_error_status}
        self.scribe.status("subagent_error", facts, text, parent=self._parent(owner))

    def _begin_message(self, owner: str | None, id: str) -> Message:
        if (before := self._messages.get(owner)) is not None:
            self._abandon(before.parts.values())
        message = self._messages[owner] = Message(id)
        return message

    def _message(self, owner: str | None, id: str | None) -> Message:
        return self._messages.get(owner) or self._begin_message(owner, id or "")

    def _start_block(self, owner: str | None, message: Message, index: int, raw: Raw) -> None:
        self._wake_up(owner)
        match blocks.decode(raw):
            case TextBlock(text):
                self._stream_text(owner, message, index, "text", text)
            case ThinkingBlock(thinking):
                self._stream_text(owner, message, index, "thinking", thinking)
            case ToolUse() | ServerToolUse() | McpToolUse() as use:
                call = self._new_call(owner, message, use)
                message.parts[index] = Part(call.key, "call")
                self.scribe.call(
                    call.key,
                    use.name,
                    call_id=use.id,
                    parent=self._call_parent(owner, message),
                    outlives_turn=owner is not None,
                )
            case _:
                message.parts[index] = Part("", "other")

    def _delta(self, owner: str | None, message: Message, index: int, frame: BlockDelta) -> None:
        delta = frame.delta
        match delta.type:
            case "text_delta":
                self._stream_text(owner, message, index, "text", delta.text)
            case "thinking_delta":
                self._stream_text(owner, message, index, "thinking", delta.thinking)
            case "input_json_delta":
                if (part := message.parts.get(index)) and part.kind == "call":
                    self.scribe.call_delta(part.key, delta.partial_json)

    def _stream_text(
        self, owner: str | None, message: Message, index: int, kind: Literal["text", "thinking"], text: str
    ) -> None:
        part = message.parts.get(index)
        if part is None:
            part = message.parts[index] = Part(self._fresh(f"{message.id}:{index}"), kind)
        if not text or part.kind != kind or part.done:
            return
        self._wake_up(owner)
        item = self.scribe.text(
            part.key,
            text,
            native_id=f"{message.id}:{index}",
            parent=self._parent(owner),
            thinking="public" if kind == "thinking" else None,
            outlives_turn=owner is not None,
        )
        if kind == "text":
            message.text_item = item

    def _finish_block(
        self, owner: str | None, message: Message, block: AnyBlock | None, raw: Raw, aborted: bool
    ) -> None:
        match block:
            case TextBlock(text):
                item = self._finish_text(owner, message, "text", text, aborted)
                message.text_item = item or message.text_item
            case ThinkingBlock(thinking):
                self._finish_text(owner, message, "thinking", thinking, aborted)
            case ToolUse() | ServerToolUse() | McpToolUse():
                self._finish_call(owner, message, block)
            case ToolResultBlock() | McpToolResult():
                self._result(owner, block, Raw(b"null"))
            case ProviderResult(id, content):
                self._provider_result(owner, id, content)
            case RedactedThinking():
                pass
            case ImageBlock() | None:
                self.scribe.unknown(msgspec.json.decode(raw))

    def _finish_text(
        self,
        owner: str | None,
        message: Message,
        kind: Literal["text", "thinking"],
        text: str,
        aborted: bool,
    ) -> str | None:
        open_parts = [index for index, part in message.parts.items() if part.kind == kind and not part.done]
        index = open_parts[0] if open_parts else max(message.parts, default=-1) + 1
        part = message.parts.setdefault(index, Part("", kind))
        part.key = part.key or self._fresh(f"{message.id}:{index}")
        part.done = True
        return self.scribe.end_text(
            part.key,
            text,
            native_id=f"{message.id}:{index}",
            parent=self._parent(owner),
            thinking="public" if kind == "thinking" else None,
            outlives_turn=owner is not None,
            failed=aborted,
        )

    def _abandon(self, parts: Iterable[Part]) -> None:
        for part in parts:
            if not part.done and part.kind != "other":
                part.done = True
                self.scribe.abandon(part.key)

    # -- tools --------------------------------------------------------------------------------

    def _finish_call(self, owner: str | None, message: Message, use: AnyToolUse) -> None:
        call = self._calls.get(use.id)
        if call is None or call.message != message.id:
            call = self._new_call(owner, message, use)
        call.path, call.plan = path_of(use.input), plan_of(use.input)
        for part in message.parts.values():
            if part.key == call.key:
                part.done = True
        self.scribe.end_call(
            call.key,
            use.name,
            arguments_of({} if use.input is None else use.input),
            call_id=use.id,
            parent=self._call_parent(owner, message),
            outlives_turn=owner is not None,
        )

    def _new_call(self, owner: str | None, message: Message, use: AnyToolUse) -> Call:
        call = self._calls[use.id] = Call(self._fresh(use.id), use.name, message.id, owner)
        return call

    def _call_parent(self, owner: str | None, message: Message) -> str | None:
        return message.text_item if owner is None else self._parent(owner)

    def _parent(self, owner: str | None) -> str | None:
        """The item of the call that started a sub-agent; a stub where we have not seen it."""
        if owner is None:
            return None
        key = self._key(owner)
        if (item := self.scribe.call_item(key)) is not None:
            return item
        self._wake_up(None)
        return self.scribe.end_call(key, "Agent", "{}", source="daemon")

    def _key(self, id: str) -> str:
        call = self._calls.get(id)
        return call.key if call else id

    def _fresh(self, base: str) -> str:
        """A key that the session has not used: models repeat ids, and a session outlives its processes."""
        key, n = base, 1
        while self.scribe.call_item(key) is not None or self.scribe.text(key, "") is not None:
            n += 1
            key = f"{base}#{n}"
        return key

    def _result(self, owner: str | None, block: AnyToolResult, told: Raw) -> None:
        call = self._calls.get(block.tool_use_id) or Call(block.tool_use_id, "unknown", "")
        if self.scribe.call_item(call.key) is None:
            self._wake_up(owner)
            parent = self._parent(owner)
            self.scribe.end_call(
                call.key, "unknown", "{}", parent=parent, outlives_turn=owner is not None, source="daemon"
            )
        failed = bool(block.is_error)
        output, extra = self._output(block.content)
        if not failed and (changed := file_ref_of(call.name, call.path, told)):
            extra.append(changed)
        code = exit_code_of(call.name, output, failed)
        self.scribe.result(call.key, output, exit_code=code, extra=extra, failed=failed)

    def _provider_result(self, owner: str | None, id: str, content: Any) -> None:
        failed = isinstance(content, dict) and str(content.get("type", "")).endswith("_error")
        self._parent(owner)
        if self.scribe.call_item(self._key(id)) is None:
            self._wake_up(None)
        self.scribe.result(self._key(id), arguments_of(content), failed=failed)

    def _output(self, content: str | list[Raw] | None) -> tuple[str, list[ContentPart]]:
        if content is None or isinstance(content, str):
            return content or "", []
        texts: list[str] = []
        images: list[ContentPart] = []
        for block, raw in _decoded(content):
            match block:
                case TextBlock(text):
                    texts.append(text)
                case ImageBlock(source) if (data := bytes_in(source.data)) is not None:
                    images.append(self.scribe.image(data, source.media_type))
                case _:
                    texts.append(bytes(raw).decode())
        return "\n".join(texts), images

    # -- what comes in the user's name --------------------------------------------------------

    def user(self, frame: User) -> None:
        """Results of tools, and text that the program injects. Our own prompts are not repeated, or marked as replayed."""
        owner = frame.parent_tool_use_id
        content = _decoded(frame.message.content)
        text = _text_of(content)
        if frame.isReplay and not (frame.isSynthetic or text.startswith("<local-command-")):
            return
        for block, _ in content:
            if isinstance(block, ToolResultBlock | McpToolResult):
                self._result(owner, block, frame.tool_use_result)
        if not text or owner is not None:
            return  # a sub-agent's prompt stands in the arguments of its call
        if frame.origin and frame.origin.kind in SOMEBODY_ELSE and not frame.isSynthetic:
            self._wake_up(None)
            self.scribe.user_message(text, native_id=frame.uuid, source="agent")
        else:
            self.scribe.status("injected", {"text": text})

    # -- permissions and questions ------------------------------------------------------------

    def can_use_tool(self, request_id: str, request: CanUseTool) -> None:
        if request_id in self.requests:
            return  # asked again, not anew
        if request.agent_id is None:
            self._wake_up(None)
        call = self._key(request.tool_use_id) if request.tool_use_id else None
        match request.tool_name:
            case "AskUserQuestion":
                self.scribe.question(request_id, questions_of(request.input), call=call)
            case "ExitPlanMode":
                self.scribe.plan(request_id, self._plan(request), call=call)
            case _:
                self.scribe.ask(request_id, ask_of(request, call))
        self.requests[request_id] = request

    def withdraw(self, request_id: str) -> None:
        """Claude does not wait for this answer any more."""
        self.requests.pop(request_id, None)
        reason = "the agent withdrew its request"
        if not self.scribe.decide(request_id, "reject", "agent", reason, source="agent"):
            self.scribe.answer(request_id, None, "agent", reason, source="agent")

    def _plan(self, request: CanUseTool) -> str:
        """The plan stands in the request, where there is a plan file; else in the arguments of the call, if at all."""
        call = self._calls.get(request.tool_use_id or "")
        return plan_of(request.input) or (call and call.plan) or LEAVING_PLAN

    # -- facts --------------------------------------------------------------------------------

    def system(self, subtype: str, frame: bytes) -> None:
        if subtype in IGNORED:
            return
        if subtype in FACTS:
            self.fact(FACTS[subtype], frame)
        elif (message := systems.decode(frame)) is not None:
            self._known_system(message, frame)
        else:
            self.scribe.unknown(msgspec.json.decode(frame))

    def _known_system(self, message: AnySystem, frame: bytes) -> None:
        match message:
            case Init():
                self._init(message)
            case Status():
                self._status(message, frame)
            case StateChanged("idle") if self._woke_up:
                self._end_turn(
                    "end_turn", self._carried
                )  # a turn of its own that came to nothing: no result will follow
            case StateChanged():
                pass
            case ApiRetry(attempt, max_retries, error):
                self.fact("retry", frame, f"attempt {attempt} of {max_retries}: {error}")
            case LocalCommandOutput(content) | LocalCommand(content):
                if content:
                    self.scribe.system(content)
            case TaskStarted() | TaskProgress() | TaskUpdated() | TaskNotification():
                self._task(message, frame)

    def _task(self, task: AnyTask, frame: bytes) -> None:
        """News of a sub-agent or a command; only some of it names the call."""
        if task.tool_use_id is not None:
            self._tasks[task.task_id] = task.tool_use_id
        call = self._tasks.get(task.task_id)
        if call and isinstance(task, TaskNotification):
            self._abandon_agent(call)
        self.fact("task", frame, parent=self.scribe.call_item(self._key(call)) if call else None)

    def _abandon_agent(self, owner: str) -> None:
        """A sub-agent has ended. One that was stopped gives up its calls without a word about them."""
        if (message := self._messages.pop(owner, None)) is not None:
            self._abandon(message.parts.values())
        for call in self._calls.values():
            if call.owner == owner:
                self.scribe.abandon(call.key)

    def fact(self, label: str, frame: bytes, detail: str | None = None, parent: str | None = None) -> None:
        self.scribe.status(label, _payload(frame), detail, parent=parent)

    def _init(self, init: Init) -> None:
        self.native_id = init.session_id
        self._wake_up(None)
        facts = Facts(
            init.model,
            init.permissionMode,
            init.cwd,
            init.tools,
            init.mcp_servers,
            init.agents,
            init.claude_code_version,
        )
        self._tell(facts)

    def _status(self, status: Status, frame: bytes) -> None:
        if status.permissionMode is not None:
            self._tell(msgspec.structs.replace(self._facts, permissionMode=status.permissionMode))
        if status.status == "compacting" or status.compact_result is not None:
            self.fact("compaction", frame, status.compact_error or status.compact_result or status.status)

    def _tell(self, facts: Facts) -> None:
        """`init` repeats itself every turn; only what is new is news."""
        if facts != self._facts:
            self._facts = facts
            self.scribe.status("session", msgspec.to_builtins(facts))

    # -- turns --------------------------------------------------------------------------------

    @property
    def _woke_up(self) -> bool:
        """The open turn is one that Claude began by itself."""
        return self._own_turn is not None and self._own_turn is self.scribe.turn

    def _wake_up(self, owner: str | None) -> None:
        """A turn that nobody asked for: a background task ended, a timer fired. Sub-agents have no turns."""
        if owner is None and self.scribe.turn is None:
            self.scribe.start_turn(source="agent")
            self._own_turn = self.scribe.turn

    def result(self, result: Result) -> bool:
        """The end of the turn; False when it was another's (a wake-up that came between us and our prompt)."""
        usage = usage_of(result)
        if self._carried is not None:
            usage = self._carried if usage is None else self._carried + usage
        if self._is_of_another_turn(result):
            self._carried = usage
            return False
        stop_reason = stop_reason_of(result, self._failure, self.cancelling)
        said = message_of(result, self._failure)
        if stop_reason == "error" or (stop_reason == "refusal" and result.is_error):
            if self.scribe.turn is not None:
                details = error_details_of(result, self._failure)
                self.scribe.error(said, error_code_of(result, self._failure), details)
        elif stop_reason in ("limit", "max_tokens") and result.is_error:
            self.scribe.status("limit", error_details_of(result, self._failure), said)
        elif self._failure is not None and stop_reason != "interrupted":
            self.scribe.system(self._failure.text)  # it failed, and got over it
        self.awaiting -= set(result.user_message_uuids) or self.awaiting
        self._begun &= self.awaiting
        self._end_turn(stop_reason, usage)
        return True

    def _is_of_another_turn(self, result: Result) -> bool:
        by_itself = result.origin is not None and result.origin.kind != "human"
        waiting = (
            self.awaiting.isdisjoint(result.user_message_uuids) if self.awaiting else result.queued_turn_count
        )
        return by_itself and bool(waiting) and not self._woke_up

    def lifecycle(self, uuid: str, state: str) -> None:
        """What becomes of a prompt. One that is taken out of Claude's queue before it began gets no result."""
        if state == "started":
            self._begun.add(uuid)
        elif state != "queued" and uuid in self.awaiting:
            self.awaiting.discard(uuid)
            if uuid not in self._begun and not self.awaiting:
                self._end_turn("interrupted", self._carried)

    def _end_turn(self, stop_reason: StopReason, usage: Usage | None) -> None:
        self._failure = None
        self._carried = None
        self._own_turn = None
        self._messages = {owner: message for owner, message in self._messages.items() if owner is not None}
        self.scribe.end_turn(stop_reason, usage)


# -- reading content --------------------------------------------------------------------------


def _decoded(content: str | list[Raw]) -> list[tuple[AnyBlock | None, Raw]]:
    """Content blocks, each with its source; plain text is one block."""
    if isinstance(content, str):
        return [(TextBlock(content), Raw(b"null"))]
    return [(blocks.decode(raw), raw) for raw in content]


def _text_of(content: list[tuple[AnyBlock | None, Raw]]) -> str:
    return "\n".join(block.text for block, _ in content if isinstance(block, TextBlock))


def _payload(frame: bytes) -> dict[str, Any]:
    """What a message says, without its envelope."""
    payload = msgspec.json.decode(frame, type=dict[str, Any])
    return {name: value for name, value in payload.items() if name not in ("type", "uuid", "session_id")}
