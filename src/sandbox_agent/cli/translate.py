"""`translate AGENT FILE`: prints a recording as universal events, one JSON object per line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ..agents import TRANSLATORS
from ..agents.unknown import unknown_agent
from ..session.player import Played
from ..session.player import translate as translate_lines
from .failures import CommandFailed, WrongUsage
from .output import say, write_line


def translate(args: argparse.Namespace) -> int:
    agent = TRANSLATORS.get(args.agent)
    if agent is None:
        raise WrongUsage(unknown_agent(args.agent, TRANSLATORS))
    lines = _Lines(_read(args.file))
    is_empty = True
    try:
        for recorded in translate_lines(agent, lines):
            write_line(encode(recorded, include_raw=args.include_raw))
            is_empty = False
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{args.file}:{lines.number}: not a line of a recording: {error}") from None
    if is_empty:
        # Not an error: a recording may contain only a list of models.
        say(f"{args.file} contains no conversation of {args.agent}: is it from another agent?")
    return 0


class _Lines:
    """Lines, and the number of the last line read."""

    def __init__(self, content: bytes) -> None:
        self.number = 0
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        # Split at newlines only: JSON may contain other line separators.
        for line in self._content.split(b"\n"):
            self.number += 1
            yield line


def _read(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CommandFailed(f"cannot read {path}: {error.strerror}") from None


def encode(recorded: Played, *, include_raw: bool) -> bytes:
    if not include_raw or recorded.raw is None:
        return msgspec.json.encode(recorded.event)
    return msgspec.json.encode(msgspec.structs.replace(recorded.event, raw=_raw(recorded.raw)))


def _raw(frame: bytes) -> msgspec.Raw | str:
    """The native payload unchanged, or as a string if it is not JSON."""
    try:
        msgspec.json.decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return frame.decode(errors="replace")
    return msgspec.Raw(frame)
