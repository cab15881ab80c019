"""After a restart: learns from stored events what is open, so that it can be closed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

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
from ...schema.items import Item, Reasoning, Text, ToolCall, ToolResult
from .drafts import Pending, Turn
from .open_items import OpenCall, OpenText
from .scribe import Scribe


class RecoveringScribe(Scribe):
    """The scribe of a session whose daemon was killed."""

    _turn_started_at: str | None = None

    def recover(self, events: Iterable[Event]) -> None:
        """Learn from stored events what is open, so that it can be closed: the scribe that opened it is gone."""
        self.started = True
        for event in events:
            self.native_session_id = event.native_session_id
            if self.turn is not None and self._turn_started_at is not None:
                # Clocks do not survive a restart: the turn lasted as long as the log says.
                lasted = datetime.fromisoformat(event.time) - datetime.fromisoformat(self._turn_started_at)
                self.turn.began = self._clock() - lasted.total_seconds()
            match event.data:
                case TurnStarted(turn_id):
                    self.turn = Turn(turn_id, self._clock())
                    self._turn_started_at = event.time
                case TurnEnded():
                    self.turn = None
                case SessionEnded():
                    self.ended = True
                case PermissionRequested(id) | QuestionRequested(id):
                    self.pending[id] = Pending(id, id, event.data)
                case PermissionResolved(id) | QuestionResolved(id):
                    self.pending.pop(id, None)
                case ItemStarted(item):
                    self._recover_start(item)
                case ItemDelta(item_id, _, delta):
                    self._recover_delta(item_id, delta)
                case ItemCompleted(item):
                    self._recover_end(item)

    def _recover_start(self, item: Item) -> None:
        # Nothing outlives the turn: the process that would have carried it on is gone.
        match item.content:
            case (Text() | Reasoning(), *_) if item.role == "assistant":
                visibility = part.visibility if isinstance(part := item.content[0], Reasoning) else None
                self._texts[item.item_id] = OpenText(
                    item.item_id, item.native_item_id, item.parent_id, "assistant", visibility, False
                )
            case (ToolCall(name, _, call_id), *_):
                self._calls[call_id] = OpenCall(
                    item.item_id, item.native_item_id, item.parent_id, name, call_id, False
                )
            case (ToolResult(call_id), *_) if call := self._calls.get(call_id):
                call.result_id = item.item_id

    def _recover_delta(self, item_id: str, delta: str) -> None:
        if open_text := self._texts.get(item_id):
            open_text.chunks.append(delta)
        for call in self._calls.values():
            if item_id in (call.item_id, call.result_id):
                call.chunks.append(delta)

    def _recover_end(self, item: Item) -> None:
        self._texts.pop(item.item_id, None)
        match item.content:
            case (ToolCall(_, _, call_id), *_) if call := self._calls.get(call_id):
                call.completed = True
                call.chunks = []
            case (ToolResult(call_id), *_):
                self._calls.pop(call_id, None)
