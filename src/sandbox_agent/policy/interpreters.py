"""Interpreters such as `python`: whether their arguments say where the code is."""

from __future__ import annotations

import re

_INTERPRETERS = re.compile(
    r"(python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|Rscript|ghci|jshell|irb)[\d.]*$",
    re.ASCII,
)
_CODE = re.compile(r"-[A-Za-z]*[cCeErpn]|--(eval|print|exec|run)|-$|eval$")
_MAY_TAKE_VALUE = re.compile(r"-[A-Za-z]|--[^=]+")
_TAKE_VALUE = frozenset({"-W", "-X", "-I", "-d", "-C", "--require", "--import", "--loader", "--input-type"})
_INFO_OPTIONS = frozenset({"-V", "-v", "--version", "--help", "-h"})


def is_interpreter(program: str) -> bool:
    return _INTERPRETERS.match(program) is not None


def has_code(arguments: list[str]) -> bool:
    """Whether code is among the options before the first file or module: what follows belongs to the script."""
    before = ""
    for word in arguments:
        if _CODE.match(word):
            return True
        # The word after an option may be its value.
        if word == "-m" or not (word.startswith("-") or _MAY_TAKE_VALUE.fullmatch(before)):
            return False
        before = word
    return False


def reads_input(arguments: list[str]) -> bool:
    """Whether the code comes from standard input."""
    if not _INFO_OPTIONS.isdisjoint(arguments):
        return False
    before = ""
    for word in arguments:
        if word == "-m" or not (word.startswith("-") or before in _TAKE_VALUE):
            return False
        before = word
    return True
