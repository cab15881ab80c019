"""One prompt and everything until the agent is idle again."""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Self

from ...schema.events import Event, ItemCompleted, SessionEnded, TurnEnded
from ..misuse import AsyncGuard
from ..transcript import Transcript
from .respondent import AsyncRespondent
from .stream import turn_events

if TYPE_CHECKING:
    from .session import AsyncPrompt, AsyncSession


class AsyncTurn(AsyncGuard):
    """A turn. Iterate it for its events, or call `text()` or `result()`. It is sent when the first event is asked for.

    What the agent asks is answered by the callbacks, after the event that tells it was handed out.
    """

    def __init__(self, session: AsyncSession, prompt: AsyncPrompt, respondent: AsyncRespondent) -> None:
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

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        self._is_begun = True
        return await anext(self._events)

    async def text(self) -> AsyncIterator[str]:
        """The agent's answer while it is written, piece by piece: no thinking, no tools."""
        async for event in self:
            if piece := self.transcript.answer_in(event):
                yield piece

    async def result(self) -> Transcript:
        """Wait for the end of the turn; gives what it added up to."""
        async for _ in self:
            pass
        return self.transcript

    async def cancel(self) -> None:
        """End the turn; its last events still come."""
        await self._session.cancel()

    async def close(self) -> None:
        """Stop reading. The turn itself goes on."""
        self._is_begun = True
        await self._events.aclose()

    def __del__(self) -> None:
        if not self._is_begun:
            warnings.warn(
                "a prompt was never sent: iterate over what prompt() returns, or call its result()",
                RuntimeWarning,
                stacklevel=2,
            )


async def _read(
    session: AsyncSession, prompt: AsyncPrompt, respondent: AsyncRespondent, transcript: Transcript
) -> AsyncGenerator[Event, None]:
    """Hand out an event, then answer it: when the next one is asked for, this one is done with."""
    request = await prompt.call()
    async with aclosing(turn_events(session.client.transport, session.id, request)) as events:
        async for event in events:
            transcript.add(event)
            yield event
            if _is_last(event, transcript.turn_id):
                return
            await respondent.hear(event)


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
