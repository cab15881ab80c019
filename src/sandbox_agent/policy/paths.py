"""Patterns for paths: `*` within a name, `**` for any number of directories."""

from __future__ import annotations

import os.path
import posixpath

from .wildcards import matches


def matches_path(pattern: str, path: str, directory: str) -> bool:
    """Whether an absolute path matches. A pattern that names a directory covers what is in it.

    A relative pattern begins in `directory`, unless it begins with `**`, which means anywhere.
    """
    parts = absolute_pattern(pattern, directory).split("/")
    return _matches([part for part in parts if part not in ("", ".")], path.strip("/").split("/"))


def absolute_pattern(pattern: str, directory: str) -> str:
    """The pattern as it reads in any directory."""
    if pattern.startswith("~/"):
        return os.path.expanduser(pattern)
    if pattern.startswith(("/", "**")):
        return pattern
    return posixpath.join(_quoted(directory), pattern)


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
