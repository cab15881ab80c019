"""One prompt and everything until the agent is idle again."""

# Written by `make gen` from aio/turn.py.

from __future__ import annotations

import functools
import warnings
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Self

from ...errors import SandboxAgentError
from ...schema.events import (
    ItemCompleted,
    ItemStarted,
    PermissionRequested,
    QuestionRequested,
)
from ...schema.tools import tool_request_in
from ..asking import Request
from ..events import Event, ended_turn, ends_session
from ..failures import TurnFailed, TurnTimeout
from ..misuse import TurnBase
from ..transcript import Transcript
from ..waits import DeadlinePassed, Waits
from .ending import end_turn
from .respondent import Respondent
from .stream import turn_events

if TYPE_CHECKING:
    from .prompt import Prompt
    from .session import Session

FAILURES = {
    "error": "the agent reported an error",
    "limit": "the turn reached a limit",
    "outcome_unknown": "the daemon was restarted during the turn: the agent's last actions are unknown",
}
"""Stop reasons that are raised, with the message to use if the agent gave none."""


class Turn(TurnBase[Transcript]):
    """A turn. Iterate over its events, or call `text()` or `result()`. The prompt is sent when the first event is read.

    Callbacks and tools answer the agent's requests after the event of the request was returned. After `AnswerNeeded` or any other
    exception you can continue to read the turn.
    """

    def __init__(
        self,
        session: Session,
        prompt: Prompt,
        respondent: Respondent,
        waits: Waits,
        *,
        raise_on_error: bool,
    ) -> None:
        self.transcript = Transcript()
        """The transcript of the events so far."""
        self._session = session
        self._prompt = prompt
        self._raise_on_error = raise_on_error
        # The generator does not reference this object: when the program drops it, the connection is closed at once.
        self._read = functools.partial(_read, session, prompt, respondent, waits, self.transcript)
        self._events = self._read()
        self._is_begun = False

    @property
    def turn_id(self) -> str | None:
        """Known as soon as the turn starts."""
        return self.transcript.turn_id

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        self._is_begun = True
        try:
            return next(self._events)
        except StopIteration:
            raise
        except BaseException:
            self._events = self._read()
            raise

    def text(self) -> Iterator[str]:
        """The agent's reply as it is written, piece by piece, without reasoning and tools.

        Raises `TurnFailed` at the end, unless the prompt said `raise_on_error=False`.
        """
        for event in self:
            if piece := self.transcript.answer_in(event):
                yield piece
        self._check()

    def result(self) -> Transcript:
        """Wait for the end of the turn. Returns its transcript.

        Raises `TurnFailed`, unless the prompt said `raise_on_error=False`.
        """
        for _ in self:
            pass
        self._check()
        return self.transcript

    def cancel(self) -> None:
        """Cancel this turn and no other; its last events still arrive. A queued turn is withdrawn."""
        end_turn(self._session, self._prompt, self.transcript)

    def close(self) -> None:
        """Stop reading. The turn itself continues."""
        self._is_begun = True
        self._events.close()

    def _check(self) -> None:
        stop_reason = self.transcript.stop_reason
        if not self._raise_on_error or stop_reason not in FAILURES:
            return
        error = self.transcript.errors[-1] if self.transcript.errors else None
        limit = self.transcript.limit if stop_reason == "limit" else None
        message = error.message if error else limit or FAILURES[stop_reason]
        raise TurnFailed(message, error.code if error else None, stop_reason, self.transcript)

    def __del__(self) -> None:
        if not self._is_begun:
            warnings.warn(
                "a prompt was never sent: iterate over what prompt() returns, or call its result()",
                RuntimeWarning,
                stacklevel=2,
            )


def _read(
    session: Session,
    prompt: Prompt,
    respondent: Respondent,
    waits: Waits,
    transcript: Transcript,
) -> Generator[Event, None]:
    """Return an event, then answer it: asking for the next one means that this one is processed."""
    waits.begin()
    prompt.prepare()
    pending: list[Request] = [
        *transcript.permissions.values(),
        *transcript.questions.values(),
        *transcript.tool_requests.values(),
    ]
    while True:
        try:
            while pending:
                _answer(pending.pop(0), respondent, waits)
            until = waits.until()
            stream = turn_events(session.client.transport, prompt, transcript.offset, until)
            with closing(stream) as events:
                for event in events:
                    transcript.add(event)
                    yield event
                    if _is_last(event, transcript.turn_id):
                        return
                    if (asked := _request_in(event)) is not None:
                        _answer(asked, respondent, waits)
                    waits.look(transcript)
                    if waits.is_sooner_than(until):
                        break  # reconnect, with a shorter timeout
                else:
                    return
        except DeadlinePassed:
            _raise_if_due(session, prompt, waits, transcript)


def _answer(request: Request, respondent: Respondent, waits: Waits) -> None:
    if not respondent.answer(request, waits.end):
        waits.nobody_answers(request)


def _raise_if_due(session: Session, prompt: Prompt, waits: Waits, transcript: Transcript) -> None:
    error = waits.error(transcript)
    if error is None:
        return
    if isinstance(error, TurnTimeout):
        if not prompt.is_accepted:
            raise TurnTimeout(f"{error.detail}: the daemon has not accepted the message yet", transcript)
        try:
            end_turn(session, prompt, transcript)
        except SandboxAgentError as reason:
            raise TurnTimeout(f"{error.detail}, and could not be cancelled: {reason}", transcript) from reason
    raise error


def _request_in(event: Event) -> Request | None:
    match event.data:
        case PermissionRequested() as permission:
            return permission
        case QuestionRequested() as question:
            return question
        case ItemStarted(item):
            return tool_request_in(item)
    return None


def _is_last(event: Event, turn_id: str | None) -> bool:
    """Whether an event ends the turn: its own end, the session's end, or the withdrawal of its message."""
    if ends_session(event) or (turn_id is not None and ended_turn(event) == turn_id):
        return True
    return isinstance(event.data, ItemCompleted) and turn_id is None
