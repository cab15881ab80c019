"""How OpenCode clients draw tool calls: by the name of the tool and the names of its inputs.

Our agents name their tools differently, so the kind of a call decides, which is independent of the agent. A tool that OpenCode
does not know keeps its own name and is displayed as one line.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...agents.diffs import changed_lines
from ...schema.events import PermissionMetadata
from ...schema.items import ContentPart, FileRef, ToolCall, ToolResult

Input = dict[str, Any]
"""The input of a tool: the agent's own payload."""

MAX_OUTPUT = 30_000
"""Characters of a tool's output that a client gets; the log has all of them."""
RESERVED_LEVELS = 100

_PATHS = ("filePath", "file_path", "path", "absolute_path", "notebook_path", "target_file")
_BY_NAME = {
    "todowrite": "todowrite",
    "askuserquestion": "question",
    "question": "question",
    "skill": "skill",
}
_PERMISSIONS = {
    "bash",
    "edit",
    "read",
    "glob",
    "grep",
    "list",
    "task",
    "webfetch",
    "websearch",
}


class RenderedTool(msgspec.Struct, frozen=True):
    tool: str
    input: Input


def rendered(call: ToolCall) -> RenderedTool:
    """The tool as a client displays it."""
    given = _decoded(call.arguments)
    match call.kind:
        case "command":
            return RenderedTool("bash", {**given, "command": _command(given, call.title)})
        case "read":
            return RenderedTool("read", {**given, "filePath": _path(given, call.title)})
        case "edit":
            return _edit(call, given)
        case "search":
            return _search(call, given)
        case "fetch":
            if "url" in given:
                return RenderedTool("webfetch", given)
            return RenderedTool("websearch", {**given, "query": str(given.get("query") or call.title)})
        case "task":
            described = given.get("description") or call.title
            type_of_agent = given.get("subagent_type") or given.get("agent") or "general"
            return RenderedTool("task", {**given, "description": described, "subagent_type": type_of_agent})
    return RenderedTool(_BY_NAME.get(call.name.lower(), call.name), given)


def _decoded(arguments: str) -> Input:
    try:
        if arguments.count("[") + arguments.count("{") > RESERVED_LEVELS:
            # What is nested so deeply that it could just be read could not be written inside a message.
            msgspec.json.decode("[" * RESERVED_LEVELS + arguments + "]" * RESERVED_LEVELS, type=msgspec.Raw)
        given = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {"input": given}


def _command(given: Input, title: str) -> str:
    command = given.get("command") or given.get("cmd") or title
    return " ".join(map(str, command)) if isinstance(command, list) else str(command)


def _path(given: Input, title: str) -> str:
    return next((str(given[name]) for name in _PATHS if given.get(name)), title)


def _edit(call: ToolCall, given: Input) -> RenderedTool:
    path = _path(given, call.title)
    if "content" in given:
        return RenderedTool("write", {**given, "filePath": path})
    return RenderedTool("edit", {**given, "filePath": path})


def _search(call: ToolCall, given: Input) -> RenderedTool:
    tool = "glob" if "glob" in call.name.lower() or "find" in call.name.lower() else "grep"
    return RenderedTool(
        tool, {**given, "pattern": str(given.get("pattern") or given.get("query") or call.title)}
    )


# -- results ----------------------------------------------------------------------------------


def output_of(content: tuple[ContentPart, ...]) -> str:
    text = "".join(part.output for part in content if isinstance(part, ToolResult))
    return text if len(text) <= MAX_OUTPUT else f"{text[:MAX_OUTPUT]}\n… ({len(text)} characters)"


def metadata_of(tool: RenderedTool, content: tuple[ContentPart, ...], directory: str) -> Input:
    """What a client draws beside the output."""
    metadata: Input = {"output": output_of(content), "truncated": False}
    for part in content:
        if isinstance(part, ToolResult) and part.exit_code is not None:
            metadata["exit"] = part.exit_code
    changed = [part for part in content if isinstance(part, FileRef) and part.action != "read"]
    if changed and tool.tool in ("edit", "write"):
        metadata |= {"diagnostics": {}, "diff": "\n".join(part.diff or "" for part in changed)}
    if len(changed) > 1 or tool.tool == "apply_patch":
        metadata["files"] = [_file(part, directory) for part in changed]
    return metadata


def tool_after(tool: RenderedTool, content: tuple[ContentPart, ...]) -> str:
    """A change of several files is displayed as a patch."""
    changed = [part for part in content if isinstance(part, FileRef) and part.action != "read"]
    return "apply_patch" if len(changed) > 1 and tool.tool in ("edit", "write") else tool.tool


def _file(part: FileRef, directory: str) -> Input:
    kinds = {"write": "add", "delete": "delete", "move": "move"}
    additions, deletions = changed_lines(part.diff or "")
    return {
        "filePath": part.path,
        "relativePath": part.path.removeprefix(f"{directory}/"),
        "type": kinds.get(part.action, "update"),
        "patch": part.diff or "",
        "additions": additions,
        "deletions": deletions,
    }


# -- permissions ------------------------------------------------------------------------------


class PermissionPanel(msgspec.Struct, frozen=True):
    """What the panel of a permission shows."""

    permission: str
    patterns: tuple[str, ...]
    metadata: Input


def permission_panel(action: str, metadata: PermissionMetadata) -> PermissionPanel:
    arguments = msgspec.json.encode(metadata.input).decode()
    tool = rendered(ToolCall(action, arguments, metadata.call_id or "", metadata.kind, metadata.title))
    name = "edit" if tool.tool in ("write", "apply_patch") else tool.tool
    shown: Input = {"title": metadata.title}
    if name == "edit":
        shown = {"filepath": _path(tool.input, metadata.title), "diff": metadata.diff or ""}
    elif name == "bash":
        shown = {"command": tool.input["command"]}
    permission = name if name in _PERMISSIONS else action
    return PermissionPanel(permission, metadata.paths or (metadata.title,), shown)
