"""Reads a session's log into a transcript."""

from __future__ import annotations

from ...schema.events import decode_event
from .operations import Operations
from .thread import Facts
from .transcript import Transcript


async def read(operations: Operations, facts: Facts, most: int, until: int | None = None) -> Transcript:
    """The transcript with its latest messages, up to an event. Pages are read one by one, so other work goes on between them."""
    transcript = Transcript(facts, most)
    while True:
        page = await operations.events(facts.session_id, transcript.sequence)
        for body in page.events:
            event = decode_event(bytes(body))
            if until is not None and event.sequence > until:
                return transcript
            transcript.take(event)
        if not page.has_more:
            return transcript
