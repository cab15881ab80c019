"""Unified diffs that `patch -p1` applies: made from a file before and after, and read from what agents send.

Lines end only at `\n`, so a `\r` is part of its line. Git's extended headers are used where a plain diff is
not enough: a file that is renamed, made executable, or is empty and created or deleted.
"""

from __future__ import annotations

import difflib
import itertools
import posixpath
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from ..schema.world import FileState

CONTEXT = 3
MAX_COMPARED = 1_000_000
"""The limit for comparing line by line: old lines times new lines. Above it, all lines from the first to the
last change are replaced as a whole. Such a diff is longer than necessary, but correct.
"""
_NOTHING = "/dev/null"
_NO_NEWLINE = "\\ No newline at end of file\n"


class DoesNotFit(ValueError):
    """A diff that cannot be applied to this text."""


def changed_lines(diff: str) -> tuple[int, int]:
    """How many lines a diff adds and deletes."""
    signs = [line[:1] for file in read_diffs(diff) for hunk in file.hunks for line in hunk.lines]
    return signs.count("+"), signs.count("-")


class Hunk(Struct, frozen=True):
    """Lines with their leading ` `, `-` or `+`, and their position."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        old = _range(self.old_start, self.old_lines)
        new = _range(self.new_start, self.new_lines)
        return f"@@ -{old} +{new} @@\n" + "".join(f"{line}\n" for line in self.lines)

    @property
    def sides(self) -> tuple[str, str]:
        """Its lines before and after, with their context."""
        lines = list(_file_lines(self))
        old = "".join(line for sign, line in lines if sign != "+")
        return old, "".join(line for sign, line in lines if sign != "-")


class Names(Struct, frozen=True):
    """The names of a file before and after, as in diff headers."""

    old: str
    new: str

    @property
    def git(self) -> str:
        return f"diff --git {_quoted(self.old, ' ')} {_quoted(self.new, ' ')}\n"

    def heads(self, *, created: bool = False, deleted: bool = False) -> str:
        old, new = (_NOTHING if created else self.old), (_NOTHING if deleted else self.new)
        return f"--- {_named(old)}\n+++ {_named(new)}\n"


def names_in(directory: str, path: str, to: str | None = None) -> Names:
    """`a/` and `b/` and the path below the directory; a path outside of it is unchanged."""
    return Names(_name("a/", directory, path), _name("b/", directory, to or path))


# -- a file before and after ------------------------------------------------------------------


def diff_of_files(names: Names, before: FileState, after: FileState, context: int = CONTEXT) -> str | None:
    """The change from one state of a file to another. None if nothing changed, or if it is not text."""
    try:
        old, new = text_of(before), text_of(after)
    except UnicodeDecodeError:
        return None
    executable = (before.is_executable, after.is_executable)
    return diff_of_texts(names, old, new, executable, context)


def diff_of_texts(
    names: Names,
    old: str | None,
    new: str | None,
    executable: tuple[bool, bool] = (False, False),
    context: int = CONTEXT,
) -> str | None:
    """The change from one text to another, where None is a file that does not exist. None if nothing changed."""
    body = "".join(hunk.text for hunk in _hunks(old or "", new or "", context))
    created, deleted = old is None and new is not None, new is None and old is not None
    head = _extended(names, created, deleted, bool(body), executable)
    if not head and not body:
        return None
    return head + (names.heads(created=created, deleted=deleted) if body else "") + body


def text_of(state: FileState) -> str | None:
    """None for a file that does not exist; UnicodeDecodeError for one that is not text."""
    if state.data is None:
        return None
    if b"\0" in state.data:
        raise UnicodeDecodeError("utf-8", state.data, 0, 1, "not text")
    return state.data.decode()


def _extended(
    names: Names, created: bool, deleted: bool, has_body: bool, executable: tuple[bool, bool]
) -> str:
    old_mode, new_mode = ("100755" if flag else "100644" for flag in executable)
    if created:
        return "" if has_body and not executable[1] else f"{names.git}new file mode {new_mode}\n"
    if deleted:
        return "" if has_body else f"{names.git}deleted file mode {old_mode}\n"
    headers = ""
    if executable[0] != executable[1]:
        headers += f"old mode {old_mode}\nnew mode {new_mode}\n"
    if (moved := names.old.removeprefix("a/")) != (to := names.new.removeprefix("b/")):
        headers += f"rename from {_quoted(moved)}\nrename to {_quoted(to)}\n"
    return names.git + headers if headers else ""


def _hunks(old: str, new: str, context: int) -> Iterator[Hunk]:
    """The differences, compared only between the first and the last changed line, with lines of context."""
    a, b = _lines(old), _lines(new)
    shortest = min(len(a), len(b))
    start = next((n for n in range(shortest) if a[n] != b[n]), shortest)
    if start == len(a) == len(b):
        return
    end = next((n for n in range(shortest - start) if a[-1 - n] != b[-1 - n]), shortest - start)
    first = max(start - context, 0)
    last = max(end - context, 0)
    a, b = a[first : len(a) - last], b[first : len(b) - last]
    before, behind = start - first, end - last
    matcher = difflib.SequenceMatcher(None, a, b)
    if (len(a) - before - behind) * (len(b) - before - behind) > MAX_COMPARED:
        whole = [
            ("equal", 0, before, 0, before),
            ("replace", before, len(a) - behind, before, len(b) - behind),
            ("equal", len(a) - behind, len(a), len(b) - behind, len(b)),
        ]
        yield _hunk(whole, a, b, first)
        return
    for group in matcher.get_grouped_opcodes(context):
        yield _hunk(group, a, b, first)


def _hunk(group: list[tuple[str, int, int, int, int]], a: list[str], b: list[str], first: int) -> Hunk:
    lines: list[str] = []
    for tag, a_from, a_to, b_from, b_to in group:
        if tag == "equal":
            lines += _signed(" ", a[a_from:a_to])
        else:
            lines += _signed("-", a[a_from:a_to])
            lines += _signed("+", b[b_from:b_to])
    old_lines, new_lines = group[-1][2] - group[0][1], group[-1][4] - group[0][3]
    return Hunk(
        group[0][1] + first + (old_lines > 0),
        old_lines,
        group[0][3] + first + (new_lines > 0),
        new_lines,
        tuple(lines),
    )


def _signed(sign: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield _NO_NEWLINE[:-1]


# -- diffs from agents ------------------------------------------------------------------------


class ParsedDiff(Struct, frozen=True):
    """A parsed diff of one file."""

    old: str | None
    new: str | None
    """The names in its headers, if any."""
    hunks: tuple[Hunk, ...]
    created: bool = False
    deleted: bool = False

    @property
    def paths(self) -> tuple[str, str] | None:
        """The paths before and after, without the `a/` and `b/` prefixes."""
        old, new = (self.new if self.created else self.old), (self.old if self.deleted else self.new)
        return (_LETTER.sub("", old), _LETTER.sub("", new)) if old and new else None

    @property
    def context(self) -> int:
        """How many unchanged lines it shows around a change: at least one, and at most as many as we do."""
        ends = [lines for hunk in self.hunks for lines in (hunk.lines, hunk.lines[::-1])]
        shown = (sum(1 for _ in itertools.takewhile(lambda line: line[:1] == " ", end)) for end in ends)
        return min(max(shown, default=0) or 1, CONTEXT)

    def written(self, names: Names) -> str | None:
        """The same change under our names."""
        body = "".join(hunk.text for hunk in self.hunks)
        head = _extended(names, self.created, self.deleted, bool(body), (False, False))
        if not head and not body:
            return None
        return head + (names.heads(created=self.created, deleted=self.deleted) if body else "") + body

    def after(self, before: str | None) -> str | None:
        """The file after applying the diff; raises DoesNotFit."""
        return self._applied(before, "-", "+", self.created, self.deleted)

    def before(self, after: str | None) -> str | None:
        """The file before the diff was applied; raises DoesNotFit."""
        return self._applied(after, "+", "-", self.deleted, self.created)

    def _applied(self, text: str | None, gone: str, come: str, begins: bool, ends: bool) -> str | None:
        if begins and text is not None:
            raise DoesNotFit
        lines = _lines(text or "")
        made: list[str] = []
        done = 0
        # Some agents leave carriage returns out of their diffs, and put them back into the file.
        loose = not any("\r" in line for hunk in self.hunks for line in hunk.lines)
        crlf = loose and sum(line.endswith("\r\n") for line in lines) * 2 > len(lines)
        for hunk in self.hunks:
            old_lines = [(sign, line) for sign, line in _file_lines(hunk) if sign != come]
            at = _place(lines, [line for _, line in old_lines], hunk, gone, done, loose)
            made += lines[done:at]
            for sign, line in _file_lines(hunk):
                if sign == come:
                    made.append(_with_cr(line) if crlf else line)
                else:
                    if sign == " ":
                        made.append(lines[at])
                    at += 1
            done = at
        whole = "".join(made + lines[done:])
        if ends and whole:
            raise DoesNotFit
        return None if ends else whole


def read_diffs(text: str) -> list[ParsedDiff]:
    """The diffs in a text, one per file; hunks without a header belong to a file without a name."""
    files: list[ParsedDiff] = []
    old = new = alone = None
    created = deleted = False
    hunks: list[Hunk] = []
    lines = text.split("\n")
    at = 0

    def finish() -> None:
        nonlocal old, new, alone, created, deleted, hunks
        if hunks or created or deleted or old:
            names = old or alone, new or alone
            files.append(
                ParsedDiff(*names, tuple(hunks), created or old == _NOTHING, deleted or new == _NOTHING)
            )
        old, new, alone, created, deleted, hunks = None, None, None, False, False, []

    while at < len(lines):
        line = lines[at]
        if match := _HUNK.match(line):
            hunk, at = _read_hunk(match, lines, at + 1)
            hunks.append(hunk)
            continue
        if line.startswith(("diff --git ", "Index: ")) or (line.startswith("--- ") and (hunks or old)):
            finish()
        if line.startswith("diff --git "):
            alone = _only_name(line.removeprefix("diff --git ").rstrip("\r"))
        elif line.startswith("--- "):
            old = _read_name(line[4:])
        elif line.startswith("+++ "):
            new = _read_name(line[4:])
        created = created or line.startswith("new file mode ")
        deleted = deleted or line.startswith("deleted file mode ")
        at += 1
    finish()
    return files


_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def _read_hunk(match: re.Match[str], lines: list[str], at: int) -> tuple[Hunk, int]:
    old_start, new_start = int(match[1]), int(match[3])
    old_lines, new_lines = int(match[2] or 1), int(match[4] or 1)
    taken: list[str] = []
    old, new = old_lines, new_lines
    while at < len(lines) and (old > 0 or new > 0 or lines[at].startswith("\\")):
        line = lines[at] or " "
        if line[0] not in " +-\\":
            break
        old -= line[0] in " -"
        new -= line[0] in " +"
        taken.append(line)
        at += 1
    return Hunk(old_start, old_lines - max(old, 0), new_start, new_lines - max(new, 0), tuple(taken)), at


def _file_lines(hunk: Hunk) -> Iterator[tuple[str, str]]:
    """The lines of a hunk as they are in the file, each with its sign."""
    for n, line in enumerate(hunk.lines):
        if not line.startswith("\\"):
            cut = n + 1 < len(hunk.lines) and hunk.lines[n + 1].startswith("\\")
            yield line[:1], line[1:] + ("" if cut else "\n")


def _place(lines: list[str], old_lines: list[str], hunk: Hunk, gone: str, least: int, loose: bool) -> int:
    """The position of a hunk's lines: the stated one or, if they occur exactly once, their actual one."""
    if loose:
        lines, old_lines = [_bare(line) for line in lines], [_bare(line) for line in old_lines]
    start, count = (hunk.old_start, hunk.old_lines) if gone == "-" else (hunk.new_start, hunk.new_lines)
    at = start - 1 if count else start
    if least <= at <= len(lines) and lines[at : at + len(old_lines)] == old_lines:
        return at
    others = [
        n
        for n in range(least, len(lines) - len(old_lines) + 1)
        if old_lines and lines[n] == old_lines[0] and lines[n : n + len(old_lines)] == old_lines
    ]
    if len(others) != 1:
        raise DoesNotFit
    return others[0]


def same_lines(text: str | None, other: str | None) -> bool:
    """Whether two texts are equal except for line endings and the final newline. A missing file equals an
    empty one.
    """
    return [_bare(line) for line in _lines(text or "")] == [_bare(line) for line in _lines(other or "")]


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _with_cr(line: str) -> str:
    return line if line.endswith("\r\n") or not line.endswith("\n") else f"{line[:-1]}\r\n"


# -- names and lines --------------------------------------------------------------------------


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"


def _name(prefix: str, directory: str, path: str) -> str:
    whole = posixpath.normpath(posixpath.join(directory, path))
    base = posixpath.normpath(directory).rstrip("/") + "/" if directory else ""
    if base and whole.startswith(base):
        return prefix + whole[len(base) :]
    return whole if whole.startswith("/") else prefix + whole


def _named(name: str) -> str:
    """As in a header: a tab marks the end of a name with spaces."""
    quoted = _quoted(name)
    return f"{quoted}\t" if " " in name and quoted == name else quoted


def _quoted(name: str, more: str = "") -> str:
    """Quoted like Git: characters that would break the line, and those in `more`."""
    if not _UNSAFE.search(name) and not (more and more in name):
        return name
    return '"' + _UNSAFE.sub(lambda match: _ESCAPES.get(match[0]) or f"\\{ord(match[0]):03o}", name) + '"'


def _only_name(header: str) -> str | None:
    """The name of the one file in a Git header; an empty file has no other header. It may contain spaces."""
    half = len(header) // 2
    old, new = header[:half], header[half + 1 :]
    return old if header[half : half + 1] == " " and _LETTER.sub("", old) == _LETTER.sub("", new) else None


def _read_name(header: str) -> str:
    """A name without the time, or anything else after a tab."""
    return header.rstrip("\r").partition("\t")[0]


_LETTER = re.compile(r"\A[ab]/")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
