"""What has changed in a session's directory since the session began."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct


class ChangedFile(Struct, frozen=True, omit_defaults=True, rename="camel"):
    path: Annotated[str, Meta(description="Relative to the session's directory.")]
    status: Literal["added", "modified", "deleted"]
    etag: Annotated[str, Meta(description="The file as it is now; `revert` takes it.")]
    size: Annotated[int | None, Meta(description="How many bytes it has now.")] = None
    additions: Annotated[
        int | None, Meta(description="Lines that were added; absent for what is not text, or too large.")
    ] = None
    deletions: int | None = None
    diff: Annotated[str | None, Meta(description="Unified; absent for what is not text, or too large.")] = (
        None
    )


class ChangeList(Struct, frozen=True, omit_defaults=True, rename="camel"):
    directory: str
    source: Annotated[
        Literal["snapshot", "events"],
        Meta(
            description="`snapshot`: compared with the directory as it was. `events`: what the agent told of its changes, "
            "where there is no snapshot; it cannot be reverted."
        ),
    ]
    files: list[ChangedFile]
    additions: int
    deletions: int
    can_undo: Annotated[bool, Meta(description="A revert can be taken back.")]
    commit: Annotated[str | None, Meta(description="What was checked out when the session began.")] = None
    notice: Annotated[str | None, Meta(description="Why there is no snapshot.")] = None


class Reverted(Struct, frozen=True):
    paths: Annotated[list[str], Meta(description="The files that were written or removed.")]
