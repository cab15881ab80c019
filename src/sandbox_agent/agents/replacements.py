"""Changes that an agent asks for as text: a piece of a file and what replaces it, or all of a file."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ..schema.world import FileState
from .diffs import Names, diff_of_texts, text_of


class Replacement(Struct, frozen=True):
    path: str
    old: str | None
    """The piece to replace. None replaces the whole file."""
    new: str
    everywhere: bool = False
    """Every occurrence, not only the first."""


def diff_of_replacements(names: Names, before: FileState | None, wanted: Sequence[Replacement]) -> str:
    """The diff of one file. If the file cannot be read or the pieces are not in it, only the pieces are compared."""
    return _diff_of_file(names, before, wanted) or "".join(_diff_of_piece(names, each) for each in wanted)


def _diff_of_file(names: Names, before: FileState | None, wanted: Sequence[Replacement]) -> str | None:
    if before is None:
        return None
    try:
        old = new = text_of(before)
    except UnicodeDecodeError:
        return None
    for replacement in wanted:
        if replacement.old is None or not (replacement.old or new):
            new = replacement.new
        elif replacement.old and replacement.old in (new or ""):
            count = -1 if replacement.everywhere else 1
            new = (new or "").replace(replacement.old, replacement.new, count)
        else:
            return None
    return diff_of_texts(names, old, new, (before.is_executable, before.is_executable))


def _diff_of_piece(names: Names, wanted: Replacement) -> str:
    if wanted.old is None:
        return ""  # it is not known what was there before
    return diff_of_texts(names, _as_lines(wanted.old), _as_lines(wanted.new)) or ""


def _as_lines(text: str) -> str:
    """A piece rarely ends with its line, and the file goes on after it."""
    return text if not text or text.endswith("\n") else f"{text}\n"
