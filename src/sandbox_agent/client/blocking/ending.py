"""Ends one particular turn: the session may be running another one by now."""

# Written by `make gen` from aio/ending.py.

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
    from .prompt import Prompt
    from .session import Session

T = TypeVar("T")

SECONDS = 10.0
"""The timeout of each request: ending a turn must not take long."""
RETRY = Retry(seconds=2.0)


def end_turn(session: Session, prompt: Prompt, transcript: Transcript) -> None:
    if transcript.stop_reason is not None or not prompt.is_accepted:
        return
    if transcript.turn_id is None:
        # With the same key, the daemon only returns the id of the turn.
        turn_id = (_ask(session, prompt.message(), SentMessage)).turn_id
        if _withdraw(session, turn_id):
            return
    elif _has_ended(session, transcript.turn_id, transcript.offset):
        return
    _send(session, call("POST", session_path(session.id, "cancel")))


def _withdraw(session: Session, turn_id: str) -> bool:
    try:
        _send(session, call("DELETE", session_path(session.id, "queue", segment(turn_id))))
    except NotFound:
        return False
    return True


def _has_ended(session: Session, turn_id: str, offset: int) -> bool:
    path, has_more = session_path(session.id, "events"), True
    while has_more:
        page = _ask(session, call("GET", path, query={"offset": offset, "limit": 1000}), EventPage)
        events, has_more = decoded(page)
        if any(ended_turn(event) == turn_id for event in events):
            return True
        offset = events[-1].sequence if events else offset
    return False


def _ask(session: Session, request: Call, answer: type[T]) -> T:
    return msgspec.json.decode(_send(session, request), type=answer)


def _send(session: Session, request: Call) -> bytes:
    brief = request._replace(seconds=SECONDS)
    return (session.client.transport.send(brief, RETRY)).content
