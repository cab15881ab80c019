"""Events of a session as the protocol's updates. Pure: the same events always give the same updates.

A transcript is first replayed, with whole texts, and then live, with every delta. `go_live` is the point between.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct, field

from ...schema.events import (
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    TurnEnded,
    TurnStarted,
    Usage,
)
from ...schema.items import ContentPart, FileRef, Image, Item, Json, Reasoning, StatusPart, Text
from ...schema.items import ToolCall as CallPart
from ...schema.items import ToolResult as ResultPart
from .frames import (
    AgentMessage,
    AgentThought,
    AnyUpdate,
    ClientCapabilities,
    Compaction,
    Content,
    ContextUsage,
    Cost,
    LinkContent,
    Notice,
    Plan,
    PlanEntry,
    SessionTitle,
    TextContent,
    ToolCall,
    ToolCallUpdate,
    UserMessage,
)
from .tool_calls import (
    Images,
    OpenCall,
    changed_files,
    content_of,
    input_of,
    kind_of,
    locations_of,
    text_content,
    title_of,
)

PREVIEW_SECONDS = 0.25
"""Each update of a tool's output repeats all of it, so there are only a few per second."""
PREVIEW_CHARACTERS = 16 << 10
"""The end of a tool's output that is shown while it runs."""

NOTICES = {
    "retry": "warning",
    "queue": "info",
    "resume_lost": "warning",
    "limit": "warning",
    "notice": "info",
}


class _Output(Struct):
    """The output of a running tool."""

    call: OpenCall
    text: str = ""
    shown_at: float = 0.0


class Updates:
    def __init__(self, directory: str, client: ClientCapabilities) -> None:
        self.mine: set[str] = set()
        """Turns of this client, whose prompts it has already drawn."""
        self._directory = directory
        self._client = client
        self._is_live = False
        self._texts: dict[str, _OpenText] = {}
        self._calls: dict[str, OpenCall] = {}
        self._outputs: dict[str, _Output] = {}
        self._turn: str | None = None
        self.cost = 0.0
        """What the session has cost so far, in USD."""

    def translate(self, event: Event, images: Images) -> Sequence[AnyUpdate]:
        """The updates for an event. `images` are those that `images_in` names, as far as they could be loaded."""
        match event.data:
            case TurnStarted(turn_id=turn_id):
                self._turn = turn_id
            case TurnEnded(turn_id=turn_id, metadata=metadata):
                self.mine.discard(turn_id)
                self._turn = None
                return self._used(metadata.usage)
            case ItemStarted(item=item):
                return self._started(item)
            case ItemDelta() as delta:
                return self._streamed(delta, event.time)
            case ItemCompleted(item=item):
                return self._completed(item, event, images)
        return ()

    def go_live(self) -> Sequence[AnyUpdate]:
        """Show what is open so far. From now on, deltas are shown as they come."""
        self._is_live = True
        texts = (open for open in self._texts.values() if open.text)
        shown: list[AnyUpdate] = [open.chunk("".join(open.text)) for open in texts]
        return shown + [_preview(output) for output in self._outputs.values() if output.text]

    def call_id(self, call_id: str | None) -> str | None:
        """The protocol's id of an open call."""
        call = self._calls.get(call_id) if call_id else None
        return call.item_id if call else None

    # -- items --------------------------------------------------------------------------------

    def _started(self, item: Item) -> Sequence[AnyUpdate]:
        match item.content:
            case [CallPart() as part, *_]:
                self._calls[part.call_id] = OpenCall(item.item_id, part)
                return (self._new_call(item, part),)
            case [ResultPart(call_id=call_id), *_] if call := self._calls.get(call_id):
                self._outputs[item.item_id] = _Output(call)
        return ()

    def _streamed(self, delta: ItemDelta, time: str) -> Sequence[AnyUpdate]:
        if delta.kind == "tool_result":
            return self._previewed(delta, time)
        if delta.kind != "message" or delta.role != "assistant":
            return ()
        parent = None if delta.parent_id is msgspec.UNSET else delta.parent_id
        thinks = delta.visibility is not msgspec.UNSET
        open = _OpenText(delta.item_id, thinks, self._meta(parent))
        if self._is_live:
            return (open.chunk(delta.delta),)
        self._texts.setdefault(delta.item_id, open).text.append(delta.delta)
        return ()

    def _previewed(self, delta: ItemDelta, time: str) -> Sequence[AnyUpdate]:
        output = self._outputs.get(delta.item_id)
        if output is None:
            return ()
        output.text = (output.text + delta.delta)[-PREVIEW_CHARACTERS:]
        now = datetime.fromisoformat(time).timestamp()
        if not self._is_live or now - output.shown_at < PREVIEW_SECONDS:
            return ()
        output.shown_at = now
        return (_preview(output),)

    def _completed(self, item: Item, event: Event, images: Images) -> Sequence[AnyUpdate]:
        match item.kind, item.role:
            case "message", "user":
                is_drawn = event.source == "daemon" and self._turn in self.mine
                return () if is_drawn else tuple(_user_chunks(item, images))
            case "message", _:
                return self._message(item)
            case "tool_call", _:
                return self._called(item)
            case "tool_result", _:
                return self._result(item, images)
            case "status", _:
                return self._status(item, event.time)
            case "system", _ if self._client.shows_notices and self._is_live:
                return (Notice(severity="info", title=_text_of(item)),)
        return ()

    def _message(self, item: Item) -> Sequence[AnyUpdate]:
        self._texts.pop(item.item_id, None)
        if self._is_live:
            return ()
        thinks = any(isinstance(part, Reasoning) for part in item.content)
        return (_OpenText(item.item_id, thinks, self._meta(item.parent_id)).chunk(_text_of(item)),)

    def _called(self, item: Item) -> Sequence[AnyUpdate]:
        part = next((part for part in item.content if isinstance(part, CallPart)), None)
        if part is None:
            return ()
        updates: list[AnyUpdate] = []
        if part.call_id not in self._calls:
            updates.append(self._new_call(item, part))
        self._calls[part.call_id] = OpenCall(item.item_id, part)
        updates.append(
            ToolCallUpdate(
                tool_call_id=item.item_id,
                title=title_of(part),
                kind=kind_of(part.kind),
                status="in_progress",
                raw_input=input_of(part),
                locations=locations_of(part, self._directory),
            )
        )
        return updates

    def _result(self, item: Item, images: Images) -> Sequence[AnyUpdate]:
        self._outputs.pop(item.item_id, None)
        part = next((part for part in item.content if isinstance(part, ResultPart)), None)
        call = self._calls.pop(part.call_id, None) if part else None
        if part is None or call is None:
            return ()
        output: dict[str, Any] = {"output": part.output}
        if part.exit_code is not None:
            output["exitCode"] = part.exit_code
        return (
            ToolCallUpdate(
                tool_call_id=call.item_id,
                status="failed" if item.status == "failed" else "completed",
                content=content_of(item.content, self._directory, images),
                locations=changed_files(item.content, self._directory),
                raw_output=output,
            ),
        )

    def _new_call(self, item: Item, part: CallPart) -> ToolCall:
        return ToolCall(
            tool_call_id=item.item_id,
            title=title_of(part),
            name=part.name,
            kind=kind_of(part.kind),
            status="pending",
            meta=self._meta(item.parent_id),
        )

    def _meta(self, parent_id: str | None) -> dict[str, Any] | None:
        """Names the call whose sub-agent this belongs to, in the words of claude-agent-acp, which clients know.

        The parent of other items is the text before them.
        """
        if parent_id is None or all(call.item_id != parent_id for call in self._calls.values()):
            return None
        return {"claudeCode": {"parentToolUseId": parent_id}}

    # -- facts --------------------------------------------------------------------------------

    def _status(self, item: Item, time: str) -> Sequence[AnyUpdate]:
        match item.content:
            case [StatusPart(label="plan"), Json(json={"entries": [*entries]})]:
                return (Plan(entries=tuple(_entries(entries))),)
            case [StatusPart(label="title"), Json(json={"title": str(title)})]:
                return (SessionTitle(title=title, updated_at=time),)
            case [StatusPart(label="compaction"), *_] if self._client.shows_compaction and self._is_live:
                return (Compaction(compaction_id=item.item_id, status="completed"),)
            case [StatusPart(label=label, detail=detail), *_] if label in NOTICES:
                if self._client.shows_notices and self._is_live:
                    return (Notice(severity=NOTICES[label], title=label, description=detail),)
        return ()

    def _used(self, usage: Usage | None) -> Sequence[AnyUpdate]:
        """How full the context is, and what the session has cost. Both numbers of the context are required."""
        if usage is None:
            return ()
        self.cost = round(self.cost + (usage.cost_usd or 0.0), 12)
        if usage.context_tokens is None or usage.context_window is None:
            return ()
        cost = Cost(amount=self.cost, currency="USD") if self.cost else None
        return (ContextUsage(used=usage.context_tokens, size=usage.context_window, cost=cost),)


class _OpenText(Struct):
    """A message or a thought that is being streamed."""

    item_id: str
    thinks: bool
    meta: dict[str, Any] | None
    text: list[str] = field(default_factory=list)

    def chunk(self, text: str) -> AnyUpdate:
        kind = AgentThought if self.thinks else AgentMessage
        return kind(message_id=self.item_id, content=TextContent(text=text), meta=self.meta)


def images_in(event: Event) -> Iterator[Image]:
    """The images that a translation of the event shows."""
    if isinstance(event.data, ItemCompleted):
        yield from (part for part in event.data.item.content if isinstance(part, Image))


def _preview(output: _Output) -> ToolCallUpdate:
    return ToolCallUpdate(tool_call_id=output.call.item_id, content=text_content(output.text))


def _user_chunks(item: Item, images: Images) -> Iterator[AnyUpdate]:
    for part in item.content:
        if content := _user_content(part, images):
            yield UserMessage(message_id=item.item_id, content=content)


def _user_content(part: ContentPart, images: Images) -> Content | None:
    match part:
        case Text(text=text):
            return TextContent(text=text)
        case Image(path=path) if path in images:
            return images[path]
        case Image(path=path) | FileRef(path=path):
            return LinkContent(uri=f"file://{path}", name=posixpath.basename(path))
    return None


def _text_of(item: Item) -> str:
    return "".join(part.text for part in item.content if isinstance(part, Text | Reasoning))


def _entries(entries: Sequence[Any]) -> Iterator[PlanEntry]:
    for entry in entries:
        match entry:
            case {"text": str(text), "status": "pending" | "in_progress" | "completed" as status}:
                yield PlanEntry(content=text, priority="medium", status=status)
