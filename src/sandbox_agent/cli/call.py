"""Runs the command of an operation: sends the request and prints the response."""

from __future__ import annotations

import argparse
import sys

import msgspec
from msgspec import Struct

from .command import Command
from .failures import CommandFailed, ProblemAnswered
from .output import print_answer, print_json, say, write_line, written
from .remote import Call, Remote, caller_directory, find_address
from .request import call_of
from .table import COMMANDS


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


def _write_content(remote: Remote, request: Call, args: argparse.Namespace) -> int:
    answer = remote.send(request)
    if args.output is not None:
        with written(args.output) as file:
            file.write(answer.content)
        say(f"wrote {len(answer.content)} bytes to {args.output}")
        return 0
    is_text = answer.media_type.startswith("text/")
    if sys.stdout.isatty() and not is_text:
        raise CommandFailed("the content is binary: use --output FILE or redirect stdout")
    sys.stdout.buffer.write(answer.content)
    return 0
