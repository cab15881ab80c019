"""What a session has changed in its directory, and the way back."""

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
        tuple[str, ...] | None, Meta(description="Which files, as `changes` names them; or say `all`.")
    ] = None
    all: Annotated[bool, Meta(description="Every file that has changed.")] = False
    etags: Annotated[
        dict[str, str] | None,
        Meta(
            description="By path, the tags that `changes` showed: a file that has another by now is refused."
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
    """Show what has changed in the session's directory since the session began, file by file.

    In a git repository the directory is compared with a snapshot of its beginning, uncommitted changes included. Elsewhere the
    changes are those that the agent told. What .gitignore leaves out is not looked at. Binary files, and those above 4 MiB, are
    told by their size only.
    """
    return await daemon.changes.show((await daemon.sessions.show(request.session_id)).told.record)


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
    """Give files back as they were when the session began. `undo` brings back what was overwritten or removed."""
    if (request.paths is not None) == request.all:
        raise InvalidRequest("give either `paths` or `all: true`", field="paths")
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
    """Take the last revert back."""
    return await daemon.changes.undo(await _between_turns(daemon, request.session_id))


async def _between_turns(daemon: Daemon, session_id: str) -> SessionRecord:
    """While a turn runs the agent may be writing the same files."""
    told = (await daemon.sessions.show(session_id)).told
    if told.state in ("running", "requires_action"):
        raise Conflict(f"session {session_id} is in the middle of a turn", sessionId=session_id)
    return told.record
