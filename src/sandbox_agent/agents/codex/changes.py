"""File changes, as codex reports them."""

from __future__ import annotations

from ...schema.items import FileRef
from ..diffs import DoesNotFit, Names, diff_of_texts
from .frames import Change
from .turn_diff import TurnDiff


def file_ref(change: Change) -> FileRef:
    path, to, diff = change.path, change.kind.move_path, diff_of(change)
    match change.kind.type:
        case "add":
            return FileRef(path, "write", diff=diff)
        case "delete":
            return FileRef(path, "delete", diff=diff)
    return FileRef(path, "move", to, diff) if to else FileRef(path, "patch", diff=diff)


def overwritten(change: Change, turn: TurnDiff) -> FileRef | None:
    """A file that was written as a whole, with its old content from the turn's diff; None if that does not
    fit.
    """
    try:
        before = turn.before(change.path, change.diff)
    except DoesNotFit:
        return None
    return FileRef(
        change.path, "write", diff=diff_of_texts(Names(change.path, change.path), before, change.diff)
    )


def diff_of(change: Change) -> str | None:
    """A unified diff. Codex sends the bare content of files that it adds or deletes, otherwise hunks without
    names.
    """
    names = Names(change.path, change.kind.move_path or change.path)
    match change.kind.type:
        case "add":
            return diff_of_texts(names, None, change.diff)
        case "delete":
            return diff_of_texts(names, change.diff, None)
    hunks = change.diff
    if change.kind.move_path:
        hunks = hunks.removesuffix(f"\n\nMoved to: {change.kind.move_path}")
    return names.heads() + hunks + ("" if hunks.endswith("\n") else "\n") if hunks else None
