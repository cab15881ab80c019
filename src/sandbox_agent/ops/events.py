"""Events: read a page, or stream a session, all sessions or a single turn."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ..errors import Conflict, InvalidRequest, SessionNotFound
from ..runtime.daemon import Daemon
from ..runtime.following import LogFollowing, RawFollowing, SessionFollowing, TurnFollowing
from ..runtime.pages import with_raw_spliced
from ..schema.answers import EventPage
from .operation import Stream, operation
from .sessions import MESSAGE_ERRORS, SendMessage, SessionId, deliver

PAGE_BYTES = 1 << 20

Offset = Annotated[int, Meta(ge=0, le=1 << 62, description="Sequence of the last event you have seen.")]
IncludeRaw = Annotated[bool, Meta(description="Include the native payload of each event.")]


class ReadEvents(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    offset: Offset = 0
    limit: Annotated[
        int,
        Meta(
            ge=1, le=1000, description="Maximum number of events to return; a page is also limited in bytes."
        ),
    ] = 100
    include_raw: IncludeRaw = False


class FollowEvents(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    offset: Offset = 0
    include_raw: IncludeRaw = False
    last_event_id: Annotated[
        str | None, Meta(description="Id of the last event received; takes precedence over `offset`.")
    ] = None


class FollowAll(Struct, frozen=True, rename="camel"):
    offset: Annotated[
        Annotated[int, Meta(ge=0, le=1 << 62)] | None,
        Meta(description="Position in the log of all sessions (default: the end)."),
    ] = None
    last_event_id: Annotated[
        str | None, Meta(description="Id of the last event received; takes precedence over `offset`.")
    ] = None


@operation(
    "GET",
    "/v1/sessions/{session_id}/events",
    InvalidRequest,
    SessionNotFound,
    Conflict,
    name="sessions.events",
    examples=(
        "sandbox-agent sessions events demo --offset 3",
        "sandbox-agent sessions events demo | jq .type",
    ),
    aliases=("get-messages",),
)
async def read(daemon: Daemon, request: ReadEvents) -> EventPage:
    """Read events after an offset, oldest first."""
    count = await daemon.sessions.events_until(request.session_id, request.offset)
    rows = await daemon.log.read(
        request.session_id, request.offset, request.limit, max_bytes=PAGE_BYTES, with_raw=request.include_raw
    )
    bodies = [with_raw_spliced(row) if request.include_raw else row.body for row in rows]
    more = bool(rows) and rows[-1].sequence < count
    return EventPage([msgspec.Raw(body) for body in bodies], more)


@operation(
    "GET",
    "/v1/sessions/{session_id}/events/sse",
    InvalidRequest,
    SessionNotFound,
    Conflict,
    name="sessions.events_sse",
    examples=("sandbox-agent sessions events-sse demo",),
    headers={"last_event_id": "Last-Event-ID"},
)
async def follow(daemon: Daemon, request: FollowEvents) -> Stream | None:
    """Stream events after an offset, then every new one, until the session ends.

    A frame named `end` marks the end of the stream. A reader that already has every event of an ended session gets 204.
    """
    offset = _seen(request.last_event_id, request.offset)
    channel = (await daemon.sessions.end_at(request.session_id, offset)).channel
    if channel.ended and offset == channel.committed:
        return None
    kind = RawFollowing if request.include_raw else SessionFollowing
    return Stream(kind(daemon.log, channel, request.session_id, offset))


@operation(
    "GET",
    "/v1/events/sse",
    InvalidRequest,
    Conflict,
    name="events.sse",
    examples=("sandbox-agent events sse | jq -c '[.session_id, .type]'",),
    headers={"last_event_id": "Last-Event-ID"},
)
async def follow_all(daemon: Daemon, request: FollowAll) -> Stream:
    """Stream the events of all sessions, and frames named `session` when a session is created, changed or deleted.

    The stream starts with a frame that has only an id, the current position in the log. A reader that loses the
    connection before the first event resumes from there.
    """
    now = await daemon.log.now()
    position = _seen(request.last_event_id, now if request.offset is None else request.offset)
    if position > now:
        raise Conflict("the offset is beyond the log", offset=position, committed=now)
    return Stream(LogFollowing(daemon.log, position))


@operation(
    "POST",
    "/v1/sessions/{session_id}/messages/stream",
    *MESSAGE_ERRORS,
    name="sessions.stream_message",
    examples=('sandbox-agent sessions stream-message demo "hello" | jq -r .type',),
    headers={"idempotency_key": "Idempotency-Key"},
    runs="anywhere",
)
async def stream_message(daemon: Daemon, request: SendMessage) -> Stream:
    """Send a message and stream the events of its turn until it ends."""
    before = (await daemon.sessions.end(request.session_id)).committed
    turn_id, may_be_old = await deliver(daemon, request)
    # A repeated key names an earlier turn, whose events are already in the log.
    after = 0 if may_be_old else before
    # The session may have been unloaded in the meantime, which replaces its channel.
    channel = (await daemon.sessions.end(request.session_id)).channel
    return Stream(TurnFollowing(daemon.log, channel, request.session_id, after, turn_id))


def _seen(last_event_id: str | None, offset: int) -> int:
    if last_event_id is None or last_event_id == "":
        return offset
    if not last_event_id.isdecimal() or len(last_event_id) > 18:
        raise InvalidRequest("Last-Event-ID is not an id from this stream", field="Last-Event-ID")
    return int(last_event_id)
