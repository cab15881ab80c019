"""Answers an agent's requests with the program's callbacks and functions."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ...errors import Conflict, InvalidRequest, NotFound, PayloadTooLarge, SessionNotFound
from ...schema.events import PermissionRequested, QuestionRequested
from ...schema.tools import ToolOutcome, ToolRequest
from ..asking import OnPermission, OnQuestion, Request, answer_of, awaited, decision_of
from ..function_tool import FunctionTool
from ..toolbox import failure_of, outcome_of
from ..waiting import in_thread
from ..waits import DeadlinePassed

if TYPE_CHECKING:
    from .session import AsyncSession

SETTLED = (Conflict, NotFound, SessionNotFound)
"""Another client was faster, the turn has ended, or the session is gone: the stream reports which."""


class AsyncRespondent:
    """Calls the callbacks only for pending requests: a turn that is read again includes answered ones."""

    def __init__(
        self, session: AsyncSession, on_permission: OnPermission | None, on_question: OnQuestion | None
    ) -> None:
        self._session = session
        self._on_permission = on_permission
        self._on_question = on_question

    async def answer(self, request: Request, until: float | None = None) -> bool:
        """False if it is pending and nothing here can answer it.

        - `until`: When to give up with `DeadlinePassed`. A late answer is not sent: the turn has no time left.
        """
        match request:
            case PermissionRequested():
                return await self._permit(request, until)
            case QuestionRequested():
                return await self._reply(request, until)
            case ToolRequest():
                return await self._call(request, until)

    async def _permit(self, request: PermissionRequested, until: float | None) -> bool:
        if not await self._waits(request):
            return True
        if self._on_permission is None:
            return False
        decision = decision_of(await awaited(self._on_permission(request), until))
        with suppress(*SETTLED):
            await self._session.permissions.reply(
                request.permission_id, decision.reply, message=decision.message
            )
        return True

    async def _reply(self, request: QuestionRequested, until: float | None) -> bool:
        questions = self._session.questions
        if not await self._waits(request):
            return True
        if self._on_question is None:
            return False
        answer = answer_of(await awaited(self._on_question(request), until))
        with suppress(*SETTLED):
            if answer.answers is None:
                await questions.reject(request.question_id)
            else:
                await questions.reply(request.question_id, answer.answers)
        return True

    async def _call(self, request: ToolRequest, until: float | None) -> bool:
        toolbox = self._session.client.toolboxes.of(self._session.id)
        function = toolbox.functions.get(request.name)
        if function is None:
            return not await self._waits(request)
        with toolbox.claim(request.call_id) as is_ours:
            if is_ours and await self._waits(request):
                await self._return(request, await _outcome_of(function, request, until))
        return True

    async def _waits(self, request: Request) -> bool:
        session = self._session
        with suppress(*SETTLED):
            match request:
                case PermissionRequested(id):
                    permissions = (await session.permissions.list()).permissions
                    return any(pending.permission_id == id for pending in permissions)
                case QuestionRequested(id):
                    questions = (await session.questions.list()).questions
                    return any(pending.question_id == id for pending in questions)
                case ToolRequest(id):
                    calls = (await session.tool_calls.list()).tool_calls
                    return any(pending.call_id == id for pending in calls)
        return False

    async def _return(self, request: ToolRequest, outcome: ToolOutcome) -> None:
        reply = self._session.tool_calls.reply
        with suppress(*SETTLED):
            if outcome.failed:
                await reply(request.call_id, error=outcome.output)
                return
            try:
                await reply(request.call_id, output=outcome.output, images=outcome.images)
            except (InvalidRequest, PayloadTooLarge) as refused:
                await reply(request.call_id, error=f"the result of the tool was refused: {refused}")


async def _outcome_of(function: FunctionTool, request: ToolRequest, until: float | None) -> ToolOutcome:
    """Run the function. Any error is the agent's to read; only an interruption ends the turn's reader."""
    try:
        value = await awaited(in_thread(partial(function.run, request.arguments)), until)
        return outcome_of(await awaited(value, until))
    except DeadlinePassed:
        raise
    except Exception as error:
        return failure_of(request.name, error)
