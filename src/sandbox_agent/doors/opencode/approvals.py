"""Permissions and questions: list those that wait, and answer them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

from msgspec import Struct

from ...errors import NotFound
from ...schema.sessions import SessionInfo
from . import history
from .door import Door
from .ids import RequestId, request_of
from .request import Request, route
from .sessions import facts_of
from .shapes import Permission, Question


class Reply(Struct, frozen=True):
    reply: Literal["once", "always", "reject"]
    message: str | None = None


class OldReply(Struct, frozen=True):
    response: Literal["once", "always", "reject"]


class Answers(Struct, frozen=True):
    answers: tuple[tuple[str, ...], ...]


def _request_id(theirs: str) -> RequestId:
    found = request_of(theirs)
    if found is None:
        raise NotFound(f"no request {theirs}")
    return found


@route("POST", "/permission/{request}/reply")
async def reply(door: Door, request: Request) -> bool:
    given = request.decode(Reply)
    session_id, id = _request_id(request.path["request"])
    await door.operations.reply_permission(session_id, id, given.reply, given.message)
    return True


@route("POST", "/session/{id}/permissions/{request}")
async def reply_in_session(door: Door, request: Request) -> bool:
    """The form of older clients."""
    given = request.decode(OldReply)
    session_id, id = _request_id(request.path["request"])
    await door.operations.reply_permission(session_id, id, given.response, None)
    return True


@route("POST", "/question/{request}/reply")
async def answer(door: Door, request: Request) -> bool:
    given = request.decode(Answers)
    session_id, id = _request_id(request.path["request"])
    await door.operations.reply_question(session_id, id, given.answers)
    return True


@route("POST", "/question/{request}/reject")
async def reject(door: Door, request: Request) -> bool:
    session_id, id = _request_id(request.path["request"])
    await door.operations.reject_question(session_id, id)
    return True


@route("GET", "/permission")
async def permissions(door: Door, request: Request) -> list[Permission]:
    found = [each async for info in _waiting(door) for each in await _pending(door, info)]
    return [each for each in found if isinstance(each, Permission)]


@route("GET", "/question")
async def questions(door: Door, request: Request) -> list[Question]:
    found = [each async for info in _waiting(door) for each in await _pending(door, info)]
    return [each for each in found if isinstance(each, Question)]


async def _waiting(door: Door) -> AsyncIterator[SessionInfo]:
    async for info in door.operations.sessions():
        if info.state == "requires_action":
            yield info


async def _pending(door: Door, info: SessionInfo) -> list[Permission | Question]:
    """From the log, which also says to which message and sub-agent a request belongs."""
    transcript = await history.read(door.operations, facts_of(info, door.catalogue), 0)
    return list(transcript.requests.pending.values())
