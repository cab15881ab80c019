"""Folds events into a transcript: messages, tools, diffs, usage. Does no I/O, and takes one event at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from msgspec import Struct

from ..schema import events
from ..schema.events import (
    ErrorEvent,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    StopReason,
    TurnEnded,
    TurnStarted,
    Usage,
)
from ..schema.items import (
    FileRef,
    Item,
    ItemStatus,
    Reasoning,
    Role,
    StatusPart,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
)
from ..schema.tools import ToolRequest, tool_request_in
from .events import UnknownEvent

AnyEvent = events.Event | UnknownEvent


class Message(Struct):
    """A message; its text grows while it is streamed."""

    item_id: str
    role: Role
    text: str = ""
    thinking: bool = False
    """Whether it is the agent's reasoning, not its reply."""
    status: ItemStatus = "in_progress"
    parent_id: str | None = None
    """The call whose sub-agent wrote it."""

    @property
    def is_answer(self) -> bool:
        """Whether it is part of the agent's reply: not reasoning, and not from a sub-agent."""
        return self.role == "assistant" and not self.thinking and self.parent_id is None


class Tool(Struct):
    """A call and its result."""

    call_id: str
    name: str = ""
    kind: ToolKind = "other"
    """What it does, independent of the agent's name for it."""
    title: str = ""
    """One line to show: the command, the path or the query; at least the name."""
    arguments: str = ""
    """The arguments as a JSON string."""
    output: str = ""
    status: ItemStatus = "in_progress"
    exit_code: int | None = None
    files: tuple[FileRef, ...] = ()
    """The changes it made to files."""
    parent_id: str | None = None


class Transcript:
    """What happened so far. Add events in order; an event that was already added changes nothing."""

    def __init__(self, events: Iterable[AnyEvent] = ()) -> None:
        self.messages: list[Message] = []
        self.tools: list[Tool] = []
        self.errors: list[ErrorEvent] = []
        self.permissions: dict[str, PermissionRequested] = {}
        """Pending requests by id."""
        self.questions: dict[str, QuestionRequested] = {}
        self.tool_requests: dict[str, ToolRequest] = {}
        """Pending calls to a client's tools, by id."""
        self.usage = Usage()
        """The sum over all ended turns."""
        self.turn_id: str | None = None
        """The last turn that started."""
        self.stop_reason: StopReason | None = None
        """How the last turn ended."""
        self.limit: str | None = None
        """The limit that was reached last, in words."""
        self.ended: SessionEnded | None = None
        self.offset = 0
        """Sequence of the last event; continue reading from here."""
        self._open_messages: dict[str, Message] = {}
        self._open_results: dict[str, Tool] = {}
        self._tools: dict[str, Tool] = {}
        self._calls: set[str] = set()
        for event in events:
            self.add(event)

    @property
    def text(self) -> str:
        """The agent's reply, without reasoning and sub-agents."""
        return "\n\n".join(message.text for message in self.messages if message.is_answer)

    def answer_in(self, event: AnyEvent) -> str:
        """The text that the event just added contributes to the reply."""
        match event.data:
            case ItemDelta(item_id, _, delta) if item_id in self._open_messages:
                return delta if self._open_messages[item_id].is_answer else ""
        return ""

    @property
    def diffs(self) -> list[FileRef]:
        """Every change of a file, in order."""
        return [file for tool in self.tools for file in tool.files]

    def add(self, event: AnyEvent) -> None:
        if event.sequence <= self.offset:
            return
        self.offset = event.sequence
        match event.data:
            case ItemStarted(item):
                self._begin(item)
            case ItemDelta(item_id, _, delta):
                self._grow(item_id, delta)
            case ItemCompleted(item):
                self._finish(item)
            case PermissionRequested() as permission:
                self.permissions[permission.permission_id] = permission
            case PermissionResolved(permission_id):
                self.permissions.pop(permission_id, None)
            case QuestionRequested() as question:
                self.questions[question.question_id] = question
            case QuestionResolved(question_id):
                self.questions.pop(question_id, None)
            case ErrorEvent() as error:
                self.errors.append(error)
            case TurnStarted(turn_id):
                self.turn_id = turn_id
            case TurnEnded(_, metadata):
                self.stop_reason = metadata.stop_reason
                self.usage += metadata.usage or Usage()
            case SessionEnded() as ended:
                self.ended = ended
            case dict(data):
                self._add_unknown(_type_of(event), data)

    def _add_unknown(self, type: str, data: dict[str, Any]) -> None:
        """What matters most of an event that this version cannot decode: a newer daemon may add stop reasons and codes."""
        match type, data:
            case "turn.ended", {"metadata": {"stop_reason": str() as stop_reason}}:
                self.stop_reason = cast(StopReason, stop_reason)
            case "error", {"message": str() as message}:
                self.errors.append(ErrorEvent(message, data.get("code"), data.get("details")))

    def _begin(self, item: Item) -> None:
        if request := tool_request_in(item):
            self.tool_requests[request.call_id] = request
        if item.kind == "message":
            thinking = any(isinstance(part, Reasoning) for part in item.content)
            message = Message(item.item_id, item.role or "assistant", thinking=thinking)
            message.parent_id = item.parent_id if self._is_call(item.parent_id) else None
            self._open_messages[item.item_id] = message
            self.messages.append(message)
        for part in item.content:
            match part:
                case ToolCall() as call:
                    self._call(call, item)
                case ToolResult(call_id) if call_id in self._tools:
                    self._open_results[item.item_id] = self._tools[call_id]

    def _grow(self, item_id: str, delta: str) -> None:
        if message := self._open_messages.get(item_id):
            message.text += delta
        elif tool := self._open_results.get(item_id):
            tool.output += delta

    def _finish(self, item: Item) -> None:
        if request := tool_request_in(item):
            self.tool_requests.pop(request.call_id, None)
        if message := self._open_messages.pop(item.item_id, None):
            message.status = item.status
            for part in item.content:
                if isinstance(part, Text | Reasoning):
                    message.text = part.text
                    message.thinking = isinstance(part, Reasoning)
        self._open_results.pop(item.item_id, None)
        for part in item.content:
            match part:
                case ToolCall() as call:
                    self._call(call, item)
                case StatusPart("limit", detail):
                    self.limit = detail
                case ToolResult(call_id, output, exit_code):
                    tool = self._tool(call_id, item)
                    tool.output, tool.exit_code, tool.status = output, exit_code, item.status
                    tool.files = tuple(file for file in item.content if isinstance(file, FileRef))

    def _call(self, call: ToolCall, item: Item) -> None:
        tool = self._tool(call.call_id, item)
        tool.name, tool.kind, tool.arguments = call.name, call.kind, call.arguments
        tool.title = call.title or call.name

    def _tool(self, call_id: str, item: Item) -> Tool:
        if call_id not in self._tools:
            parent = item.parent_id if self._is_call(item.parent_id) else None
            self._tools[call_id] = Tool(call_id, parent_id=parent)
            self.tools.append(self._tools[call_id])
            self._calls.add(item.item_id)
        return self._tools[call_id]

    def _is_call(self, item_id: str | None) -> bool:
        """The parent is a call if a sub-agent wrote the item; otherwise it is the message that the item belongs to."""
        return item_id in self._calls


def _type_of(event: AnyEvent) -> str:
    return event.named if isinstance(event, UnknownEvent) else event.type
