"""Tool calls as the protocol shows them: kinds, diffs, locations and content."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ...agents.diffs import ParsedDiff, read_diffs
from ...schema.items import ContentPart, FileRef, Image, ToolKind, ToolResult
from ...schema.items import ToolCall as CallPart
from .frames import Diff, ImageContent, LinkContent, Location, Shown, TextContent, ToolContent

KINDS: dict[ToolKind, str] = {
    "command": "execute",
    "edit": "edit",
    "read": "read",
    "search": "search",
    "fetch": "fetch",
    "mcp": "other",
    "task": "think",
    "other": "other",
}

Images = Mapping[str, ImageContent]
"""Loaded images by their path."""


class OpenCall(Struct, frozen=True):
    """A call whose result is not complete."""

    item_id: str
    part: CallPart


def kind_of(kind: ToolKind) -> str:
    """The protocol's name of a kind. A newer daemon may know more kinds."""
    return KINDS.get(kind, "other")


def title_of(part: CallPart) -> str:
    return part.title or part.name or "tool"


def input_of(part: CallPart) -> Any:
    """The arguments. An interrupted call may have only the beginning of them."""
    try:
        return msgspec.json.decode(part.arguments) if part.arguments else None
    except (msgspec.DecodeError, RecursionError):
        return {"arguments": part.arguments}


def locations_of(part: CallPart, directory: str) -> tuple[Location, ...] | None:
    """The title of a call that reads or edits a file is its path."""
    if part.kind not in ("read", "edit") or part.title in ("", part.name) or "\n" in part.title:
        return None
    return (Location(path=_absolute(directory, part.title)),)


def text_content(text: str) -> tuple[ToolContent, ...]:
    return (Shown(content=TextContent(text=text)),) if text else ()


def content_of(parts: Iterable[ContentPart], directory: str, images: Images) -> tuple[ToolContent, ...]:
    """Everything that the result of a call shows, changes of files first."""
    found: list[ToolContent] = []
    for part in parts:
        match part:
            case ToolResult(output=output):
                found += text_content(output)
            case FileRef(path=path, diff=str(diff)):
                found[:0] = diffs_of(diff, _absolute(directory, path))
            case Image(path=path) if path in images:
                found.append(Shown(content=images[path]))
            case Image(path=path):
                found.append(Shown(content=LinkContent(uri=f"file://{path}", name=posixpath.basename(path))))
    return tuple(found)


def changed_files(parts: Iterable[ContentPart], directory: str) -> tuple[Location, ...] | None:
    paths = (part.to or part.path for part in parts if isinstance(part, FileRef))
    return tuple(Location(path=_absolute(directory, path)) for path in paths) or None


def diffs_of(diff: str, path: str) -> list[Diff]:
    """Old and new text of each hunk: the protocol wants texts, and the whole files may have changed since."""
    return [shown for parsed in read_diffs(diff) for shown in _hunks(parsed, path)]


def _hunks(parsed: ParsedDiff, path: str) -> Iterator[Diff]:
    for hunk in parsed.hunks:
        old, new = hunk.sides
        yield Diff(path=path, old_text=None if parsed.created else old, new_text=new)


def _absolute(directory: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(directory, path))
