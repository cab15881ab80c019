"""Two commits to compare: another one in its own worktree, and a copy of the checkout.

Both start as `python -m sandbox_agent` with their own sources on the path, so that only the commit differs. Edits made
during the run have no effect.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .daemons import Ours, Side, Unusable
from .generator import CHECKOUT

REQUIREMENTS = Path("requirements", "run.txt")
BUILT = "built"
"""Marks a complete environment."""


@contextmanager
def old_and_new(
    commit: str, folder: Path, cache: Path, *, checkout: Path = CHECKOUT
) -> Iterator[tuple[Ours, Ours]]:
    old, new = folder / "commit-old", folder / "commit-new"
    with _checked_out(checkout, commit, old):
        left_out = shutil.ignore_patterns("__pycache__", "ui")  # neither is in a worktree
        shutil.copytree(checkout / "src", new / "src", ignore=left_out)
        python = _python_for(old, checkout, cache)
        yield _runnable("old", old, python), _runnable("new", new, Path(sys.executable))


def full_name(commit: str, *, checkout: Path = CHECKOUT) -> str:
    words = ("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    return _git(checkout, *words, problem=f"no such commit: {commit}")


@contextmanager
def _checked_out(checkout: Path, commit: str, tree: Path) -> Iterator[None]:
    words = ("worktree", "add", "--quiet", "--detach", str(tree), commit)
    _git(checkout, *words, problem=f"cannot check out {commit}:")
    try:
        yield
    finally:
        _git(checkout, "worktree", "remove", "--force", str(tree), problem=f"cannot remove {tree}:")


def _runnable(side: Side, tree: Path, python: Path) -> Ours:
    source = str(tree / "src")
    subprocess.run([python, "-m", "compileall", "-q", source], check=True)
    return Ours([python, "-P", "-m", "sandbox_agent"], side=side, environment={"PYTHONPATH": source})


def _python_for(tree: Path, checkout: Path, cache: Path) -> Path:
    """Our own if it meets the commit's requirements, else one built once for all commits with the same requirements."""
    wanted = (tree / REQUIREMENTS).read_bytes()
    if wanted == (checkout / REQUIREMENTS).read_bytes():
        return Path(sys.executable)
    environment = cache / f"python-{hashlib.sha256(wanted).hexdigest()[:12]}"
    python = environment / "bin" / "python"
    if not (environment / BUILT).exists():
        print("building an environment for the old commit ...", file=sys.stderr, flush=True)
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--require-hashes", "-r", tree / REQUIREMENTS], check=True)
        # The version comes from the installed package; the code comes from the path before it.
        subprocess.run([*install, "--no-deps", "--no-build-isolation", tree], check=True)
        (environment / BUILT).touch()
    return python


def _git(checkout: Path, *words: str, problem: str) -> str:
    done = subprocess.run(["git", *words], cwd=checkout, capture_output=True, text=True)
    if done.returncode:
        raise Unusable(f"{problem} {done.stderr.strip()}".strip())
    return done.stdout.strip()
