"""After a restart: reads from stored events what is open, so that it can be closed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from ...schema.events import (
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    TurnEnded,
    TurnStarted,
)
from ...schema.items import Item, Json, Reasoning, StatusPart, Text, ToolCall, ToolResult
from ...schema.tools import TOOL_REQUEST, ToolRequest
from .drafts import Pending, Turn, Waited
from .open_items import OpenCall, OpenText
from .scribe import Scribe


class Recovery:
    """Restores a new scribe to what its predecessor left open."""

    def __init__(self, scribe: Scribe) -> None:
        self._scribe = scribe
        self._turn_started: datetime | None = None
        self._last: datetime | None = None

    def read(self, events: Iterable[Event]) -> None:
        scribe, pen = self._scribe, self._scribe.pen
        scribe.started = True
        for event in events:
            pen.native_session_id = event.native_session_id
            if pen.turn is not None:
                self._count_time(pen.turn, datetime.fromisoformat(event.time))
            match event.data:
                case TurnStarted(turn_id):
                    pen.turn = Turn(turn_id, pen.world.clock())
                    self._turn_started = self._last = datetime.fromisoformat(event.time)
                    scribe.requests.waited = Waited()
                case TurnEnded():
                    pen.turn = None
                case SessionEnded():
                    pen.ended = True
                case PermissionRequested(id) | QuestionRequested(id):
                    scribe.requests.pending = {**scribe.pending, id: Pending(id, id, event.data)}
                case PermissionResolved(id) | QuestionResolved(id):
                    scribe.requests.pending = {
                        key: request for key, request in scribe.pending.items() if request.id != id
                    }
                case ItemStarted(item):
                    self._start(item)
                case ItemDelta(item_id, _, delta):
                    self._add(item_id, delta)
                case ItemCompleted(item):
                    self._end(item)

    def _count_time(self, turn: Turn, now: datetime) -> None:
        """Clocks do not survive a restart: the log says how long a turn ran, and waited for people."""
        requests, clock = self._scribe.requests, self._scribe.pen.world.clock()
        turn.began = clock - (now - (self._turn_started or now)).total_seconds()
        if requests.pending:
            seconds = requests.waited.seconds + (now - (self._last or now)).total_seconds()
            requests.waited = Waited(seconds)
        self._last = now

    def _start(self, item: Item) -> None:
        # Nothing outlives the turn: the process that would have continued it is gone.
        texts, calls = self._scribe.texts.open, self._scribe.calls.open
        match item.content:
            case (Text() | Reasoning(), *_) if item.role == "assistant":
                visibility = part.visibility if isinstance(part := item.content[0], Reasoning) else None
                texts[item.item_id] = OpenText(
                    item.item_id, item.native_item_id, item.parent_id, "assistant", visibility, False
                )
            case (ToolCall(name, _, call_id, kind, title), *_):
                calls[call_id] = OpenCall(
                    item.item_id, item.native_item_id, item.parent_id, name, call_id, False, kind, title
                )
            case (ToolResult(call_id), *_) if call := calls.get(call_id):
                call.open_result(item.item_id)
            case (StatusPart(label), Json(payload)) if label == TOOL_REQUEST:
                asked = msgspec.convert(payload, ToolRequest)
                pending = Pending(asked.call_id, asked.call_id, asked, item_id=item.item_id)
                self._scribe.requests.pending = {**self._scribe.pending, pending.key: pending}

    def _add(self, item_id: str, delta: str) -> None:
        if open_text := self._scribe.texts.open.get(item_id):
            open_text.chunks.append(delta)
        for call in self._scribe.calls.open.values():
            if item_id in (call.item_id, call.result_id):
                call.chunks.append(delta)

    def _end(self, item: Item) -> None:
        texts, calls = self._scribe.texts.open, self._scribe.calls.open
        texts.pop(item.item_id, None)
        match item.content:
            case (ToolCall(_, _, call_id, kind, title), *_) if call := calls.get(call_id):
                call.completed, call.kind, call.title = True, kind, title
                call.chunks = []
            case (ToolResult(call_id), *_):
                calls.pop(call_id, None)
            case (StatusPart(label), *_) if label == TOOL_REQUEST:
                waiting = self._scribe.pending.items()
                self._scribe.requests.pending = {
                    key: request for key, request in waiting if request.item_id != item.item_id
                }
