"""Reverts changes that an agent makes to the user's own files without being asked."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..agents.base import Agent, Conversation
from ..schema.world import look

logger = logging.getLogger("sandbox_agent.host")


class Traces:
    """The state before an agent started to work in a directory."""

    def __init__(self, agent: Agent, directory: str, environ: Mapping[str, str]) -> None:
        self._agent = agent
        self._missing = missing_in_git(directory, agent.makes_in_git)
        self._settings: dict[str, bytes] = {}
        for path in agent.rewrites(directory, environ):
            content = _content(path)
            if content is not None and agent.rewritten(content) != content:
                self._settings[path] = content

    def remove(self) -> None:
        """Revert only what the agent did; changes by others stay."""
        for made in self._missing:
            with contextlib.suppress(OSError, ValueError):  # usually it was never created
                made.unlink()
        for path, content in self._settings.items():
            if _content(path) == self._agent.rewritten(content):
                with contextlib.suppress(OSError):
                    _replace(path, content)


class HostTraces:
    """The traces of one agent process: those of its start, and those of each conversation."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._environ: Mapping[str, str] = {}
        self._at_start: Traces | None = None
        self._of_conversations: dict[Conversation, Traces] = {}

    def start(self, directory: str, environ: Mapping[str, str]) -> None:
        """Captured before the process starts, because it may read its settings at once."""
        self._environ = environ
        self._at_start = self.before(directory)

    def before(self, directory: str) -> Traces:
        return Traces(self._agent, directory, self._environ)

    def keep(self, conversation: Conversation, traces: Traces) -> None:
        self._of_conversations[conversation] = traces

    def remove(self, conversation: Conversation) -> None:
        for traces in (self._at_start, self._of_conversations.get(conversation)):
            if traces is not None:
                try:
                    traces.remove()
                except Exception:
                    # A failure here must not delay the report of the agent's exit.
                    logger.exception("leftovers of %s could not be removed", self._agent.name)

    def forget(self, conversation: Conversation) -> None:
        self.remove(conversation)
        self._of_conversations.pop(conversation, None)


def missing_in_git(directory: str, names: Iterable[str]) -> tuple[Path, ...]:
    """Those of `names` that are missing in the `.git` of the repository around a directory."""
    wanted = tuple(names)
    folder = _git_folder(Path(directory)) if wanted else None
    if folder is None:
        return ()
    return tuple(path for path in (folder / name for name in wanted) if not path.exists())


def _git_folder(directory: Path) -> Path | None:
    """The folder that all work trees of the repository share."""
    for folder in (directory, *directory.parents):
        found = folder / ".git"
        if found.is_dir():
            return found
        if found.is_file():
            return _of_work_tree(found)
    return None


def _of_work_tree(link: Path) -> Path | None:
    """A linked work tree has a file that names its folder, which in turn names the shared one."""
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
    """Replace atomically: a concurrent reader or a crash sees the old file or the new one."""
    target = Path(os.path.realpath(path))
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        new.write_bytes(content)
        shutil.copymode(target, new)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)
