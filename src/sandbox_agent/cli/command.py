"""The types of the generated table: commands and their arguments. Imports nothing heavy, to keep `--help` fast."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal[
    "string",
    "integer",
    "number",
    "switch",
    "list",  # repeatable
    "pairs",  # repeatable KEY=VALUE
    "limits",  # repeatable NAME=VALUE, or JSON
    "mcp",  # repeatable NAME='command args', NAME=URL or JSON
    "sources",  # repeatable PATH, URL, OWNER/NAME or JSON
    "skills",  # the same, in an object
    "answers",  # repeatable "label,label", or all as JSON
    "attachments",  # repeatable PATH
    "json",  # one value as JSON
    "json_or_text",  # JSON, or plain text as it is
    "file",  # the path of a file to send
]
Place = Literal["path", "query", "header", "body", "content"]
Answer = Literal["json", "nothing", "content", "stream", "dialogue"]


class Argument(NamedTuple):
    """A field of a request, or a setting of the daemon."""

    name: str
    kind: Kind
    place: Place
    wire: str
    """Its name in the request."""
    help: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    is_word: bool = False
    """It is a positional argument."""

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def is_message(self) -> bool:
        """The main argument of a command, which may also be a positional argument or come from stdin."""
        return self.name == "message" and self.required


class Command(NamedTuple):
    """An operation as a command."""

    group: str
    verb: str
    aliases: tuple[str, ...]
    method: str
    path: str
    summary: str
    description: str
    answer: Answer
    media_type: str
    """The media type of a file that is sent."""
    arguments: tuple[Argument, ...]
    examples: str = ""
    """Lines for a shell."""

    @property
    def name(self) -> str:
        return f"{self.group} {self.verb}"

    def at(self, place: Place) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.place == place)
