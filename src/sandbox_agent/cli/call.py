"""Runs the command of an operation: sends the request and prints the response."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from ..schema.processes import LogEntry, ProcessLogs
from .command import Command
from .failures import CommandFailed, ProblemAnswered
from .output import print_answer, print_json, say, wants_json, write_line, written
from .process_output import decoded_entry, write_output
from .remote import Call, Downloading, Remote, caller_directory, find_address
from .request import call_of
from .table import COMMANDS
from .usage import print_usage


class EventPage(Struct, rename="camel"):
    events: list[msgspec.Raw]
    has_more: bool


class Created(Struct):
    healthy: bool = True
    error: dict[str, object] | None = None


class EventHead(Struct):
    """The fields of an event that are needed to follow a stream."""

    type: str = ""
    sequence: int = 0


def call(args: argparse.Namespace) -> int:
    command: Command = args._command
    if command.name == "sessions create" and args.session_id is None:
        command = next(other for other in COMMANDS if other.name == "sessions new")
    with Remote(find_address(args)) as remote:
        if any(argument.name == "directory" for argument in command.arguments):
            args.directory = caller_directory(args, remote.address)
        request = call_of(command, args, remote.upload)
        if command.name == "processes logs":
            return _print_logs(remote, request, args)
        match command.answer:
            case "stream":
                return _print_stream(remote, request)
            case "content":
                return _write_content(remote, request, args)
            case "nothing":
                remote.send(request)
                return 0
        answer = remote.send(request).content
    if command.name == "sessions events":
        return _print_events(answer, as_page=bool(getattr(args, "json", False)))
    if command.name == "usage get" and not wants_json(args):
        print_usage(answer)
        return 0
    print_answer(answer, args)
    if command.name in ("sessions create", "sessions new"):
        return _exit_code(msgspec.json.decode(answer, type=Created))
    return 0


def _exit_code(created: Created) -> int:
    """A session whose agent did not start was created, but the command failed."""
    if created.healthy:
        return 0
    say(ProblemAnswered(dict(created.error or {})).readable())
    return 1


def _print_events(answer: bytes, *, as_page: bool) -> int:
    if as_page:
        print_json(answer)
        return 0
    page = msgspec.json.decode(answer, type=EventPage)
    for event in page.events:
        write_line(bytes(event))
    if page.has_more:
        last = msgspec.json.decode(page.events[-1], type=EventHead)
        say(f"more events: --offset {last.sequence}")
    return 0


def _print_stream(remote: Remote, request: Call) -> int:
    """Print one event per line. The stream ends with the session or the turn it follows."""
    of_session = request.path.startswith("/v1/sessions/")
    for frame in remote.follow(request):
        write_line(frame.data)
        if of_session and msgspec.json.decode(frame.data, type=EventHead).type == "session.ended":
            break
    return 0


def _print_logs(remote: Remote, request: Call, args: argparse.Namespace) -> int:
    """Print the output of a process unchanged, or its log entries with `--json`."""
    entries: Iterator[LogEntry]
    if args.follow:
        entries = (decoded_entry(frame.data) for frame in remote.follow(request))
    else:
        entries = iter(msgspec.json.decode(remote.send(request).content, type=ProcessLogs).entries)
    for entry in entries:
        if getattr(args, "json", False):
            write_line(msgspec.json.encode(entry))
        else:
            write_output(entry)
    return 0


def _write_content(remote: Remote, request: Call, args: argparse.Namespace) -> int:
    with remote.download(request) as answer:
        if args.output is not None:
            size = 0
            with written(args.output) as file:
                for piece in answer.pieces:
                    size += file.write(piece)
            say(f"wrote {size} bytes to {args.output}")
            return 0
        _write_to_stdout(answer)
    return 0


def _write_to_stdout(answer: Downloading) -> None:
    """Refuse to write binary content to a terminal."""
    for piece in answer.pieces:
        if sys.stdout.isatty() and not (answer.is_text or _is_text(piece)):
            raise CommandFailed("the content is binary: use --output FILE or redirect stdout")
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _is_text(piece: bytes) -> bool:
    shown = piece.decode(errors="replace")
    return all(letter.isprintable() or letter in "\t\r\n" for letter in shown)
