"""Builds a request from the arguments of a command."""

from __future__ import annotations

import argparse
import os
import shlex
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ..client.call import Call, segment
from .command import Argument, Command
from .failures import CommandFailed, WrongUsage

PIECE_BYTES = 256 << 10
Upload = Callable[[str, Path], dict[str, Any]]


def call_of(command: Command, args: argparse.Namespace, upload: Upload) -> Call:
    """The request of an operation. Uploads local files first."""
    given = {argument.name: _given(argument, args, upload) for argument in command.arguments}
    present = {name: value for name, value in given.items() if value is not None}

    def at(place: str) -> dict[str, Any]:
        arguments = command.at(place)  # type: ignore[arg-type]
        return {argument.wire: present[argument.name] for argument in arguments if argument.name in present}

    path = command.path.format(**{name: segment(value) for name, value in at("path").items()})
    query = {name: _text(value) for name, value in at("query").items()}
    headers = {name: _text(value) for name, value in at("header").items()}
    content: bytes | Iterator[bytes] | None = None
    if command.at("content"):
        content, size = pieces_of_file(args.content)
        if size is not None:
            headers["Content-Length"] = str(size)
        if args.content != "-" and any(argument.name == "filename" for argument in command.arguments):
            query.setdefault("filename", Path(args.content).name)
        headers.setdefault("Content-Type", command.media_type)
    elif command.method in ("POST", "PUT", "PATCH"):
        content = msgspec.json.encode(at("body"))
        headers["Content-Type"] = "application/json"
    return Call(command.method, path, query, headers, content)


def _given(argument: Argument, args: argparse.Namespace, upload: Upload) -> Any:
    """The value of a field in the request."""
    value = getattr(args, argument.name, None)
    if argument.kind == "answers":
        return answers(args.answer, args.answers)
    if argument.is_message:
        return message(args.words, value)
    if value is None or argument.kind == "file":
        return None
    match argument.kind:
        case "pairs":
            return pairs(value, os.environ if argument.name == "env" else {}, argument.flag)
        case "mcp":
            return mcp_servers(value)
        case "limits":
            return limits(value)
        case "sources":
            return [skill_source(text) for text in value]
        case "skills":
            return {"sources": [skill_source(text) for text in value]}
        case "attachments":
            return [attachment(path, args.session_id, upload) for path in value]
        case "json":
            return _json(argument.flag, value)
        case "json_or_text":
            return _json_or_text(value)
    if argument.name == "directory":
        return os.path.abspath(value)
    return value


def _json(flag: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise WrongUsage(f"{flag} is not JSON: {error}") from None


def _json_or_text(text: str) -> Any:
    try:
        return msgspec.json.decode(text) if text.lstrip().startswith("{") else text
    except msgspec.DecodeError:
        return text


def message(word: str | None, option: str | None) -> str:
    """The message: a positional argument, an option, or stdin."""
    if word is not None and option is not None:
        raise WrongUsage("the message is given twice: as an argument and with --message")
    given = word if word is not None else option
    if given is None and sys.stdin.isatty():
        raise WrongUsage("no message: pass one as an argument or through a pipe")
    return text_of_stdin() if given in (None, "-") else given


def text_of_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise WrongUsage("stdin is not UTF-8 text: to send a file, use --attach") from None


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def pieces_of_file(path: str) -> tuple[Iterator[bytes], int | None]:
    """The content of a file, and its size if it is known in advance; `-` is stdin."""
    if path == "-":
        return iter(partial(sys.stdin.buffer.read, PIECE_BYTES), b""), None
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode) or not os.access(path, os.R_OK):
            raise OSError(0, "it is a directory or not readable")
    except OSError as error:
        raise WrongUsage(f"cannot read {path}: {error.strerror}") from None
    # Files of the kernel have the size 0, whatever they contain.
    size = status.st_size if stat.S_ISREG(status.st_mode) and status.st_size else None
    return _pieces(path, size), size


def _pieces(path: str, size: int | None) -> Iterator[bytes]:
    """The content; if a size was announced, exactly as much, even of a log that grows."""
    with open(path, "rb") as file:
        if size is None:
            yield from iter(partial(file.read, PIECE_BYTES), b"")
            return
        while size:
            piece = file.read(min(size, PIECE_BYTES))
            if not piece:
                raise CommandFailed(f"{path} became shorter while it was read")
            size -= len(piece)
            yield piece


def attachment(path: str, session_id: str, upload: Upload) -> dict[str, Any]:
    """Upload a local file, because the daemon may be on another machine. Any other path is on the daemon's machine."""
    local = Path(path).expanduser()
    return upload(session_id, local) if local.is_file() else {"path": path}


def pairs(texts: list[str], environ: Mapping[str, str], flag: str = "--env") -> dict[str, str]:
    """KEY=VALUE, or KEY for a variable of the environment."""
    found = {}
    for text in texts:
        name, given, value = text.partition("=")
        if not name:
            raise WrongUsage(f"`{text}` is not KEY=VALUE")
        if not given and name not in environ:
            raise WrongUsage(f"`{name}` is not set: use {flag} {name}=VALUE")
        found[name] = value if given else environ[name]
    return found


def mcp_servers(texts: list[str]) -> dict[str, Any]:
    """NAME='command args', NAME=URL, or a JSON object of servers by name."""
    servers: dict[str, Any] = {}
    for text in texts:
        if text.lstrip().startswith("{"):
            try:
                servers |= msgspec.json.decode(text, type=dict[str, Any])
            except msgspec.DecodeError as error:
                raise WrongUsage(f"--mcp is not JSON: {error}") from None
            continue
        name, given, value = text.partition("=")
        if not name or not given or not value.strip():
            raise WrongUsage(f"--mcp `{text}` is neither JSON nor NAME='command args' nor NAME=URL")
        servers[name] = _mcp_server(value)
    return servers


def limits(texts: list[str]) -> dict[str, float | None]:
    """NAME=VALUE, where `none` removes a limit. The daemon checks the names."""
    found: dict[str, float | None] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found[name] = None if value == "none" else msgspec.convert(value, int | float, strict=False)
        except msgspec.ValidationError:
            raise WrongUsage(f"--limits `{text}` is not NAME=NUMBER or NAME=none") from None
    return found


def _mcp_server(value: str) -> dict[str, Any]:
    if value.startswith(("http://", "https://")):
        return {"url": value}
    try:
        command, *arguments = shlex.split(value)
    except ValueError as error:
        raise WrongUsage(f"--mcp `{value}`: {error}") from None
    return {"command": command, "args": arguments}


def skill_source(text: str) -> dict[str, Any]:
    """A path, a URL, OWNER/NAME on GitHub, or a JSON object."""
    if text.lstrip().startswith("{"):
        try:
            return msgspec.json.decode(text, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise WrongUsage(f"`{text}` is not JSON: {error}") from None
    if text.startswith(("/", "./", "../", "~")) or text in (".", ".."):
        return {"type": "local", "source": os.path.abspath(os.path.expanduser(text))}
    return {"type": "git" if ":" in text else "github", "source": text}


def answers(each: list[str] | None, everything: str | None) -> list[list[str]]:
    """The labels for each question, from repeated `--answer` or from JSON."""
    if everything is None:
        return [[label.strip() for label in text.split(",") if label.strip()] for text in each or ()]
    try:
        return msgspec.json.decode(everything, type=list[list[str]])
    except msgspec.DecodeError as error:
        raise WrongUsage(f"--answers is not a JSON list of lists of labels: {error}") from None
