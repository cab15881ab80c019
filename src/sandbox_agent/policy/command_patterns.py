"""Patterns for commands: words in which `*` is a wildcard, e.g. `git *` or `rm -rf`.

An `allow` must match the whole command as it is written. A `deny` or `ask` matches the beginning, in whatever order options come,
however they are spelled and wherever the program is; a possible match is `maybe`.
"""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Iterable
from typing import Literal

from .programs import Command, Word
from .wildcards import has_wildcard, matches

Match = Literal["yes", "maybe", "no"]

MAX_PLACES = 20
"""A command that names a denied program more often is not searched."""

_SPELLINGS: dict[str, dict[str, str]] = {
    "rm": {"R": "r", "recursive": "r", "force": "f", "dir": "d", "interactive": "i", "verbose": "v"},
    "chmod": {"recursive": "R"},
    "chown": {"recursive": "R"},
    "chgrp": {"recursive": "R"},
    "cp": {"r": "R", "recursive": "R", "force": "f"},
    "mv": {"force": "f"},
    "ln": {"force": "f", "symbolic": "s"},
    "git": {"force": "f", "delete": "d", "all": "a"},
    "docker": {"force": "f", "all": "a"},
    "kill": {},
    "pkill": {},
}
"""Programs whose options we know: other spellings of an option, by its letter."""
_LONG_WITH_ONE_DASH = frozenset({"find", "java", "go", "terraform", "openssl", "ffmpeg", "convert"})


@functools.lru_cache(maxsize=1024)
def words_of(pattern: str) -> list[str]:
    return pattern.split()


def allows(pattern: list[str], command: Command) -> bool:
    """Whether the pattern matches the whole command, of which everything is certain."""
    if not command.clean or not command.is_certain:
        return False
    texts = [word.text for word in command.words]
    reached = {0}
    for part in pattern:
        if part == "*":
            reached = set(range(min(reached), len(texts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(texts) and matches(texts[at], part)}
        if not reached:
            return False
    return len(texts) in reached


def may_deny(pattern: list[str], command: Command) -> Match:
    """Whether the command is, contains, or may turn out to be what the pattern says."""
    if all(part == "*" for part in pattern):
        return "yes"
    match = _begins(pattern, command.essential)
    if match != "no" or command.unclear:
        return match if match == "yes" else "maybe"
    return "maybe" if _mentions(pattern, command) else "no"


def _begins(pattern: list[str], words: tuple[Word, ...]) -> Match:
    if not words:
        return "no"
    name, wanted = words[0], pattern[0]
    if not name.certain:
        return "maybe"
    program = posixpath.basename(name.text)
    if not (matches(program, wanted) or matches(name.text, wanted)):
        # Some file systems ignore case.
        return "maybe" if matches(program.casefold(), wanted.casefold()) else "no"
    options, plain = _sorted([Word(part) for part in pattern[1:]])
    while plain and plain[-1].text == "*":
        plain.pop()
    given_options, given_plain = _sorted(list(words[1:]))
    uncertain = any(not word.certain for word in words)
    in_options = _options_match(program, options, given_options)
    in_plain = _plain_matches(plain, words[1:], given_plain)
    if in_options == "no" and uncertain:
        in_options = "maybe"
    if in_plain == "no" and (uncertain or any(word.glob for word in words)):
        in_plain = "maybe"
    return _all((in_options, in_plain))


def _all(found_matches: Iterable[Match]) -> Match:
    found = set(found_matches)
    return "no" if "no" in found else "maybe" if "maybe" in found else "yes"


def _sorted(words: list[Word]) -> tuple[list[Word], list[Word]]:
    """Options, and the other words. After `--` there are no options."""
    options: list[Word] = []
    plain: list[Word] = []
    for at, word in enumerate(words):
        if word.text == "--" and word.certain:
            return options, plain + words[at + 1 :]
        (options if word.text.startswith("-") and len(word.text) > 1 else plain).append(word)
    return options, plain


def _options_match(program: str, wanted: list[Word], given: list[Word]) -> Match:
    texts = [word.text for word in given]
    return _all(_option_matches(program, option.text, texts) for option in wanted)


def _option_matches(program: str, wanted: str, given: list[str]) -> Match:
    if any(matches(text, wanted) or text.startswith(f"{wanted}=") for text in given):
        return "yes"
    letters = _letters(program, wanted)
    if wanted.startswith("--") and letters == {wanted}:
        return "maybe" if any(wanted.startswith(text) for text in given if len(text) > 2) else "no"
    if program in _LONG_WITH_ONE_DASH:
        return "no"
    if letters <= {letter for text in given for letter in _letters(program, text)}:
        return "yes" if program in _SPELLINGS else "maybe"
    return "no"


def _letters(program: str, option: str) -> set[str]:
    """The letters of an option like `-rf`, or the letter for which a long one stands; else the long one itself."""
    known = _SPELLINGS.get(program, {})
    if not option.startswith("--"):
        return {known.get(letter, letter) for letter in option[1:]}
    name = option[2:].partition("=")[0]
    letters = {letter for long, letter in known.items() if len(long) > 1 and name and long.startswith(name)}
    return letters or {option}


def _plain_matches(wanted: list[Word], words: tuple[Word, ...], given: list[Word]) -> Match:
    """Whether the words that are not options begin with these."""
    if _follow(wanted, given):
        return "yes"
    return "maybe" if _follow_loosely(wanted, words) else "no"


def _follow(wanted: list[Word], given: list[Word]) -> bool:
    reached = {0}
    for part in wanted:
        if part.text == "*":
            reached = set(range(min(reached), len(given) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(given) and matches(given[at].text, part.text)}
        if not reached:
            return False
    return True


def _follow_loosely(wanted: list[Word], words: tuple[Word, ...]) -> bool:
    """The same, if a word after an option may be the option's value."""
    reached, is_value = {0}, False
    for word in words:
        if len(wanted) in reached:
            break
        is_option = word.text.startswith("-")
        if not is_option:
            further = {at + 1 for at in reached if matches(word.text, wanted[at].text)}
            reached = further | reached if is_value else further
        is_value = is_option
    return len(wanted) in reached


def _mentions(pattern: list[str], command: Command) -> bool:
    """Whether the denied command is among the words or within one of them: some program may run it."""
    wanted = pattern[0].casefold()
    if not any(matches(name, wanted) for name in _candidates(wanted, command.piece_names)):
        return False
    pieces = command.pieces
    places = [at for at, name in enumerate(pieces) if _is_called(name.casefold(), wanted)]
    return len(places) > MAX_PLACES or any(
        _begins(pattern, tuple(Word(text) for text in pieces[at : at + 64])) != "no" for at in places
    )


def _candidates(wanted: str, names: frozenset[str]) -> Iterable[str]:
    """A name without a wildcard is looked up rather than searched for."""
    return names if has_wildcard(wanted) else names & {wanted}


def _is_called(name: str, wanted: str) -> bool:
    return matches(posixpath.basename(name), wanted) or matches(name, wanted)
