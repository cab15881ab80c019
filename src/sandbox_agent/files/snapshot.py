"""The state of a folder when a session started, and what has changed since.

The snapshot is a tree in a private repository (`git.py`). The content of each file is an object there, or in the folder's own
repository. Large files are not stored: only their size and tag are known.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from .entries import etag
from .git import Git, GitFailed, Repository, repository_of, split

MAX_FILE_BYTES = 4 << 20
"""Of a larger file, only the size is recorded."""
MAX_BYTES = 128 << 20
"""The limit on everything to be stored."""
MAX_FILES = 50_000
MAX_DIFF_BYTES = 256 << 10
MAX_DIFFS_BYTES = 8 << 20

NOTHING = "0" * 40
LINK, GITLINK = "120000", "160000"
ABSENT = '"absent"'
"""The tag of a missing file."""

Status = Literal["added", "modified", "deleted"]


class Large(Struct, frozen=True):
    size: int
    etag: str


class Base(Struct, frozen=True):
    """What is stored of the initial state."""

    directory: str
    tree: str
    commit: str | None
    large: dict[str, Large]


class Version(Struct, frozen=True):
    """The state of a file at one time."""

    mode: str
    blob: str

    @property
    def exists(self) -> bool:
        return self.mode != "000000"

    @property
    def kind(self) -> str:
        """A file, a link, or a nested repository."""
        return self.mode[:3]


NO_VERSION = Version("000000", NOTHING)


class Change(Struct, frozen=True):
    path: str
    status: Status
    old: Version
    new: Version
    additions: int | None = None
    """None if it is binary or too large."""
    deletions: int | None = None
    diff: str | None = None


class Now(NamedTuple):
    """The state of the folder at one moment."""

    tree: str
    large: dict[str, Large]
    git: Git
    """Can read the tree while it is open."""


class Snapshot:
    """Stored in its own folder; removing that folder removes all of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._base: Base | None = None

    # -- the beginning ------------------------------------------------------------------------

    def take(self, directory: str, private: Iterable[str] = ()) -> None:
        """Record the state of a folder in a repository, or why that failed. `private` is never read."""
        repository = repository_of(directory)
        if repository is None:
            return
        try:
            self._take(directory, repository, private)
        except (OSError, ValueError, GitFailed) as error:
            self.remove()
            with contextlib.suppress(OSError):
                self.folder.mkdir(parents=True, mode=0o700)
                (self.folder / "notice").write_text(f"no snapshot was taken: {error}")

    def _take(self, directory: str, repository: Repository, private: Iterable[str]) -> None:
        self.folder.mkdir(parents=True, mode=0o700)
        folder, git = Path(directory).resolve(), Git(self.folder, directory)
        inside = [Path(path) for path in private if Path(path).is_relative_to(folder)]
        git.create(
            repository.objects, repository.exclude, [path.relative_to(folder).as_posix() for path in inside]
        )
        commit = repository.head()
        if not (repository.top == folder and self._copied(git, repository.index)):
            self._read_commit(git, commit, folder.relative_to(repository.top))
        now = _look(git, directory)
        write_whole(self.folder / "base.json", Base(directory, now.tree, commit, now.large))

    def _copied(self, git: Git, index: Path) -> bool:
        """Start from the folder's own index, so that only changed files are read."""
        try:
            if index.stat().st_size > MAX_BYTES:
                return False
            shutil.copy2(index, self.folder / "index")
            is_merged = not git.run("ls-files", "-z", "--unmerged")
        except (OSError, GitFailed):  # there is none, or it is a split index
            is_merged = False
        if not is_merged:
            (self.folder / "index").unlink(missing_ok=True)
        return is_merged

    def _read_commit(self, git: Git, commit: str | None, inside: Path) -> None:
        if commit is None or not re.fullmatch(r"[0-9a-f]{40}", commit):
            return
        # If the commit does not contain the folder, everything is new.
        with contextlib.suppress(GitFailed):
            git.run("read-tree", commit if str(inside) == "." else f"{commit}:{inside.as_posix()}")
        with contextlib.suppress(GitFailed):
            git.run("update-index", "-q", "--refresh")

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- since then ---------------------------------------------------------------------------

    @property
    def exists(self) -> bool:
        return (self.folder / "base.json").is_file()

    @property
    def notice(self) -> str | None:
        """Why there is no snapshot, if there should be one."""
        try:
            return (self.folder / "notice").read_text()
        except OSError:
            return None

    @property
    def base(self) -> Base:
        if self._base is None:
            self._base = msgspec.json.decode((self.folder / "base.json").read_bytes(), type=Base)
        return self._base

    def git(self) -> Git:
        return Git(self.folder, self.base.directory)

    @contextlib.contextmanager
    def looking(self, *, keep: bool = False) -> Iterator[Now]:
        """The current state of the folder. With `keep`, its content is stored permanently, so that it can be restored."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="now-") as name:
            scratch = Path(name)
            (scratch / "objects").mkdir()
            with contextlib.suppress(FileNotFoundError):
                shutil.copy2(self.folder / "index", scratch / "index")
            yield _look(Git(self.folder, self.base.directory, scratch, keep=keep), self.base.directory)

    def changes(self, now: Now, *, diffs: bool) -> list[Change]:
        """Every changed file, sorted by path."""
        compared = ["diff-tree", "-r", "-z", "--no-renames", self.base.tree, now.tree]
        listed = list(_raw(now.git.run(*compared, "--raw", "--no-abbrev"), self.base.large))
        counts = _counts(now.git.run(*compared, "--numstat"))
        texts = self._diffs(now, listed) if diffs else {}
        changes = [
            msgspec.structs.replace(
                change,
                additions=counts[change.path][0],
                deletions=counts[change.path][1],
                diff=texts.get(change.path) if counts[change.path][0] is not None else None,
            )
            for change in listed
        ]
        paths = {change.path for change in changes}
        large = [change for change in self._too_large(now) if change.path not in paths]
        return sorted([*changes, *large], key=lambda change: os.fsencode(change.path))

    def _diffs(self, now: Now, changes: list[Change]) -> dict[str, str]:
        """The patch of each file, except those that are too long; none if the total is too long."""
        flags = ("--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--no-renames")
        try:
            output = now.git.run("diff-tree", "-r", "-p", *flags, self.base.tree, now.tree)
        except GitFailed:
            return {}
        patches = deque(re.split(rb"^(?=diff --git )", output, flags=re.MULTILINE)[1:])
        found: dict[str, str] = {}
        total = 0
        for change in changes:
            # A file that became a link, or the reverse, is removed by one patch and created by the next.
            count = 2 if change.old.exists and change.new.exists and change.old.kind != change.new.kind else 1
            patch = b"".join(patches.popleft() for _ in range(min(count, len(patches))))
            total += len(patch)
            if len(patch) <= MAX_DIFF_BYTES and total <= MAX_DIFFS_BYTES:
                found[change.path] = patch.decode(errors="replace")
        return found

    def _too_large(self, now: Now) -> Iterator[Change]:
        """Files that are, or were, too large to be stored."""
        before = self.base.large
        stored = self.versions(self.base.tree) if before or now.large else {}
        for path in {**before, **now.large}:
            if before.get(path) == now.large.get(path):
                continue
            was_there = path in before or path in stored
            status: Status = "deleted" if path not in now.large else "modified" if was_there else "added"
            yield Change(path, status, stored.get(path, NO_VERSION), NO_VERSION)

    def versions(self, tree: str, git: Git | None = None) -> dict[str, Version]:
        """The state of every file in a tree."""
        found = {}
        for line in split((git or self.git()).run("ls-tree", "-r", "-z", "--full-tree", tree)):
            facts, path = line.split("\t", 1)
            mode, _, blob = facts.split(" ")
            found[path] = Version(mode, blob)
        return found


def _look(git: Git, directory: str) -> Now:
    """Update git's index to the folder, except for large files, and write it as a tree."""
    changed = split(git.run("ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard"))
    gone: list[str] = []
    stored: list[str] = []
    large: dict[str, Large] = {}
    total = 0
    for path in dict.fromkeys(changed):
        status = _status(directory, path)
        if status is None:
            gone.append(path)
        elif stat.S_ISREG(status.st_mode) and status.st_size > MAX_FILE_BYTES:
            large[path] = Large(status.st_size, etag(status))
        elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
            stored.append(path)
            total += status.st_size
    if total > MAX_BYTES or len(stored) > MAX_FILES:
        raise GitFailed(f"{len(stored)} files with {total} bytes are too many to be stored")
    for flags, paths in ((("--force-remove",), gone), (("--add", "--remove", "--replace"), stored)):
        given = b"".join(os.fsencode(path) + b"\0" for path in paths)
        if given:
            git.run("update-index", *flags, "-z", "--stdin", given=given)
    return Now(git.text("write-tree", "--missing-ok"), large, git)


def _status(directory: str, path: str) -> os.stat_result | None:
    """The state of what is at a path; None if nothing is, or if the path leads through a link."""
    folder = os.path.dirname(path)
    if folder and os.path.realpath(f"{directory}/{folder}") != f"{os.path.realpath(directory)}/{folder}":
        return None
    try:
        return os.stat(os.path.join(directory, path), follow_symlinks=False)
    except OSError:
        return None


def _raw(output: bytes, large: dict[str, Large]) -> Iterator[Change]:
    parts = iter(split(output))
    for facts in parts:
        old_mode, new_mode, old, new, letter = facts.removeprefix(":").split(" ")
        status: Status = "added" if letter == "A" else "deleted" if letter == "D" else "modified"
        path = next(parts)
        if path in large and status == "added":
            status = "modified"  # it existed, but was too large to be stored
        yield Change(path, status, Version(old_mode, old), Version(new_mode, new))


def _counts(output: bytes) -> dict[str, tuple[int | None, int | None]]:
    found: dict[str, tuple[int | None, int | None]] = {}
    for line in split(output):
        added, deleted, path = line.split("\t", 2)
        found[path] = (None, None) if added == "-" else (int(added), int(deleted))
    return found


def write_whole(path: Path, value: object) -> None:
    """Write atomically and durably."""
    partial = path.with_name(f".{path.name}")
    with partial.open("wb") as file:
        file.write(msgspec.json.encode(value))
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
