"""Claude Code's tools in our terms: what they do, what "always" may cover, which files a result changed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...schema.events import AskedQuestion, Choice
from ...schema.items import FileAction, FileRef, ToolKind, arguments_of
from ..diffs import Hunk, Names, ParsedDiff, diff_of_texts
from ..lenient import convert
from ..plain_asks import ASK_KINDS, command_in, hosts_in, paths_in
from ..replacements import Replacement
from ..scribe import Ask, Rule
from ..titles import mcp_title, mcp_tool, title_of
from .frames import AnyToolUse, CanUseTool, McpToolUse

EDITS: dict[str, FileAction] = {
    "Write": "write",
    "Edit": "patch",
    "MultiEdit": "patch",
    "NotebookEdit": "patch",
}
KINDS: dict[str, ToolKind] = {
    **dict.fromkeys(EDITS, "edit"),
    **dict.fromkeys(("Bash", "PowerShell", "Monitor", "KillShell", "BashOutput"), "command"),
    **dict.fromkeys(("Read", "LS", "NotebookRead"), "read"),
    **dict.fromkeys(("ListMcpResourcesTool", "ReadMcpResourceTool", "ReadMcpResourceDirTool"), "read"),
    **dict.fromkeys(("Glob", "Grep", "ToolSearch", "WebSearch"), "search"),
    "WebFetch": "fetch",
    **dict.fromkeys(("Agent", "Task"), "task"),
    # Tools that run at the model's provider.
    **dict.fromkeys(("code_execution", "bash_code_execution"), "command"),
    "text_editor_code_execution": "edit",
    "web_search": "search",
    "web_fetch": "fetch",
}

_SHELLS = frozenset({"Bash", "Monitor"})
"""Tools whose command is for a POSIX shell."""


def kind_of(tool: str) -> ToolKind:
    return "mcp" if mcp_tool(tool) is not None else KINDS.get(tool, "other")


def title_of_call(tool: str, input: Any) -> str:
    server = mcp_tool(tool)
    return mcp_title(*server) if server is not None else title_of(tool, input, kind_of(tool))


def kind_of_use(use: AnyToolUse) -> ToolKind:
    return "mcp" if isinstance(use, McpToolUse) else kind_of(use.name)


def title_of_use(use: AnyToolUse) -> str:
    if isinstance(use, McpToolUse) and use.server_name:
        return mcp_title(use.server_name, use.name)
    return title_of_call(use.name, use.input)


def ask_of(request: CanUseTool, call: str | None) -> Ask:
    kind = kind_of(request.tool_name)
    return Ask(
        request.tool_name,
        request.input,
        ASK_KINDS.get(kind, "other"),
        call,
        paths=_paths_of(request),
        replacements=tuple(_replacements_of(request)),
        needs=_rules_of(request),
        tool_kind=kind,
        title=title_of_call(request.tool_name, request.input),
        command=command_in(request.input) if request.tool_name in _SHELLS else None,
        hosts=hosts_in(request.input) if kind == "fetch" else (),
    )


class _Piece(Struct, frozen=True):
    old_string: str
    new_string: str
    replace_all: bool = False


class _EditInput(Struct, frozen=True):
    """The input of Write, Edit and MultiEdit."""

    file_path: str
    content: str | None = None
    old_string: str | None = None
    new_string: str = ""
    replace_all: bool = False
    edits: tuple[_Piece, ...] = ()


def _replacements_of(request: CanUseTool) -> Iterator[Replacement]:
    given = convert(request.input, _EditInput) if request.tool_name in EDITS else None
    if given is None:
        return
    if given.content is not None:
        yield Replacement(given.file_path, None, given.content)
    if given.old_string is not None:
        yield Replacement(given.file_path, given.old_string, given.new_string, given.replace_all)
    for piece in given.edits:
        yield Replacement(given.file_path, piece.old_string, piece.new_string, piece.replace_all)


def path_of(input: Any) -> str | None:
    """The file a call is about."""
    if not isinstance(input, dict):
        return None
    for name in ("file_path", "notebook_path", "path"):
        if isinstance(path := input.get(name), str) and path:
            return path
    return None


def plan_of(input: Any) -> str | None:
    """The plan in the arguments of an ExitPlanMode call."""
    plan = input.get("plan") if isinstance(input, dict) else None
    return plan if isinstance(plan, str) and plan else None


def _paths_of(request: CanUseTool) -> tuple[str, ...] | None:
    blocked = (request.blocked_path,) if request.blocked_path else None
    return paths_in(request.input) or blocked


def _rules_of(request: CanUseTool) -> tuple[Rule, ...]:
    """Commands and files are remembered exactly, other tools as the agent suggests.

    Claude's suggestions for commands contain wildcards that are safe only with its own analysis of the shell.
    """
    tool = request.tool_name
    if kind_of(tool) == "command" and isinstance(command := request.input.get("command"), str):
        return (Rule(tool, command),)
    if tool in EDITS and (path := path_of(request.input)):
        return (Rule(tool, posixpath.normpath(path)),)
    suggested = [
        Rule(tool, rule.ruleContent)
        for suggestion in request.permission_suggestions or ()
        if suggestion.type == "addRules"
        for rule in suggestion.rules
        if rule.toolName == tool
    ]
    return tuple(suggested) or (Rule(tool, arguments_of(request.input)),)


# -- what a tool did --------------------------------------------------------------------------

_exit_code = re.compile(r"(?:Error: )?Exit code (\d+)")


class Ran(Struct, frozen=True, rename="camel"):
    """`tool_use_result` of a command that did not fail."""

    stdout: str
    stderr: str = ""
    interrupted: bool = False
    background_task_id: str | None = None
    return_code_interpretation: str | None = None
    """What a non-zero exit code means, for commands where it is not a failure."""

    @property
    def exit_code(self) -> int | None:
        ended = not self.interrupted and self.background_task_id is None
        return 0 if ended and self.return_code_interpretation is None else None

    def output(self, shown: str) -> str:
        """The model sees only the beginning of a long output; this holds more."""
        whole = "\n".join(part for part in (self.stdout, self.stderr) if part)
        return whole if shown.startswith("<persisted-output>") and len(whole) > len(shown) else shown


_ran = msgspec.json.Decoder(Ran)


def command_of(tool: str, result: Raw) -> Ran | None:
    if kind_of(tool) != "command":
        return None
    try:
        return _ran.decode(result)
    except msgspec.ValidationError:
        return None


def exit_code_of(tool: str, output: str) -> int | None:
    """The exit code of a failed command, which Claude reports only in the text."""
    match = _exit_code.match(output) if kind_of(tool) == "command" else None
    return int(match[1]) if match else None


class _Patch(Struct, frozen=True, rename="camel"):
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


class _Changed(Struct, frozen=True, rename="camel"):
    """`tool_use_result` of Write and Edit."""

    file_path: str
    structured_patch: tuple[_Patch, ...]
    type: str | None = None
    content: str = ""


class _Notebook(Struct, frozen=True):
    notebook_path: str
    original_file: str
    updated_file: str
    error: str | None = None


_changed = msgspec.json.Decoder(_Changed | None)
_notebook = msgspec.json.Decoder(_Notebook | None)


def file_ref_of(tool: str, path: str | None, result: Raw) -> FileRef | None:
    """The change a successful call made. Sub-agents do not report details, so theirs is only the path."""
    action = EDITS.get(tool)
    if action is None:
        return None
    for change in (_reported_change(action, result), _notebook_change(action, result)):
        if change is not None:
            return change
    return FileRef(path, action) if path else None


def _reported_change(action: FileAction, result: Raw) -> FileRef | None:
    try:
        change = _changed.decode(result)
    except msgspec.ValidationError:
        return None
    if change is None:
        return None
    names = Names(change.file_path, change.file_path)
    if change.type == "create":
        diff = diff_of_texts(names, None, change.content)
    else:
        hunks = (Hunk(*msgspec.structs.astuple(patch)) for patch in change.structured_patch)
        diff = ParsedDiff(None, None, tuple(hunks)).written(names)
    return FileRef(change.file_path, action, diff=diff)


def _notebook_change(action: FileAction, result: Raw) -> FileRef | None:
    try:
        change = _notebook.decode(result)
    except msgspec.ValidationError:
        return None
    if change is None or change.error:
        return None
    names = Names(change.notebook_path, change.notebook_path)
    diff = diff_of_texts(names, change.original_file, change.updated_file)
    return FileRef(change.notebook_path, action, diff=diff)


# -- questions --------------------------------------------------------------------------------


class _Option(Struct, frozen=True):
    label: str
    description: str = ""


class _Question(Struct, frozen=True):
    question: str
    header: str = ""
    options: tuple[_Option, ...] = ()
    multiSelect: bool = False


class _Questions(Struct, frozen=True):
    questions: tuple[_Question, ...] = ()


def questions_of(input: dict[str, Any]) -> tuple[AskedQuestion, ...]:
    """The questions of an AskUserQuestion call."""
    asked = msgspec.convert(input, _Questions)
    return tuple(
        AskedQuestion(
            question.question,
            question.header,
            tuple(Choice(option.label, option.description) for option in question.options),
            question.multiSelect,
        )
        for question in asked.questions
    )


def with_answers(input: dict[str, Any], answers: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    """The call's input as Claude expects it back: an answer for each question, labels joined by a comma."""
    labels = {
        asked.question: ", ".join(chosen)
        for asked, chosen in zip(questions_of(input), answers, strict=False)
        if chosen
    }
    return {**input, "answers": labels}


def answers_in(input: dict[str, Any], updated: Any) -> tuple[tuple[str, ...], ...] | None:
    """The inverse of `with_answers`; None if the client answered nothing."""
    labels = updated.get("answers") if isinstance(updated, dict) else None
    if not isinstance(labels, dict) or not labels:
        return None
    return tuple(_chosen(asked, labels.get(asked.question)) for asked in questions_of(input))


def _chosen(asked: AskedQuestion, answer: object) -> tuple[str, ...]:
    if isinstance(answer, list):
        return tuple(str(label) for label in answer)
    if not isinstance(answer, str) or not answer:
        return ()
    parts = tuple(answer.split(", "))
    labels = {option.label for option in asked.options}
    return parts if asked.multi_select and labels.issuperset(parts) else (answer,)
