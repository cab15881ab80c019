"""Files of messages, as clients name them."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import quote

from ...schema.items import FileRef, Image
from .shapes import FilePart


def file_part(part: Image | FileRef, id: str, session_id: str, message: str) -> FilePart:
    mime = (part.mime if isinstance(part, Image) else None) or "text/plain"
    name = PurePosixPath(part.path).name
    return FilePart(
        id=id,
        session_id=session_id,
        message_id=message,
        mime=mime,
        url=f"file://{quote(part.path)}",
        filename=name,
    )
