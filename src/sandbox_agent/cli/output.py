"""Output of commands: tables, or JSON with `--json`. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from .failures import CommandFailed
from .widths import Need, fit, need

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table
    from rich.text import Text

# The columns of lists whose entries have too many fields for a table. A narrow terminal shows the first ones.
COLUMNS = {
    "agents": (
        "id",
        "version",
        "testedVersion",
        "credentialsAvailable",
        "source",
        "size",
        "path",
        "stability",
    ),
    "sessions": ("sessionId", "agent", "state", "title", "updatedAt", "directory", "eventCount"),
    "processes": ("id", "command", "args", "status", "exitCode", "cpuSeconds", "memoryBytes", "cwd"),
    "models": ("id", "name", "variants", "defaultVariant"),
    "modes": ("id", "name", "description"),
    "messages": ("turnId", "message", "createdAt"),
    "permissions": ("permission_id", "action", "kind", "title"),
    "questions": ("question_id", "prompt", "options"),
    "entries": ("name", "entryType", "size", "modified", "linkTarget"),
    "hits": ("path", "line", "text"),
    "files": ("status", "path", "additions", "deletions", "size"),
    "commands": ("name", "arguments", "description"),
    "toolCalls": ("call_id", "name", "arguments"),
    "servers": ("name", "state", "tools", "error"),
    "skills": ("name", "description", "source", "commit"),
    "sources": ("type", "source", "ref", "subpath", "skills"),
    "rules": (
        "list",
        "index",
        "effect",
        "agent",
        "kind",
        "tool",
        "command",
        "path",
        "host",
        "reason",
        "expired",
    ),
    "parts": ("kind", "text", "effect", "list", "index", "why"),
    "windows": ("id", "title", "x", "y", "width", "height", "isActive"),
    "recordings": ("id", "status", "fileName", "bytes", "startedAt", "endedAt"),
    "nodes": ("name", "state", "version", "startedAt", "lastSeenAt", "asked"),
}
PATHS = ("path", "directory")
CELL_WIDTH = 120
UNLIMITED = 100_000
PATH_WIDTH = 16
"""The least width of a path on a narrow terminal: enough of its end to recognize it."""


def wants_json(args: argparse.Namespace) -> bool:
    return bool(getattr(args, "json", False))


def no_color() -> bool:
    return bool(os.environ.get("NO_COLOR"))


@functools.cache
def can_draw() -> bool:
    """Whether the extra `cli` is installed. Without it, tables are plain text and there are no progress bars."""
    return importlib.util.find_spec("rich") is not None


def console(*, stderr: bool = False) -> Console:
    """A rich console for stdout or stderr."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    # In a pipe, lines are neither cut nor wrapped.
    width = None if stream.isatty() else UNLIMITED
    return Console(
        stderr=stderr,
        no_color=no_color(),
        highlight=False,
        soft_wrap=False,
        width=width,
        # Titles and texts of agents are shown as they are.
        markup=False,
        emoji=False,
    )


def say(text: str) -> None:
    """Print a message for the user."""
    print(text, file=sys.stderr)


def write_line(line: bytes) -> None:
    """Write a line of data and flush it, because the reader of a pipe may be waiting."""
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


@contextlib.contextmanager
def written(path: str | None) -> Iterator[BinaryIO]:
    """The target of `--output`: stdout or a file."""
    if path is None or path == "-":
        yield sys.stdout.buffer
        return
    try:
        with _replaced(Path(path).resolve()) as file:
            yield file
    except OSError as error:
        raise CommandFailed(f"cannot write {path}: {error.strerror}") from None


@contextlib.contextmanager
def _replaced(path: Path) -> Iterator[BinaryIO]:
    """A file that keeps its old content until the new content is complete."""
    if path.exists() and not path.is_file():
        # A pipe or a device must not be replaced by a file.
        with path.open("wb") as special:
            yield special
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            yield file
        if path.exists():
            shutil.copymode(path, partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def print_json(value: object) -> None:
    write_line(value if isinstance(value, bytes) else msgspec.json.encode(value))


def print_answer(answer: bytes, args: argparse.Namespace) -> None:
    """Print a response of the API: a table or a list of facts, or unchanged with `--json`."""
    if wants_json(args):
        print_json(answer)
        return
    value = msgspec.json.decode(answer)
    if isinstance(value, list):  # a whole directory
        value = {"entries": value}
    lists = [name for name in COLUMNS if isinstance(value, dict) and isinstance(value.get(name), list)]
    if lists and "state" in value:
        print_state(value, lists)
    elif lists:
        name = lists[0]
        if name == "parts":
            print_facts({key: fact for key, fact in value.items() if key not in ("parts", "rule")})
        # The kind and title of a request are in its metadata, the conditions of a rule in `rule`.
        rows = [{**(row.get("metadata") or {}), **(row.get("rule") or {}), **row} for row in value[name]]
        print_rows(COLUMNS[name], rows, empty="no rules" if name == "parts" else f"no {heading(name)}")
        if more := value.get("nextCursor"):
            say(f"more {name}: --cursor {more}")
    elif isinstance(value, dict):
        print_facts(value)
    else:
        print(cell(value))


def print_state(value: dict[str, Any], lists: Sequence[str]) -> None:
    """Print the facts of something, then what belongs to it."""
    print_facts({name: fact for name, fact in value.items() if name not in lists})
    for name in lists:
        rows = value[name]
        print(f"\n{heading(name)}:")
        print_rows(list(rows[0]) if rows else (), rows, empty=f"no {heading(name)}")


def print_rows(columns: Sequence[str], rows: Iterable[dict[str, Any]], *, empty: str) -> None:
    found = list(rows)
    if not found:
        say(empty)
        return
    # Leave out empty columns.
    shown = [name for name in columns if any(row.get(name) not in (None, "") for row in found)]
    if not can_draw():
        _print_plain(
            [
                [heading(name) for name in shown],
                *([_column(name, row.get(name)) for name in shown] for row in found),
            ]
        )
        return
    from rich.table import Table

    cells = {name: [_column(name, row.get(name)) for row in found] for name in shown}
    widths = fit([_need(name, cells[name], first=name == shown[0]) for name in shown], console().width)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, width in zip(shown, widths, strict=False):
        table.add_column(heading(name), overflow="fold", width=width)
    for row in zip(*(cells[name] for name in shown[: len(widths)]), strict=True):
        table.add_row(*row)
    print_table(table)
    if left_out := shown[len(widths) :]:
        say(f"the terminal is too narrow for: {', '.join(map(heading, left_out))}")


def _need(name: str, cells: Sequence[str | PathCell], *, first: bool) -> Need:
    texts = [heading(name), *map(str, cells)]
    # What is broken cannot be copied.
    is_whole = first or name.lower().endswith("id")
    return need(texts, least=UNLIMITED if is_whole else PATH_WIDTH if name in PATHS else None)


def print_table(table: Table) -> None:
    terminal = console()
    if sys.stdout.isatty():
        terminal.print(table)
        return
    with terminal.capture() as captured:
        terminal.print(table)
    # Remove the padding of the last column.
    for line in captured.get().splitlines():
        print(line.rstrip())


def _print_plain(lines: Sequence[Sequence[str | PathCell]]) -> None:
    texts = [[str(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for line in texts:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def _column(name: str, value: object) -> str | PathCell:
    match value:
        case str() if name in PATHS:
            return PathCell(value)
        case str() if name.endswith("At") or name == "modified":
            return moment(value)
        case int() if name == "size":
            return size(value)
    return cell(value)


class PathCell:
    """A path on one line, shortened in the middle if it is too wide, because its ends say most."""

    def __init__(self, path: str) -> None:
        home = os.path.expanduser("~")
        # A program that reads the table does not expand `~`.
        shortened = path.startswith(f"{home}/") and sys.stdout.isatty()
        self._text = _visible("~" + path[len(home) :] if shortened else path)

    def __str__(self) -> str:
        return self._text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        yield Text(cut_in_the_middle(self._text, options.max_width), no_wrap=True)


def cut_in_the_middle(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    # Keep more of the end, which names the file.
    head = (width - 1) // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def print_facts(facts: dict[str, Any]) -> None:
    if not can_draw():
        _print_plain([(heading(name), cell(value)) for name, value in facts.items() if value is not None])
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value is not None:
            table.add_row(heading(name), cell(value))
    print_table(table)


def heading(name: str) -> str:
    """`eventCount` or `event_count` as separate words."""
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
    return words.replace("_", " ").strip()


def moment(time: str) -> str:
    """A time, to the minute."""
    return time[:16].replace("T", " ")


def cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list() if all(isinstance(entry, str) for entry in value):
            text = ", ".join(value)
        case str():
            text = value
        case dict() if all(isinstance(number, int | float) for number in value.values()):
            text = ", ".join(f"{heading(name)} {number}" for name, number in value.items())
        case _:
            text = msgspec.json.encode(value).decode()
    text = _visible(text)
    return text if len(text) <= CELL_WIDTH else text[: CELL_WIDTH - 1] + "…"


def _visible(text: str) -> str:
    """Replace control characters in an agent's text, so that they do not reach the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def size(count: float) -> str:
    """A number of bytes with a unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    raise AssertionError
