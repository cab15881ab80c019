"""Permissions and questions: list pending ones and answer them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ..errors import Conflict, InvalidRequest, NotFound, PermissionDenied, SessionNotFound, Unavailable
from ..runtime.daemon import Daemon
from ..schema.answers import PermissionList, QuestionList
from ..schema.events import PermissionRequested, QuestionRequested
from ..schema.inputs import Answer, Decision
from ..schema.inputs import Reply as Word
from ..session.inputs import Decide, Reply
from .operation import operation
from .sessions import OneSession, SessionId

Reason = Annotated[Annotated[str, Meta(max_length=65536)] | None, Meta(description="Message for the agent.")]

SYNONYMS: dict[str, Word] = {
    "once": "once",
    "accept": "once",
    "approved": "once",
    "always": "always",
    "accept_for_session": "always",
    "reject": "reject",
    "denied": "reject",
}


class ReplyPermission(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    permission_id: Annotated[str, Meta(description="Id of the pending permission.")]
    reply: Annotated[
        Literal["once", "always", "reject", "accept", "accept_for_session", "approved", "denied"],
        Meta(description="`once`, `always` (for this session) or `reject`."),
    ]
    message: Reason = None


class ReplyQuestion(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    question_id: Annotated[str, Meta(description="Id of the pending question.")]
    answers: Annotated[
        tuple[tuple[str, ...], ...],
        Meta(min_length=1, max_length=100, description="For each question, the chosen labels or free text."),
    ]


class RejectQuestion(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    question_id: Annotated[str, Meta(description="Id of the pending question.")]


@operation("GET", "/v1/sessions/{session_id}/permissions", SessionNotFound, name="permissions.list")
async def permissions(daemon: Daemon, request: OneSession) -> PermissionList:
    """List pending permissions."""
    pending = (await daemon.sessions.show(request.session_id)).view.pending
    return PermissionList([request for request in pending if isinstance(request, PermissionRequested)])


@operation("GET", "/v1/sessions/{session_id}/questions", SessionNotFound, name="questions.list")
async def questions(daemon: Daemon, request: OneSession) -> QuestionList:
    """List pending questions."""
    pending = (await daemon.sessions.show(request.session_id)).view.pending
    return QuestionList([request for request in pending if isinstance(request, QuestionRequested)])


@operation(
    "POST",
    "/v1/sessions/{session_id}/permissions/{permission_id}/reply",
    InvalidRequest,
    PermissionDenied,
    SessionNotFound,
    NotFound,
    Conflict,
    Unavailable,
    name="permissions.reply",
    examples=(
        "sandbox-agent permissions list demo",
        "sandbox-agent permissions reply demo perm_1 --reply once",
        'sandbox-agent permissions reply demo perm_1 --reply reject --message "use git mv"',
    ),
)
async def reply_permission(daemon: Daemon, request: ReplyPermission) -> None:
    """Answer a permission. A second answer gets 409."""
    decision = Decision(SYNONYMS[request.reply], request.message)
    await daemon.sessions.ask(request.session_id, lambda id: Decide(id, request.permission_id, decision))


@operation(
    "POST",
    "/v1/sessions/{session_id}/questions/{question_id}/reply",
    InvalidRequest,
    SessionNotFound,
    NotFound,
    Conflict,
    Unavailable,
    name="questions.reply",
    examples=(
        "sandbox-agent questions list demo",
        "sandbox-agent questions reply demo q_1 --answer Red",
        'sandbox-agent questions reply demo q_2 --answer Small --answer "Cheese,Basil"',
        'sandbox-agent questions reply demo q_2 --answers \'[["Small"],["one, with a comma"]]\'',
    ),
)
async def reply_question(daemon: Daemon, request: ReplyQuestion) -> None:
    """Answer a question. A second answer gets 409."""
    answer = Answer(request.answers)
    await daemon.sessions.ask(request.session_id, lambda id: Reply(id, request.question_id, answer))


@operation(
    "POST",
    "/v1/sessions/{session_id}/questions/{question_id}/reject",
    SessionNotFound,
    NotFound,
    Conflict,
    Unavailable,
    name="questions.reject",
)
async def reject_question(daemon: Daemon, request: RejectQuestion) -> None:
    """Reject a question."""
    answer = Answer(None)
    await daemon.sessions.ask(request.session_id, lambda id: Reply(id, request.question_id, answer))
