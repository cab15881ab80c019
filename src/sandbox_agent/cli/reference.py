"""`docs/cli.md`, written from the parser: every command, every flag."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from .command_line import parser
from .parser import CLIENT_FLAGS, PROG, Parser
from .table import SETTINGS
from .walk import Node, arguments, walk

SETTING_FLAGS = {setting.flag for setting in SETTINGS} | {"--json"}
INTRODUCTION = """\
# The command line

<!-- Generated from the parser: `make gen` rewrites it. -->

`sandbox-agent` runs the daemon (`server`, `daemon start`), talks to it (one command for every operation of the HTTP API), and
does a few things that take more than one call (`run`, `sessions show`, `doctor` and others).

- **Which daemon:** `--endpoint` and `--token` or `--token-file`, else `SANDBOX_AGENT_ENDPOINT` and `SANDBOX_AGENT_TOKEN`, else the one that runs on
  the data directory (its address is in `daemon.json` there, readable by its owner alone; the token too if `daemon start` or `run` made it, never one that
  you chose), else `http://127.0.0.1:2468`. The options may stand before the command or after it. `--data-dir` names another data directory; every command that talks to a daemon takes these
  and `--json`.
- **Output:** data goes to stdout, messages to stderr. Lists are tables, in a pipe too, where no line is cut or broken; with `--json` they are
  the JSON that the API answered, and an error is the daemon's problem object. Events are always one JSON object per line. `NO_COLOR` turns colours off.
- **Directory:** `run`, `sessions create` and `agents models` work in the folder you are in, unless `--directory` names another. A daemon on another machine
  uses its own.
- **Variables:** `run` sends the agent's own variables (for Claude Code `ANTHROPIC_*` and `CLAUDE_*`) from your shell to the new session when the daemon is your own on this machine, and prints
  their names. Any other daemon gets them with `--send-env` alone.
- **Streams** (`events-sse`, `stream-message`, `events sse`) print one event per line. A lost connection is made again and goes on where it
  was, so that every event is printed exactly once.
- **Exit codes:** 0 ok, 1 failed, 2 wrong usage, 130 interrupted.
- A leading `api` is accepted and skipped: `sandbox-agent api sessions list`, also after options. Flags of the server alone start it: `sandbox-agent --token T --port 2468`.
"""


def render() -> str:
    """The whole page."""
    nodes = [node for node in walk(parser()) if node.words]
    return "\n".join([INTRODUCTION, *(line for node in nodes for line in _section(node))])


def _section(node: Node) -> Iterator[str]:
    name = " ".join(node.words)
    if node.is_group:
        yield f"## {name}\n\n{node.help}\n"
        return
    yield f"{'##' if len(node.words) == 1 else '###'} {name}\n"
    yield f"{(node.parser.description or '').replace('%%', '%')}\n"
    yield f"```sh\n{_usage(node)}\n```\n"
    rows = [_row(action) for action in _own_arguments(node)]
    if rows:
        yield "| argument | |\n|---|---|"
        yield from rows
        yield ""
    if isinstance(node.parser, Parser) and node.parser.examples:
        yield f"```sh\n{node.parser.examples}\n```\n"


def _own_arguments(node: Node) -> list[argparse.Action]:
    """Positional ones first; without those that every client command has, or that `server` lists."""
    hidden = (
        SETTING_FLAGS
        if node.words in (("daemon", "start"), ("daemon", "restart"))
        else set(CLIENT_FLAGS)
        if node.words != ("server",)
        else set()
    )
    own = [one for one in arguments(node.parser) if not hidden.intersection(one.option_strings)]
    return sorted(own, key=lambda one: bool(one.option_strings))


def _usage(node: Node) -> str:
    words = [PROG, *node.words]
    given = arguments(node.parser)
    words += [_positional(action) for action in given if not action.option_strings]
    words += [
        f"{action.option_strings[0]} {_value(action)}"
        for action in given
        if action.required and action.option_strings
    ]
    optional = any(action.option_strings and not action.required for action in given)
    return " ".join([*words, "[options]"] if optional else words)


def _positional(action: argparse.Action) -> str:
    return f"[{_value(action)}]" if action.nargs == "?" else _value(action)


def _value(action: argparse.Action) -> str:
    if action.choices:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


def _row(action: argparse.Action) -> str:
    text = (action.help or "").replace("%%", "%")
    if not action.option_strings:
        shown = _value(action)
    elif action.nargs == 0:
        shown = ", ".join(action.option_strings)
    else:
        shown = f"{', '.join(action.option_strings)} {_value(action)}"
    cells = (f"`{shown}`", text)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
