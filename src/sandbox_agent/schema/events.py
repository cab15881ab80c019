"""The universal event: one envelope, and one struct of data for each of the thirteen types.

`EVENT_TYPES` is the complete list. The envelope is encoded once, when the log stamps it; every reader gets the
stored bytes.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import msgspec
from msgspec import Struct, field

from . import newer
from .items import Item, Kind, Role, ToolKind, Visibility
from .policy import RuleReference
from .times import Time

Source = Literal["agent", "daemon"]
StopReason = Literal["end_turn", "interrupted", "error", "max_tokens", "refusal", "limit", "outcome_unknown"]
PermissionStatus = Literal["requested", "accept", "accept_for_session", "reject"]
QuestionStatus = Literal["requested", "answered", "rejected"]
DecidedBy = Literal["client", "rule", "agent", "daemon"]
ErrorCode = Literal[
    "authentication_failed",
    "rate_limited",
    "overloaded",
    "server_error",
    "connection_failed",
    "invalid_request",
    "model_not_found",
    "context_too_long",
    "refusal",
    "agent_process_exited",
    "agent_error",
]


class Data(Struct, frozen=True, omit_defaults=True):
    """The data of an event; `TYPE` is the envelope's `type`."""

    TYPE: ClassVar[str]


class SessionMetadata(Struct, frozen=True, omit_defaults=True, rename="camel"):
    agent: str
    agent_version: str | None = None
    agent_mode: str | None = None
    permission_mode: str | None = None
    model: str | None = None
    variant: str | None = None
    directory: str | None = None


class SessionStarted(Data, frozen=True):
    TYPE: ClassVar[str] = "session.started"
    metadata: SessionMetadata | None = None


class Stderr(Struct, frozen=True, omit_defaults=True):
    """What an agent wrote to stderr: all of it in `head` if short, else its beginning and end."""

    truncated: bool
    head: str | None = None
    tail: str | None = None
    total_lines: int | None = None


class SessionEnded(Data, frozen=True):
    TYPE: ClassVar[str] = "session.ended"
    reason: Literal["completed", "error", "terminated"]
    terminated_by: Source
    message: str | None = None
    exit_code: int | None = None
    stderr: Stderr | None = None


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens and cost; what the agent does not report is absent. Input includes cache, output includes reasoning."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    context_tokens: int | None = None
    """Tokens in the model's context at the end. Never summed: the latest value counts."""
    context_window: int | None = None
    """Size of the model's context in tokens."""

    def __add__(self, other: Usage) -> Usage:
        mine, theirs = msgspec.structs.astuple(self), msgspec.structs.astuple(other)
        return Usage(*map(_plus, self.__struct_fields__, mine, theirs))

    def bounded(self) -> Usage:
        """Without absurd numbers, which an agent could report and no database could sum up."""
        numbers = dict(zip(self.__struct_fields__, msgspec.structs.astuple(self), strict=True))
        return Usage(
            **{name: min(max(value, 0), MAX_SPENT) for name, value in numbers.items() if value is not None}
        )


MAX_SPENT = 10**12
"""Tokens, or dollars, of one turn."""

_LATEST = {"context_tokens", "context_window"}


def _plus(field: str, mine: Any, theirs: Any) -> Any:
    if mine is None or theirs is None:
        return mine if theirs is None else theirs
    return theirs if field in _LATEST else mine + theirs


class TurnMetadata(Struct, frozen=True, omit_defaults=True):
    stop_reason: StopReason
    duration_ms: int
    """From the turn's start to its end, including time spent waiting for answers."""
    usage: Usage | None = None
    # Sent with every turn's end.
    waiting_ms: int = field(default_factory=lambda: 0)
    """The part of it in which a permission or question waited for an answer."""


class TurnStarted(Data, frozen=True):
    TYPE: ClassVar[str] = "turn.started"
    turn_id: str
    # `phase` is sent with every turn event; a factory keeps omit_defaults from leaving it out.
    phase: Literal["started"] = field(default_factory=lambda: "started")
    metadata: dict[str, Any] | None = None


class TurnEnded(Data, frozen=True):
    TYPE: ClassVar[str] = "turn.ended"
    turn_id: str
    metadata: TurnMetadata
    phase: Literal["ended"] = field(default_factory=lambda: "ended")


class ItemStarted(Data, frozen=True):
    TYPE: ClassVar[str] = "item.started"
    item: Item


class ItemDelta(Struct, frozen=True):
    """A piece of an item, with what is needed to show it without the item."""

    TYPE: ClassVar[str] = "item.delta"
    item_id: str
    native_item_id: str | None
    delta: str
    kind: Kind = "message"
    role: Role | None = "assistant"
    visibility: Visibility | msgspec.UnsetType = msgspec.UNSET
    """For reasoning: `public` or `private`; absent otherwise."""
    parent_id: str | msgspec.UnsetType = msgspec.UNSET
    """As in the item; absent if it has none. Text with a parent comes from a sub-agent."""


class ItemCompleted(Data, frozen=True):
    TYPE: ClassVar[str] = "item.completed"
    item: Item


class PermissionMetadata(Struct, frozen=True, omit_defaults=True):
    tool_name: str
    input: Any  # the tool's own input
    call_id: str | None = None
    paths: tuple[str, ...] | None = None
    diff: str | None = None
    reason: str | None = None
    decided_by: DecidedBy | None = None
    message: str | None = None
    # Sent with every permission, as in a tool call.
    kind: ToolKind = field(default_factory=lambda: "other")
    title: str = field(default_factory=lambda: "")
    rule: RuleReference | None = None
    """The rule that decided, if one of a list did rather than an earlier "always"."""


class Permission(Data, frozen=True):
    """The shape that both permission events share."""

    permission_id: str
    action: str
    status: PermissionStatus
    metadata: PermissionMetadata


class PermissionRequested(Permission, frozen=True):
    TYPE: ClassVar[str] = "permission.requested"


class PermissionResolved(Permission, frozen=True):
    TYPE: ClassVar[str] = "permission.resolved"


class Choice(Struct, frozen=True):
    label: str
    description: str = ""


class AskedQuestion(Struct, frozen=True):
    """One of the questions of a request."""

    question: str
    header: str
    options: tuple[Choice, ...]
    multi_select: bool = False


class QuestionMetadata(Struct, frozen=True, omit_defaults=True):
    questions: tuple[AskedQuestion, ...]
    answers: tuple[tuple[str, ...], ...] | None = None
    decided_by: DecidedBy | None = None
    message: str | None = None
    call_id: str | None = None
    plan: bool | None = None
    """True if the question asks to approve a plan."""


class Question(Data, frozen=True):
    """The shape that both question events share."""

    question_id: str
    prompt: str
    options: tuple[str, ...]
    status: QuestionStatus
    metadata: QuestionMetadata
    response: str | None = None


class QuestionRequested(Question, frozen=True):
    TYPE: ClassVar[str] = "question.requested"


class QuestionResolved(Question, frozen=True):
    TYPE: ClassVar[str] = "question.resolved"


class ErrorEvent(Data, frozen=True):
    TYPE: ClassVar[str] = "error"
    message: str
    code: ErrorCode | None = None
    details: dict[str, Any] | None = None


class AgentUnparsed(Data, frozen=True):
    TYPE: ClassVar[str] = "agent.unparsed"
    error: str
    location: str
    raw_hash: str | None = None


AnyData = (
    SessionStarted
    | SessionEnded
    | TurnStarted
    | TurnEnded
    | ItemStarted
    | ItemDelta
    | ItemCompleted
    | PermissionRequested
    | PermissionResolved
    | QuestionRequested
    | QuestionResolved
    | ErrorEvent
    | AgentUnparsed
)

EVENT_TYPES: dict[str, type[AnyData]] = {
    kind.TYPE: kind
    for kind in (
        SessionStarted,
        SessionEnded,
        TurnStarted,
        TurnEnded,
        ItemStarted,
        ItemDelta,
        ItemCompleted,
        PermissionRequested,
        PermissionResolved,
        QuestionRequested,
        QuestionResolved,
        ErrorEvent,
        AgentUnparsed,
    )
}


if TYPE_CHECKING:
    EventData = AnyData | dict[str, Any]
else:
    # msgspec expects the structs of a union to carry a tag; here the tag is the envelope's `type`.
    EventData = Any


class Event(Struct, frozen=True):
    """The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it."""

    event_id: str
    sequence: int
    time: Time
    session_id: str
    native_session_id: str | None
    source: Source
    synthetic: bool
    type: str
    data: EventData
    """The event's data; plain JSON if a newer daemon sends something that this version does not know."""
    raw: Any = None


class _Envelope(Struct, frozen=True):
    event_id: str
    sequence: int
    time: str
    session_id: str
    native_session_id: str | None
    source: Any  # a newer daemon may send an unknown one
    synthetic: bool
    type: str
    data: msgspec.Raw
    raw: Any = None


_envelope = msgspec.json.Decoder(_Envelope)
_data = {name: msgspec.json.Decoder(kind) for name, kind in EVENT_TYPES.items()}


def decode_data(type: str, body: bytes) -> AnyData:
    """The data of an event of this version; any other type is an error."""
    data: AnyData = _data[type].decode(body)
    return data


_REQUESTS = (
    ItemStarted,
    ItemCompleted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
)
"""What asks a client for an answer, or says that there is one. An unknown value in it must not hide that."""


def decode_event(body: bytes | str) -> Event:
    """Decode an event. If a newer daemon added a type, part or value, `data` stays plain JSON.

    In permissions, questions and items, a new value of a closed set is kept, unless it is the kind or role of an item.
    """
    envelope = _envelope.decode(body)
    decoder = _data.get(envelope.type)
    try:
        data: Any = decoder.decode(envelope.data) if decoder else msgspec.json.decode(envelope.data)
    except msgspec.ValidationError:
        data = _of_newer_daemon(envelope)
    return Event(
        envelope.event_id,
        envelope.sequence,
        envelope.time,
        envelope.session_id,
        envelope.native_session_id,
        envelope.source,
        envelope.synthetic,
        envelope.type,
        data,
        envelope.raw,
    )


def _of_newer_daemon(envelope: _Envelope) -> Any:
    kind = EVENT_TYPES[envelope.type]
    if kind in _REQUESTS:
        with suppress(msgspec.ValidationError):
            data = newer.decode(envelope.data, kind)
            if not isinstance(data, ItemStarted | ItemCompleted) or _is_familiar(data.item):
                return data
    return msgspec.json.decode(envelope.data)


def _is_familiar(item: Item) -> bool:
    """Details of an item may be new, but not what it is and who wrote it."""
    return item.kind in get_args(Kind) and (item.role is None or item.role in get_args(Role))
