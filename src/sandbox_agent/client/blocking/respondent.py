"""Answers an agent's requests with the program's callbacks and functions."""

# Written by `make gen` from aio/respondent.py.

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ...errors import Conflict, InvalidRequest, NotFound, PayloadTooLarge, SessionNotFound
from ...schema.events import PermissionRequested, QuestionRequested
from ...schema.tools import ToolOutcome, ToolRequest
from ..asking import OnPermission, OnQuestion, Request, answer_of, awaited_here, decision_of
from ..function_tool import FunctionTool
from ..toolbox import failure_of, outcome_of
from ..waiting import at_once
from ..waits import DeadlinePassed

if TYPE_CHECKING:
    from .session import Session

SETTLED = (Conflict, NotFound, SessionNotFound)
"""Another client was faster, the turn has ended, or the session is gone: the stream reports which."""


class Respondent:
    """Calls the callbacks only for pending requests: a turn that is read again includes answered ones."""

    def __init__(
        self, session: Session, on_permission: OnPermission | None, on_question: OnQuestion | None
    ) -> None:
        self._session = session
        self._on_permission = on_permission
        self._on_question = on_question

    def answer(self, request: Request, until: float | None = None) -> bool:
        """False if it is pending and nothing here can answer it.

        - `until`: When to give up with `DeadlinePassed`. A late answer is not sent: the turn has no time left.
        """
        match request:
            case PermissionRequested():
                return self._permit(request, until)
            case QuestionRequested():
                return self._reply(request, until)
            case ToolRequest():
                return self._call(request, until)

    def _permit(self, request: PermissionRequested, until: float | None) -> bool:
        if not self._waits(request):
            return True
        if self._on_permission is None:
            return False
        decision = decision_of(awaited_here(self._on_permission(request), until))
        with suppress(*SETTLED):
            self._session.permissions.reply(request.permission_id, decision.reply, message=decision.message)
        return True

    def _reply(self, request: QuestionRequested, until: float | None) -> bool:
        questions = self._session.questions
        if not self._waits(request):
            return True
        if self._on_question is None:
            return False
        answer = answer_of(awaited_here(self._on_question(request), until))
        with suppress(*SETTLED):
            if answer.answers is None:
                questions.reject(request.question_id)
            else:
                questions.reply(request.question_id, answer.answers)
        return True

    def _call(self, request: ToolRequest, until: float | None) -> bool:
        toolbox = self._session.client.toolboxes.of(self._session.id)
        function = toolbox.functions.get(request.name)
        if function is None:
            return not self._waits(request)
        with toolbox.claim(request.call_id) as is_ours:
            if is_ours and self._waits(request):
                self._return(request, _outcome_of(function, request, until))
        return True

    def _waits(self, request: Request) -> bool:
        session = self._session
        with suppress(*SETTLED):
            match request:
                case PermissionRequested(id):
                    permissions = (session.permissions.list()).permissions
                    return any(pending.permission_id == id for pending in permissions)
                case QuestionRequested(id):
                    questions = (session.questions.list()).questions
                    return any(pending.question_id == id for pending in questions)
                case ToolRequest(id):
                    calls = (session.tool_calls.list()).tool_calls
                    return any(pending.call_id == id for pending in calls)
        return False

    def _return(self, request: ToolRequest, outcome: ToolOutcome) -> None:
        reply = self._session.tool_calls.reply
        with suppress(*SETTLED):
            if outcome.failed:
                reply(request.call_id, error=outcome.output)
                return
            try:
                reply(request.call_id, output=outcome.output, images=outcome.images)
            except (InvalidRequest, PayloadTooLarge) as refused:
                reply(request.call_id, error=f"the result of the tool was refused: {refused}")


def _outcome_of(function: FunctionTool, request: ToolRequest, until: float | None) -> ToolOutcome:
    """Run the function. Any error is the agent's to read; only an interruption ends the turn's reader."""
    try:
        value = awaited_here(at_once(partial(function.run, request.arguments)), until)
        return outcome_of(awaited_here(value, until))
    except DeadlinePassed:
        raise
    except Exception as error:
        return failure_of(request.name, error)
