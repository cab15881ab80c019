"""What a turn has changed so far, as codex tells it right after each patch: it alone says what was in a file that was written over.

A patch that writes a whole file says "add", whether there was one or not. Where nobody is asked, codex has written it before we can look.
After a patch that changes nothing comes no diff.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..diffs import Told, read_diffs


class TurnDiff:
    def __init__(self) -> None:
        self._text = ""
        self._files: tuple[Told, ...] = ()
        self._earlier: tuple[Told, ...] = ()
        """As it was before the last patch."""

    def update(self, text: str) -> None:
        if text != self._text:  # codex repeats it
            self._text, self._earlier, self._files = text, self._files, tuple(read_diffs(text))

    def before(self, path: str, text: str) -> str | None:
        """What was in a file before the last patch wrote this text into it, None where there was no file; raises DoesNotFit."""
        now, earlier = _find(self._files, path), _find(self._earlier, path)
        at_first = now.before(text) if now else text
        return earlier.after(at_first) if earlier else at_first


def _find(files: Iterable[Told], path: str) -> Told | None:
    """The diff of this file. Its names are relative to a folder that codex does not tell: the longest one fits best."""
    found = [(len(told.paths[1]), told) for told in files if told.paths and _is_below(path, told.paths[1])]
    return max(found, key=lambda one: one[0])[1] if found else None


def _is_below(path: str, name: str) -> bool:
    return path == name or path.endswith(f"/{name}")
