"""OpenCode's tools in our terms: what each does, what it changed, what it showed."""

from __future__ import annotations

import base64
from urllib.parse import unquote_to_bytes

from ...schema.items import ContentPart, FileAction, FileRef, ToolKind
from ..diffs import Names, diff_of_texts
from .messages import Change, ToolMetadata, ToolPart

MCP_PREFIX = "mcp_"
"""The prefix of our MCP servers' names: the server knows them by directory, not by session."""

KINDS: dict[str, ToolKind] = {
    "bash": "command",
    "edit": "edit",
    "write": "edit",
    "apply_patch": "edit",
    "read": "read",
    "list": "read",
    "lsp": "read",
    "glob": "search",
    "grep": "search",
    "codesearch": "search",
    "websearch": "search",
    "webfetch": "fetch",
    "task": "task",
}


def kind_of(tool: str) -> ToolKind:
    return KINDS.get(tool, "mcp" if tool.startswith(MCP_PREFIX) else "other")


def changes_of(part: ToolPart, metadata: ToolMetadata, diff: str | None) -> list[ContentPart]:
    """The files a call changed; `diff` is what its permission request showed."""
    if metadata.files:
        return [_file_ref(change) for change in metadata.files]
    if metadata.filediff is not None:
        return [FileRef(metadata.filediff.file, "patch", diff=metadata.filediff.patch)]
    if part.tool != "write" or metadata.filepath is None:
        return []
    content = part.state.input.get("content")
    if not metadata.exists and isinstance(content, str):
        diff = diff_of_texts(Names(metadata.filepath, metadata.filepath), None, content)
    return [FileRef(metadata.filepath, "write", diff=diff)]


def _file_ref(change: Change) -> FileRef:
    actions: dict[str, FileAction] = {"add": "write", "delete": "delete", "move": "move"}
    return FileRef(change.filePath, actions.get(change.type, "patch"), change.movePath, change.patch)


def data_of(url: str) -> bytes | None:
    """The bytes of a `data:` URL."""
    head, comma, body = url.partition(",")
    if not head.startswith("data:") or not comma:
        return None
    try:
        return base64.b64decode(body) if head.endswith(";base64") else unquote_to_bytes(body)
    except ValueError:
        return None
