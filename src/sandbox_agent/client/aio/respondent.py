"""Answers an agent's requests with the program's callbacks."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ...errors import Conflict, NotFound
from ...schema.events import PermissionRequested, QuestionRequested
from ..asking import OnPermission, OnQuestion, Request, answer_of, awaited, decision_of

if TYPE_CHECKING:
    from .session import AsyncSession


class AsyncRespondent:
    """Calls the callbacks only for pending requests: a turn that is read again includes answered ones."""

    def __init__(
        self, session: AsyncSession, on_permission: OnPermission | None, on_question: OnQuestion | None
    ) -> None:
        self._session = session
        self._on_permission = on_permission
        self._on_question = on_question

    async def answer(self, request: Request) -> bool:
        """False if it is pending and there is no callback for it."""
        if isinstance(request, PermissionRequested):
            return await self._permit(request)
        return await self._reply(request)

    async def _permit(self, request: PermissionRequested) -> bool:
        permissions = self._session.permissions
        waiting = (await permissions.list()).permissions
        if all(pending.permission_id != request.permission_id for pending in waiting):
            return True
        if self._on_permission is None:
            return False
        decision = decision_of(await awaited(self._on_permission(request)))
        # Another client may have answered meanwhile, or the turn has ended.
        with suppress(Conflict, NotFound):
            await permissions.reply(request.permission_id, decision.reply, message=decision.message)
        return True

    async def _reply(self, request: QuestionRequested) -> bool:
        questions = self._session.questions
        waiting = (await questions.list()).questions
        if all(pending.question_id != request.question_id for pending in waiting):
            return True
        if self._on_question is None:
            return False
        answer = answer_of(await awaited(self._on_question(request)))
        with suppress(Conflict, NotFound):
            if answer.answers is None:
                await questions.reject(request.question_id)
            else:
                await questions.reply(request.question_id, answer.answers)
        return True
