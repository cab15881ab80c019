"""Sessions: list, create, open, rename, delete and abort them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ...errors import InvalidRequest, NotFound, SessionNotFound
from ...schema.sessions import SessionInfo
from . import history
from .choosing import Choice, ChosenModel, create_session
from .diffs import diffs_of, diffs_of_message
from .door import Door
from .ids import draft_id, drafted_at, milliseconds, owner_of
from .request import Request, route
from .sessions import draft, facts_of, owner, session_of
from .shapes import BUSY, FileDiff, MessageWithParts, Session, Status, Todo
from .transcript import Transcript
from .waiting import waiting_messages

MAX_SESSIONS = 1000
MAX_MESSAGES = 1000


class NewSession(Struct, frozen=True):
    title: str | None = None
    agent: str | None = None
    model: ChosenModel | None = None


class ChangedSession(Struct, frozen=True):
    title: str | None = None


@route("GET", "/session")
async def list_sessions(door: Door, request: Request) -> list[Session]:
    limit = min(request.number("limit") or MAX_SESSIONS, MAX_SESSIONS)
    start, search = request.number("start") or 0, request.query.get("search", "").lower()
    is_limited = "directory" in request.query
    found: list[Session] = []
    async for info in door.operations.sessions():
        if milliseconds(info.updated_at) < start or (is_limited and not _is_in(info, request.directory)):
            continue
        session = session_of(info, facts_of(info, door.catalogue))
        if search in session.title.lower():
            found.append(session)
        if len(found) == limit:
            break
    return found


def _is_in(info: SessionInfo, directory: str) -> bool:
    return info.directory == directory or info.directory.startswith(directory.rstrip("/") + "/")


@route("POST", "/session")
async def create(door: Door, request: Request) -> Session:
    """A session whose agent is not named yet is a draft: the first prompt names it, and creates the session."""
    new = request.decode(NewSession)
    if new.model is None and new.title is None:
        id = draft_id()
        session = draft(id, request.directory, await door.default_agent())
        assert session is not None
        return session
    choice = Choice(new.model, None, new.agent)
    info = await create_session(door, None, request.directory, choice, new.title)
    return session_of(info, facts_of(info, door.catalogue))


@route("GET", "/session/status")
async def status(door: Door, request: Request) -> dict[str, Status]:
    """Sessions that are not listed are idle."""
    busy = ("running", "requires_action")
    return {info.session_id: BUSY async for info in door.operations.sessions() if info.state in busy}


@route("GET", "/session/{id}")
async def get(door: Door, request: Request) -> Session:
    id = request.path["id"]
    info = await owner(door.operations, id)
    if info is None:
        session = draft(id, request.directory, await door.default_agent())
        assert session is not None
        return session
    if id == info.session_id:
        return session_of(info, facts_of(info, door.catalogue))
    transcript = await _transcript(door, info, 0)
    if id not in transcript.child_sessions:
        raise SessionNotFound(f"no session {id}", sessionId=id)
    return transcript.child_sessions[id]


@route("PATCH", "/session/{id}")
async def rename(door: Door, request: Request) -> Session:
    changed, id = request.decode(ChangedSession), request.path["id"]
    _require_own(id)
    if changed.title is None:
        return await get(door, request)  # type: ignore[no-any-return]
    if drafted_at(id) is not None and await owner(door.operations, id) is None:
        raise InvalidRequest("send a message before you rename this session: it does not exist yet")
    info = await door.operations.update(id, title=changed.title)
    return session_of(info, facts_of(info, door.catalogue))


@route("DELETE", "/session/{id}")
async def delete(door: Door, request: Request) -> bool:
    id = request.path["id"]
    _require_own(id)
    if await owner(door.operations, id) is not None:
        await door.operations.delete(id)
    return True


def _require_own(id: str) -> None:
    if owner_of(id) != id:
        raise InvalidRequest("the session of a sub-agent belongs to its parent: change that one")


@route("POST", "/session/{id}/abort")
async def abort(door: Door, request: Request) -> bool:
    """Aborting a sub-agent aborts the turn that it is part of."""
    info = await owner(door.operations, request.path["id"])
    if info is not None:
        await door.operations.cancel(info.session_id)
    return True


# -- reading ----------------------------------------------------------------------------------


async def _transcript(door: Door, info: SessionInfo, max_messages: int) -> Transcript:
    return await history.read(door.operations, facts_of(info, door.catalogue), max_messages)


@route("GET", "/session/{id}/message")
async def messages(door: Door, request: Request) -> list[MessageWithParts]:
    """The newest messages, oldest first."""
    limit = min(request.number("limit") or MAX_MESSAGES, MAX_MESSAGES)
    info = await owner(door.operations, request.path["id"])
    if info is None:
        return []
    await door.catalogue.complete_offer(info.agent, info.directory)
    transcript = await _transcript(door, info, limit)
    found = transcript.messages(request.path["id"])
    if info.session_id == request.path["id"]:
        found += (await waiting_messages(door.operations, transcript)).values()
    return found[-limit:]


@route("GET", "/session/{id}/message/{message}")
async def message(door: Door, request: Request) -> MessageWithParts:
    for found in await messages(door, request):
        if found.info.id == request.path["message"]:
            return found  # type: ignore[no-any-return]
    raise NotFound(f"no message {request.path['message']}", sessionId=request.path["id"])


@route("GET", "/session/{id}/children")
async def children(door: Door, request: Request) -> list[Session]:
    info = await owner(door.operations, request.path["id"])
    if info is None:
        return []
    found = (await _transcript(door, info, 0)).child_sessions.values()
    return [session for session in found if session.parent_id == request.path["id"]]


@route("GET", "/session/{id}/todo")
async def todo(door: Door, request: Request) -> tuple[Todo, ...]:
    info = await owner(door.operations, request.path["id"])
    if info is None or info.session_id != request.path["id"]:
        return ()
    return (await _transcript(door, info, 0)).todos


@route("GET", "/session/{id}/diff")
async def diff(door: Door, request: Request) -> list[FileDiff]:
    """What the session changed since it began, or one of its messages."""
    info = await owner(door.operations, request.path["id"])
    if info is None:
        return []
    if message := request.query.get("messageID"):
        return await diffs_of_message(door.operations, facts_of(info, door.catalogue), message)
    door.recently_viewed.add(info.session_id)
    return await diffs_of(door.operations, info.session_id)


@route("GET", "/vcs/diff")
async def diff_of_directory(door: Door, request: Request) -> list[FileDiff]:
    """What the latest session of the directory changed. The terminal interface does not say which session it shows."""
    here = [info async for info in door.operations.sessions() if info.directory == request.directory]
    if not here:
        return []
    latest = max(here, key=lambda info: info.updated_at)
    return await diffs_of(door.operations, latest.session_id)


# -- what our sessions cannot do --------------------------------------------------------------


@route("POST", "/session/{id}/revert", hides_errors=True)
async def revert(door: Door, request: Request) -> Any:
    raise InvalidRequest("undo is not available: an agent cannot forget a message")


@route("POST", "/session/{id}/unrevert", hides_errors=True)
async def unrevert(door: Door, request: Request) -> Any:
    raise InvalidRequest("redo is not available: nothing was undone")


@route("POST", "/session/{id}/fork", hides_errors=True)
async def fork(door: Door, request: Request) -> Any:
    raise InvalidRequest("fork is not available for sessions of this server")


@route("POST", "/session/{id}/share")
@route("DELETE", "/session/{id}/share")
async def share(door: Door, request: Request) -> Any:
    raise InvalidRequest("sharing is not available: sessions stay on this server")


@route("POST", "/session/{id}/shell", hides_errors=True)
async def shell(door: Door, request: Request) -> Any:
    raise InvalidRequest("commands for the shell are not available: ask the agent to run it")


@route("POST", "/session/{id}/init")
async def init(door: Door, request: Request) -> Any:
    raise InvalidRequest("ask the agent to write AGENTS.md")


@route("POST", "/experimental/project/{id}/copy/refresh")
async def move(door: Door, request: Request) -> Any:
    raise InvalidRequest("a session cannot be moved: its agent stays in its directory")
