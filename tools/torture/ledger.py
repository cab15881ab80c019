"""What the daemon promised to clients, and whether its log keeps it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from sandbox_agent.schema.events import (
    Event,
    ItemCompleted,
    PermissionResolved,
    QuestionResolved,
    SessionEnded,
    TurnEnded,
    TurnStarted,
    decode_event,
)
from sandbox_agent.schema.items import Item, Json, StatusPart, Text
from sandbox_agent.testing.rules import violations


class Promised:
    """What the clients of one session have seen."""

    def __init__(self) -> None:
        self.seen: dict[int, bytes] = {}
        """Sequence to event, as seen by any reader."""
        self.turns: dict[str, str] = {}
        """Turns acknowledged with 202, and their messages."""
        self.sent: set[str] = set()
        """Every posted message, acknowledged or not: none may run twice."""
        self.answered: set[str] = set()
        """Permissions and questions whose answer was acknowledged with 204."""
        self.ended = False
        """A terminate was acknowledged with 204."""
        self.deleted = False
        self.broken: list[str] = []
        """Errors found by readers."""

    def see(self, sequence: int, body: bytes) -> None:
        if self.seen.setdefault(sequence, body) != body:
            self.broken.append(f"{sequence}: two readers saw different bytes")


def broken_promises(
    promised: Promised, log: Sequence[bytes], queued: Collection[str], *, at_rest: bool
) -> list[str]:
    """Descriptions of broken promises. `at_rest`: nothing is left to be done."""
    events = [decode_event(body) for body in log]
    found = [*promised.broken, *violations(events, complete=at_rest)]
    found += _unlike(promised.seen, log)
    found += _lost_turns(promised, events, queued, at_rest)
    lost = promised.answered - _resolved(events)
    found += [f"the answer to {id} was acknowledged and is lost" for id in lost]
    if promised.ended and not any(isinstance(event.data, SessionEnded) for event in events):
        found.append("terminate was acknowledged, and the session has not ended")
    return found


def digest(log: Iterable[bytes]) -> bytes:
    """A digest of the log of an ended session, which must never change again."""
    whole = hashlib.sha256()
    for body in log:
        whole.update(body)
    return whole.digest()


def _unlike(seen: dict[int, bytes], log: Sequence[bytes]) -> Iterable[str]:
    for sequence, body in seen.items():
        if sequence > len(log):
            yield f"{sequence}: a reader saw this event, and it is lost"
        elif log[sequence - 1] != body:
            yield f"{sequence}: not what a reader saw"


def _lost_turns(
    promised: Promised, events: list[Event], queued: Collection[str], at_rest: bool
) -> Iterable[str]:
    started = Counter(event.data.turn_id for event in events if isinstance(event.data, TurnStarted))
    ended = Counter(event.data.turn_id for event in events if isinstance(event.data, TurnEnded))
    withdrawn = _withdrawn(events)
    for turn in promised.turns.keys() - withdrawn:
        if started[turn] + (turn in queued) < 1:
            yield f"{turn} was acknowledged and is lost"
        if at_rest and (started[turn], ended[turn]) != (1, 1):
            yield f"{turn} started {started[turn]} times and ended {ended[turn]} times"
    messages = _messages(events)
    for turn, text in promised.turns.items():
        if started[turn] and messages.get(turn) != text:
            yield f"{turn} says {messages.get(turn)!r} instead of {text!r}"
    times = Counter(messages.values())
    yield from (f"{text!r} ran {times[text]} times" for text in promised.sent if times[text] > 1)


def _messages(events: Iterable[Event]) -> dict[str, str]:
    """The prompt of each turn."""
    messages: dict[str, str] = {}
    turn = ""
    for event in events:
        match event.data:
            case TurnStarted(turn_id):
                turn = turn_id
            case ItemCompleted(Item(role="user", content=(Text(text), *_))):
                messages[turn] = text
    return messages


def _withdrawn(events: Iterable[Event]) -> set[str]:
    found = set()
    for event in events:
        match event.data:
            case ItemCompleted(Item(kind="status", content=(StatusPart(label="queue"), Json(queue), *_))):
                if queue["state"] == "withdrawn":
                    found.add(str(queue["turn_id"]))
    return found


def _resolved(events: Iterable[Event]) -> set[str]:
    found = set()
    for event in events:
        match event.data:
            case PermissionResolved(permission_id=id) | QuestionResolved(question_id=id):
                found.add(id)
    return found
