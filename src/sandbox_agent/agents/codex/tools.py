"""Codex's tools. It reports items where other agents report calls: this module names the tool behind an item,
what it does and what it is about.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from ...schema.items import ToolKind
from ..titles import mcp_title, mcp_tool, title_of
from .frames import (
    Change,
    CollabAgentToolCall,
    CommandExecution,
    DynamicToolCall,
    FileChange,
    FunctionCallOutput,
    ImageGeneration,
    ImageView,
    Item,
    McpToolCall,
    SubAgentActivity,
    WebSearch,
)

COMMAND_TOOL = "exec_command"
STDIN_TOOL = "write_stdin"
PATCH_TOOL = "apply_patch"

KINDS: dict[type[Item], ToolKind] = {
    CommandExecution: "command",
    FileChange: "edit",
    McpToolCall: "mcp",
    CollabAgentToolCall: "task",
    SubAgentActivity: "task",
    WebSearch: "search",
    ImageView: "read",
}


def kind_of_tool(name: str) -> ToolKind:
    """What a tool does that codex asks about."""
    kinds: dict[str, ToolKind] = {
        COMMAND_TOOL: "command",
        STDIN_TOOL: "command",
        PATCH_TOOL: "edit",
        "network_access": "fetch",
        "web_search": "search",
    }
    return kinds.get(name, "mcp" if mcp_tool(name) is not None else "other")


class Tool(Struct, frozen=True):
    """A tool and its arguments."""

    name: str
    input: Any
    kind: ToolKind
    title: str


def tool_of(item: Item) -> Tool | None:
    """None for items that are not calls."""
    match item:
        case CommandExecution(command=command):
            name = STDIN_TOOL if item.source == "unifiedExecInteraction" else COMMAND_TOOL
            return _tool(item, name, {"command": command, "cwd": item.cwd}, typed(command))
        case FileChange(changes=changes):
            return _tool(item, PATCH_TOOL, patch_input(changes), patch_title(changes))
        case McpToolCall(server=server, tool=tool):
            return _tool(item, item.name, item.arguments, mcp_title(server, tool))
        case DynamicToolCall():
            return _tool(item, _qualified(item.namespace, item.tool), item.arguments)
        case FunctionCallOutput():
            return _tool(item, _qualified(item.namespace, item.name), {})
        case CollabAgentToolCall():
            arguments = {
                "prompt": item.prompt,
                "model": item.model,
                "reasoningEffort": item.reasoning_effort,
                "receiverThreadIds": item.receiver_thread_ids,
            }
            return _tool(item, item.tool, {name: value for name, value in arguments.items() if value})
        case SubAgentActivity(agent_path=path, model=model):
            input = {"agentPath": path, "model": model, "reasoningEffort": item.reasoning_effort}
            return _tool(item, "spawn_agent", input, path)
        case WebSearch(query=query, action=action):
            return _tool(item, "web_search", {"query": query, "action": action})
        case ImageView(path=path):
            return _tool(item, "view_image", {"path": path})
        case ImageGeneration(revised_prompt=prompt):
            return _tool(item, "image_generation", {"prompt": prompt})
    return None


def _tool(item: Item, name: str, input: Any, title: str | None = None) -> Tool:
    kind = KINDS.get(type(item), "other")
    return Tool(name, {} if input is None else input, kind, title or title_of(name, input, kind))


def _qualified(namespace: str | None, tool: str) -> str:
    return f"{namespace}.{tool}" if namespace else tool


def patch_input(changes: tuple[Change, ...]) -> Any:
    return {"changes": msgspec.to_builtins(changes)}


def patched_paths(input: Any) -> tuple[str, ...]:
    """The files in the input of a patch."""
    changes = input.get("changes") if isinstance(input, dict) else None
    paths = (change.get("path") for change in changes or () if isinstance(change, dict))
    return tuple(path for path in paths if isinstance(path, str))


def patch_title(changes: Iterable[Change]) -> str:
    return ", ".join(dict.fromkeys(change.path for change in changes))


def typed(command: str) -> str:
    """A command as a user would type it, without the shell that codex wraps around it."""
    try:
        words = shlex.split(command) if "sh -" in command[:64] else []
    except ValueError:
        return command
    match words:
        case [shell, "-c" | "-lc", script] if posixpath.basename(shell) in ("bash", "sh", "zsh", "dash"):
            return script
    return command
