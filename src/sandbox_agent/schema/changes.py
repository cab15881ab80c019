"""Changes in a session's directory since the session started."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct


class ChangedFile(Struct, frozen=True, omit_defaults=True, rename="camel"):
    path: Annotated[str, Meta(description="Relative to the session's directory.")]
    status: Literal["added", "modified", "deleted"]
    etag: Annotated[str, Meta(description="Tag of the file as it is now; pass it to `revert`.")]
    size: Annotated[int | None, Meta(description="Current size in bytes.")] = None
    additions: Annotated[
        int | None, Meta(description="Lines added; absent for files that are binary or too large.")
    ] = None
    deletions: int | None = None
    diff: Annotated[
        str | None, Meta(description="Unified diff; absent for files that are binary or too large.")
    ] = None


class ChangeList(Struct, frozen=True, omit_defaults=True, rename="camel"):
    directory: str
    source: Annotated[
        Literal["snapshot", "events"],
        Meta(
            description="`snapshot`: compared with the directory at the start. `events`: the changes that the agent reported, "
            "if there is no snapshot; these cannot be reverted."
        ),
    ]
    files: list[ChangedFile]
    additions: int
    deletions: int
    can_undo: Annotated[bool, Meta(description="There is a revert to undo.")]
    commit: Annotated[
        str | None, Meta(description="The commit that was checked out when the session started.")
    ] = None
    notice: Annotated[str | None, Meta(description="Why there is no snapshot.")] = None


class Reverted(Struct, frozen=True):
    paths: Annotated[list[str], Meta(description="The files that were written or removed.")]
