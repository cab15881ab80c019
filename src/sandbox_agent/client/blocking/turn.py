"""One prompt and everything until the agent is idle again."""

# Written by `make gen` from aio/turn.py.

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Self

from ...schema.events import Event, ItemCompleted, SessionEnded, TurnEnded
from ..misuse import Guard
from ..transcript import Transcript
from .respondent import Respondent
from .stream import turn_events

if TYPE_CHECKING:
    from .session import Prompt, Session


class Turn(Guard):
    """A turn. Iterate it for its events, or call `text()` or `result()`. It is sent when the first event is asked for.

    What the agent asks is answered by the callbacks, after the event that tells it was handed out.
    """

    def __init__(self, session: Session, prompt: Prompt, respondent: Respondent) -> None:
        self.transcript = Transcript()
        """What the events so far add up to."""
        self._session = session
        # The reading does not know this object: when a program lets go of it, the connection is closed at once.
        self._events = _read(session, prompt, respondent, self.transcript)
        self._is_begun = False

    @property
    def turn_id(self) -> str | None:
        """Known as soon as the turn starts."""
        return self.transcript.turn_id

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        self._is_begun = True
        return next(self._events)

    def text(self) -> Iterator[str]:
        """The agent's answer while it is written, piece by piece: no thinking, no tools."""
        for event in self:
            if piece := self.transcript.answer_in(event):
                yield piece

    def result(self) -> Transcript:
        """Wait for the end of the turn; gives what it added up to."""
        for _ in self:
            pass
        return self.transcript

    def cancel(self) -> None:
        """End the turn; its last events still come."""
        self._session.cancel()

    def close(self) -> None:
        """Stop reading. The turn itself goes on."""
        self._is_begun = True
        self._events.close()

    def __del__(self) -> None:
        if not self._is_begun:
            warnings.warn(
                "a prompt was never sent: iterate over what prompt() returns, or call its result()",
                RuntimeWarning,
                stacklevel=2,
            )


def _read(
    session: Session, prompt: Prompt, respondent: Respondent, transcript: Transcript
) -> Generator[Event, None]:
    """Hand out an event, then answer it: when the next one is asked for, this one is done with."""
    request = prompt.call()
    with closing(turn_events(session.client.transport, session.id, request)) as events:
        for event in events:
            transcript.add(event)
            yield event
            if _is_last(event, transcript.turn_id):
                return
            respondent.hear(event)


def _is_last(event: Event, turn_id: str | None) -> bool:
    """The turn's end, the session's, or that the message was withdrawn before it became a turn."""
    match event.data:
        case TurnEnded() as ended:
            return ended.turn_id == turn_id
        case SessionEnded():
            return True
        case ItemCompleted():
            return turn_id is None
    return False
