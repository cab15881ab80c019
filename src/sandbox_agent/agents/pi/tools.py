"""Pi's tools in our terms: what each does, what its previews add, what it changed."""

from __future__ import annotations

from ...schema.items import ContentPart, FileRef, ToolKind
from . import frames as pi
from .reading import read

KINDS: dict[str, ToolKind] = {
    "bash": "command",
    "powershell": "command",
    "edit": "edit",
    "write": "edit",
    "read": "read",
    "ls": "read",
    "list_mcp_resources": "read",
    "list_mcp_resource_templates": "read",
    "read_mcp_resource": "read",
    "grep": "search",
    "find": "search",
    "tool_search": "search",
}
# Enough of a command's last output to find it again in the next, truncated preview.
TAIL = 200


def kind_of(tool: str) -> ToolKind:
    return KINDS.get(tool, "mcp" if tool.startswith("mcp__") else "other")


def exit_code_of(end: pi.ToolEnd) -> int | None:
    if KINDS.get(end.tool_name) != "command":
        return None
    outcome = read(end.result.structured_content, pi.CommandOutcome)
    return outcome.exit_code if outcome else None


def added(shown: str, text: str) -> str:
    """What a preview adds to the one before. Pi repeats the whole output, or only the end of a long one."""
    if text.startswith(shown):
        return text[len(shown) :]
    tail = shown[-TAIL:]
    at = text.rfind(tail)
    return text if at < 0 else text[at + len(tail) :]


def changes_of(end: pi.ToolEnd, arguments: pi.ToolArguments) -> list[ContentPart]:
    if arguments.path is None:
        return []
    if end.tool_name == "edit":
        details = read(end.result.details, pi.EditDetails)
        return [FileRef(arguments.path, "patch", diff=details.patch if details else None)]
    return [FileRef(arguments.path, "write")] if end.tool_name == "write" else []
