"""What the generated table is made of: commands and their arguments. Imports nothing heavy, because `--help` needs it."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal[
    "string",
    "integer",
    "number",
    "switch",
    "list",  # repeatable
    "pairs",  # repeatable KEY=VALUE
    "mcp",  # repeatable NAME='command args', NAME=URL or JSON
    "answers",  # repeatable "label,label", or all as JSON
    "attachments",  # repeatable PATH
    "file",  # the path of a file whose bytes are sent
]
Place = Literal["path", "query", "header", "body", "content"]
Answer = Literal["json", "nothing", "content", "stream", "dialogue"]


class Argument(NamedTuple):
    """A field of a request, or a setting of the daemon."""

    name: str
    kind: Kind
    place: Place
    wire: str
    """How it is spelled on the wire."""
    help: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    is_word: bool = False
    """It stands without a flag."""

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def is_message(self) -> bool:
        """What a command is mainly about: it may also be given as a word, or on stdin."""
        return self.name == "message" and self.required


class Command(NamedTuple):
    """An operation, as the command line needs it."""

    group: str
    verb: str
    aliases: tuple[str, ...]
    method: str
    path: str
    summary: str
    description: str
    answer: Answer
    media_type: str
    """Of what is sent, where that is a file."""
    arguments: tuple[Argument, ...]
    examples: str = ""
    """Lines to paste into a shell."""

    @property
    def name(self) -> str:
        return f"{self.group} {self.verb}"

    def at(self, place: Place) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.place == place)
