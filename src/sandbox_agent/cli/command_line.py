"""The parser of the whole command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .daemon_parser import add_daemon, add_log, add_server
from .fleet_parser import add_fleet
from .operation_commands import add_operations
from .own_commands import (
    add_acp,
    add_copy,
    add_exec,
    add_gigacode,
    add_mcp_server,
    add_run,
    add_to_sessions,
    add_tools,
)
from .parser import CLIENT_FLAGS, PROG, Parser, add_client_options
from .table import SETTINGS

DESCRIPTION = "One API for every coding agent: a daemon, and commands that talk to it."

GUIDE = f"""\
{DESCRIPTION}

  sandbox-agent run claude "Fix the failing test"   send one prompt to an agent and watch it work
  sandbox-agent daemon start                        start a daemon in the background, with a web page at /ui/
  sandbox-agent doctor                              show what is installed, which keys were found, and what to do next

Run `sandbox-agent --help` for all commands. `sandbox-agent run mock "hello"` needs no key."""

ROOT_EXAMPLES = """\
examples:
  sandbox-agent run claude "Fix the failing test"     send one prompt and print the transcript
  sandbox-agent daemon start                          start a daemon that the other commands use
  sandbox-agent sessions create demo --agent mock     create a session
  sandbox-agent sessions stream-message demo "hello"
  sandbox-agent sessions show demo                    print its transcript
  sandbox-agent --token-file token --port 2468        run the daemon in the foreground, like `sandbox-agent server`

environment:
  SANDBOX_AGENT_ENDPOINT, SANDBOX_AGENT_TOKEN   the daemon to use
  SANDBOX_AGENT_DATA_DIR                        the data directory
  NO_COLOR                                      disable colours

exit codes: 0 ok, 1 failed, 2 wrong usage, 130 interrupted"""


def parser(*, server_alone: bool = False) -> Parser:
    """Build the parser: all commands, or only the server for a quick start. The options for the daemon's address are
    accepted before and after the command."""
    from .. import __version__

    root = Parser(
        prog=PROG,
        description=DESCRIPTION,
        epilog=ROOT_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    root.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    add_client_options(root, hidden=True)
    commands = root.add_subparsers(metavar="COMMAND")
    add_server(commands)
    if server_alone:
        return root
    add_run(commands)
    add_acp(commands)
    add_mcp_server(commands)
    add_gigacode(commands)
    add_exec(commands)
    add_copy(commands)
    add_daemon(commands)
    add_log(commands)
    add_fleet(commands)
    groups = add_operations(commands)
    add_to_sessions(groups["sessions"])
    add_tools(commands)
    return root


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments. A leading `api` is skipped; flags of the server without a command run the server."""
    words = _without_api(argv)
    if not words:
        print(GUIDE)
        raise SystemExit(0)
    if words[0] == "help":
        words = [*words[1:], "--help"]
    if _is_bare_server(words):
        words = ["server", *words]
    words, command = _parted(_with_verb(words))
    args = parser(server_alone=words[0] == "server").parse_args(words)
    if command:
        args.words = command
    return args


def _parted(words: list[str]) -> tuple[list[str], list[str]]:
    """Split the words into ours and the command of `exec`, which starts after `--`."""
    if words[_place_of_command(words) :][:1] != ["exec"] or "--" not in words:
        return words, []
    place = words.index("--")
    return words[:place], words[place + 1 :]


def _without_api(argv: Sequence[str]) -> list[str]:
    """Drop `api` only where a command is expected: a prompt may be `api`."""
    words = list(argv)
    place = _place_of_command(words)
    if words[place : place + 1] == ["api"]:
        del words[place]
    return words


def _with_verb(words: list[str]) -> list[str]:
    """`usage` has a single command, which need not be named."""
    place = _place_of_command(words)
    if words[place : place + 1] == ["usage"] and words[place + 1 : place + 2] != ["get"]:
        return [*words[: place + 1], "get", *words[place + 1 :]]
    return words


def _place_of_command(words: Sequence[str]) -> int:
    """The index of the command, after any options for the daemon's address."""
    place = 0
    while place < len(words) and words[place].partition("=")[0] in CLIENT_FLAGS:
        place += 1 if words[place] == "--json" or "=" in words[place] else 2
    return place


def _is_bare_server(words: list[str]) -> bool:
    """Whether the words are only flags of the server and their values."""
    flags = {setting.flag: setting for setting in SETTINGS}
    rest = iter(words)
    for word in rest:
        name, given, _ = word.partition("=")
        if name not in flags:
            return False
        if flags[name].kind != "switch" and not given:
            next(rest, None)
    return True
