"""Ends one particular turn: the session may be running another one by now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ...schema.answers import SentMessage
from ..call import Call, call, session_path
from ..retry import Retry
from ..transcript import Transcript

if TYPE_CHECKING:
    from .prompt import AsyncPrompt
    from .session import AsyncSession

SECONDS = 10.0
"""The timeout of each request: ending a turn must not take long."""
RETRY = Retry(seconds=2.0)


async def end_turn(session: AsyncSession, prompt: AsyncPrompt, transcript: Transcript) -> None:
    if transcript.stop_reason is not None or not prompt.is_accepted:
        return
    turn_id = transcript.turn_id
    if turn_id is None:
        # With the same key, the daemon only returns the id of the turn.
        accepted = await _send(session, prompt.message())
        turn_id = msgspec.json.decode(accepted, type=SentMessage).turn_id
    await _send(session, call("POST", session_path(session.id, "cancel"), query={"turnId": turn_id}))


async def _send(session: AsyncSession, request: Call) -> bytes:
    brief = request._replace(seconds=SECONDS)
    return (await session.client.transport.send(brief, RETRY)).content
