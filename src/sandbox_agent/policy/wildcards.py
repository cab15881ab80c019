"""Patterns with wildcards: `*`, `?` and `[…]`."""

from __future__ import annotations

import fnmatch
import functools
import re


def matches(text: str, pattern: str) -> bool:
    """Whether the whole text matches, with case."""
    return _expression(pattern).match(text) is not None if has_wildcard(pattern) else text == pattern


def has_wildcard(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern or "[" in pattern


@functools.lru_cache(maxsize=4096)
def _expression(pattern: str) -> re.Pattern[str]:
    # The standard library keeps 256 of them, fewer than two lists of rules may have.
    return re.compile(fnmatch.translate(pattern))
