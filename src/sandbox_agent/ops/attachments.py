"""Files sent with messages, and images that agents produce."""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ..errors import InvalidRequest, NotFound, PayloadTooLarge, SessionNotFound, Unavailable
from ..runtime.daemon import Daemon
from ..schema.answers import StoredAttachment
from ..store.base import SessionRecord
from .operation import Content, operation
from .sessions import SessionId


class UploadAttachment(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    content: Annotated[bytes, Meta(description="Content of the file; on the command line, its path.")]
    filename: Annotated[
        Annotated[str, Meta(max_length=1024)] | None, Meta(description="Name of the file.")
    ] = None
    content_type: Annotated[str | None, Meta(description="Media type of the file.")] = None


class OneAttachment(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    name: Annotated[str, Meta(description="Last part of the attachment's path.")]


@operation(
    "POST",
    "/v1/sessions/{session_id}/attachments",
    InvalidRequest,
    SessionNotFound,
    PayloadTooLarge,
    Unavailable,
    name="attachments.upload",
    examples=("sandbox-agent attachments upload demo screenshot.png",),
    body="bytes",
    runs="anywhere",
)
async def upload(daemon: Daemon, request: UploadAttachment) -> StoredAttachment:
    """Upload a file to use in a message."""
    record = (await daemon.sessions.show(request.session_id)).view.record
    if not request.content:
        raise InvalidRequest("the body is empty")
    path = await _saved(daemon, record, request)
    given = (request.content_type or "").split(";")[0].strip()
    guessed = mimetypes.guess_type(request.filename or "")[0]
    unspecific = given in ("", "application/octet-stream", "application/x-www-form-urlencoded")
    return StoredAttachment(
        str(path), (guessed or given or None) if unspecific else given, len(request.content)
    )


async def _saved(daemon: Daemon, record: SessionRecord, request: UploadAttachment) -> Path:
    """Write in a thread, because a large file takes time. The session may be deleted in the meantime."""
    save = daemon.attachments.save
    try:
        return await asyncio.to_thread(
            save, record.folder, request.filename, request.content, record.session_id
        )
    except OSError as error:
        raise Unavailable(f"the file cannot be stored: {error.strerror}", retryAfter=5) from error
    finally:
        await _remove_unless_owned(daemon, record)


async def _remove_unless_owned(daemon: Daemon, record: SessionRecord) -> None:
    """Another session may use the name by now; its files are elsewhere."""
    with contextlib.suppress(SessionNotFound):
        if (await daemon.sessions.show(record.session_id)).view.record.folder == record.folder:
            return
    await daemon.attachments.remove(record.folder)
    raise SessionNotFound(f"no session {record.session_id}", sessionId=record.session_id)


@operation(
    "GET",
    "/v1/sessions/{session_id}/attachments/{name}",
    SessionNotFound,
    NotFound,
    name="attachments.get",
    examples=(
        "path=$(sandbox-agent attachments upload demo screenshot.png --json | jq -r .path)",
        'sandbox-agent attachments get demo "${path##*/}" --output copy.png',
    ),
)
async def read(daemon: Daemon, request: OneAttachment) -> Content:
    """Read an attachment."""
    record = (await daemon.sessions.show(request.session_id)).view.record
    content = await asyncio.to_thread(daemon.attachments.read, record.folder, request.name, record.session_id)
    if content is None:
        raise NotFound(f"no attachment {request.name}", sessionId=request.session_id)
    return Content(content, mimetypes.guess_type(request.name)[0] or "application/octet-stream")
