"""The parts of the parser: a command, a group of commands, and the options that say which daemon to talk to.

A handler is named as text and imported when its command is chosen, so that help and completion load neither the daemon
nor an HTTP client.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from .failures import WrongUsage

PROG = "sandbox-agent"
CLIENT_FLAGS = ("--endpoint", "--token", "--token-file", "--data-dir", "--json")

Subparsers = argparse._SubParsersAction  # argparse has no public name for it


class Parser(argparse.ArgumentParser):
    """Flags and positional arguments in any order: by itself argparse ends an optional positional at the first flag.

    A group without a command shows its commands, and a word that is almost right is answered with the right one.
    """

    _mixing = False
    examples = ""
    """Lines to paste into a shell."""

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
                self.error(f"there is no option {flag}{did_you_mean(flag, self._option_string_actions)}")
        words = ", ".join(f"`{word}`" for word in unknown)
        self.error(f"too many words: {words}; put a text that has spaces in quotes")

    def error(self, message: str) -> NoReturn:
        """Without the usage, which for most commands is longer than a screen needs to be."""
        self.exit(WrongUsage.exit_code, f"{self.prog}: error: {message}\nSee `{self.prog} --help`.\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = list(map(str, action.choices))
        if isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(None, f"there is no command {value}{did_you_mean(value, known)}")
        raise argparse.ArgumentError(
            action, f"`{value}` is none of {', '.join(known)}{did_you_mean(value, known)}"
        )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The nearest word there is, as the end of a sentence; nothing when none is near."""
    near = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    return f": did you mean {near[0]}?" if near else ""


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
    """A command; `name` is all of it: `sessions create`."""
    lines = [f"  {line}" for line in examples.splitlines()]
    command = commands.add_parser(
        name.rsplit(" ", 1)[-1],
        aliases=aliases,
        help=escaped(summary),
        description=escaped(f"{summary}\n\n{more}".strip()),
        epilog=escaped("\n".join(["examples:", *lines])) if lines else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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

    client = parser.add_argument_group("the daemon to talk to")
    # Suppressed defaults: what was given before the command is not overwritten by what was not given after it.
    absent = argparse.SUPPRESS
    client.add_argument(
        "--endpoint",
        metavar="URL",
        default=absent,
        help=text("Its address. Default: the daemon that runs on the data directory."),
    )
    client.add_argument("--token", metavar="TOKEN", default=absent, help=text("Its token."))
    client.add_argument(
        "--token-file",
        metavar="FILE",
        default=absent,
        help=text("File that holds its token (a flag shows in process lists)."),
    )
    add_data_dir(client, hidden=hidden)
    add_json(parser, hidden=hidden)


def add_data_dir(parser: argparse._ActionsContainer, *, hidden: bool = False) -> None:
    text = argparse.SUPPRESS if hidden else "Data directory in which a daemon is looked for."
    parser.add_argument("--data-dir", metavar="DIR", default=argparse.SUPPRESS, help=text)


def add_json(parser: argparse.ArgumentParser, *, hidden: bool = False) -> None:
    text = argparse.SUPPRESS if hidden else "Output for machines, errors too."
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=text)


def escaped(text: str) -> str:
    """Text in which argparse replaces nothing."""
    return text.replace("%", "%%")
