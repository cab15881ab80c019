"""Writes `table.py`: the operations and settings as plain data, so that help and completion need not import the daemon."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import inspect as types

from ..agents import AGENTS
from ..config import Config
from ..ops import GROUPS, OPERATIONS, Operation
from ..ops.operation import Content, Dialogue, Download, Stream
from ..schema.inputs import Attachment, McpServer
from .command import Answer, Argument, Command, Kind, Place

HEADER = '''\
"""Generated from the table of operations, `Config` and the registry of agents: `make gen` rewrites it."""

# fmt: off
# ruff: noqa: RUF100

from __future__ import annotations

from .command import Argument, Command
'''


def render() -> str:
    """The text of `table.py`."""
    agents = "\n".join(f"    {(agent.name, agent.title)!r}," for agent in AGENTS.values())
    groups = "\n".join(f"    {name!r}: {about!r}," for name, about in GROUPS.items())
    commands = "\n".join(_command_source(_command(op)) for op in OPERATIONS.values())
    settings = "\n".join(f"    {_argument_source(argument)}," for argument in _settings())
    return (
        f"{HEADER}\nAGENTS: tuple[tuple[str, str], ...] = (\n{agents}\n)\n"
        f"\nGROUPS: dict[str, str] = {{\n{groups}\n}}\n"
        f"\nCOMMANDS: tuple[Command, ...] = (\n{commands}\n)\n"
        f"\nSETTINGS: tuple[Argument, ...] = (\n{settings}\n)\n"
    )


def _command_source(command: Command) -> str:
    *facts, _, examples = command
    lines = "".join(f"            {_argument_source(argument)},\n" for argument in command.arguments)
    arguments = f"(\n{lines}        )" if lines else "()"
    return f"    Command(\n        {', '.join(map(repr, facts))},\n        {arguments},\n        {examples!r},\n    ),"


def _argument_source(argument: Argument) -> str:
    shown = [repr(value) for value in argument[:5]]
    shown += ["required=True"] if argument.required else []
    shown += [f"choices={argument.choices!r}"] if argument.choices else []
    shown += ["is_word=True"] if argument.is_word else []
    return f"Argument({', '.join(shown)})"


def _command(op: Operation) -> Command:
    group, verb = op.name.split(".")
    return Command(
        group,
        verb.replace("_", "-"),
        op.aliases,
        op.method,
        op.path,
        op.summary,
        op.description,
        _answer(op),
        op.media_type if op.takes_bytes else "",
        tuple(_arguments(op)),
        "\n".join(op.examples),
    )


def _answer(op: Operation) -> Answer:
    if op.response is None:
        return "nothing"
    if op.response in (Content, Download):
        return "content"
    if op.response is Dialogue:
        return "dialogue"
    return "stream" if op.response is Stream else "json"


def _arguments(op: Operation) -> Iterator[Argument]:
    for field in msgspec.structs.fields(op.request):
        place: Place
        wire = field.encode_name
        if field.name in op.path_fields:
            place, wire = "path", field.name
        elif field.name in op.headers:
            place, wire = "header", op.headers[field.name]
        elif field.name in op.query_fields:
            place = "query"
        elif field.name in op.body_fields:
            place = "body"
        elif field.name == "content_type":
            place, wire = "header", "Content-Type"
        else:
            place = "content"
        yield _argument(field, place, wire)._replace(is_word=field.name in op.words)


def _settings() -> Iterator[Argument]:
    for field in msgspec.structs.fields(Config):
        yield _argument(field, "body", field.name)


def _argument(field: msgspec.structs.FieldInfo, place: Place, wire: str) -> Argument:
    info, text = _unwrapped(types.type_info(field.type))
    text = text or _described_elsewhere(field.name)
    if isinstance(field.default, int | float | str) and not isinstance(field.default, bool):
        text += f" Default: {field.default}."
    choices = tuple(map(str, info.values)) if isinstance(info, types.LiteralType) else ()
    return Argument(field.name, _kind(info), place, wire, text.strip(), field.required, choices)


def _described_elsewhere(name: str) -> str:
    """A field without a description means the same as one of that name in another operation."""
    fields = (field for op in OPERATIONS.values() for field in msgspec.structs.fields(op.request))
    texts = (_unwrapped(types.type_info(field.type))[1] for field in fields if field.name == name)
    return next(filter(None, texts), "")


def _unwrapped(info: types.Type) -> tuple[types.Type, str]:
    """The type without its description and without `| None`."""
    text = ""
    while True:
        match info:
            case types.Metadata(type=inner, extra_json_schema=schema):
                text = text or str((schema or {}).get("description", ""))
                info = inner
            case types.UnionType(types=members):
                info = next(member for member in members if not isinstance(member, types.NoneType))
            case _:
                return info, text


def _kind(info: types.Type) -> Kind:
    match info:
        case types.BoolType():
            return "switch"
        case types.IntType():
            return "integer"
        case types.FloatType():
            return "number"
        case types.BytesType() | types.CustomType():
            return "file"
        case types.VarTupleType(item_type=types.StructType(cls=cls)) if cls is Attachment:
            return "attachments"
        case types.VarTupleType(item_type=types.VarTupleType()):
            return "answers"
        case types.VarTupleType():
            return "list"
        case types.DictType(value_type=types.StructType(cls=cls)) if cls is McpServer:
            return "mcp"
        case types.DictType():
            return "pairs"
        case types.StrType() | types.LiteralType():
            return "string"
    raise TypeError(f"the command line has no way to say {info}")
