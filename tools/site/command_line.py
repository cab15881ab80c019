"""The page about the command line, from the parser: every command and every flag."""

from __future__ import annotations

import argparse

from sandbox_agent.cli.command_line import parser
from sandbox_agent.cli.parser import CLIENT_FLAGS, PROG, Parser
from sandbox_agent.cli.table import SETTINGS
from sandbox_agent.cli.walk import Node, arguments, walk

from .mdx import anchor, folded, page, prose

SETTING_FLAGS = {setting.flag for setting in SETTINGS} | {"--json"}
INTRODUCTION = """\
`sandbox-agent` runs the daemon (`server`, `daemon start`), has a command for every operation of the HTTP API, and a few
commands that combine several operations (`run`, `sessions show`, `doctor` and others).

- **Daemon:** commands use the daemon given by `--endpoint` and `--token` or `--token-file`; otherwise by
  `SANDBOX_AGENT_ENDPOINT` and `SANDBOX_AGENT_TOKEN`; otherwise the one that uses the data directory; otherwise
  `http://127.0.0.1:2468`. A running daemon records its address in `daemon.json` in the data directory, which only its
  owner can read. The file includes the token only if `daemon start` or `run` generated it. These options, `--data-dir`
  and `--json` work with every command that uses a daemon, before or after the command.
- **Output:** data goes to stdout, messages to stderr. Lists are printed as tables; in a pipe, lines are not cut or
  wrapped. With `--json`, you get the JSON of the API, and errors as problem objects. Events are always one JSON object
  per line. `NO_COLOR` disables colours.
- **Directory:** `run`, `sessions create` and `agents models` use your current directory unless you set `--directory`. A
  daemon on another machine uses its own.
- **Variables:** `run` sends the agent's own variables (`ANTHROPIC_*` and `CLAUDE_*` for Claude Code) from your shell to
  the new session if the daemon is your own on this machine, and prints their names. Any other daemon gets them only
  with `--send-env`.
- **Streams** (`events-sse`, `stream-message`, `events sse`) print one event per line. After a lost connection they
  reconnect and continue, so every event is printed exactly once.
- **Exit codes:** 0 success, 1 failure, 2 wrong usage, 130 interrupted.
- A leading `api` is ignored, even after options: `sandbox-agent api sessions list`. Flags of the server without a
  command start the server: `sandbox-agent --token T --port 2468`.
"""


def render() -> str:
    """The whole page."""
    nodes = [node for node in walk(parser()) if node.words]
    return page(
        "Command line", "Every command and every flag.", "\n".join([INTRODUCTION, *map(_section, nodes)])
    )


def _section(node: Node) -> str:
    """A group is a heading. A command folds."""
    name = " ".join(node.words)
    if node.is_group:
        return f"## {name}\n\n{prose(node.help)}\n"
    rows = [_row(action) for action in _own_arguments(node)]
    examples = node.parser.examples if isinstance(node.parser, Parser) else ""
    return folded(
        name,
        anchor(name),
        prose((node.parser.description or "").replace("%%", "%")),
        f"```console\n{_usage(node)}\n```",
        "\n".join(["| argument | |", "|---|---|", *rows]) if rows else "",
        f"```console\n{examples}\n```" if examples else "",
    )


def _own_arguments(node: Node) -> list[argparse.Action]:
    """Positional arguments first, without those of every client command and those listed under `server`."""
    hidden = (
        SETTING_FLAGS
        if node.words in (("daemon", "start"), ("daemon", "restart"))
        else set(CLIENT_FLAGS)
        if node.words != ("server",)
        else set()
    )
    own = [action for action in arguments(node.parser) if not hidden.intersection(action.option_strings)]
    return sorted(own, key=lambda action: bool(action.option_strings))


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
    cells = (f"`{shown}`", prose(text))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
