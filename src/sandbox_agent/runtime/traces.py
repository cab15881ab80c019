"""What an agent leaves in the user's own files and nobody asked for: it is taken back."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..agents.base import Agent
from ..schema.world import look


class Traces:
    """What was there before an agent began to work in a directory."""

    def __init__(self, agent: Agent, directory: str, environ: Mapping[str, str]) -> None:
        self._agent = agent
        self._missing = missing_in_git(directory, agent.makes_in_git)
        self._settings: dict[str, bytes] = {}
        for path in agent.rewrites(directory, environ):
            content = _content(path)
            if content is not None and agent.rewritten(content) != content:
                self._settings[path] = content

    def remove(self) -> None:
        """Only what the agent has done; what somebody else has changed since stays."""
        for made in self._missing:
            with contextlib.suppress(OSError, ValueError):  # most often it was not made
                made.unlink()
        for path, content in self._settings.items():
            if _content(path) == self._agent.rewritten(content):
                with contextlib.suppress(OSError):
                    _replace(path, content)


def missing_in_git(directory: str, names: Iterable[str]) -> tuple[Path, ...]:
    """Those of `names` that the repository around a directory does not have in its `.git`."""
    wanted = tuple(names)
    folder = _git_folder(Path(directory)) if wanted else None
    if folder is None:
        return ()
    return tuple(path for path in (folder / name for name in wanted) if not path.exists())


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


def _content(path: str) -> bytes | None:
    state = look(path)
    return state.data if state else None


def _replace(path: str, content: bytes) -> None:
    """In one step: whoever reads it meanwhile, or is killed, has the one or the other."""
    target = Path(os.path.realpath(path))
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        new.write_bytes(content)
        shutil.copymode(target, new)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)
