"""A release made in a copy of this repository. Started by `make package-test`; takes minutes, and fetches from the registries."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSION = "97.98.99"


class Release:
    """A release in a repository of its own: its output, and what it left."""

    def __init__(self, root: Path) -> None:
        self.root, self.dist = root, root / "dist"
        self.git("init", "--quiet")
        self.git("config", "user.name", "tests")
        self.git("config", "user.email", "tests@localhost")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "everything")
        self.dry_output = self._make("--dry-run --only python")
        self.left_by_dry_run = self._state()
        self.output = self._make("")

    def _make(self, flags: str) -> str:
        ended = subprocess.run(
            ["make", "release", f"VERSION={VERSION}", f"ARGS=--skip-checks {flags}"],
            cwd=self.root,
            # The environment knows the package of the other checkout.
            env={**os.environ, "PYTHONPATH": str(self.root / "src")},
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, ended.stderr[-3000:]
        return ended.stdout

    def _state(self) -> tuple[str, str, list[str]]:
        """Changes, tags, and subjects of commits."""
        commits = self.git("log", "--format=%s").splitlines()
        return self.git("status", "--porcelain"), self.git("tag"), commits

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout

    def file(self, pattern: str) -> Path:
        (found,) = self.dist.glob(pattern)
        return found


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    copy = tmp_path_factory.mktemp("release") / "copy"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if os.path.lexists(ROOT / name):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            # With their times: nothing is newer than what was made of it.
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    # Linked file by file: stamping makes `make` install the copy into its environment, which must not be ours.
    shutil.copytree(ROOT / ".venv", copy / ".venv", symlinks=True, copy_function=_link)
    return Release(copy)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)
