"""What a tool call is about, found under the names that most agents use for it."""

from __future__ import annotations

import shlex
from typing import Any
from urllib.parse import urlsplit

from ..schema.items import ToolKind
from .scribe import Ask, AskKind

_COMMANDS = ("command", "cmd")
_PATHS = ("file_path", "filePath", "filepath", "notebook_path", "path")
_URLS = ("url", "uri")

ASK_KINDS: dict[ToolKind, AskKind] = {
    "edit": "edit",
    "command": "command",
    "read": "read",
    "search": "read",
    "fetch": "read",
}
"""Kinds of tools as permission modes use them."""


def plain_ask(tool: str, kind: ToolKind, input: Any) -> Ask:
    """The request that a call of this tool would make."""
    return Ask(
        tool,
        input,
        ASK_KINDS.get(kind, "other"),
        paths=paths_in(input) if kind in ("edit", "read", "search") else None,
        tool_kind=kind,
        command=command_in(input) if kind == "command" else None,
        hosts=hosts_in(input) if kind == "fetch" else (),
    )


def command_in(input: Any) -> str | None:
    """The command line. None if there are two: it is not known which one the tool runs."""
    found = [value for value in _values(input, _COMMANDS) if value]
    if len(found) != 1:
        return None
    match found[0]:
        case str(line):
            return line
        case [*words] if all(isinstance(word, str) for word in words):
            return shlex.join(words)
    return None


def paths_in(input: Any) -> tuple[str, ...] | None:
    return (
        tuple(dict.fromkeys(path for path in _values(input, _PATHS) if isinstance(path, str) and path))
        or None
    )


def hosts_in(input: Any) -> tuple[str, ...]:
    hosts = (_host(url) for url in _values(input, _URLS) if isinstance(url, str))
    return tuple(dict.fromkeys(host for host in hosts if host))


def _host(url: str) -> str | None:
    try:
        return urlsplit(url if "://" in url else f"//{url}").hostname
    except ValueError:
        return None


def _values(input: Any, names: tuple[str, ...]) -> list[Any]:
    return [input[name] for name in names if name in input] if isinstance(input, dict) else []
