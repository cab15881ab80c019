"""Events as a union: `event.type == "turn.ended"` tells a type checker what `event.data` is.

An event of a newer daemon that this version cannot decode is an `UnknownEvent`, with the `type` "unknown".
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from ..schema import events
from ..schema.events import Source
from ..schema.times import Time


class SessionStartedEnvelope(events.Event, frozen=True):
    type: Literal["session.started"]
    data: events.SessionStarted


class SessionEndedEnvelope(events.Event, frozen=True):
    type: Literal["session.ended"]
    data: events.SessionEnded


class TurnStartedEnvelope(events.Event, frozen=True):
    type: Literal["turn.started"]
    data: events.TurnStarted


class TurnEndedEnvelope(events.Event, frozen=True):
    type: Literal["turn.ended"]
    data: events.TurnEnded


class ItemStartedEnvelope(events.Event, frozen=True):
    type: Literal["item.started"]
    data: events.ItemStarted


class ItemDeltaEnvelope(events.Event, frozen=True):
    type: Literal["item.delta"]
    data: events.ItemDelta


class ItemCompletedEnvelope(events.Event, frozen=True):
    type: Literal["item.completed"]
    data: events.ItemCompleted


class PermissionRequestedEnvelope(events.Event, frozen=True):
    type: Literal["permission.requested"]
    data: events.PermissionRequested


class PermissionResolvedEnvelope(events.Event, frozen=True):
    type: Literal["permission.resolved"]
    data: events.PermissionResolved


class QuestionRequestedEnvelope(events.Event, frozen=True):
    type: Literal["question.requested"]
    data: events.QuestionRequested


class QuestionResolvedEnvelope(events.Event, frozen=True):
    type: Literal["question.resolved"]
    data: events.QuestionResolved


class ErrorEventEnvelope(events.Event, frozen=True):
    type: Literal["error"]
    data: events.ErrorEvent


class AgentUnparsedEnvelope(events.Event, frozen=True):
    type: Literal["agent.unparsed"]
    data: events.AgentUnparsed


class UnknownEvent(Struct, frozen=True):
    """An event that this version cannot decode: its type is new, or something in its data is."""

    type: ClassVar[Literal["unknown"]] = "unknown"
    event_id: str
    sequence: int
    time: Time
    session_id: str
    native_session_id: str | None
    source: Source
    synthetic: bool
    named: str = field(name="type")
    """The type that the daemon sent. It is encoded as `type`, so that an event can be passed on unchanged."""
    data: dict[str, Any]
    raw: Any = None


KnownEvent: TypeAlias = (
    SessionStartedEnvelope
    | SessionEndedEnvelope
    | TurnStartedEnvelope
    | TurnEndedEnvelope
    | ItemStartedEnvelope
    | ItemDeltaEnvelope
    | ItemCompletedEnvelope
    | PermissionRequestedEnvelope
    | PermissionResolvedEnvelope
    | QuestionRequestedEnvelope
    | QuestionResolvedEnvelope
    | ErrorEventEnvelope
    | AgentUnparsedEnvelope
)
Event: TypeAlias = KnownEvent | UnknownEvent

ENVELOPES: dict[str, type[KnownEvent]] = {
    "session.started": SessionStartedEnvelope,
    "session.ended": SessionEndedEnvelope,
    "turn.started": TurnStartedEnvelope,
    "turn.ended": TurnEndedEnvelope,
    "item.started": ItemStartedEnvelope,
    "item.delta": ItemDeltaEnvelope,
    "item.completed": ItemCompletedEnvelope,
    "permission.requested": PermissionRequestedEnvelope,
    "permission.resolved": PermissionResolvedEnvelope,
    "question.requested": QuestionRequestedEnvelope,
    "question.resolved": QuestionResolvedEnvelope,
    "error": ErrorEventEnvelope,
    "agent.unparsed": AgentUnparsedEnvelope,
}


def decode_event(body: bytes | str) -> Event:
    """Decode an event into the union."""
    event = events.decode_event(body)
    is_known = isinstance(event.data, events.EVENT_TYPES.get(event.type, ()))
    kind = ENVELOPES[event.type] if is_known else UnknownEvent
    return kind(*msgspec.structs.astuple(event))


def ended_turn(event: Event) -> str | None:
    """The turn that the event ends, if any. A newer daemon may end one in a way that this version cannot decode."""
    match event:
        case TurnEndedEnvelope():
            return event.data.turn_id
        case UnknownEvent(named="turn.ended", data={"turn_id": str() as turn_id}):
            return turn_id
    return None


def ends_session(event: Event) -> bool:
    match event:
        case SessionEndedEnvelope() | UnknownEvent(named="session.ended"):
            return True
    return False
