"""Writes drafts: the part of the scribe that every other part stands on, and the facts that need nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from ...schema.events import (
    AgentUnparsed,
    AnyData,
    ErrorCode,
    ErrorEvent,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    Source,
)
from ...schema.ids import MakeId
from ...schema.items import ContentPart, Item, Json, Kind, Role, StatusPart, Text
from .drafts import Draft, Frame, Turn


class Pen:
    def __init__(self, make_id: MakeId, clock: Callable[[], float]) -> None:
        self.drafts: list[Draft] = []
        self.frame = Frame()
        self.native_session_id: str | None = None
        self.turn: Turn | None = None
        self.ended = False
        self._make_id = make_id
        self._clock = clock
        self._closed: dict[str, str] = {}  # key -> item id of what is complete

    def status(
        self,
        label: str,
        payload: Any = None,
        detail: str | None = None,
        *,
        native_id: str | None = None,
        parent: str | None = None,
        source: Source = "agent",
    ) -> None:
        """A fact that is neither said nor done: usage, plan, title, retry, compaction."""
        content: tuple[ContentPart, ...] = (StatusPart(label, detail), Json(payload))
        self._whole("status", None, content, native_id, parent, source)

    def system(self, text: str, *, parent: str | None = None) -> None:
        """Something the agent's program says, not its model."""
        self._whole("system", "system", (Text(text),), None, parent, "agent", delta=text)

    def unknown(self, payload: Any, *, native_id: str | None = None) -> None:
        """A native message of a type we do not know, kept as it is."""
        self._whole("unknown", None, (Json(payload),), native_id, None, "agent")

    def error(
        self,
        message: str,
        code: ErrorCode | None = None,
        details: dict[str, Any] | None = None,
        *,
        source: Source = "agent",
    ) -> None:
        if self.turn:
            self.turn.failed = True
        self._write(ErrorEvent(message, code, details), source)

    def unparsed(self, error: str, location: str) -> None:
        """A native payload that we should have understood and did not."""
        raw = self.frame.bytes
        digest = hashlib.sha256(raw).hexdigest() if raw is not None else None
        self._write(AgentUnparsed(error, location, digest), "daemon")

    def _write(self, data: AnyData, source: Source) -> None:
        if not self.ended:
            self.drafts.append(Draft(data, source, self.native_session_id, self.frame.bytes))

    def _start(
        self,
        item_id: str,
        native_id: str | None,
        parent: str | None,
        kind: Kind,
        role: Role | None,
        content: tuple[ContentPart, ...],
        source: Source,
    ) -> None:
        self._write(ItemStarted(Item(item_id, native_id, parent, kind, role, "in_progress", content)), source)

    def _complete(self, item: Item, source: Source) -> None:
        self._write(ItemCompleted(item), source)

    def _whole(
        self,
        kind: Kind,
        role: Role | None,
        content: tuple[ContentPart, ...],
        native_id: str | None,
        parent: str | None,
        source: Source,
        delta: str | None = None,
    ) -> None:
        item_id = self._make_id("itm")
        self._start(item_id, native_id, parent, kind, role, content, source)
        if delta:
            self._write(ItemDelta(item_id, native_id, delta), source)
        self._complete(Item(item_id, native_id, parent, kind, role, "completed", content), source)
