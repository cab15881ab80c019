"""Events: read a page, follow a session, follow everything, or follow one turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ..errors import Conflict, InvalidRequest, SessionNotFound
from ..runtime.channel import Batch
from ..runtime.daemon import Daemon
from ..runtime.reading import with_raw_spliced
from ..runtime.session import Session
from ..schema.answers import EventPage
from .operation import Stream, operation
from .sessions import MESSAGE_ERRORS, SendMessage, SessionId, accept

PING_SECONDS = 15.0
PAGE_BYTES = 8 << 20

Offset = Annotated[int, Meta(ge=0, le=1 << 62, description="Sequence of the last event already seen.")]
IncludeRaw = Annotated[bool, Meta(description="Give each event the native payload that caused it.")]


class ReadEvents(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    offset: Offset = 0
    limit: Annotated[
        int, Meta(ge=1, le=1000, description="How many at most; a page is also bounded in bytes.")
    ] = 100
    include_raw: IncludeRaw = False


class FollowEvents(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    offset: Offset = 0
    include_raw: IncludeRaw = False
    last_event_id: Annotated[
        str | None, Meta(description="What a reconnecting reader saw last; wins over `offset`.")
    ] = None


class FollowAll(Struct, frozen=True, rename="camel"):
    offset: Annotated[
        Annotated[int, Meta(ge=0, le=1 << 62)] | None,
        Meta(description="Position in the whole log; now when absent."),
    ] = None
    last_event_id: Annotated[
        str | None, Meta(description="What a reconnecting reader saw last; wins over `offset`.")
    ] = None


@operation(
    "GET",
    "/v1/sessions/{session_id}/events",
    InvalidRequest,
    SessionNotFound,
    Conflict,
    name="sessions.events",
    aliases=("get-messages",),
)
async def read(daemon: Daemon, request: ReadEvents) -> EventPage:
    """Read events after an offset, oldest first."""
    session = await daemon.session(request.session_id)
    _require_within(session, request.offset)
    rows = await daemon.log.read(
        session.id, request.offset, request.limit, max_bytes=PAGE_BYTES, with_raw=request.include_raw
    )
    bodies = [with_raw_spliced(row) if request.include_raw else row.body for row in rows]
    more = bool(rows) and rows[-1].sequence < session.log.channel.committed
    return EventPage([msgspec.Raw(body) for body in bodies], more)


@operation(
    "GET",
    "/v1/sessions/{session_id}/events/sse",
    InvalidRequest,
    SessionNotFound,
    Conflict,
    name="sessions.events_sse",
    headers={"last_event_id": "Last-Event-ID"},
)
async def follow(daemon: Daemon, request: FollowEvents) -> Stream:
    """Stream events after an offset, then every new one."""
    session = await daemon.session(request.session_id)
    offset = _seen(request.last_event_id, request.offset)
    _require_within(session, offset)
    batches = daemon.log.follow(session.log, offset, PING_SECONDS, with_raw=request.include_raw)
    return Stream(batches, Batch.frames)


@operation(
    "GET",
    "/v1/events/sse",
    InvalidRequest,
    Conflict,
    name="events.sse",
    headers={"last_event_id": "Last-Event-ID"},
)
async def follow_all(daemon: Daemon, request: FollowAll) -> Stream:
    """Stream the events of all sessions, and frames named `session` when one is created, changed or deleted.

    The stream begins with an id alone: where the log is. A reader that is cut off before the first event goes on from there.
    """
    now = daemon.log.channel.committed
    position = _seen(request.last_event_id, now if request.offset is None else request.offset)
    if position > now:
        raise Conflict("the offset is beyond the log", offset=position, committed=now)
    return Stream(_all_frames(daemon, position))


@operation(
    "POST",
    "/v1/sessions/{session_id}/messages/stream",
    *MESSAGE_ERRORS,
    name="sessions.stream_message",
    headers={"idempotency_key": "Idempotency-Key"},
)
async def stream_message(daemon: Daemon, request: SendMessage) -> Stream:
    """Send a message and stream the events of its turn until it ends."""
    session = await daemon.session(request.session_id)
    before = session.log.channel.committed
    session, accepted = await accept(daemon, request)
    # A repeated key names a turn of the past: then its events lie before.
    batches = daemon.log.follow(session.log, 0 if accepted.repeated else before, PING_SECONDS)
    return Stream(_turn_frames(batches, accepted.turn_id))


def _require_within(session: Session, offset: int) -> None:
    committed = session.log.channel.committed
    if offset > committed:
        raise Conflict(
            "the offset is beyond the log", sessionId=session.id, offset=offset, committed=committed
        )


def _seen(last_event_id: str | None, offset: int) -> int:
    if last_event_id is None or last_event_id == "":
        return offset
    if not last_event_id.isdecimal() or len(last_event_id) > 18:
        raise InvalidRequest("Last-Event-ID is not an id that this stream gave", field="Last-Event-ID")
    return int(last_event_id)


async def _all_frames(daemon: Daemon, position: int) -> AsyncGenerator[bytes | None, None]:
    told = daemon.change_number
    # An id alone: a reader that began "now" and is cut off before the first event knows from where to go on. The comment
    # says the same to readers whose parser drops a frame without data.
    yield b": position %d\nid: %d\n\n" % (position, position)
    async for batch in daemon.log.follow_all(position, PING_SECONDS):
        pieces = [batch.frames()] if batch else []
        for number, news in daemon.changes_after(told):
            pieces.append(b"event: session\ndata: %b\n\n" % news)
            told = number
        yield b"".join(pieces) or None


async def _turn_frames(
    batches: AsyncIterator[Batch | None], turn_id: str
) -> AsyncGenerator[bytes | None, None]:
    """The events from this turn's start to its end. Only turn events are decoded, by a glance at their type."""
    name = turn_id.encode()
    started = False
    async for batch in batches:
        if batch is None:
            yield None
            continue
        pieces = []
        for number, body in zip(batch.numbers, batch.bodies, strict=True):
            started = started or (_envelope(body).endswith(b'"type":"turn.started"') and name in body)
            last = _is_last(body, name)
            if started or last:
                pieces.append(b"id: %d\ndata: %b\n\n" % (number, body))
            if last:
                yield b"".join(pieces)
                return
        if pieces:
            yield b"".join(pieces)


def _is_last(body: bytes, turn: bytes) -> bool:
    """The turn's end, the session's, or that the message was withdrawn before it became a turn."""
    envelope = _envelope(body)
    if envelope.endswith(b'"type":"session.ended"'):
        return True
    if turn not in body:
        return False
    if envelope.endswith(b'"type":"item.completed"'):
        return b'"source":"daemon"' in envelope and b'"state":"withdrawn"' in body
    return envelope.endswith(b'"type":"turn.ended"')


def _envelope(body: bytes) -> bytes:
    """What stands before an event's data, with its type at the end. The data is the agent's: it may look like any of this."""
    return body[: body.index(b',"data":')]
