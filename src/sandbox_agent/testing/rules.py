"""The ten rules of the contract, checked on a session's events. Used on every recording and every live run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..schema.events import (
    AgentUnparsed,
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    SessionStarted,
    TurnEnded,
    TurnStarted,
)
from ..schema.items import Item, Reasoning, Text, ToolCall, ToolResult


def violations(events: Iterable[Event], *, complete: bool = True) -> list[str]:
    """The violations in the events of one session, each with the sequence where it shows; empty if there are
    none.

    `complete` means that the session is idle and none of its processes is left: nothing may be open at the
    end.
    """
    checker = Checker()
    for event in events:
        checker.check(event)
    if complete:
        checker.finish()
    return checker.violations


class Checker:
    """Checks event by event: `violations` collects violations, `finish` adds what was left open."""

    def __init__(self) -> None:
        self.violations: list[str] = []
        self._sequence = 0
        self._at = 0
        self._ended = False
        self._turn: str | None = None
        self._turns: set[str] = set()
        self._open: dict[str, Item] = {}
        self._streamed: dict[str, list[str]] = {}
        self._done: set[str] = set()
        self._call_ids: dict[str, str] = {}  # call id -> item id
        self._results: dict[str, str] = {}  # call id -> item id
        self._asked: dict[str, str] = {}  # id -> the turn it was asked in
        self._resolved: set[str] = set()
        self._background: set[str] = set()  # items of sub-agents, and their children

    def check(self, event: Event) -> None:
        self._at = event.sequence
        self._check_envelope(event)
        match event.data:
            case SessionStarted():
                self._want(event.sequence == 1, "session.started is not sequence 1")
            case SessionEnded() as data:
                self._want(self._turn is None, "session.ended inside a turn")
                facts = (data.message, data.exit_code, data.stderr)
                only_for_errors = data.reason == "error" or facts == (None, None, None)
                self._want(only_for_errors, "session.ended has error facts without an error")
                self._ended = True
            case TurnStarted(turn_id):
                self._want(self._turn is None, "a turn starts inside a turn")
                self._want(turn_id not in self._turns, f"turn {turn_id} starts twice")
                self._turn = turn_id
                self._turns.add(turn_id)
            case TurnEnded(turn_id):
                self._end_turn(turn_id)
            case ItemStarted(item):
                self._start_item(item)
            case ItemDelta(item_id, _, delta):
                self._want(item_id in self._open, f"delta for {item_id}, which is not open")
                self._want(bool(delta), f"empty delta for {item_id}")
                self._streamed.setdefault(item_id, []).append(delta)
            case ItemCompleted(item):
                self._complete_item(item)
            case PermissionRequested(id) | QuestionRequested(id):
                self._want(id not in self._asked, f"{id} is asked twice")
                self._asked[id] = self._turn or ""
            case PermissionResolved(id) | QuestionResolved(id):
                self._want(id in self._asked, f"{id} is resolved, but was never asked")
                self._want(id not in self._resolved, f"{id} is resolved twice")
                self._resolved.add(id)
            case AgentUnparsed(error, location):
                self._want(False, f"agent.unparsed at {location}: {error}")

    def finish(self) -> None:
        self._want(self._turn is None, "a turn is still open")
        self._want(not self._unanswered(), f"never resolved: {self._unanswered()}")
        self._want(not self._open, f"items still open: {sorted(self._open)}")
        missing = self._call_ids.keys() - self._results.keys()
        self._want(not missing, f"calls without a result: {sorted(missing)}")

    def _want(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self.violations.append(f"{self._at}: {otherwise}")

    def _check_envelope(self, event: Event) -> None:
        self._sequence += 1
        self._want(event.sequence == self._sequence, f"sequence is not {self._sequence}")
        self._want(event.synthetic == (event.source == "daemon"), "synthetic is not daemon")
        self._want(not self._ended, f"{event.type} after session.ended")
        if event.sequence == 1:
            self._want(event.type == "session.started", "sequence 1 is not session.started")
        # An unknown type leaves plain JSON in data; from our own daemon that is a defect.
        self._want(not isinstance(event.data, dict), f"data of {event.type} does not decode")

    def _unanswered(self) -> list[str]:
        return sorted(self._asked.keys() - self._resolved)

    def _end_turn(self, turn_id: str) -> None:
        self._want(self._turn == turn_id, f"turn {turn_id} ends, but {self._turn} is open")
        self._want(not self._unanswered(), f"turn ends with {self._unanswered()} unanswered")
        for item in self._open.values():
            may_go_on = item.kind == "tool_result" or item.item_id in self._background
            self._want(may_go_on, f"turn ends with {item.kind} {item.item_id} open")
        self._turn = None

    def _start_item(self, item: Item) -> None:
        self._want(item.item_id not in self._open, f"{item.item_id} starts twice")
        self._want(item.item_id not in self._done, f"{item.item_id} starts after its end")
        self._want(item.status == "in_progress", f"{item.item_id} does not start in progress")
        roles: dict[str, tuple[Any, ...]] = {
            "message": ("user", "assistant"),
            "tool_call": ("assistant",),
            "tool_result": ("tool",),
            "system": ("system",),
            "status": (None,),
            "unknown": (None,),
        }
        self._want(item.role in roles[item.kind], f"{item.kind} has role {item.role}")
        self._open[item.item_id] = item
        parent_is_call = item.parent_id in self._call_ids.values()
        if parent_is_call or item.parent_id in self._background:
            self._background.add(item.item_id)
        in_turn = self._turn is not None or item.item_id in self._background
        self._want(
            in_turn or item.kind in ("status", "system", "unknown"),
            f"{item.kind} {item.item_id} starts outside a turn",
        )
        match item.content:
            case (ToolCall(_, _, call_id), *_):
                self._want(call_id not in self._call_ids, f"call id {call_id} is not unique")
                self._call_ids[call_id] = item.item_id
            case (ToolResult(call_id), *_):
                self._want(call_id in self._call_ids, f"result of unknown call {call_id}")
                self._want(call_id not in self._results, f"call {call_id} has two results")
                self._results[call_id] = item.item_id

    def _complete_item(self, item: Item) -> None:
        started = self._open.pop(item.item_id, None)
        if started is None:
            self._want(False, f"{item.item_id} completes, but is not open")
            return
        self._done.add(item.item_id)
        self._want(item.status != "in_progress", f"{item.item_id} completes in progress")
        same = (item.kind, item.role, item.parent_id) == (
            started.kind,
            started.role,
            started.parent_id,
        )
        self._want(same, f"{item.item_id} changed kind, role or parent")
        if started.native_item_id is not None:
            self._want(item.native_item_id == started.native_item_id, f"{item.item_id} changed native id")
        if item.kind == "message":
            self._check_message(item)

    def _check_message(self, item: Item) -> None:
        texts = [part.text for part in item.content if isinstance(part, Text)]
        thoughts = [part.text for part in item.content if isinstance(part, Reasoning)]
        self._want(bool(item.content), f"message {item.item_id} is empty")
        self._want(not (texts and thoughts), f"{item.item_id} mixes text and thinking")
        text = "".join(texts + thoughts)
        only_files = item.role == "user" and not texts
        self._want(bool(text) or only_files, f"message {item.item_id} has no text")
        streamed = "".join(self._streamed.get(item.item_id, []))
        self._want(streamed == text, f"deltas of {item.item_id} do not add up to its text")
