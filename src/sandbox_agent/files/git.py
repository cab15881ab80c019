"""Runs git on a private repository whose work tree is the user's folder.

The folder's own repository is never opened: its configuration, hooks and indexes are not read, and its objects are used only as
alternates. Its `.gitattributes` are overridden. So nothing in the folder can start a program.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

SECONDS = 10.0
"""The time limit of one operation, over all its git commands."""
MAX_OUTPUT_BYTES = 32 << 20
MAX_READ_BYTES = 4 << 20

_CONFIG = """\
[core]
	repositoryformatversion = 0
	bare = false
	fsmonitor = false
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = /dev/null
	untrackedCache = false
	autocrlf = false
	symlinks = true
	quotePath = false
	bigFileThreshold = 4m
[gc]
	auto = 0
[diff]
	external =
"""
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -eol !diff -merge -crlf\n"
"""For every file: its bytes are stored and compared unchanged."""


class GitFailed(Exception):
    """git failed: it is missing, took too long, or could not read the repository."""


class Git:
    """A minimal repository in `folder` whose work tree is another folder."""

    def __init__(
        self, folder: Path, work_tree: str, scratch: Path | None = None, *, keep: bool = True
    ) -> None:
        """With `scratch`, the index is in that folder; objects are kept in the repository, or removed with the scratch folder."""
        self.folder = folder
        self._work_tree = work_tree
        self._index = (scratch or folder) / "index"
        self._objects = folder / "objects" if scratch is None or keep else scratch / "objects"
        self._deadline = time.monotonic() + SECONDS

    def create(self, objects: Path, exclude: Path, left_out: Iterable[str]) -> None:
        """Create the repository. It reuses the objects in `objects`, and never sees excluded paths."""
        for made in ("objects/info", "refs/heads", "info"):
            (self.folder / made).mkdir(parents=True, mode=0o700)
        (self.folder / "HEAD").write_text("ref: refs/heads/none\n")
        (self.folder / "config").write_text(_CONFIG)
        (self.folder / "info" / "attributes").write_text(_ATTRIBUTES)
        (self.folder / "objects" / "info" / "alternates").write_text(f"{objects}\n")
        patterns = read_small(exclude) or ""
        escaped = (re.sub(r"([\\*?\[\]!# ])", r"\\\1", path) for path in left_out)
        (self.folder / "info" / "exclude").write_text(
            "\n".join([patterns, *(f"/{path}" for path in escaped), ""])
        )

    def run(self, *words: str, given: bytes = b"") -> bytes:
        """The output of a command."""
        with tempfile.TemporaryFile(dir=self.folder) as output:
            self.write(output.fileno(), *words, given=given)
            if output.seek(0, os.SEEK_END) > MAX_OUTPUT_BYTES:
                raise GitFailed(f"`git {words[0]}` printed more than {MAX_OUTPUT_BYTES} bytes")
            output.seek(0)
            return output.read()

    def write(self, output: int, *words: str, given: bytes = b"") -> None:
        """Write the output of a command to an open file."""
        program = shutil.which("git")
        if program is None:
            raise GitFailed("git is not installed")
        try:
            done = subprocess.run(
                [program, *words],
                cwd=self._work_tree,
                env=self._environment(),
                input=given,
                stdout=output,
                stderr=subprocess.PIPE,
                timeout=max(0.1, self._deadline - time.monotonic()),
            )
        except subprocess.TimeoutExpired:
            raise GitFailed(f"git took more than {SECONDS:g} seconds") from None
        except OSError as error:
            raise GitFailed(f"git cannot be run: {error.strerror}") from None
        if done.returncode:
            raise GitFailed(f"`git {words[0]}` failed: {done.stderr.decode(errors='replace').strip()[:500]}")

    def text(self, *words: str, given: bytes = b"") -> str:
        return self.run(*words, given=given).decode().strip()

    def _environment(self) -> dict[str, str]:
        """An environment without settings of the daemon or its user."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": "/nonexistent",
            "LC_ALL": "C",
            "GIT_DIR": str(self.folder),
            "GIT_WORK_TREE": self._work_tree,
            "GIT_INDEX_FILE": str(self._index),
            "GIT_OBJECT_DIRECTORY": str(self._objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.folder / "objects"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_PROTOCOL_FROM_USER": "0",
            "GIT_ALLOW_PROTOCOL": "",
        }


class Repository:
    """The user's repository, found by its files: where its objects, index and excludes are."""

    def __init__(self, top: Path, git_dir: Path, common: Path) -> None:
        self.top = top
        self.objects = common / "objects"
        self.exclude = common / "info" / "exclude"
        self.index = git_dir / "index"
        self._git_dir = git_dir
        self._common = common

    def head(self) -> str | None:
        """The commit that is checked out."""
        text = _line(self._git_dir / "HEAD")
        if text is None or not text.startswith("ref: "):
            return text
        name = text.removeprefix("ref: ")
        if ".." in name or not name.startswith("refs/"):
            return None
        return _line(self._git_dir / name) or _line(self._common / name) or self._packed(name)

    def _packed(self, name: str) -> str | None:
        lines = (read_small(self._common / "packed-refs") or "").splitlines()
        return next((line.split(" ")[0] for line in lines if line.endswith(f" {name}")), None)


def repository_of(directory: str) -> Repository | None:
    """The repository that a folder is in."""
    folder = Path(directory).resolve()
    for top in (folder, *folder.parents):
        git = top / ".git"
        if git.is_dir() and (git / "objects").is_dir():
            return Repository(top, git, git)
        if git.is_file():
            return _linked(top, git)
    return None


def _linked(top: Path, file: Path) -> Repository | None:
    """A linked work tree or a submodule: its `.git` file points to the rest."""
    text = _line(file) or ""
    git_dir = (top / text.removeprefix("gitdir: ")).resolve()
    if not text.startswith("gitdir: ") or not git_dir.is_dir():
        return None
    common = (git_dir / (_line(git_dir / "commondir") or ".")).resolve()
    return Repository(top, git_dir, common) if (common / "objects").is_dir() else None


def _line(path: Path) -> str | None:
    """The first line of a small file."""
    lines = (read_small(path) or "").splitlines()
    return lines[0].strip() or None if lines else None


def read_small(path: Path) -> str | None:
    """The content of a user's file; None if it is too large or not a regular file, such as a pipe."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_READ_BYTES:
                return None
            return file.read(MAX_READ_BYTES).decode(errors="replace")
    except OSError:
        return None


def split(output: bytes) -> Sequence[str]:
    """The entries that a command with `-z` prints."""
    return [os.fsdecode(part) for part in output.split(b"\0") if part]
