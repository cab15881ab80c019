"""Turns the events of a turn into what a reader wants to see: streamed text, one line per tool, errors.

Does no I/O: it calls a `View`, one for terminals or one for pipes. One message is shown as it streams; messages that
overlap with it (of sub-agents) are shown whole when they end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from ..schema.events import (
    ErrorEvent,
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    Stderr,
    TurnEnded,
    Usage,
)
from ..schema.items import FileRef, Item, Reasoning, StatusPart, Text, ToolCall, ToolResult
from ..schema.tools import TOOL_REQUEST, tool_request_in

LINE_WIDTH = 100
# What the reader already knows, or sees at the end.
QUIET_STATUS = frozenset({"session", "usage", "title", "queue", "injected", TOOL_REQUEST})
_CONTROL = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


class Tool(NamedTuple):
    """A call: one line about it, and whether a sub-agent made it."""

    call_id: str
    line: str
    nested: bool
    began: str


class View(ABC):
    @abstractmethod
    def prompt(self, text: str) -> None:
        """A prompt of the user."""

    @abstractmethod
    def text(self, delta: str, *, thinking: bool) -> None: ...

    @abstractmethod
    def end_text(self, *, thinking: bool) -> None: ...

    @abstractmethod
    def tool_started(self, tool: Tool) -> None: ...

    @abstractmethod
    def tool_ended(self, tool: Tool, failure: str | None, seconds: float, diffs: list[str]) -> None: ...

    @abstractmethod
    def notice(self, text: str) -> None: ...

    @abstractmethod
    def error(self, text: str) -> None: ...

    @abstractmethod
    def close(self) -> None:
        """Called after the last event."""


class Narrator:
    """Narrates one turn, or with `session` a whole session, including prompts, ends of turns and pending requests."""

    def __init__(self, view: View, session: str | None = None) -> None:
        self._view = view
        self._session = session
        self._streaming: str | None = None  # id of the message shown as it streams
        self._thinking = False
        self._calls: dict[str, Tool] = {}
        self._call_items: set[str] = set()

    def handle(self, event: Event) -> None:
        if self._session is not None:
            self._handle_session_event(event, self._session)
        match event.data:
            case ItemStarted(Item(item_id, kind="message", role="assistant")) if self._streaming is None:
                self._streaming = item_id
            case ItemDelta(item_id, _, delta, visibility=visibility) if item_id == self._streaming:
                self._thinking = visibility is not msgspec.UNSET
                self._view.text(printable(delta), thinking=self._thinking)
            case ItemCompleted(item):
                self._complete(item, event.time)
            case ErrorEvent(message, code, details):
                self._fail(f"{message} ({code})" if code else message, _stderr_in(details))
            case SessionEnded(reason="error", message=message, stderr=stderr):
                self._fail(message or "the session ended", stderr)

    def _handle_session_event(self, event: Event, session: str) -> None:
        match event.data:
            case ItemCompleted(Item(kind="message", role="user") as item):
                texts = (part.text for part in item.content if isinstance(part, Text))
                self._view.prompt(printable("".join(texts)))
            case TurnEnded() as ended:
                self._view.notice(summary(ended))
            case ItemStarted(Item(kind="status") as item) if request := tool_request_in(item):
                how = f"sandbox-agent tool-calls reply {session} {request.call_id} --output ..."
                self._view.notice(f"? {one_line(request.name)} ({how})")
            case PermissionRequested(permission_id, action):
                title = titled(action, event.data.metadata.title if event.data.metadata else "")
                how = f"sandbox-agent permissions reply {session} {permission_id} --reply once"
                self._view.notice(f"? {title} ({how})")
            case PermissionResolved(_, action, status):
                title = titled(action, event.data.metadata.title if event.data.metadata else "")
                self._view.notice(f"{'rejected' if status == 'reject' else 'allowed'}: {title}")
            case QuestionRequested(question_id, prompt):
                how = f"sandbox-agent questions reply {session} {question_id} --answer ..."
                self._view.notice(f"? {one_line(prompt)} ({how})")
            case QuestionResolved(status=status) as resolved:
                self._view.notice(f"{status}: {one_line(resolved.response or resolved.prompt)}")

    def _complete(self, item: Item, time: str) -> None:
        match item.content:
            case (ToolCall(name, _, call_id, _, title), *_):
                # An item whose parent is a call belongs to a sub-agent.
                tool = Tool(call_id, titled(name, title), item.parent_id in self._call_items, time)
                self._calls[call_id] = tool
                self._call_items.add(item.item_id)
                self._view.tool_started(tool)
            case (ToolResult(call_id) as result, *_):
                if tool_ended := self._calls.pop(call_id, None):
                    seconds = seconds_between(tool_ended.began, time)
                    self._view.tool_ended(tool_ended, _failure(item, result), seconds, _diffs(item))
            case (StatusPart(label, detail), *_):
                if detail and label not in QUIET_STATUS:
                    self._view.notice(f"{label}: {printable(detail)}")
            case _ if item.kind == "message" and item.role == "assistant":
                self._complete_message(item)

    def _complete_message(self, item: Item) -> None:
        thinking = any(isinstance(part, Reasoning) for part in item.content)
        if item.item_id != self._streaming:
            texts = (part.text for part in item.content if isinstance(part, Text | Reasoning))
            self._view.text(printable("".join(texts)), thinking=thinking)
        else:
            self._streaming = None
        self._view.end_text(thinking=thinking)

    def _fail(self, message: str, stderr: Stderr | None) -> None:
        """Show an error after the text before it, whose item is completed only later."""
        if self._streaming is not None:
            self._view.end_text(thinking=self._thinking)
        self._view.error(printable(message + _indented(stderr)))


def titled(name: str, title: str) -> str:
    """A tool and its title in one line. A title may equal the name, and old events have none."""
    return one_line(name if title in ("", name) else f"{name} {title}")


def one_line(text: str) -> str:
    line = " ".join(printable(text).split())
    return line if len(line) <= LINE_WIDTH else line[: LINE_WIDTH - 1] + "…"


def printable(text: str) -> str:
    """Remove control characters: agent output must not move the cursor."""
    return text.translate(_CONTROL)


def seconds_between(began: str, ended: str) -> float:
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()


def _stderr_in(details: dict[str, Any] | None) -> Stderr | None:
    try:
        return msgspec.convert((details or {}).get("stderr"), Stderr | None)
    except msgspec.ValidationError:
        return None


def _indented(stderr: Stderr | None) -> str:
    """The agent's stderr, indented below a message."""
    ends = [end for end in (stderr.head, stderr.tail) if end] if stderr else []
    lines = "\n…\n".join(ends).splitlines()
    return "".join(f"\n  {line}" for line in ["stderr:", *(f"  {line}" for line in lines)]) if lines else ""


def _failure(item: Item, result: ToolResult) -> str | None:
    if item.status != "failed" and not result.exit_code:
        return None
    if result.exit_code:
        return f"exit code {result.exit_code}"
    lines = result.output.strip().splitlines()
    return one_line(lines[-1]) if lines else "failed"


def _diffs(item: Item) -> list[str]:
    return [printable(part.diff) for part in item.content if isinstance(part, FileRef) and part.diff]


def summary(ended: TurnEnded) -> str:
    """How a turn ended, and its time and usage."""
    facts = ended.metadata
    waited = f" ({facts.waiting_ms / 1000:.1f} s waiting)" if facts.waiting_ms >= 100 else ""
    why = ", because the daemon stopped during the turn" if facts.stop_reason == "outcome_unknown" else ""
    parts = [facts.stop_reason.replace("_", " ") + why, f"{facts.duration_ms / 1000:.1f} s{waited}"]
    return " · ".join([*parts, *_usage(facts.usage or Usage())])


def _usage(usage: Usage) -> list[str]:
    parts = []
    if usage.input_tokens is not None:
        cached = f" ({usage.cache_read_tokens} cached)" if usage.cache_read_tokens else ""
        tokens = "token" if usage.input_tokens == 1 else "tokens"
        parts.append(f"{usage.input_tokens} {tokens} in{cached}")
    if usage.output_tokens is not None:
        parts.append(f"{usage.output_tokens} out")
    if usage.cost_usd is not None:
        parts.append(f"${usage.cost_usd:.4f}")
    if usage.context_tokens is not None and usage.context_window:
        parts.append(f"context {100 * usage.context_tokens / usage.context_window:.0f}%")
    return parts
