"""Writes drafts: the part all others of the scribe use, and events that depend on no other part.

The data of an event is encoded before any state changes. If encoding fails, this raises and the scribe is
unchanged.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from ...schema.events import (
    AgentUnparsed,
    AnyData,
    ErrorCode,
    ErrorEvent,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    SessionEnded,
    Source,
)
from ...schema.items import ContentPart, Item, Json, Kind, Role, StatusPart, Text, Visibility
from ...schema.sessions import Used
from ...schema.world import World
from .drafts import Draft, Frame, Notable, ToolAsked, ToolDone, Turn, encode

if TYPE_CHECKING:
    from .scribe import Scribe

MAX_CLOSED = 10_000
"""How many complete items we remember by key: an older key counts as a new item."""

RESERVED_LEVELS = 500
"""Levels of nesting reserved for readers, which may decode the data from a deeper stack than the one that
wrote it.
"""
SAFE_BRACKETS = 256
"""Data with at most this many brackets is never too deep."""

_ITEM_EVENTS = frozenset((ItemDelta, ItemStarted, ItemCompleted))


class DeltaTemplate:
    """The encoded parts of an item's delta before and after its text."""

    __slots__ = ("after", "before")

    def __init__(
        self,
        item_id: str,
        native_id: str | None,
        kind: Kind,
        role: Role | None,
        visibility: Visibility | None = None,
        parent: str | None = None,
    ) -> None:
        self.before = b'{"item_id":%b,"native_item_id":%b,"delta":' % (encode(item_id), encode(native_id))
        seen = b',"visibility":%b' % encode(visibility) if visibility else b""
        seen += b',"parent_id":%b' % encode(parent) if parent else b""
        self.after = b',"kind":"%b","role":%b%b}' % (kind.encode(), encode(role), seen)


class Pen:
    def __init__(self, world: World, owner: Scribe) -> None:
        self.drafts: list[Draft] = []
        self.notable: list[tuple[int, Notable]] = []
        """What the session must look at, each with its index in `drafts`: drafts other than items, and notes."""
        self.frame = Frame()
        self.native_session_id: str | None = None
        self.turn: Turn | None = None
        self.ended = False
        self.requested_end: SessionEnded | None = None
        """The agent has ended the conversation; the session writes this after everything else that ends with
        it.
        """
        self.used: Used | None = None
        """The model and title the agent reports; replaced when they change."""
        self.world = world
        self.make_id = world.make_id
        self.closed: dict[str, str] = {}
        """Key -> item id of complete items."""
        self._owner = owner

    def write(self, data: AnyData, source: Source) -> None:
        if self.ended:
            return
        body = encode(data)
        if len(body) > SAFE_BRACKETS and body.count(b"[") + body.count(b"{") > SAFE_BRACKETS:
            _require_room(data)
        if type(data) not in _ITEM_EVENTS:
            self.notable.append((len(self.drafts), data))
        if not self.drafts:
            self.touch()
        self.drafts.append(Draft(data.TYPE, body, source, self.native_session_id, self.frame.bytes))

    def note(self, note: ToolAsked | ToolDone) -> None:
        """Tell the session something that the drafts alone do not say."""
        if not self.drafts:
            self.touch()
        self.notable.append((len(self.drafts), note))

    def delta(self, template: DeltaTemplate, text: str, source: Source) -> None:
        """A piece of an item: most of what is ever written."""
        if self.ended:
            return
        if not self.drafts:
            self.frame.touched.append(self._owner)
        self.drafts.append(
            Draft(
                "item.delta",
                b"%b%b%b" % (template.before, encode(text), template.after),
                source,
                self.native_session_id,
                self.frame.bytes,
            )
        )

    def touch(self) -> None:
        """Note that there are drafts to take."""
        self.frame.touched.append(self._owner)

    def remember(self, key: str, item_id: str) -> None:
        closed = self.closed
        closed[key] = item_id
        if len(closed) > MAX_CLOSED:
            del closed[next(iter(closed))]

    def uses(self, *, model: str | None = None, title: str | None = None) -> None:
        """The agent reports which model it uses, or its title for the session."""
        before = self.used or Used()
        used = Used(model or before.model, title or before.title)
        if used != before:
            self.used = used
            self.touch()

    # -- events that depend on no other part -----------------------------------------------------

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
        """A fact that is neither text nor a call: usage, plan, title, retry, compaction."""
        content: tuple[ContentPart, ...] = (StatusPart(label, detail), Json(payload))
        self.whole("status", None, content, native_id, parent, source)

    def system(self, text: str, *, parent: str | None = None) -> None:
        """Text from the agent's program, not its model."""
        self.whole("system", "system", (Text(text),), None, parent, "agent", delta=text)

    def unknown(self, payload: Any, *, native_id: str | None = None) -> None:
        """A native message of an unknown type, unchanged."""
        self.whole("unknown", None, (Json(payload),), native_id, None, "agent")

    def error(
        self,
        message: str,
        code: ErrorCode | None = None,
        details: dict[str, Any] | None = None,
        *,
        source: Source = "agent",
    ) -> None:
        self.write(ErrorEvent(message, code, details), source)
        if self.turn:
            self.turn.failed = True

    def unparsed(self, error: str, location: str) -> None:
        """A native payload that we should have understood and did not."""
        raw = self.frame.bytes
        digest = hashlib.sha256(raw).hexdigest() if raw is not None else None
        self.write(AgentUnparsed(error, location, digest), "daemon")

    def start(
        self,
        item_id: str,
        native_id: str | None,
        parent: str | None,
        kind: Kind,
        role: Role | None,
        content: tuple[ContentPart, ...],
        source: Source,
    ) -> None:
        self.write(ItemStarted(Item(item_id, native_id, parent, kind, role, "in_progress", content)), source)

    def complete(self, item: Item, source: Source) -> None:
        self.write(ItemCompleted(item), source)

    def whole(
        self,
        kind: Kind,
        role: Role | None,
        content: tuple[ContentPart, ...],
        native_id: str | None,
        parent: str | None,
        source: Source,
        delta: str | None = None,
    ) -> None:
        item_id = self.make_id("itm")
        self.start(item_id, native_id, parent, kind, role, content, source)
        if delta:
            self.delta(DeltaTemplate(item_id, native_id, kind, role, None, parent), delta, source)
        self.complete(Item(item_id, native_id, parent, kind, role, "completed", content), source)


def _require_room(data: Any) -> None:
    """Raises if the data is nested too deep to be encoded with some levels around it."""
    for _ in range(RESERVED_LEVELS):
        data = [data]
    encode(data)
