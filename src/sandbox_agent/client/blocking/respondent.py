"""Answers an agent's requests with the program's callbacks."""

# Written by `make gen` from aio/respondent.py.

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ...errors import Conflict, NotFound
from ...schema.events import PermissionRequested, QuestionRequested
from ..asking import OnPermission, OnQuestion, Request, answer_of, awaited_here, decision_of

if TYPE_CHECKING:
    from .session import Session


class Respondent:
    """Calls the callbacks only for pending requests: a turn that is read again includes answered ones."""

    def __init__(
        self, session: Session, on_permission: OnPermission | None, on_question: OnQuestion | None
    ) -> None:
        self._session = session
        self._on_permission = on_permission
        self._on_question = on_question

    def answer(self, request: Request) -> bool:
        """False if it is pending and there is no callback for it."""
        if isinstance(request, PermissionRequested):
            return self._permit(request)
        return self._reply(request)

    def _permit(self, request: PermissionRequested) -> bool:
        permissions = self._session.permissions
        waiting = (permissions.list()).permissions
        if all(pending.permission_id != request.permission_id for pending in waiting):
            return True
        if self._on_permission is None:
            return False
        decision = decision_of(awaited_here(self._on_permission(request)))
        # Another client may have answered meanwhile, or the turn has ended.
        with suppress(Conflict, NotFound):
            permissions.reply(request.permission_id, decision.reply, message=decision.message)
        return True

    def _reply(self, request: QuestionRequested) -> bool:
        questions = self._session.questions
        waiting = (questions.list()).questions
        if all(pending.question_id != request.question_id for pending in waiting):
            return True
        if self._on_question is None:
            return False
        answer = answer_of(awaited_here(self._on_question(request)))
        with suppress(Conflict, NotFound):
            if answer.answers is None:
                questions.reject(request.question_id)
            else:
                questions.reply(request.question_id, answer.answers)
        return True
