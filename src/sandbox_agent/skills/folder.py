"""A folder with skills: finds every `SKILL.md` below it, and copies the folders that have one.

The folder may come from anyone. A link is followed only to what is inside the folder, everything is a regular file or a folder, and
both the search and the copy are bounded.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .manifest import description_in, head_of, name_in
from .refusal import SourceRefused

FILE = "SKILL.md"
MAX_HEAD_BYTES = 64 << 10
MAX_SEARCHED = 20_000
"""Entries of folders looked at in one source."""
MAX_DEPTH = 16
MAX_COPIED_FILES = 5_000
MAX_COPIED_BYTES = 64 << 20
PIECE_BYTES = 1 << 20


class FoundSkill(NamedTuple):
    name: str
    description: str
    folder: str
    """Its real path."""


class Budget:
    """What one session may still copy, over all its sources."""

    def __init__(self) -> None:
        self._files = MAX_COPIED_FILES
        self._bytes = MAX_COPIED_BYTES

    def take_file(self) -> None:
        self._files -= 1
        if self._files < 0:
            raise SourceRefused(f"the skills have more than {MAX_COPIED_FILES} files")

    def take_bytes(self, count: int) -> None:
        self._bytes -= count
        if self._bytes < 0:
            raise SourceRefused(f"the skills exceed {MAX_COPIED_BYTES >> 20} MiB")


class SkillFolder:
    def __init__(self, path: str, subpath: str = "") -> None:
        """`subpath` must be inside. Links may lead anywhere below the path itself."""
        self._root = os.path.realpath(path)
        self._start = os.path.realpath(os.path.join(self._root, subpath))
        if not self._is_inside(self._start):
            raise SourceRefused(f"`{subpath}` is outside the source")
        if not os.path.isdir(self._start):
            raise SourceRefused(
                f"there is no directory `{subpath}` in it" if subpath else f"there is no directory {path}"
            )

    def find(self, name: str) -> list[FoundSkill]:
        """Every skill, sorted by path. `name` is the name of the source, for a skill that is the whole of it."""
        found = []
        for folder in self._skill_folders():
            fallback = name if folder == self._start else os.path.basename(folder)
            fields = head_of(self._read_head(os.path.join(folder, FILE)))
            if (own := name_in(fields, fallback)) is None:
                raise SourceRefused(f"`{self._shown(folder)}` is not a name for a skill")
            found.append(FoundSkill(own, description_in(fields), folder))
        return found

    def _skill_folders(self) -> Iterator[str]:
        waiting, seen, looked_at = [self._start], {self._start}, 0
        while waiting:
            folder = waiting.pop()
            below = []
            entries = _entries(folder)
            looked_at += len(entries)
            if looked_at > MAX_SEARCHED:
                raise SourceRefused(f"it has more than {MAX_SEARCHED} files: name a directory with `subpath`")
            if any(entry.name == FILE for entry in entries):
                yield folder  # with everything below it
                continue
            for entry in entries:
                real = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                if (
                    entry.name != ".git"
                    and real not in seen
                    and self._is_inside(real)
                    and os.path.isdir(real)
                ):
                    seen.add(real)
                    below.append(real)
            waiting += sorted(below, reverse=True)

    def _read_head(self, path: str) -> str:
        with open(self._open(path), "rb") as file:
            return file.read(MAX_HEAD_BYTES).decode(errors="replace")

    def copy(self, skill: FoundSkill, destination: Path, budget: Budget) -> None:
        self._copy_folder(skill.folder, destination, budget, MAX_DEPTH)

    def _copy_folder(self, folder: str, destination: Path, budget: Budget, depth: int) -> None:
        if not depth:
            raise SourceRefused(f"`{self._shown(folder)}` is too deep")
        budget.take_file()
        destination.mkdir(mode=0o700)
        for entry in _entries(folder):
            if entry.name == ".git":
                continue
            real = self._followed(entry.path)
            if os.path.isdir(real):
                self._copy_folder(real, destination / entry.name, budget, depth - 1)
            else:
                self._copy_file(entry.path, destination / entry.name, budget)

    def _copy_file(self, path: str, destination: Path, budget: Budget) -> None:
        budget.take_file()
        with open(self._open(path), "rb") as file:
            status = os.fstat(file.fileno())
            budget.take_bytes(status.st_size)
            mode = 0o700 if status.st_mode & stat.S_IXUSR else 0o600
            made = os.open(destination, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode)
            left = status.st_size  # a file that grows in the meantime is cut
            with open(made, "wb") as copy:
                while left and (piece := file.read(min(left, PIECE_BYTES))):
                    copy.write(piece)
                    left -= len(piece)

    def _open(self, path: str) -> int:
        """A descriptor of a regular file inside the source. A pipe or a device must not block, or be read."""
        try:
            fd = os.open(self._followed(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise SourceRefused(f"`{self._shown(path)}` cannot be read: {error.strerror}") from None
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise SourceRefused(f"`{self._shown(path)}` is not a regular file")
        return fd

    def _followed(self, path: str) -> str:
        real = os.path.realpath(path)
        if not self._is_inside(real):
            raise SourceRefused(f"`{self._shown(path)}` is a link that leaves the source")
        return real

    def _is_inside(self, real: str) -> bool:
        return real == self._root or real.startswith(self._root.rstrip("/") + "/")

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self._root)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise SourceRefused(f"`{os.path.basename(folder)}` cannot be read: {error.strerror}") from None
