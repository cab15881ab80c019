"""Amp's tools in our terms: what each does, what a permission request says, what it changed."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ...schema.items import ContentPart, FileRef, ToolKind, arguments_of
from ..lenient import convert
from ..plain_asks import command_in, hosts_in
from ..replacements import Replacement
from ..scribe import Ask, AskKind, Rule
from ..titles import title_of_call
from .frames import Question, ToolInput, ToolOutput
from .modes import ASK_USER, READ_ONLY

KINDS: dict[str, ToolKind] = {
    "Bash": "command",
    "shell_command": "command",
    "create_file": "edit",
    "edit_file": "edit",
    "delete_file": "edit",
    "undo_edit": "edit",
    "apply_patch": "edit",
    "Read": "read",
    "list_directory": "read",
    "look_at": "read",
    "get_diagnostics": "read",
    "read_mcp_resource": "read",
    "read_thread": "read",
    "Grep": "search",
    "glob": "search",
    "Glob": "search",
    "finder": "search",
    "find_thread": "search",
    "web_search": "search",
    "read_web_page": "fetch",
    "Task": "task",
    "librarian": "task",
    "oracle": "task",
    ASK_USER: "other",
}


def kind_of(tool: str) -> ToolKind:
    return KINDS.get(tool, "mcp" if tool.startswith("mcp__") else "other")


def ask_of(asked: Question, call: str | None) -> Ask:
    kind = _ask_kind(asked.tool)
    given = convert(asked.input, ToolInput) or ToolInput()
    command = given.cmd if given.cmd is not None else given.command
    text = command if kind == "command" else given.path
    exact = Rule(asked.tool, text if text is not None else arguments_of(asked.input))
    path = given.path if kind in ("edit", "read") else None
    return Ask(
        asked.tool,
        asked.input,
        kind,
        call,
        (path,) if path else None,
        replacements=_replacements_of(path, given) if kind == "edit" and path else (),
        needs=(exact,),
        # "Always" covers exactly this command, but any file and any input of another tool.
        always=(exact,) if kind == "command" else (Rule(asked.tool),),
        tool_kind=kind_of(asked.tool),
        title=title_of_call(asked.tool, asked.input, kind_of(asked.tool)),
        command=command_in(asked.input),
        hosts=hosts_in(asked.input),
    )


def _ask_kind(tool: str) -> AskKind:
    match KINDS.get(tool):
        case "command" | "edit" as kind:
            return kind
        case _:
            return "read" if tool in READ_ONLY else "other"


def _replacements_of(path: str, given: ToolInput) -> tuple[Replacement, ...]:
    if given.old_str is not None:
        return (Replacement(path, given.old_str, given.new_str or ""),)
    return (Replacement(path, None, given.content),) if given.content is not None else ()


# -- what a tool did --------------------------------------------------------------------------


def changes_of(tool: str, given: ToolInput, result: ToolOutput) -> list[ContentPart]:
    if given.path is None or KINDS.get(tool) != "edit":
        return []
    if tool == "create_file":
        return [FileRef(given.path, "write")]
    if tool == "delete_file":
        return [FileRef(given.path, "delete")]
    return [FileRef(given.path, "patch", diff=_unfenced(result.diff))]


def output_of(result: ToolOutput) -> str:
    """The output as the model reads it."""
    output, cut = result.output or "", result.truncation
    if cut is None or not cut.lines:
        return output
    return f"--- Truncated {cut.lines} {'line' if cut.lines == 1 else 'lines'} above this ---\n{output}"


def _unfenced(diff: str | None) -> str | None:
    """Removes the Markdown fence that Amp puts around a diff."""
    if not diff:
        return None
    body = re.sub(r"\A```\w*\n|\n?```\s*\Z", "", diff)
    return body if body.endswith("\n") else f"{body}\n"


# -- values whose shape depends on the tool ---------------------------------------------------


def read(text: str) -> Any:
    """The decoded result, if it is JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
