"""The parts of the parser: commands, groups of commands, and the options that select the daemon.

A handler is named as text and imported when its command runs, so that help and completion load neither the daemon nor
an HTTP client.
"""

from __future__ import annotations

import argparse
import difflib
import math
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from .failures import WrongUsage

PROG = "sandbox-agent"
CLIENT_FLAGS = ("--endpoint", "--token", "--token-file", "--data-dir", "--json")

Subparsers = argparse._SubParsersAction  # argparse has no public name for it


def number(text: str) -> float:
    """JSON has neither NaN nor infinity: they would be sent as null, which removes a limit."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


class Parser(argparse.ArgumentParser):
    """Accepts flags and positional arguments in any order; plain argparse ends an optional positional at the first flag.

    A group without a command prints its help, and a misspelled word gets a suggestion.
    """

    _mixing = False
    examples = ""
    """Lines for a shell."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        if self._mixing:
            return super().parse_known_args(args, namespace)
        if self._subparsers is not None:
            known, unknown = super().parse_known_args(args, namespace)
            if not unknown and not hasattr(known, "_handler"):
                self.print_help(sys.stderr)
                self.exit(WrongUsage.exit_code)
        else:
            self._mixing = True
            try:
                known, unknown = self.parse_known_intermixed_args(args, namespace)
            finally:
                self._mixing = False
        if unknown:
            self._refuse(unknown)
        return known, unknown

    def _refuse(self, unknown: list[str]) -> NoReturn:
        for word in unknown:
            if word.startswith("-") and word != "-":
                flag = word.partition("=")[0]
                self.error(f"unknown option {flag}{did_you_mean(flag, self._option_string_actions)}")
        words = ", ".join(f"`{word}`" for word in unknown)
        self.error(f"too many arguments: {words}; put quotes around text with spaces")

    def error(self, message: str) -> NoReturn:
        """Print the message without the usage, which is long for most commands."""
        if message.endswith("expected one argument"):
            message += "; if it begins with `-`, write FLAG=VALUE"
        self.exit(WrongUsage.exit_code, f"{self.prog}: error: {message}\nSee `{self.prog} --help`.\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = list(map(str, action.choices))
        if isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(None, f"unknown command {value}{did_you_mean(value, choices)}")
        raise argparse.ArgumentError(
            action, f"`{value}` is not one of {', '.join(choices)}{did_you_mean(value, choices)}"
        )


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """A suggestion as the end of a sentence; empty if no choice is similar."""
    near = difflib.get_close_matches(str(word), list(choices), n=1, cutoff=0.6)
    return f": did you mean {near[0]}?" if near else ""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Wraps paragraphs to the width of the terminal; examples and other indented lines stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.split("\n\n")
        return "\n\n".join(
            paragraph if "\n  " in paragraph else textwrap.fill(paragraph, width) for paragraph in paragraphs
        )


def add_command(
    commands: Subparsers[Parser],
    name: str,
    summary: str,
    handler: str,
    aliases: Sequence[str] = (),
    *,
    more: str = "",
    examples: str = "",
    client: bool = True,
) -> Parser:
    """Add a command; `name` is its full name, e.g. `sessions create`."""
    lines = [f"  {line}" for line in examples.splitlines()]
    command = commands.add_parser(
        name.rsplit(" ", 1)[-1],
        aliases=aliases,
        help=escaped(summary),
        description=escaped(f"{summary}\n\n{more}".strip()),
        epilog=escaped("\n".join(["examples:", *lines])) if lines else None,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    command.examples = examples
    command.set_defaults(_handler=handler)
    if client:
        add_client_options(command)
    return command


def add_group(commands: Subparsers[Parser], name: str, summary: str) -> Subparsers[Parser]:
    group = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    return group.add_subparsers(metavar="COMMAND")


def add_client_options(parser: Parser, *, hidden: bool = False) -> None:
    def text(words: str) -> str:
        return argparse.SUPPRESS if hidden else words

    client = parser.add_argument_group("the daemon to use")
    # Suppressed defaults: an option given before the command is not overwritten by its absence after it.
    absent = argparse.SUPPRESS
    client.add_argument(
        "--endpoint",
        metavar="URL",
        default=absent,
        help=text("Address of the daemon. Default: the one that uses the data directory."),
    )
    client.add_argument("--token", metavar="TOKEN", default=absent, help=text("Token of the daemon."))
    client.add_argument(
        "--token-file",
        metavar="FILE",
        default=absent,
        help=text("File that contains the token (flags are visible in process lists)."),
    )
    add_data_dir(client, hidden=hidden)
    add_json(parser, hidden=hidden)


def add_data_dir(parser: argparse._ActionsContainer, *, hidden: bool = False) -> None:
    text = argparse.SUPPRESS if hidden else "Data directory of the daemon."
    parser.add_argument("--data-dir", metavar="DIR", default=argparse.SUPPRESS, help=text)


def add_json(parser: argparse.ArgumentParser, *, hidden: bool = False) -> None:
    text = argparse.SUPPRESS if hidden else "Print JSON, including errors."
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=text)


def escaped(text: str) -> str:
    """Escape text for argparse."""
    return text.replace("%", "%%")
