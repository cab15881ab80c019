"""Responses of the file operations."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

EntryType = Literal["file", "directory"]


class FileEntry(Struct, frozen=True, omit_defaults=True, rename="camel"):
    name: str
    path: str
    entry_type: Annotated[
        EntryType, Meta(description="`file` for everything that is not a directory, including links.")
    ]
    size: int
    modified: str
    link_target: Annotated[str | None, Meta(description="The target of a link.")] = None


class EntryPage(Struct, frozen=True, omit_defaults=True, rename="camel"):
    entries: list[FileEntry]
    next_cursor: str | None = None


class FileStat(Struct, frozen=True, rename="camel"):
    path: str
    entry_type: EntryType
    size: int
    modified: str
    etag: Annotated[str, Meta(description="Changes with the file; use it in `If-Match` and `If-None-Match`.")]


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
    paths: Annotated[
        list[str], Meta(description="The first 1,024 paths that were written, including directories.")
    ]
    truncated: Annotated[bool, Meta(description="More paths were written than are listed.")]


class SearchHit(Struct, frozen=True, omit_defaults=True, rename="camel"):
    path: str
    entry_type: EntryType
    line: Annotated[
        int | None, Meta(description="The line number, from 1; absent unless text was searched.")
    ] = None
    text: Annotated[str | None, Meta(description="That line, truncated if long.")] = None


class SearchResult(Struct, frozen=True, omit_defaults=True, rename="camel"):
    hits: list[SearchHit]
    truncated: Annotated[
        Literal["limit", "time"] | None,
        Meta(description="Why there may be more: too many hits, or out of time."),
    ] = None


class FileChange(Struct, frozen=True, omit_defaults=True, rename="camel"):
    path: str
    change: Literal["created", "modified", "deleted"]
    entry_type: EntryType
