"""Permissions and questions of one session in OpenCode's form, and the answers to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ...schema.events import PermissionRequested, PermissionResolved, QuestionRequested, QuestionResolved
from . import tools
from .calls import Call
from .ids import permission_id, question_id
from .shapes import (
    AskedQuestion,
    BusEvent,
    Option,
    Permission,
    PermissionAnswered,
    Question,
    QuestionAnswered,
    ToolOfRequest,
)

MAX_RESOLVED = 32
"""Answers that are repeated to a reader who may have missed them: a panel without one stays open."""


class Requests:
    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self.pending: dict[str, Permission | Question] = {}
        self._resolved: dict[str, BusEvent] = {}

    def snapshot(self) -> Iterator[BusEvent]:
        yield from self._resolved.values()
        for request in self.pending.values():
            name = "permission.asked" if isinstance(request, Permission) else "question.asked"
            yield BusEvent(type=name, properties=request)

    def permission_asked(self, request: PermissionRequested, call: Call | None) -> BusEvent:
        asked = permission_of(self._session_id, request, call)
        self.pending[asked.id] = asked
        return BusEvent(type="permission.asked", properties=asked)

    def permission_resolved(self, resolved: PermissionResolved) -> BusEvent:
        replies: dict[str, Literal["once", "always", "reject"]] = {
            "accept": "once",
            "accept_for_session": "always",
        }
        id = permission_id(self._session_id, resolved.permission_id)
        answered = PermissionAnswered(
            session_id=self._owner(id), request_id=id, reply=replies.get(resolved.status, "reject")
        )
        return self._end(id, BusEvent(type="permission.replied", properties=answered))

    def question_asked(self, request: QuestionRequested, call: Call | None) -> BusEvent:
        asked = question_of(self._session_id, request, call)
        self.pending[asked.id] = asked
        return BusEvent(type="question.asked", properties=asked)

    def question_resolved(self, resolved: QuestionResolved) -> BusEvent:
        id = question_id(self._session_id, resolved.question_id)
        is_answered = resolved.status == "answered"
        answered = QuestionAnswered(
            session_id=self._owner(id),
            request_id=id,
            answers=(resolved.metadata.answers or ()) if is_answered else None,
        )
        name = "question.replied" if is_answered else "question.rejected"
        return self._end(id, BusEvent(type=name, properties=answered))

    def _owner(self, id: str) -> str:
        request = self.pending.get(id)
        return request.session_id if request else self._session_id

    def _end(self, id: str, answered: BusEvent) -> BusEvent:
        self.pending.pop(id, None)
        self._resolved[id] = answered
        if len(self._resolved) > MAX_RESOLVED:
            del self._resolved[next(iter(self._resolved))]
        return answered


def permission_of(session_id: str, request: PermissionRequested, call: Call | None) -> Permission:
    asked = tools.permission_panel(request.action, request.metadata)
    return Permission(
        id=permission_id(session_id, request.permission_id),
        session_id=call.part.session_id if call else session_id,
        permission=asked.permission,
        patterns=asked.patterns,
        metadata=asked.metadata,
        always=(f"{request.action} in this session",),
        tool=_tool(call),
    )


def question_of(session_id: str, request: QuestionRequested, call: Call | None) -> Question:
    return Question(
        id=question_id(session_id, request.question_id),
        session_id=call.part.session_id if call else session_id,
        questions=tuple(
            AskedQuestion(
                question=asked.question,
                header=asked.header,
                options=tuple(
                    Option(label=choice.label, description=choice.description) for choice in asked.options
                ),
                multiple=asked.multi_select or None,
            )
            for asked in request.metadata.questions
        ),
        tool=_tool(call),
    )


def _tool(call: Call | None) -> ToolOfRequest | None:
    return (
        ToolOfRequest(message_id=call.part.message_id, call_id=call.given.call_id)
        if call is not None
        else None
    )
