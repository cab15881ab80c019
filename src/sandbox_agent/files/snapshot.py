"""How a folder was when a session began, and what has changed since.

The snapshot is a tree in a repository of our own (`git.py`). What a file held then is an object there, or in the folder's own
repository. Large files are not kept: of them only size and tag are known.
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

MOST_FILE_BYTES = 4 << 20
"""A larger file is told by its size only."""
MOST_BYTES = 128 << 20
"""Of all that has to be stored."""
MOST_FILES = 50_000
MOST_DIFF_BYTES = 256 << 10
MOST_DIFFS_BYTES = 8 << 20

NOTHING = "0" * 40
LINK, GITLINK = "120000", "160000"
ABSENT = '"absent"'
"""The tag of a file that is not there."""

Status = Literal["added", "modified", "deleted"]


class Large(Struct, frozen=True):
    size: int
    etag: str


class Base(Struct, frozen=True):
    """What is remembered of the beginning."""

    directory: str
    tree: str
    commit: str | None
    large: dict[str, Large]


class Version(Struct, frozen=True):
    """What a file was at one time."""

    mode: str
    blob: str

    @property
    def exists(self) -> bool:
        return self.mode != "000000"

    @property
    def kind(self) -> str:
        """A file, a link, or a repository of its own."""
        return self.mode[:3]


NO_VERSION = Version("000000", NOTHING)


class Change(Struct, frozen=True):
    path: str
    status: Status
    old: Version
    new: Version
    additions: int | None = None
    """None for what is not text, or too large."""
    deletions: int | None = None
    diff: str | None = None


class Now(NamedTuple):
    """The folder at one moment."""

    tree: str
    large: dict[str, Large]
    git: Git
    """Knows the tree, as long as it was looked at."""


class Snapshot:
    """Lives in a folder of its own; whoever removes that removes all of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._base: Base | None = None

    # -- the beginning ------------------------------------------------------------------------

    def take(self, directory: str, private: Iterable[str] = ()) -> None:
        """Remember how a folder in a repository is, or why that could not be done. `private` is never looked at."""
        repository = repository_of(directory)
        if repository is None:
            return
        try:
            self._take(directory, repository, private)
        except (OSError, ValueError, GitFailed) as error:
            self.remove()
            with contextlib.suppress(OSError):
                self.folder.mkdir(parents=True, mode=0o700)
                (self.folder / "notice").write_text(f"the folder was not remembered: {error}")

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
        """Begin with what the folder's own index knows: only what has changed since is read."""
        try:
            if index.stat().st_size > MOST_BYTES:
                return False
            shutil.copy2(index, self.folder / "index")
            is_merged = not git.run("ls-files", "-z", "--unmerged")
        except (OSError, GitFailed):  # none yet, or one that needs its other half
            is_merged = False
        if not is_merged:
            (self.folder / "index").unlink(missing_ok=True)
        return is_merged

    def _read_commit(self, git: Git, commit: str | None, inside: Path) -> None:
        if commit is None or not re.fullmatch(r"[0-9a-f]{40}", commit):
            return
        # A folder that the commit does not have is all new.
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
        """Why there is none, where there should be one."""
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
        """How the folder is at this moment. With `keep` what it holds is stored for good, so that it can be brought back."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="now-") as name:
            scratch = Path(name)
            (scratch / "objects").mkdir()
            with contextlib.suppress(FileNotFoundError):
                shutil.copy2(self.folder / "index", scratch / "index")
            yield _look(Git(self.folder, self.base.directory, scratch, keep=keep), self.base.directory)

    def changes(self, now: Now, *, diffs: bool) -> list[Change]:
        """Every file that is not as it was, in the order of their paths."""
        compared = ["diff-tree", "-r", "-z", "--no-renames", self.base.tree, now.tree]
        found = list(_raw(now.git.run(*compared, "--raw", "--no-abbrev"), self.base.large))
        counts = _counts(now.git.run(*compared, "--numstat"))
        texts = self._diffs(now, found) if diffs else {}
        told = [
            msgspec.structs.replace(
                one,
                additions=counts[one.path][0],
                deletions=counts[one.path][1],
                diff=texts.get(one.path) if counts[one.path][0] is not None else None,
            )
            for one in found
        ]
        known = {one.path for one in told}
        large = [one for one in self._too_large(now) if one.path not in known]
        return sorted([*told, *large], key=lambda one: os.fsencode(one.path))

    def _diffs(self, now: Now, changes: list[Change]) -> dict[str, str]:
        """The patch of each file, but for those that are too long; none where all of them together are."""
        flags = ("--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--no-renames")
        try:
            output = now.git.run("diff-tree", "-r", "-p", *flags, self.base.tree, now.tree)
        except GitFailed:
            return {}
        patches = deque(re.split(rb"^(?=diff --git )", output, flags=re.MULTILINE)[1:])
        found: dict[str, str] = {}
        total = 0
        for change in changes:
            # A file that has become a link, or the other way round, is removed by one patch and made by the next.
            count = 2 if change.old.exists and change.new.exists and change.old.kind != change.new.kind else 1
            patch = b"".join(patches.popleft() for _ in range(min(count, len(patches))))
            total += len(patch)
            if len(patch) <= MOST_DIFF_BYTES and total <= MOST_DIFFS_BYTES:
                found[change.path] = patch.decode(errors="replace")
        return found

    def _too_large(self, now: Now) -> Iterator[Change]:
        """Files that are, or were, too large to be kept."""
        before = self.base.large
        stored = self.versions(self.base.tree) if before or now.large else {}
        for path in {**before, **now.large}:
            if before.get(path) == now.large.get(path):
                continue
            was_there = path in before or path in stored
            status: Status = "deleted" if path not in now.large else "modified" if was_there else "added"
            yield Change(path, status, stored.get(path, NO_VERSION), NO_VERSION)

    def versions(self, tree: str, git: Git | None = None) -> dict[str, Version]:
        """What every file was in a tree."""
        found = {}
        for line in split((git or self.git()).run("ls-tree", "-r", "-z", "--full-tree", tree)):
            facts, path = line.split("\t", 1)
            mode, _, blob = facts.split(" ")
            found[path] = Version(mode, blob)
        return found


def _look(git: Git, directory: str) -> Now:
    """Bring git's index up to what the folder holds, but for large files, and give it as a tree."""
    changed = split(git.run("ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard"))
    gone: list[str] = []
    stored: list[str] = []
    large: dict[str, Large] = {}
    total = 0
    for path in dict.fromkeys(changed):
        status = _status(directory, path)
        if status is None:
            gone.append(path)
        elif stat.S_ISREG(status.st_mode) and status.st_size > MOST_FILE_BYTES:
            large[path] = Large(status.st_size, etag(status))
        elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
            stored.append(path)
            total += status.st_size
    if total > MOST_BYTES or len(stored) > MOST_FILES:
        raise GitFailed(f"{len(stored)} files with {total} bytes are too many to be kept")
    for flags, paths in ((("--force-remove",), gone), (("--add", "--remove", "--replace"), stored)):
        given = b"".join(os.fsencode(path) + b"\0" for path in paths)
        if given:
            git.run("update-index", *flags, "-z", "--stdin", given=given)
    return Now(git.text("write-tree", "--missing-ok"), large, git)


def _status(directory: str, path: str) -> os.stat_result | None:
    """Of what is at a path; None where nothing is, or where a link is on the way."""
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
            status = "modified"  # it was there, but too large to be kept
        yield Change(path, status, Version(old_mode, old), Version(new_mode, new))


def _counts(output: bytes) -> dict[str, tuple[int | None, int | None]]:
    found: dict[str, tuple[int | None, int | None]] = {}
    for line in split(output):
        added, deleted, path = line.split("\t", 2)
        found[path] = (None, None) if added == "-" else (int(added), int(deleted))
    return found


def write_whole(path: Path, value: object) -> None:
    """Whole or not at all, and durable."""
    partial = path.with_name(f".{path.name}")
    with partial.open("wb") as file:
        file.write(msgspec.json.encode(value))
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
