"""Changes that a session made in its directory: list, revert, undo."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ..errors import (
    Conflict,
    InvalidRequest,
    PermissionDenied,
    PreconditionFailed,
    SessionNotFound,
    Unavailable,
)
from ..runtime.daemon import Daemon
from ..schema.changes import ChangeList, Reverted
from ..store.base import SessionRecord
from .operation import operation
from .sessions import OneSession, SessionId


class RevertChanges(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    paths: Annotated[
        tuple[str, ...] | None, Meta(description="Files to revert, as listed by `changes`; or use `all`.")
    ] = None
    all: Annotated[bool, Meta(description="Revert every changed file.")] = False
    etags: Annotated[
        dict[str, str] | None,
        Meta(
            description="Tags from `changes`, by path. If a file has another tag by now, the request is refused."
        ),
    ] = None


@operation(
    "GET",
    "/v1/sessions/{session_id}/changes",
    SessionNotFound,
    InvalidRequest,
    PermissionDenied,
    Unavailable,
    name="changes.list",
    examples=(
        "sandbox-agent changes list demo",
        "sandbox-agent changes list demo --json | jq -r '.files[].diff' | less",
    ),
)
async def show(daemon: Daemon, request: OneSession) -> ChangeList:
    """List the files that changed in the session's directory since the session began.

    In a git repository, the directory is compared with a snapshot from the beginning, including uncommitted changes.
    Elsewhere, the list has the changes that the agent reported. Files ignored by .gitignore are skipped. Binary files and
    files over 4 MiB are listed with their size only.
    """
    return await daemon.changes.show((await daemon.sessions.show(request.session_id)).view.record)


@operation(
    "POST",
    "/v1/sessions/{session_id}/changes/revert",
    InvalidRequest,
    PermissionDenied,
    SessionNotFound,
    Conflict,
    PreconditionFailed,
    Unavailable,
    name="changes.revert",
    examples=(
        "sandbox-agent changes revert demo --paths src/main.py",
        "sandbox-agent changes revert demo --all",
    ),
)
async def revert(daemon: Daemon, request: RevertChanges) -> Reverted:
    """Restore files to their state at the beginning of the session. `undo` reverses it."""
    if (request.paths is not None) == request.all:
        raise InvalidRequest("use either `paths` or `all: true`", field="paths")
    record = await _between_turns(daemon, request.session_id)
    return await daemon.changes.revert(record, request.paths, request.etags or {})


@operation(
    "POST",
    "/v1/sessions/{session_id}/changes/undo",
    InvalidRequest,
    PermissionDenied,
    SessionNotFound,
    Conflict,
    PreconditionFailed,
    Unavailable,
    name="changes.undo",
)
async def undo(daemon: Daemon, request: OneSession) -> Reverted:
    """Undo the last revert."""
    return await daemon.changes.undo(await _between_turns(daemon, request.session_id))


async def _between_turns(daemon: Daemon, session_id: str) -> SessionRecord:
    """Refused during a turn, when the agent may be writing the same files."""
    view = (await daemon.sessions.show(session_id)).view
    if view.state in ("running", "requires_action"):
        raise Conflict(f"session {session_id} is running a turn", sessionId=session_id)
    return view.record
