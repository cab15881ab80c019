"""One prompt and everything until the agent is idle again."""

# Written by `make gen` from aio/turn.py.

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Self

from ...errors import Conflict, NotFound
from ...schema.events import (
    Event,
    ItemCompleted,
    PermissionRequested,
    QuestionRequested,
    SessionEnded,
    TurnEnded,
    TurnStarted,
)
from ..asking import OnPermission, OnQuestion, answer_of, awaited_here, decision_of
from ..call import Call
from ..failures import Unanswered
from ..misuse import Guard
from ..transcript import Transcript
from .stream import turn_events

if TYPE_CHECKING:
    from .session import Prompt, Session


class Turn(Guard):
    """A turn. Iterate it for its events, or call `result()`. It is sent when the first event is asked for.

    What the agent asks is answered by the callbacks, after the event that tells it was handed out.
    """

    def __init__(
        self,
        session: Session,
        prompt: Prompt,
        on_permission: OnPermission | None,
        on_question: OnQuestion | None,
    ) -> None:
        self.transcript = Transcript()
        """What the events so far add up to."""
        self.turn_id: str | None = None
        """Known as soon as the turn starts."""
        self._session = session
        self._prompt = prompt
        self._on_permission = on_permission
        self._on_question = on_question
        self._events = self._run()
        self._is_begun = False

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

    def _run(self) -> Generator[Event, None]:
        call: Call = self._prompt.call()
        stream = turn_events(self._session.client.transport, self._session.id, call)
        with closing(stream) as events:
            for event in events:
                self.transcript.add(event)
                yield event
                if self._is_last(event):
                    return
                self._answer(event)

    def _is_last(self, event: Event) -> bool:
        """The turn's end, the session's, or that the message was withdrawn before it became a turn."""
        match event.data:
            case TurnStarted(turn_id) if self.turn_id is None:
                self.turn_id = turn_id
            case TurnEnded(turn_id):
                return turn_id == self.turn_id
            case SessionEnded():
                return True
            case ItemCompleted():
                return self.turn_id is None
        return False

    # -- what it asks -------------------------------------------------------------------------

    def _answer(self, event: Event) -> None:
        match event.data:
            case PermissionRequested() as permission:
                self._permit(permission)
            case QuestionRequested() as question:
                self._reply(question)

    def _permit(self, request: PermissionRequested) -> None:
        permissions = self._session.permissions
        waiting = (permissions.list()).permissions
        # A turn that is read again asks what was answered long ago.
        if all(one.permission_id != request.permission_id for one in waiting):
            return
        if self._on_permission is None:
            _warn(f"for permission to use `{request.action}`", "on_permission", "permissions")
            return
        decision = decision_of(awaited_here(self._on_permission(request)))
        # Somebody else may have answered meanwhile, or the turn has ended.
        with suppress(Conflict, NotFound):
            permissions.reply(request.permission_id, decision.reply, message=decision.message)

    def _reply(self, request: QuestionRequested) -> None:
        questions = self._session.questions
        waiting = (questions.list()).questions
        if all(one.question_id != request.question_id for one in waiting):
            return
        if self._on_question is None:
            _warn(f"for an answer to: {request.prompt}", "on_question", "questions")
            return
        answer = answer_of(awaited_here(self._on_question(request)))
        with suppress(Conflict, NotFound):
            if answer.answers is None:
                questions.reject(request.question_id)
            else:
                questions.reply(request.question_id, answer.answers)


def _warn(wanted: str, callback: str, resource: str) -> None:
    warnings.warn(
        f"the agent waits {wanted}: give prompt() a callback ({callback}=...), or answer with session.{resource}",
        Unanswered,
        stacklevel=2,
    )
