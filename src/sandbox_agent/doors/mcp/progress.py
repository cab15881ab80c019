"""A turn as its events show it: what the agent has said, what it waits for, and how it ended."""

from __future__ import annotations

from collections import deque

import msgspec

from ...schema.events import (
    ErrorEvent,
    Event,
    ItemDelta,
    ItemStarted,
    Permission,
    PermissionRequested,
    PermissionResolved,
    Question,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    StopReason,
    TurnEnded,
    TurnStarted,
    Usage,
)
from ...schema.items import ToolCall
from .tools import MAX_TEXT_BYTES, Asked, AskedChoice, AskedPermission, Turn, Waiting

MAX_INPUT = 2_000
MAX_QUESTION = 4_000


class Progress:
    """Takes the events of a session in order.

    - `wanted`: The turn to watch; None for whatever the session is doing.
    - `after`: Text up to this sequence is left out.
    """

    def __init__(self, session_id: str, wanted: str | None, after: int) -> None:
        self.session_id = session_id
        self.wanted = wanted
        self.offset = after
        self.message = "working"
        """What the agent is doing, in a few words."""
        self._after = after
        self._open: str | None = None
        self._last: str | None = wanted
        self.is_over = False
        """Whether the turn has ended, or the session."""
        self._pending: dict[str, Permission | Question] = {}
        self._reply = _Tail(MAX_TEXT_BYTES)
        self._speaker: str | None = None
        self._stop_reason: StopReason | None = None
        self._usage: Usage | None = None
        self._error: str | None = None

    def take(self, event: Event) -> None:
        self.offset = event.sequence
        match event.data:
            case TurnStarted(turn_id):
                self._begin(turn_id)
            case TurnEnded(turn_id, metadata):
                self._open = None
                if self.wanted in (None, turn_id):
                    self.is_over = True
                    self._stop_reason, self._usage = metadata.stop_reason, metadata.usage
            case ItemDelta() as delta if event.sequence > self._after:
                self._handle(delta)
            case ItemStarted(item) if item.content and isinstance(item.content[0], ToolCall):
                self.message = item.content[0].title or item.content[0].name
            case PermissionRequested(id) | QuestionRequested(id) as asked:
                self._pending[id] = asked
            case PermissionResolved(id) | QuestionResolved(id):
                self._pending.pop(id, None)
            case ErrorEvent(message) if self._is_watched:
                self._error = message
            case SessionEnded(_, _, message):
                self._open, self.is_over = None, True
                self._error = message or self._error

    def _begin(self, turn_id: str) -> None:
        self._open = turn_id
        self._pending.clear()
        if self.wanted is None:
            self._last, self.is_over = turn_id, False
            self._stop_reason = self._usage = self._error = None

    @property
    def _is_watched(self) -> bool:
        return self.wanted is None or self._open == self.wanted

    def _handle(self, delta: ItemDelta) -> None:
        # Text with a parent comes from a sub-agent, text with a visibility is thinking.
        is_text = delta.kind == "message" and delta.role == "assistant" and delta.visibility is msgspec.UNSET
        if not is_text or delta.parent_id is not msgspec.UNSET or not self._is_watched:
            return
        if self._speaker not in (None, delta.item_id):
            self._reply.add("\n\n")
        self._speaker = delta.item_id
        self._reply.add(delta.delta)

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to wait for, as far as the events taken so far show."""
        return bool(self._pending) or self.is_over or (self.wanted is None and self._open is None)

    def turn(self) -> Turn:
        return Turn(
            session_id=self.session_id,
            status="waiting" if self._pending else "ended" if self.is_settled else "running",
            text=self._reply.text(),
            offset=self.offset,
            turn_id=self._last,
            stop_reason=self._stop_reason,
            error=self._error,
            usage=self._usage,
            waiting=self._waiting(),
        )

    def _waiting(self) -> Waiting | None:
        if not self._pending:
            return None
        asked = self._pending.values()
        return Waiting(
            permissions=tuple(_permission(each) for each in asked if isinstance(each, Permission)),
            questions=tuple(_question(each) for each in asked if isinstance(each, Question)),
        )


def _permission(asked: Permission) -> AskedPermission:
    given = msgspec.json.encode(asked.metadata.input).decode()
    return AskedPermission(
        permission_id=asked.permission_id,
        tool=asked.action,
        title=_cut(asked.metadata.title, MAX_INPUT),
        input=_cut(given, MAX_INPUT),
    )


def _question(asked: Question) -> Asked:
    return Asked(
        question_id=asked.question_id,
        questions=tuple(
            AskedChoice(
                question=_cut(each.question, MAX_QUESTION),
                options=tuple(choice.label for choice in each.options),
                multiple=each.multi_select,
            )
            for each in asked.metadata.questions
        ),
    )


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} more characters)"


class _Tail:
    """The end of a text."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._dropped = 0

    def add(self, text: str) -> None:
        piece = text.encode(errors="surrogatepass")
        if len(piece) > self._limit:
            self._dropped += len(piece) - self._limit
            piece = piece[-self._limit :]
        self._pieces.append(piece)
        self._size += len(piece)
        while self._size - len(self._pieces[0]) >= self._limit:
            dropped = len(self._pieces.popleft())
            self._size -= dropped
            self._dropped += dropped

    def text(self) -> str:
        whole = b"".join(self._pieces)
        dropped = self._dropped + max(0, len(whole) - self._limit)
        text = whole[-self._limit :].decode(errors="ignore")
        return f"[{dropped} bytes omitted; call `events` for the rest]\n{text}" if dropped else text
