"""Unified diffs from what agents tell: old and new text, or hunks without headers."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from msgspec import Struct


class Hunk(Struct, frozen=True):
    """Lines with their leading ` `, `-` or `+`, and where they stand."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


def diff_of_texts(path: str, old: str | None, new: str | None) -> str:
    """The change from one text to another; None is a file that does not exist. Empty when nothing changed."""
    lines = difflib.unified_diff(
        (old or "").splitlines(keepends=True),
        (new or "").splitlines(keepends=True),
        *_names(path, created=old is None, deleted=new is None),
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def diff_of_hunks(path: str, hunks: Iterable[Hunk], *, created: bool = False) -> str:
    """The change that an agent tells as hunks. Empty when there are none."""
    body = "".join(_hunk_text(hunk) for hunk in hunks)
    if not body:
        return ""
    before, after = _names(path, created=created, deleted=False)
    return f"--- {before}\n+++ {after}\n{body}"


def diff_of_hunk_text(path: str, text: str, to: str | None = None) -> str:
    """The change that an agent tells as ready hunks without file names; `to` is where the file was moved."""
    if not text:
        return ""
    before, after = (
        _names(path, created=False, deleted=False)[0],
        _names(to or path, created=False, deleted=False)[1],
    )
    return f"--- {before}\n+++ {after}\n{text}" + ("" if text.endswith("\n") else "\n")


def _hunk_text(hunk: Hunk) -> str:
    head = f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@\n"
    return head + "".join(f"{line}\n" for line in hunk.lines)


def _names(path: str, *, created: bool, deleted: bool) -> tuple[str, str]:
    relative = path.lstrip("/")
    return ("/dev/null" if created else f"a/{relative}"), ("/dev/null" if deleted else f"b/{relative}")
