"""Commands and variables whose words the shell evaluates once more: bash runs what is in the index of an array, as in `a[$(…)]`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Protocol


class Word(Protocol):
    @property
    def text(self) -> str: ...

    @property
    def certain(self) -> bool: ...


_TAKE_NAMES = frozenset({"read", "declare", "typeset", "local", "unset"})
_TAKE_NAME_AFTER = {"test": ("-v", "-R"), "[": ("-v", "-R"), "printf": ("-v",), "wait": ("-p",)}
_DECLARE = frozenset({"declare", "typeset", "local"})

_INDEX = re.compile(r"\w\[", re.ASCII)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_EVALUATING = re.compile(r"[-+][A-Za-z]*[in]")
"""Options of `declare` by which a value is a sum, or the name of another variable."""


_EVALUATED = re.compile(
    # A number of the shell's own is calculated, and may only be one already; the others are expanded.
    r"(?:(?:OPTIND|RANDOM|SRANDOM|HISTCMD)(?!=[0-9]+$)|BASH_ENV|PS4)(?:\+?=.*)?",
    re.ASCII | re.DOTALL,
)
_SET = frozenset({"read", "printf", "getopts", "export", "readonly", "declare", "typeset", "local"})


def is_evaluated(assignment: str) -> bool:
    """Whether the shell evaluates the value of this variable; without one, of the variable itself."""
    return _EVALUATED.fullmatch(assignment) is not None


def may_evaluate(program: str, words: Sequence[Word]) -> bool:
    """Whether a command may be hidden in the words of this one."""
    if program in _SET and any(is_evaluated(word.text) for word in words):
        return True
    if program in _TAKE_NAME_AFTER:
        return _has_index(words) or any(
            option.text in _TAKE_NAME_AFTER[program] and not name.certain
            for option, name in itertools.pairwise(words)
        )
    if program not in _TAKE_NAMES:
        return False
    if program in _DECLARE and any(_EVALUATING.match(word.text) for word in words):
        return True
    return _has_index(words) or any(
        not word.certain and _ASSIGNMENT.match(word.text) is None for word in words
    )


def _has_index(words: Sequence[Word]) -> bool:
    return any(_INDEX.search(word.text) for word in words)
