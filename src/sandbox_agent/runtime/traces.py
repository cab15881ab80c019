"""Files that an agent makes in the user's repository and nobody asked for: what was not there before is removed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path


def missing_in_git(directory: str, names: Iterable[str]) -> tuple[Path, ...]:
    """Those of `names` that the repository around a directory does not have in its `.git`."""
    wanted = tuple(names)
    folder = _git_folder(Path(directory)) if wanted else None
    if folder is None:
        return ()
    return tuple(path for path in (folder / name for name in wanted) if not path.exists())


def remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError, ValueError):  # most often it was not made
            path.unlink()


def _git_folder(directory: Path) -> Path | None:
    """What all work trees of the repository share."""
    for folder in (directory, *directory.parents):
        found = folder / ".git"
        if found.is_dir():
            return found
        if found.is_file():
            return _of_work_tree(found)
    return None


def _of_work_tree(link: Path) -> Path | None:
    """A work tree beside the main one has a file that names its folder, which names the one that all share."""
    try:
        own = link.parent / link.read_text().removeprefix("gitdir:").strip()
        shared = own / "commondir"
        return own / shared.read_text().strip() if shared.is_file() else own
    except (OSError, ValueError):
        return None
