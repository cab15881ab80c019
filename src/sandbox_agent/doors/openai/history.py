"""Turns in the log of a session, newest first: a response is found again by its turn, and a repeated request by its mark."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec import Struct

from ...schema.events import Event, ItemStarted, TurnStarted, decode_event
from .operations import Operations

FIRST_PAGE, LARGEST_PAGE = 250, 1000
PROMPT_EVENTS = 2
"""The prompt follows its turn's start at once."""


class FoundTurn(Struct, frozen=True):
    turn_id: str
    after: int
    """It starts after this event."""
    time: str
    mark: str | None
    """The mark that the client put on the message."""
    is_waiting: bool = False
    """It is in the queue."""


async def turns(operations: Operations, session_id: str) -> AsyncGenerator[FoundTurn, None]:
    """All turns that a message started or will start, newest first. One that starts in the meantime may come twice."""
    before = (await operations.session(session_id)).event_count
    waiting = [message async for message in operations.queue(session_id)]
    for message in reversed(waiting):
        yield FoundTurn(message.turn_id, before, message.created_at, message.client_id, True)
    # Counted again: a turn that has left the queue in the meantime is in the log.
    end, size = (await operations.session(session_id)).event_count, FIRST_PAGE
    while end > 0:
        begin = max(0, end - size)
        for turn in reversed(await _between(operations, session_id, begin, end)):
            yield turn
        end, size = begin, min(2 * size, LARGEST_PAGE)


async def find(operations: Operations, session_id: str, turn_id: str) -> FoundTurn | None:
    async with aclosing(turns(operations, session_id)) as found:
        async for turn in found:
            if turn.turn_id == turn_id:
                return turn
    return await _find_withdrawn(operations, session_id, turn_id)


async def _find_withdrawn(operations: Operations, session_id: str, turn_id: str) -> FoundTurn | None:
    """A message that was withdrawn from the queue has no turn in the log, only what became of it."""
    offset, wanted = 0, turn_id.encode()
    while True:
        page = await operations.events(session_id, offset, LARGEST_PAGE)
        for body in page.events:
            if wanted in bytes(body):
                event = decode_event(bytes(body))
                if event.source == "daemon" and event.type == ItemStarted.TYPE:
                    return FoundTurn(turn_id, event.sequence - 1, event.time, None)
            offset += 1
        if not page.has_more:
            return None


async def _between(operations: Operations, session_id: str, begin: int, end: int) -> list[FoundTurn]:
    found: list[FoundTurn] = []
    started: Event | None = None
    offset = begin
    while offset < end + PROMPT_EVENTS:
        page = await operations.events(session_id, offset, min(end + PROMPT_EVENTS - offset, LARGEST_PAGE))
        for body in page.events:
            offset += 1
            if not _may_matter(bytes(body)):
                continue
            event = decode_event(bytes(body))
            match event.data:
                case TurnStarted() if event.sequence <= end:
                    started = event
                case ItemStarted(item) if item.role == "user" and started is not None:
                    # A turn that the agent started by itself has no message.
                    assert isinstance(started.data, TurnStarted)
                    if event.sequence == started.sequence + 1:
                        after = started.sequence - 1
                        found.append(
                            FoundTurn(started.data.turn_id, after, started.time, item.native_item_id)
                        )
                    started = None
        if not page.has_more:
            break
    return found


def _may_matter(body: bytes) -> bool:
    """Whether an event is worth decoding: most are not."""
    return b'"type":"turn.started"' in body or (b'"type":"item.started"' in body and b'"role":"user"' in body)
