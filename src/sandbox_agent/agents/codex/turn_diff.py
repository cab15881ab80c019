"""A turn's changes so far, which codex sends after each patch. Only they show the old content of an
overwritten file.

A patch that writes a whole file says "add", whether the file existed or not. If no approval is needed, codex
has written the file before we can read it. A patch that changes nothing is followed by no diff.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..diffs import ParsedDiff, read_diffs


class TurnDiff:
    def __init__(self) -> None:
        self._text = ""
        self._files: tuple[ParsedDiff, ...] = ()
        self._earlier: tuple[ParsedDiff, ...] = ()
        """As it was before the last patch."""

    def update(self, text: str) -> None:
        if text != self._text:  # codex repeats it
            self._text, self._earlier, self._files = text, self._files, tuple(read_diffs(text))

    def before(self, path: str, text: str) -> str | None:
        """A file's content before the last patch wrote this text, None if it did not exist; raises
        DoesNotFit.
        """
        now, earlier = _find(self._files, path), _find(self._earlier, path)
        at_first = now.before(text) if now else text
        return earlier.after(at_first) if earlier else at_first


def _find(files: Iterable[ParsedDiff], path: str) -> ParsedDiff | None:
    """The diff of this file. Its names are relative to a directory that codex does not name: the longest
    match is best.
    """
    matches = [(len(diff.paths[1]), diff) for diff in files if diff.paths and _is_below(path, diff.paths[1])]
    return max(matches, key=lambda match: match[0])[1] if matches else None


def _is_below(path: str, name: str) -> bool:
    return path == name or path.endswith(f"/{name}")
