"""Ends one particular turn: the session may be running another one by now."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from ...errors import NotFound
from ...schema.answers import EventPage, SentMessage
from ..call import Call, call, segment, session_path
from ..events import ended_turn
from ..pages import decoded
from ..retry import Retry
from ..transcript import Transcript

if TYPE_CHECKING:
    from .prompt import AsyncPrompt
    from .session import AsyncSession

T = TypeVar("T")

SECONDS = 10.0
"""The timeout of each request: ending a turn must not take long."""
RETRY = Retry(seconds=2.0)


async def end_turn(session: AsyncSession, prompt: AsyncPrompt, transcript: Transcript) -> None:
    if transcript.stop_reason is not None or not prompt.is_accepted:
        return
    if transcript.turn_id is None:
        # With the same key, the daemon only returns the id of the turn.
        turn_id = (await _ask(session, prompt.message(), SentMessage)).turn_id
        if await _withdraw(session, turn_id):
            return
    elif await _has_ended(session, transcript.turn_id, transcript.offset):
        return
    await _send(session, call("POST", session_path(session.id, "cancel")))


async def _withdraw(session: AsyncSession, turn_id: str) -> bool:
    try:
        await _send(session, call("DELETE", session_path(session.id, "queue", segment(turn_id))))
    except NotFound:
        return False
    return True


async def _has_ended(session: AsyncSession, turn_id: str, offset: int) -> bool:
    path, has_more = session_path(session.id, "events"), True
    while has_more:
        page = await _ask(session, call("GET", path, query={"offset": offset, "limit": 1000}), EventPage)
        events, has_more = decoded(page)
        if any(ended_turn(event) == turn_id for event in events):
            return True
        offset = events[-1].sequence if events else offset
    return False


async def _ask(session: AsyncSession, request: Call, answer: type[T]) -> T:
    return msgspec.json.decode(await _send(session, request), type=answer)


async def _send(session: AsyncSession, request: Call) -> bytes:
    brief = request._replace(seconds=SECONDS)
    return (await session.client.transport.send(brief, RETRY)).content
