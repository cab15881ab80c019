"""What the file operations answer."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

EntryType = Literal["file", "directory"]


class FileEntry(Struct, frozen=True, omit_defaults=True, rename="camel"):
    name: str
    path: str
    entry_type: Annotated[
        EntryType, Meta(description="A link is a `file`; so is everything that is no folder.")
    ]
    size: int
    modified: str
    link_target: Annotated[str | None, Meta(description="What a link says.")] = None


class EntryPage(Struct, frozen=True, omit_defaults=True, rename="camel"):
    entries: list[FileEntry]
    next_cursor: str | None = None


class FileStat(Struct, frozen=True, rename="camel"):
    path: str
    entry_type: EntryType
    size: int
    modified: str
    etag: Annotated[str, Meta(description="Changes with the file; `If-Match` and `If-None-Match` take it.")]


class FileWritten(Struct, frozen=True, rename="camel"):
    path: str
    bytes_written: int
    etag: str


class FileAction(Struct, frozen=True):
    path: str


class FileMoved(Struct, frozen=True, rename={"source": "from", "target": "to"}):
    source: str
    target: str


class Unpacked(Struct, frozen=True):
    paths: Annotated[list[str], Meta(description="What was written, folders included; the first 1,024.")]
    truncated: Annotated[bool, Meta(description="More was written than is listed.")]


class SearchHit(Struct, frozen=True, omit_defaults=True, rename="camel"):
    path: str
    entry_type: EntryType
    line: Annotated[
        int | None, Meta(description="The number of the line, from 1, where a text was looked for.")
    ] = None
    text: Annotated[str | None, Meta(description="That line, cut where it is long.")] = None


class SearchResult(Struct, frozen=True, omit_defaults=True, rename="camel"):
    hits: list[SearchHit]
    truncated: Annotated[
        Literal["limit", "time"] | None,
        Meta(description="Why there may be more: too many hits, or no time left."),
    ] = None


class FileChange(Struct, frozen=True, omit_defaults=True, rename="camel"):
    path: str
    change: Literal["created", "modified", "deleted"]
    entry_type: EntryType
