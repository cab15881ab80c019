"""What `.gitignore` files leave out of a walk: each counts for its own folder and below, the deeper one last."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from .reading import PIECE_BYTES
from .roots import Roots
from .tree import Found

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Ignoring:
    """Asked for every entry of a walk, in its order: a folder before what is in it."""

    def __init__(self, roots: Roots, folder: int) -> None:
        self._roots = roots
        self._specs: list[tuple[str, GitIgnoreSpec]] = []
        """Of the folders on the way to where the walk is, by their path with a slash at its end."""
        self._enter("", folder)
        self._at = ""

    def skips(self, found: Found) -> bool:
        """Whether this entry is left out. git's own folder always is."""
        if found.name == ".git":
            return True
        parent = found.path[: -len(found.name)]
        if parent != self._at:
            self._at = parent
            self._specs = [one for one in self._specs if parent.startswith(one[0])]
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

    try:
        return GitIgnoreSpec.from_lines(text.decode(errors="replace").splitlines())
    except ValueError:
        return None  # not a pattern that anybody could mean


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
