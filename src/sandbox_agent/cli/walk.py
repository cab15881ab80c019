"""Walks the parser: every command with its arguments, for the reference and for completion."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple


class Node(NamedTuple):
    """A parser and the words that lead to it."""

    words: tuple[str, ...]
    parser: argparse.ArgumentParser
    help: str

    @property
    def is_group(self) -> bool:
        return any(isinstance(action, argparse._SubParsersAction) for action in self.parser._actions)


def walk(parser: argparse.ArgumentParser, words: tuple[str, ...] = (), help: str = "") -> Iterator[Node]:
    """The parser itself, then each parser below it once, without aliases."""
    yield Node(words, parser, help)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {choice.dest: choice.help for choice in action._choices_actions}
            seen: set[int] = set()
            for name, below in action.choices.items():
                if id(below) not in seen:
                    seen.add(id(below))
                    yield from walk(
                        below, (*words, name), (texts.get(_primary(action, below)) or "").replace("%%", "%")
                    )


def _primary(
    action: argparse._SubParsersAction[argparse.ArgumentParser], parser: argparse.ArgumentParser
) -> str:
    """How a command with aliases is listed: `events (get-messages)`."""
    names = aliases(action, parser)
    return f"{names[0]} ({', '.join(names[1:])})" if len(names) > 1 else names[0]


def aliases(
    action: argparse._SubParsersAction[argparse.ArgumentParser], parser: argparse.ArgumentParser
) -> list[str]:
    return [name for name, below in action.choices.items() if below is parser]


def arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The arguments a user can give: no help, subcommands or hidden options."""
    return [
        action
        for action in parser._actions
        if not isinstance(action, argparse._SubParsersAction | argparse._HelpAction)
        and action.help is not argparse.SUPPRESS
    ]
