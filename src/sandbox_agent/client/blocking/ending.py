"""Ends one particular turn: the session may be running another one by now."""

# Written by `make gen` from aio/ending.py.

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ...schema.answers import SentMessage
from ..call import Call, call, session_path
from ..retry import Retry
from ..transcript import Transcript

if TYPE_CHECKING:
    from .prompt import Prompt
    from .session import Session

SECONDS = 10.0
"""The timeout of each request: ending a turn must not take long."""
RETRY = Retry(seconds=2.0)


def end_turn(session: Session, prompt: Prompt, transcript: Transcript) -> None:
    if transcript.stop_reason is not None or not prompt.is_accepted:
        return
    turn_id = transcript.turn_id
    if turn_id is None:
        # With the same key, the daemon only returns the id of the turn.
        accepted = _send(session, prompt.message())
        turn_id = msgspec.json.decode(accepted, type=SentMessage).turn_id
    _send(session, call("POST", session_path(session.id, "cancel"), query={"turnId": turn_id}))


def _send(session: Session, request: Call) -> bytes:
    brief = request._replace(seconds=SECONDS)
    return (session.client.transport.send(brief, RETRY)).content
