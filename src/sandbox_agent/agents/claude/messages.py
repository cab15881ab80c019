"""The model's output as API messages: text, thinking and calls.

Each API message arrives twice, as stream events and as `assistant` frames of one finished block each. The
frame precedes the block's `content_block_stop`; a block that stops without it was abandoned (a broken stream,
a refusal). Sub-agents are not streamed: their frames name the call that started them in `parent_tool_use_id`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Raw, Struct, field

from .blocks import decoded, text_of
from .calls import Calls
from .frames import (
    AnyBlock,
    ApiUsage,
    Assistant,
    BlockDelta,
    BlockStart,
    BlockStop,
    ImageBlock,
    McpToolResult,
    McpToolUse,
    MessageDelta,
    MessageStart,
    MessageStop,
    Ping,
    ProviderResult,
    RedactedThinking,
    ServerToolUse,
    StreamError,
    StreamEvent,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUse,
    blocks,
    events,
)
from .outcome import Context, Failure

if TYPE_CHECKING:
    from .conversation import ClaudeConversation


class Part(Struct):
    """A block of a message that is being streamed."""

    key: str
    kind: Literal["text", "thinking", "call", "other"]
    done: bool = False


class Message(Struct):
    """The API message being received, of the main loop or of one sub-agent."""

    id: str
    parts: dict[int, Part] = field(default_factory=dict)
    text_item: str | None = None
    """Its last text: the parent of the calls that follow."""
    counted: bool = False
    """Its tokens are included in what the turn has spent."""


class Messages:
    def __init__(self, conversation: ClaudeConversation, calls: Calls) -> None:
        self._conversation = conversation
        self._scribe = conversation.scribe
        self._calls = calls
        self._messages: dict[str | None, Message] = {}

    def stream(self, frame: StreamEvent) -> None:
        owner = frame.parent_tool_use_id
        match events.decode(frame.event):
            case MessageStart(head):
                self._conversation.turns.begin_unprompted(owner)
                self._begin_message(owner, head.id)
                if owner is None:
                    self._conversation.turns.context = Context(head.model)
            case BlockStart(index, raw):
                self._start_block(owner, self._message(owner, frame.api_message_id), index, raw)
            case BlockDelta(index) as delta:
                self._delta(owner, self._message(owner, frame.api_message_id), index, delta)
            case BlockStop(index):
                message = self._message(owner, frame.api_message_id)
                self._abandon([part for at, part in message.parts.items() if at == index])
            case MessageStop():
                self._abandon(self._message(owner, frame.api_message_id).parts.values())
            case MessageDelta(usage):
                self._count(self._message(owner, frame.api_message_id), usage)
                if owner is None:
                    context = self._conversation.turns.context
                    self._conversation.turns.context = Context(context.model, usage.total())
            case Ping() | StreamError():
                pass
            case None:
                self._scribe.unknown(msgspec.json.decode(frame.event))

    def assistant(self, frame: Assistant) -> None:
        owner = frame.parent_tool_use_id
        content = decoded(frame.message.content)
        text = text_of(content)
        if frame.is_api_error_message or frame.error is not None:
            self._note_failure(owner, frame, text)
        elif frame.local_command_source is not None or frame.message.model == "<synthetic>":
            if text:
                self._scribe.system(text, parent=self._calls.parent(owner))
        else:
            self._conversation.turns.begin_unprompted(owner)
            message = self._message(owner, frame.message.id)
            if message.id != frame.message.id:
                message = self._begin_message(owner, frame.message.id)
            for block, raw in content:
                self._finish_block(owner, message, block, raw, frame.aborted)

    def _note_failure(self, owner: str | None, frame: Assistant, text: str) -> None:
        """`result` reports the failure of the turn; a sub-agent's failure is a fact about its call."""
        if owner is None:
            self._conversation.turns.failure = Failure(text, frame.error)
            return
        facts = {"message": text, "error": frame.error, "api_error_status": frame.api_error_status}
        self._scribe.status("subagent_error", facts, text, parent=self._calls.parent(owner))

    def _count(self, message: Message, usage: ApiUsage) -> None:
        if not message.counted:
            message.counted = True
            self._conversation.turns.spend(usage)

    def _begin_message(self, owner: str | None, id: str) -> Message:
        if (before := self._messages.get(owner)) is not None:
            self._abandon(before.parts.values())
        message = self._messages[owner] = Message(id)
        return message

    def _message(self, owner: str | None, id: str | None) -> Message:
        return self._messages.get(owner) or self._begin_message(owner, id or "")

    def _start_block(self, owner: str | None, message: Message, index: int, raw: Raw) -> None:
        self._conversation.turns.begin_unprompted(owner)
        match blocks.decode(raw):
            case TextBlock(text):
                self._stream_text(owner, message, index, "text", text)
            case ThinkingBlock(thinking):
                self._stream_text(owner, message, index, "thinking", thinking)
            case ToolUse() | ServerToolUse() | McpToolUse() as use:
                key = self._calls.begin(owner, message.id, message.text_item, use)
                message.parts[index] = Part(key, "call")
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
                    self._scribe.call_delta(part.key, delta.partial_json)

    def _stream_text(
        self, owner: str | None, message: Message, index: int, kind: Literal["text", "thinking"], text: str
    ) -> None:
        part = message.parts.get(index)
        if part is None:
            part = message.parts[index] = Part(self._calls.fresh(f"{message.id}:{index}"), kind)
        if not text or part.kind != kind or part.done:
            return
        self._conversation.turns.begin_unprompted(owner)
        item = self._scribe.text(
            part.key,
            text,
            native_id=f"{message.id}:{index}",
            parent=self._calls.parent(owner),
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
                key = self._calls.finish(owner, message.id, message.text_item, block)
                for part in message.parts.values():
                    part.done = part.done or part.key == key
            case ToolResultBlock() | McpToolResult():
                self._calls.result(owner, block, Raw(b"null"))
            case ProviderResult(id, content):
                self._calls.provider_result(owner, id, content)
            case RedactedThinking():
                pass
            case ImageBlock() | None:
                self._scribe.unknown(msgspec.json.decode(raw))

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
        part.key = part.key or self._calls.fresh(f"{message.id}:{index}")
        part.done = True
        return self._scribe.end_text(
            part.key,
            text,
            native_id=f"{message.id}:{index}",
            parent=self._calls.parent(owner),
            thinking="public" if kind == "thinking" else None,
            outlives_turn=owner is not None,
            failed=aborted,
        )

    def _abandon(self, parts: Iterable[Part]) -> None:
        for part in parts:
            if not part.done and part.kind != "other":
                part.done = True
                self._scribe.abandon(part.key)

    def abandon_of(self, owner: str) -> None:
        """A sub-agent has ended: drop its unfinished message."""
        if (message := self._messages.pop(owner, None)) is not None:
            self._abandon(message.parts.values())

    def end_turn(self) -> None:
        """Output of sub-agents may outlive the turn."""
        self._messages.pop(None, None)
