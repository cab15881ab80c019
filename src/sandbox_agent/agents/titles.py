"""Finds a title for a tool call in its input: one line that says what the call is about."""

from __future__ import annotations

from typing import Any

from ..schema.items import ToolKind

_COMMANDS = ("command", "cmd")
_PATHS = ("file_path", "filePath", "filepath", "notebook_path", "path", "uri")
_PATTERNS = ("pattern", "filePattern", "query", "objective")
_PAGES = ("url",)
_TASKS = ("description", "prompt")

TITLE_FIELDS: dict[ToolKind, tuple[str, ...]] = {
    "command": (*_COMMANDS, *_TASKS),
    "edit": _PATHS,
    "read": _PATHS,
    "search": (*_PATTERNS, *_PATHS, *_PAGES),
    "fetch": (*_PAGES, *_PATTERNS),
    "mcp": (),
    "task": _TASKS,
    "other": (*_COMMANDS, *_PATHS, *_PATTERNS, *_PAGES, *_TASKS),
}
"""Names of inputs that describe a call of each kind, the most descriptive first; most agents use the same
names.
"""


def title_of(name: str, input: Any, kind: ToolKind = "other") -> str:
    """The first descriptive input that is present (a command, a path, a query), else the tool's name."""
    if isinstance(input, dict):
        for key in TITLE_FIELDS[kind]:
            match input.get(key):
                case str(value) if value.strip():
                    return value
                case [*words] if words and all(isinstance(word, str) for word in words):
                    return " ".join(words)
    return name


def mcp_title(server: str, tool: str) -> str:
    return f"{server}/{tool}"


def mcp_tool(name: str) -> tuple[str, str] | None:
    """The server and the tool in a name like `mcp__server__tool`."""
    prefix, _, rest = name.partition("__")
    server, _, tool = rest.partition("__")
    return (server, tool) if prefix == "mcp" and server and tool else None


def title_of_call(name: str, input: Any, kind: ToolKind) -> str:
    """The title of a call whose name may be that of an MCP server and its tool."""
    server = mcp_tool(name)
    return mcp_title(*server) if server is not None else title_of(name, input, kind)
