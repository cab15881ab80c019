"""The files that calls change: their state before and after, and the diff between the two.

We read a file when we learn which call will change it, and again when its result arrives. An agent that does
not ask may be faster than we are: if we read too late, the agent's own report fills the gap, or there is no
diff.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct, structs

from ...schema.items import ContentPart, FileRef
from ...schema.world import FileState, World
from ..diffs import (
    CONTEXT,
    DoesNotFit,
    Names,
    ParsedDiff,
    diff_of_files,
    names_in,
    read_diffs,
    same_lines,
    text_of,
)
from ..replacements import Replacement, diff_of_replacements

MAX_FILES = 32
"""How many files of one call we read."""
MAX_KEPT = 8 * 1024 * 1024
"""How many bytes of earlier file states we keep, for all open calls."""
MAX_CALLS = 256
"""For how many calls at once."""
MAX_STREAMED = 4096
"""How much of the streamed arguments we search for a path."""

_PATHS = ("file_path", "filePath", "notebook_path", "path")
_streamed_path = re.compile(rf'"(?:{"|".join(_PATHS)})"\s*:\s*("(?:[^"\\]|\\.)*")')
_patched_path = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\r?$", re.MULTILINE)


class _Change(Struct, frozen=True):
    path: str = ""


class _Arguments(Struct, frozen=True):
    """Where the arguments of tools that change files name them."""

    file_path: str | None = None
    filePath: str | None = None
    notebook_path: str | None = None
    path: str | None = None
    patchText: str | None = None
    patch: str | None = None
    changes: tuple[_Change, ...] = ()

    def paths(self) -> Iterator[str]:
        yield from (path for path in (self.file_path, self.filePath, self.notebook_path, self.path) if path)
        yield from _patched_path.findall(self.patchText or self.patch or "")
        yield from (change.path for change in self.changes if change.path)


_arguments = msgspec.json.Decoder(_Arguments)
_string = msgspec.json.Decoder(str)


class Changes:
    def __init__(self, world: World) -> None:
        self.directory = ""
        """The session's directory; paths in diffs are relative to it."""
        self._look = world.look
        self._seen: dict[str, dict[str, FileState]] = {}
        """Call key -> path -> the file before the call."""

    # -- before -------------------------------------------------------------------------------

    def expect(self, key: str, paths: Iterable[str]) -> None:
        """A call is about to change these files. The first state read for it counts."""
        seen = self._seen.setdefault(key, {})
        for path in paths:
            whole = self._whole(path)
            if whole not in seen and self._has_room(seen) and (state := self._look(whole)) is not None:
                seen[whole] = state
        if len(self._seen) > MAX_CALLS:
            del self._seen[next(iter(self._seen))]

    def _has_room(self, seen: dict[str, FileState]) -> bool:
        kept = sum(len(state.data or b"") for states in self._seen.values() for state in states.values())
        return len(seen) < MAX_FILES and kept < MAX_KEPT

    def expect_streamed(self, key: str, arguments: list[str]) -> None:
        """The beginning of the arguments: models name the file first, so we can read it early."""
        if key in self._seen or sum(map(len, arguments)) > MAX_STREAMED:
            return
        if match := _streamed_path.search("".join(arguments)):
            self.expect(key, [_string.decode(match[1].encode())])

    def expect_arguments(self, key: str, arguments: str) -> None:
        try:
            given = _arguments.decode(arguments)
        except (msgspec.MsgspecError, RecursionError):
            return
        self.expect(key, given.paths())

    def seen(self, key: str, path: str) -> FileState | None:
        """The state of a file read for a call; None if it was not read."""
        return self._seen.get(key, {}).get(self._whole(path))

    def discard(self, key: str, path: str) -> None:
        """The file was read too late: only the agent's own report counts."""
        self._seen.get(key, {}).pop(self._whole(path), None)

    def forget(self, key: str) -> None:
        self._seen.pop(key, None)

    # -- after --------------------------------------------------------------------------------

    def made(self, key: str, parts: Iterable[ContentPart]) -> Iterator[ContentPart]:
        """The parts of a result, with diffs that apply for changed files."""
        for part in parts:
            if isinstance(part, FileRef) and part.action != "read":
                yield structs.replace(part, diff=self._diff(key, part))
            else:
                yield part

    # -- asked for ----------------------------------------------------------------------------

    def wanted(self, key: str | None, replacements: Iterable[Replacement]) -> str | None:
        """The diff of what a permission request would change."""
        by_path: dict[str, list[Replacement]] = {}
        for replacement in replacements:
            by_path.setdefault(replacement.path, []).append(replacement)
        diffs = (
            diff_of_replacements(names_in(self.directory, path), self._before(key, self._whole(path)), wanted)
            for path, wanted in by_path.items()
        )
        return "".join(diffs) or None

    def shown(self, key: str | None, diff: str | None) -> str | None:
        """The diff shown in a permission request, under our names and, if it fits the file, complete enough
        to apply.
        """
        if not diff:
            return None
        written = []
        for proposed in read_diffs(diff):
            if proposed.paths is not None:
                names, whole = names_in(self.directory, *proposed.paths), self._whole(proposed.paths[0])
                written.append(
                    _proposed(proposed, self._before(key, whole), names) or proposed.written(names)
                )
        return "".join(each for each in written if each) or None

    def _before(self, key: str | None, whole: str) -> FileState | None:
        seen = self._seen.get(key, {}) if key else {}
        return seen.get(whole) or self._look(whole)

    def _diff(self, key: str, change: FileRef) -> str | None:
        path, to = self._whole(change.path), self._whole(change.to or change.path)
        names = names_in(self.directory, change.path, change.to)
        reported = next(iter(read_diffs(change.diff)), None) if change.diff else None
        after = self._look(to)
        if after is None:
            return reported.written(names) if reported else None
        before = self._seen.get(key, {}).get(path)
        others = [seen for other, seen in self._seen.items() if other != key and path in seen]
        try:
            before, after, context = _settled(reported, before, after, bool(others))
        except UnicodeDecodeError:
            return None  # not text
        for seen in others:
            seen[path] = after  # they come next, and this is the state they find
        diff = diff_of_files(names, before, after, context) if before is not None else None
        # The file was read too late, and other calls have changed the lines around this change since.
        return diff or (reported.written(names) if reported and b"\r" not in (after.data or b"") else None)

    def _whole(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self.directory, path))


def _settled(
    reported: ParsedDiff | None, before: FileState | None, after: FileState, concurrent: bool
) -> tuple[FileState | None, FileState, int]:
    """The states before and after a change, from what we read and what the agent reported, and how many lines
    around the change are certain.

    `concurrent`: other calls are changing the same file. They may have done so before we read it, even if we
    have not heard of them yet: then the file also differs in other places.
    """
    if reported is None:
        return before, after, CONTEXT
    was = _before(reported, after)
    if before is not None:
        try:
            made = reported.after(text_of(before))
        except DoesNotFit:
            pass
        else:
            if same_lines(made, text_of(after)):
                return before, after, CONTEXT
            is_late = same_lines(text_of(before), text_of(after))
            if concurrent or (was is not None and not is_late):
                return before, _state(made, after), CONTEXT
        if reported.created and before.data and not (after.data or b"").startswith(before.data):
            return before, after, CONTEXT  # the file existed: the agent only says that it wrote all of it
    if was is None or (before is not None and same_lines(text_of(was), text_of(before))):
        return before, after, CONTEXT
    if was.data is not None and before is not None:
        was = structs.replace(was, is_executable=before.is_executable)
    return was, after, reported.context


def _before(reported: ParsedDiff, after: FileState) -> FileState | None:
    """The state before a change, according to the report alone; None if it does not fit the file."""
    try:
        return _state(reported.before(text_of(after)), after)
    except DoesNotFit:
        return None


def _state(text: str | None, like: FileState) -> FileState:
    return FileState() if text is None else FileState(text.encode(), like.is_executable)


def _proposed(proposed: ParsedDiff, before: FileState | None, names: Names) -> str | None:
    if before is None:
        return None
    try:
        after = _state(proposed.after(text_of(before)), before)
    except (DoesNotFit, UnicodeDecodeError):
        return None
    return diff_of_files(names, before, after)
