"""A command for every operation, from the generated `table.py`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from .command import Argument, Command, Kind
from .parser import PROG, Parser, Subparsers, add_command, add_group, escaped, number
from .table import COMMANDS, GROUPS

DIRECTORY = "Working directory of the agent. Default: the current directory, or the daemon's if it runs on another machine."

CONVERTERS: dict[Kind, Callable[[str], object]] = {"integer": int, "number": number}


def add_operations(commands: Subparsers[Parser]) -> dict[str, Subparsers[Parser]]:
    """Returns the groups, so that more commands can be added to them."""
    groups: dict[str, Subparsers[Parser]] = {}
    for command in COMMANDS:
        if command.group not in groups:
            groups[command.group] = add_group(commands, command.group, GROUPS[command.group])
        parser = add_command(
            groups[command.group],
            command.name,
            command.summary,
            "exec:attach" if command.answer == "dialogue" else "call:call",
            command.aliases,
            more=command.description,
            examples=command.examples,
        )
        if command.name == "usage get":  # `get` need not be named
            parser.prog = f"{PROG} usage"
        parser.set_defaults(_command=command)
        for argument in command.arguments:
            _add_field(parser, command, argument)
        if command.answer == "content":
            parser.add_argument("--output", metavar="FILE", help="Write to a file instead of stdout.")
    return groups


def _add_field(parser: Parser, command: Command, field: Argument) -> None:
    if field.place == "path":
        # Without an id, the daemon generates one: the operation `sessions.new`.
        optional = "?" if command.name == "sessions create" else None
        parser.add_argument(field.name, nargs=optional, metavar=field.name.upper(), help=escaped(field.help))
        return
    if field.is_word:
        optional = None if field.required else "?"
        parser.add_argument(field.name, nargs=optional, metavar=field.name.upper(), help=escaped(field.help))
        return
    match field.kind:
        case "file":
            parser.add_argument(field.name, metavar="FILE", help="File to send; `-` reads stdin.")
        case "attachments":
            text = "File to send with the message; repeatable. A path that does not exist here is used on the daemon's machine."
            parser.add_argument("--attach", dest=field.name, action="append", metavar="PATH", help=text)
        case "pairs":
            value = "Without `=VALUE`, the value comes from your environment; repeatable."
            is_env = field.name == "env"
            text = f"{field.help} {value if is_env else 'Repeatable.'}"
            metavar = "KEY[=VALUE]" if is_env else "KEY=VALUE"
            parser.add_argument(field.flag, action="append", metavar=metavar, help=escaped(text))
        case "mcp":
            add_mcp(parser, field.help)
        case "skills":
            add_sources(parser, field.help)
        case "sources":
            add_sources(parser, field.help, "--source", field.name, required=field.required)
        case "json" | "json_or_text":
            parser.add_argument(field.flag, metavar="JSON", required=field.required, help=escaped(field.help))
        case "limits":
            text = f"{field.help} NAME=VALUE, e.g. maxCostUsd=5, or NAME=none; repeatable."
            parser.add_argument(field.flag, action="append", metavar="LIMIT", help=escaped(text))
        case "answers":
            either = parser.add_mutually_exclusive_group(required=field.required)
            text = "The chosen labels of one question, separated by commas; repeat for each question."
            either.add_argument("--answer", action="append", metavar="LABEL[,LABEL]", help=text)
            either.add_argument(
                "--answers", metavar="JSON", help="The same as JSON: a list of labels per question."
            )
        case "string" if field.is_message:
            text = "The prompt. `-`, or no prompt in a pipe, reads it from stdin."
            parser.add_argument("words", nargs="?", metavar="MESSAGE", help=text)
            parser.add_argument(field.flag, metavar="MESSAGE", help="The same as an option.")
        case _:
            add_flag(parser, field)


def add_mcp(parser: Parser, about: str) -> None:
    text = f"{about} NAME='command args', NAME=URL, or JSON ({{name: {{command, args, env}}}}); repeatable."
    parser.add_argument("--mcp", action="append", metavar="SERVER", help=escaped(text))


def add_sources(
    parser: Parser, about: str, flag: str = "--skills", name: str = "skills", *, required: bool = False
) -> None:
    text = (
        f"{about} A directory on the daemon's machine, a repository's URL, OWNER/NAME on GitHub, or JSON "
        "({type, source, ref, subpath, skills}); repeatable."
    )
    parser.add_argument(
        flag, dest=name, action="append", required=required, metavar="SOURCE", help=escaped(text)
    )


def add_flag(parser: Parser, field: Argument) -> None:
    text = escaped(DIRECTORY if field.name == "directory" else field.help)
    match field.kind:
        case "switch" if field.name == "enabled":  # true unless it is switched off
            parser.add_argument(field.flag, action=argparse.BooleanOptionalAction, help=text)
        case "switch":
            parser.add_argument(field.flag, action="store_const", const=True, help=text)
        case "list":
            more = "" if "repeatable" in text else " Repeatable."
            parser.add_argument(field.flag, action="append", metavar="VALUE", help=text + more)
        case _:
            parser.add_argument(
                field.flag,
                type=CONVERTERS.get(field.kind, str),
                required=field.required,
                choices=field.choices or None,
                metavar=None if field.choices else field.name.rsplit("_", 1)[-1].upper(),
                help=text,
            )
