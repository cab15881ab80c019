"""Patterns for paths: `*` within a name, `**` for any number of directories."""

from __future__ import annotations

import os.path
import posixpath

from .wildcards import matches


def matches_path(pattern: str, path: str, directory: str) -> bool:
    """Whether an absolute path matches. A pattern that names a directory covers what is in it.

    A relative pattern begins in `directory`, unless it begins with `**`, which means anywhere.
    """
    if pattern.startswith("~/"):
        pattern = os.path.expanduser(pattern)
    elif not pattern.startswith(("/", "**")):
        pattern = posixpath.join(_quoted(directory), pattern)
    return _matches(
        [part for part in pattern.split("/") if part not in ("", ".")], path.strip("/").split("/")
    )


def _quoted(directory: str) -> str:
    """The directory as a pattern that matches only itself."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in directory)


def _matches(pattern: list[str], names: list[str]) -> bool:
    """Every position in `names` that the pattern can reach; linear in each."""
    reached = {0}
    for part in pattern:
        if part == "**":
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(names) and matches(names[at], part)}
        if not reached:
            return False
    return True
