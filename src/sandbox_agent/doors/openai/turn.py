"""One turn as a response: events of the log in, events of a streamed response out.

The same events of the log always give the same events with the same numbers. So a client can read a response again, even after the
daemon has restarted, and continue after any event.

The messages of a turn are paragraphs: each but the first begins with an empty line, because clients join them without one.
Tool calls appear as summaries of reasoning: as function calls, a client would try to run them. What sub-agents say is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...schema.events import (
    ErrorCode,
    ErrorEvent,
    Event,
    ItemCompleted,
    ItemDelta,
    PermissionResolved,
    QuestionResolved,
    SessionEnded,
    StopReason,
    TurnEnded,
    TurnStarted,
    Usage,
)
from ...schema.items import Item, Json, StatusPart, ToolCall
from . import shapes
from .ids import TurnName, seconds
from .notes import note_of_permission, note_of_question
from .shapes import Failure, IncompleteDetails, Message, OutputItem, OutputText, Reasoning, SummaryText

INCOMPLETE: dict[StopReason, IncompleteDetails] = {
    "max_tokens": IncompleteDetails("max_output_tokens"),
    "limit": IncompleteDetails("max_output_tokens"),
    "refusal": IncompleteDetails("content_filter"),
}
CODES: dict[ErrorCode | None, str] = {
    "rate_limited": "rate_limit_exceeded",
    "invalid_request": "invalid_prompt",
    "context_too_long": "invalid_prompt",
}
OUTCOME_UNKNOWN = "the daemon stopped during the turn: what the agent had done by then is unknown"


class _Part(msgspec.Struct):
    """A piece of output that is being written."""

    id: str
    index: int
    is_reasoning: bool
    pieces: list[str]

    def item(self, status: shapes.ItemStatus) -> OutputItem:
        text = "".join(self.pieces)
        if self.is_reasoning:
            return Reasoning(self.id, (SummaryText(text),))
        return Message(self.id, status, (OutputText(text),))


class Turn:
    def __init__(self, name: TurnName, model: str) -> None:
        self._name = name
        self._model = model
        self._number = 0
        self._created_at: int | None = None
        self._output: dict[int, OutputItem] = {}
        self._open: dict[str, _Part] = {}
        self._calls: set[str] = set()
        self._count = 0
        self._has_text = False
        self._stops_at_refusal = False
        self._error: ErrorEvent | None = None
        self._status: shapes.Status = "queued"
        self._incomplete: IncompleteDetails | None = None
        self._usage: Usage | None = None
        self.waiting_since = 0
        """When the message was queued, in seconds; used until the turn starts."""

    @property
    def has_ended(self) -> bool:
        return self._status not in ("queued", "in_progress")

    @property
    def has_started(self) -> bool:
        return self._created_at is not None

    @property
    def next_number(self) -> int:
        """The number of the next event."""
        return self._number

    def response(self) -> shapes.Response:
        open_items = {part.index: part.item("in_progress") for part in self._open.values()}
        items = {**self._output, **open_items}
        return shapes.Response(
            id=self._name.response_id,
            created_at=self.waiting_since if self._created_at is None else self._created_at,
            status=self._status,
            model=self._model,
            output=tuple(items[index] for index in sorted(items)),
            usage=usage_of(self._usage),
            error=self._failure(),
            incomplete_details=self._incomplete,
            metadata={"session_id": self._name.session_id, "turn_id": self._name.turn_id},
        )

    def take(self, event: Event) -> Iterator[shapes.StreamEvent]:
        """The events that follow from one of the log. Events before the turn give none."""
        match event.data:
            case TurnStarted(turn_id=self._name.turn_id):
                yield from self._start(event)
            case SessionEnded() if not self.has_ended:
                yield from self._never_run(event)
            case ItemCompleted(item) if not self.has_started:
                if is_withdrawn(item, self._name.turn_id):
                    yield from self._never_run(event)
            case _ if not self.has_started or self.has_ended:
                return
            case ItemDelta() as delta:
                yield from self._delta(delta)
            case ItemCompleted(item):
                yield from self._completed(item)
            case PermissionResolved(status="reject") as resolved if resolved.metadata.decided_by == "client":
                yield from self._note(resolved.permission_id, note_of_permission(resolved))
            case QuestionResolved(status="rejected") as answered if answered.metadata.decided_by == "client":
                yield from self._note(answered.question_id, note_of_question(answered))
            case ErrorEvent() as error:
                self._error = error
            case TurnEnded(turn_id=self._name.turn_id, metadata=metadata):
                self._usage = metadata.usage
                yield from self._end(metadata.stop_reason)

    # -- beginning and end --------------------------------------------------------------------

    def _start(self, event: Event) -> Iterator[shapes.StreamEvent]:
        self._created_at = seconds(event.time)
        self._status = "in_progress"
        yield shapes.Created(sequence_number=self._next(), response=self.response())
        yield shapes.InProgress(sequence_number=self._next(), response=self.response())

    def _end(self, stop_reason: StopReason) -> Iterator[shapes.StreamEvent]:
        for item_id in list(self._open):
            yield from self._close(item_id, "incomplete")
        self._incomplete = INCOMPLETE.get(stop_reason)
        match stop_reason:
            case "error" | "outcome_unknown":
                self._status = "failed"
                if stop_reason == "outcome_unknown":
                    self._error = ErrorEvent(OUTCOME_UNKNOWN)
                yield shapes.Failed(sequence_number=self._next(), response=self.response())
                return
            case "interrupted":
                # Some agents stop when a request is rejected. Otherwise someone has cancelled the turn.
                self._status = "completed" if self._stops_at_refusal else "cancelled"
            case _:
                self._status = "incomplete" if self._incomplete else "completed"
        kind = shapes.Completed if self._status == "completed" else shapes.Incomplete
        yield kind(sequence_number=self._next(), response=self.response())

    def _never_run(self, event: Event) -> Iterator[shapes.StreamEvent]:
        """The message was withdrawn, or the session ended first."""
        if not self.has_started:
            yield from self._start(event)
        yield from self._end("interrupted")

    def _failure(self) -> Failure | None:
        if self._status != "failed":
            return None
        error = self._error or ErrorEvent("the agent ended the turn with an error")
        return Failure(CODES.get(error.code, "server_error"), error.message)

    # -- output -------------------------------------------------------------------------------

    def _delta(self, delta: ItemDelta) -> Iterator[shapes.StreamEvent]:
        is_by_subagent = delta.parent_id is not msgspec.UNSET
        if delta.kind != "message" or delta.role != "assistant" or is_by_subagent:
            return
        self._stops_at_refusal = False
        if delta.item_id not in self._open:
            yield from self._add(delta.item_id, is_reasoning=delta.visibility is not msgspec.UNSET)
        yield from self._extend(delta.item_id, delta.delta)

    def _completed(self, item: Item) -> Iterator[shapes.StreamEvent]:
        if item.item_id in self._open:
            yield from self._close(item.item_id, "incomplete" if item.status == "failed" else "completed")
            return
        match item:
            case Item(kind="tool_call", content=(ToolCall() as call, *_)):
                is_by_subagent = item.parent_id in self._calls
                self._calls.add(item.item_id)
                self._stops_at_refusal = False
                if not is_by_subagent:
                    yield from self._whole(item.item_id, _shown(call), is_reasoning=True)

    def _note(self, id: str, text: str) -> Iterator[shapes.StreamEvent]:
        """Something that the client must know and that the agent may not say."""
        yield from self._whole(id, text, is_reasoning=False)
        self._stops_at_refusal = True

    def _whole(self, item_id: str, text: str, *, is_reasoning: bool) -> Iterator[shapes.StreamEvent]:
        yield from self._add(item_id, is_reasoning=is_reasoning)
        yield from self._extend(item_id, text)
        yield from self._close(item_id, "completed")

    def _add(self, item_id: str, *, is_reasoning: bool) -> Iterator[shapes.StreamEvent]:
        id = self._name.item_id("rs" if is_reasoning else "msg", item_id)
        part = _Part(id, self._count, is_reasoning, [])
        self._open[item_id] = part
        self._count += 1
        empty = Reasoning(part.id) if is_reasoning else Message(part.id, "in_progress")
        yield shapes.ItemAdded(sequence_number=self._next(), output_index=part.index, item=empty)
        if is_reasoning:
            yield shapes.SummaryAdded(
                sequence_number=self._next(), item_id=part.id, output_index=part.index, part=SummaryText("")
            )
        else:
            yield shapes.TextAdded(
                sequence_number=self._next(), item_id=part.id, output_index=part.index, part=OutputText("")
            )

    def _extend(self, item_id: str, text: str) -> Iterator[shapes.StreamEvent]:
        part = self._open[item_id]
        if not part.is_reasoning:
            text = f"\n\n{text}" if self._has_text and not part.pieces else text
            self._has_text = True
        part.pieces.append(text)
        kind = shapes.SummaryDelta if part.is_reasoning else shapes.TextDelta
        yield kind(sequence_number=self._next(), item_id=part.id, output_index=part.index, delta=text)

    def _close(self, item_id: str, status: shapes.ItemStatus) -> Iterator[shapes.StreamEvent]:
        part = self._open.pop(item_id)
        item = part.item(status)
        self._output[part.index] = item
        if isinstance(item, Reasoning):
            (summary,) = item.summary
            yield shapes.SummaryDone(
                sequence_number=self._next(), item_id=part.id, output_index=part.index, text=summary.text
            )
            yield shapes.SummaryPartDone(
                sequence_number=self._next(), item_id=part.id, output_index=part.index, part=summary
            )
        else:
            (content,) = item.content
            yield shapes.TextDone(
                sequence_number=self._next(), item_id=part.id, output_index=part.index, text=content.text
            )
            yield shapes.TextPartDone(
                sequence_number=self._next(), item_id=part.id, output_index=part.index, part=content
            )
        yield shapes.ItemDone(sequence_number=self._next(), output_index=part.index, item=item)

    def _next(self) -> int:
        number = self._number
        self._number += 1
        return number


def is_withdrawn(item: Item, turn_id: str) -> bool:
    """Whether an item says that the message of a turn was taken from the queue."""
    match item.content:
        case (StatusPart("queue"), Json({"turn_id": str(id), "state": "withdrawn"})):
            return id == turn_id
    return False


def usage_of(usage: Usage | None) -> shapes.ResponseUsage | None:
    """None if the agent does not say what the turn has used."""
    if usage is None or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    used, made = usage.input_tokens or 0, usage.output_tokens or 0
    return shapes.ResponseUsage(
        input_tokens=used,
        input_tokens_details=shapes.InputTokensDetails(
            usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
        ),
        output_tokens=made,
        output_tokens_details=shapes.OutputTokensDetails(usage.reasoning_tokens or 0),
        total_tokens=used + made,
    )


def _shown(call: ToolCall) -> str:
    return f"{call.name}: {call.title}" if call.title and call.title != call.name else call.name
