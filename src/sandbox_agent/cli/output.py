"""What commands print: tables for people, JSON for machines that ask for it. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from .failures import CommandFailed

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

# The columns of a list, where all that an entry holds would be too much for a table.
COLUMNS = {
    "agents": (
        "id",
        "version",
        "testedVersion",
        "source",
        "size",
        "path",
        "credentialsAvailable",
        "stability",
    ),
    "sessions": ("sessionId", "agent", "state", "title", "eventCount", "updatedAt", "directory"),
    "processes": ("id", "command", "args", "status", "exitCode", "cpuSeconds", "memoryBytes", "cwd"),
    "models": ("id", "name", "variants", "defaultVariant"),
    "modes": ("id", "name", "description"),
    "messages": ("turnId", "message", "createdAt"),
    "permissions": ("permission_id", "action", "kind", "title"),
    "questions": ("question_id", "prompt", "options"),
    "entries": ("name", "entryType", "size", "modified", "linkTarget"),
    "hits": ("path", "line", "text"),
    "files": ("status", "path", "additions", "deletions", "size"),
}
PATHS = ("path", "directory")
CELL_WIDTH = 120
UNLIMITED = 100_000
PATH_WIDTH = 16
"""What a path is left with, however narrow the terminal: enough of its end to tell it from others."""


def wants_json(args: argparse.Namespace) -> bool:
    return bool(getattr(args, "json", False))


def no_color() -> bool:
    return bool(os.environ.get("NO_COLOR"))


def console(*, stderr: bool = False) -> Console:
    """A terminal, or what looks like one to those who print on it."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    # In a pipe a line is as long as it has to be: nothing is cut or broken.
    width = None if stream.isatty() else UNLIMITED
    return Console(stderr=stderr, no_color=no_color(), highlight=False, soft_wrap=False, width=width)


def say(text: str) -> None:
    """A message to whoever runs the command."""
    print(text, file=sys.stderr)


def write_line(line: bytes) -> None:
    """One line of data, at once: a reader at the other end of a pipe waits for it."""
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


@contextlib.contextmanager
def written(path: str | None) -> Iterator[BinaryIO]:
    """Where `--output` leads: stdout, or a file."""
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
    """A file that keeps what it had until all of the new content is there."""
    if path.exists() and not path.is_file():
        # A pipe or a device takes what is written to it, and must not be replaced by a file.
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
    """An answer of the API: a table or a list of facts; with `--json` as it came."""
    if wants_json(args):
        print_json(answer)
        return
    value = msgspec.json.decode(answer)
    if isinstance(value, list):  # the whole of a folder
        value = {"entries": value}
    lists = [name for name in COLUMNS if isinstance(value, dict) and isinstance(value.get(name), list)]
    if lists:
        name = lists[0]
        # What a request is about stands in its metadata.
        rows = [{**(row.get("metadata") or {}), **row} for row in value[name]]
        print_rows(COLUMNS[name], rows, empty=f"no {name}")
        if more := value.get("nextCursor"):
            say(f"there are more: --cursor {more}")
    elif isinstance(value, dict):
        print_facts(value)
    else:
        print(cell(value))


def print_rows(columns: Sequence[str], rows: Iterable[dict[str, Any]], *, empty: str) -> None:
    from rich.table import Table

    found = list(rows)
    if not found:
        say(empty)
        return
    # A column that no row fills says nothing.
    shown = [name for name in columns if any(row.get(name) not in (None, "") for row in found)]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in shown:
        table.add_column(heading(name), overflow="fold", no_wrap=name == shown[0])
    for row in found:
        table.add_row(*(_column(name, row.get(name)) for name in shown))
    _print_table(table)


def _print_table(table: Table) -> None:
    terminal = console()
    if sys.stdout.isatty():
        terminal.print(table)
        return
    with terminal.capture() as captured:
        terminal.print(table)
    # A program that reads lines has no use for what fills up the last column.
    for line in captured.get().splitlines():
        print(line.rstrip())


def _column(name: str, value: object) -> RenderableType:
    match value:
        case str() if name in PATHS:
            return PathCell(value)
        case str() if name.endswith("At"):
            return moment(value)
        case int() if name == "size":
            return size(value)
    return cell(value)


class PathCell:
    """A path in one line, cut in the middle where it is too wide: its two ends tell more than the way between them."""

    def __init__(self, path: str) -> None:
        home = os.path.expanduser("~")
        # A program that reads the table knows no `~`.
        shortened = path.startswith(f"{home}/") and sys.stdout.isatty()
        self._text = _visible("~" + path[len(home) :] if shortened else path)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        width = min(len(self._text), options.max_width)
        return Measurement(min(width, PATH_WIDTH), width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        yield Text(cut_in_the_middle(self._text, options.max_width), no_wrap=True)


def cut_in_the_middle(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    # The end of a path, which names the thing, is the longer part.
    head = (width - 1) // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def print_facts(facts: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value is not None:
            table.add_row(heading(name), cell(value))
    _print_table(table)


def heading(name: str) -> str:
    """`eventCount` and `event_count` as words."""
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
    return words.replace("_", " ").strip()


def moment(time: str) -> str:
    """A time to the minute: a table needs no more."""
    return time[:16].replace("T", " ")


def cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list() if all(isinstance(one, str) for one in value):
            text = ", ".join(value)
        case str():
            text = value
        case dict() if all(isinstance(one, int | float) for one in value.values()):
            text = ", ".join(f"{heading(name)} {one}" for name, one in value.items())
        case _:
            text = msgspec.json.encode(value).decode()
    text = _visible(text)
    text = text if len(text) <= CELL_WIDTH else text[: CELL_WIDTH - 1] + "…"
    return text.replace("[", r"\[")


def _visible(text: str) -> str:
    """An agent's text may hold control characters; a table must not obey them."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def size(count: float) -> str:
    """Bytes in words."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    raise AssertionError
