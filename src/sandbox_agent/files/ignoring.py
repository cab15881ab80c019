"""What `.gitignore` files exclude from a walk: each applies to its folder and below, and deeper ones win."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from .reading import PIECE_BYTES
from .roots import Roots
from .tree import Found

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Ignoring:
    """Call it for every entry of a walk, in order: a folder before its content."""

    def __init__(self, roots: Roots, folder: int) -> None:
        self._roots = roots
        self._specs: list[tuple[str, GitIgnoreSpec]] = []
        """The rules of the folders above the current entry, by path with a trailing slash."""
        self._enter("", folder)
        self._at = ""

    def skips(self, found: Found) -> bool:
        """Whether this entry is excluded. `.git` always is."""
        if found.name == ".git":
            return True
        parent = found.path[: -len(found.name)]
        if parent != self._at:
            self._at = parent
            self._specs = [spec for spec in self._specs if parent.startswith(spec[0])]
            if all(prefix != parent for prefix, _ in self._specs):
                self._enter(parent, found.folder)
        return self._is_ignored(found)

    def _is_ignored(self, found: Found) -> bool:
        path = found.path + ("/" if found.is_folder else "")
        for prefix, spec in reversed(self._specs):
            verdict = spec.check_file(path[len(prefix) :]).include
            if verdict is not None:
                return verdict
        return False

    def _enter(self, prefix: str, folder: int) -> None:
        spec = _spec_of(self._roots, folder)
        if spec is not None:
            self._specs.append((prefix, spec))


def _spec_of(roots: Roots, folder: int) -> GitIgnoreSpec | None:
    text = _read(lambda: roots.open_file_in(folder, ".gitignore"))
    if text is None:
        return None
    from pathspec import GitIgnoreSpec

    lines = text.decode(errors="replace").splitlines()
    if not _are_patterns(lines):
        # As in git, a line that makes no sense matches nothing, and the others count.
        lines = [line for line in lines if _are_patterns([line])]
    return GitIgnoreSpec.from_lines(lines)


def _are_patterns(lines: list[str]) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error):
        return False
    return True


def _read(opened: Callable[[], int]) -> bytes | None:
    from ..errors import SandboxAgentError

    try:
        file = opened()
    except (OSError, SandboxAgentError):
        return None
    try:
        return os.pread(file, PIECE_BYTES, 0)
    finally:
        os.close(file)
