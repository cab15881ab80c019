"""Reads a session's log into a transcript."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from ...schema.events import Event, decode_event
from .operations import Operations
from .thread import Facts
from .transcript import Transcript


async def events(operations: Operations, session_id: str) -> AsyncGenerator[Event, None]:
    """All events so far. Pages are read one by one, so that other work can run in between."""
    sequence = 0
    while True:
        page = await operations.events(session_id, sequence)
        for body in page.events:
            event = decode_event(bytes(body))
            sequence = event.sequence
            yield event
        if not page.has_more:
            return


async def read(
    operations: Operations, facts: Facts, max_messages: int, until: int | None = None
) -> Transcript:
    """The transcript with its latest messages, up to an event."""
    transcript = Transcript(facts, max_messages)
    async with aclosing(events(operations, facts.session_id)) as found:
        async for event in found:
            if until is not None and event.sequence > until:
                break
            transcript.take(event)
    return transcript
