"""Answers what an agent asks, with the callbacks of the program."""

# Written by `make gen` from aio/respondent.py.

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

from ...errors import Conflict, NotFound
from ...schema.events import Event, PermissionRequested, QuestionRequested
from ..asking import OnPermission, OnQuestion, answer_of, awaited_here, decision_of
from ..failures import Unanswered

if TYPE_CHECKING:
    from .session import Session


class Respondent:
    """Asks the callbacks only what still waits: a turn that is read again holds what was answered long ago."""

    def __init__(
        self, session: Session, on_permission: OnPermission | None, on_question: OnQuestion | None
    ) -> None:
        self._session = session
        self._on_permission = on_permission
        self._on_question = on_question

    def hear(self, event: Event) -> None:
        match event.data:
            case PermissionRequested() as permission:
                self._permit(permission)
            case QuestionRequested() as question:
                self._reply(question)

    def _permit(self, request: PermissionRequested) -> None:
        permissions = self._session.permissions
        waiting = (permissions.list()).permissions
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
