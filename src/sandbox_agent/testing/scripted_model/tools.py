"""Translates a step for the agent that sent the request: picks the tool it offers for the purpose, and its
parameter names.

Nothing here refers to agents by name. A purpose lists all tool names and all argument names in use; the
schema that the agent sent decides which of them apply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from .model_request import ModelRequest, Schema, Tool
from .steps import (
    Ask,
    Call,
    Command,
    Edit,
    Mcp,
    Next,
    Plan,
    Question,
    Read,
    Subagent,
    Text,
    ToolSearch,
    ToolStep,
    ToolUse,
    Write,
)

Expanded = Sequence[Text | Next | ToolUse | ToolSearch]


def expand(step: ToolStep, request: ModelRequest) -> Expanded:
    """What a step becomes for this agent: usually one call, sometimes two, or only text."""
    match step:
        case Call(name, arguments, id):
            return [ToolUse(name, arguments, id)]
        case Plan():
            return _plan(step, request)
        case Mcp():
            return _mcp(step, request)
        case Question() if ask := _find_below(request, "ask_user", "ask_question"):
            return _ask_user(ask, step)
    if _code_mode(request) and (script := _script(step)):
        return [ToolUse("exec", input=script)]
    names, arguments = _purpose(step, request)
    if tool := _find(request, *names):
        return [_use(tool, arguments)]
    if instead := _without_tool(step, request):
        return instead
    return [Text(f"I have no tool for the step {msgspec.json.encode(step).decode()}.")]


def _purpose(step: ToolStep, request: ModelRequest) -> tuple[tuple[str, ...], dict[str, Any]]:
    match step:
        case Command():
            return ("Bash", "bash", "exec_command"), _command(step)
        case Write(path, content):
            return ("Write", "write", "create_file"), {**_path(path, request), "content": content}
        case Edit(path, old, new):
            return ("Edit", "edit", "edit_file"), {
                **_path(path, request),
                **{"old_string": old, "oldString": old, "old_str": old},
                **{"new_string": new, "newString": new, "new_str": new},
                "edits": [{"oldText": old, "newText": new}],
            }
        case Read(path):
            return ("Read", "read"), _path(path, request)
        case Question(questions):
            asks = [_question(ask) for ask in questions]
            return ("AskUserQuestion", "question", "request_user_input"), {"questions": asks}
        case Subagent(prompt, description):
            kind = "general-purpose" if _find(request, "Agent") else "general"
            return ("Agent", "Task", "task", "spawn_agent"), {
                "description": description,
                "prompt": prompt,
                "message": prompt,
                "subagent_type": kind,
                "task_name": "scripted_job",
                "fork_turns": "none",
                "run_in_background": False,
            }
    raise TypeError(step)


def _command(step: Command) -> dict[str, Any]:
    arguments = {
        "command": step.command,
        "cmd": step.command,
        "description": step.description,
        # Otherwise Codex would come back to the model while the command still runs.
        "yield_time_ms": 30000,
    }
    if step.escalate:
        arguments |= {"sandbox_permissions": "require_escalated", "justification": step.description}
    return arguments


def _path(path: str, request: ModelRequest) -> dict[str, str]:
    absolute = path if path.startswith("/") or not request.directory else f"{request.directory}/{path}"
    return {"path": absolute, "file_path": absolute, "filePath": absolute}


def _question(ask: Ask) -> dict[str, Any]:
    return {
        "id": re.sub(r"\W+", "_", ask.header).lower(),
        "header": ask.header,
        "question": ask.question,
        "options": [{"label": label, "description": f"Choose {label}"} for label in ask.options],
        "multiSelect": ask.multi_select,
        "multiple": ask.multi_select,
        "multi_select": ask.multi_select,
    }


def _ask_user(tool: Tool, step: Question) -> Expanded:
    """The tool of an extension: some take all questions in one call, others one each."""
    asks = [_question(ask) for ask in step.questions]
    if isinstance(tool.schema, Schema) and "questions" in (tool.schema.properties or {}):
        return [_use(tool, {"questions": asks})]
    return [_use(tool, ask) for ask in asks]


def _plan(step: Plan, request: ModelRequest) -> Expanded:
    tool = _find(request, "ExitPlanMode", "plan_exit")
    if path := request.plan_file:
        # The plan is in a file of the agent's choice. Claude may hide the tool, but accepts the call.
        write = expand(Write(path, step.plan), request)
        return [*write, Next(), ToolUse(tool.name if tool else "ExitPlanMode")]
    if tool:
        return [_use(tool, {"plan": step.plan})]
    if _code_mode(request) or _find(request, "exec_command"):
        return [Text(f"<proposed_plan>\n{step.plan}</proposed_plan>")]
    return [Text(step.plan)]


def _mcp(step: Mcp, request: ModelRequest) -> Expanded:
    full_name, namespace = f"mcp__{step.server}__{step.tool}", f"mcp__{step.server}"
    if _code_mode(request):
        return [ToolUse("exec", input=_javascript(full_name, step.arguments))]
    if tool := _find(request, full_name, f"{step.server}_{step.tool}"):
        return [ToolUse(tool.name, step.arguments, namespace=tool.namespace)]
    # A server that carries many conversations may have the same MCP server under one name for each.
    if named := [tool for tool in request.tools if tool.name.endswith(f"_{step.server}_{step.tool}")]:
        return [ToolUse(named[0].name, step.arguments, namespace=named[0].namespace)]
    if any(tool.name == step.tool and tool.namespace == namespace for tool in request.tools):
        return [ToolUse(step.tool, step.arguments, namespace=namespace)]
    if _find(request, "tool_search"):
        return [
            ToolSearch(f"{step.server} {step.tool}"),
            Next(),
            ToolUse(step.tool, step.arguments, namespace=namespace),
        ]
    return [ToolUse(full_name, step.arguments)]


def _without_tool(step: ToolStep, request: ModelRequest) -> Expanded | None:
    """Codex has no tools for files: it patches them, and reads them with a command."""
    match step:
        case Read(path):
            return expand(Command(f"cat {path}"), request) if _find(request, "exec_command") else None
        case Write() | Edit():
            if _find(request, "apply_patch"):
                return [ToolUse("apply_patch", input=_patch(step))]
            if _find(request, "exec_command"):
                return expand(Command(f"apply_patch <<'EOF'\n{_patch(step)}EOF\n"), request)
    return None


def _code_mode(request: ModelRequest) -> bool:
    """Codex's newer models have one tool that runs JavaScript, and all other tools inside it."""
    return bool(_find(request, "exec")) and not _find(request, "exec_command")


def _script(step: ToolStep) -> str | None:
    match step:
        case Command():
            arguments = {k: v for k, v in _command(step).items() if k not in ("command", "description")}
            return _javascript("exec_command", arguments)
        case Read(path):
            return _script(Command(f"cat {path}"))
        case Write() | Edit():
            return _javascript("apply_patch", _patch(step))
    return None


def _javascript(tool: str, argument: dict[str, Any] | str) -> str:
    literal = msgspec.json.encode(argument).decode()
    return f"const result = await tools.{tool}({literal});\ntext(JSON.stringify(result));"


def _patch(step: Write | Edit) -> str:
    match step:
        case Write(path, content):
            body = f"*** Add File: {path}\n{_prefixed('+', content)}"
        case Edit(path, old, new):
            body = f"*** Update File: {path}\n@@\n{_prefixed('-', old)}{_prefixed('+', new)}"
    return f"*** Begin Patch\n{body}*** End Patch\n"


def _prefixed(sign: str, text: str) -> str:
    return "".join(f"{sign}{line}\n" for line in text.splitlines())


def _find(request: ModelRequest, *names: str) -> Tool | None:
    for name in names:
        for tool in request.tools:
            if tool.name == name:
                return tool
    return None


def _find_below(request: ModelRequest, *names: str) -> Tool | None:
    """A tool with this name from any source: an MCP server's puts a prefix before it."""
    return next((tool for tool in request.tools if tool.name.rpartition("__")[2] in names), None)


def _use(tool: Tool, arguments: dict[str, Any]) -> ToolUse:
    return ToolUse(tool.name, _fit(arguments, tool.schema), namespace=tool.namespace)


def _fit(value: Any, schema: Schema | bool | None) -> Any:
    """A value reduced to what a schema allows: only known members; an option that must be text becomes its
    label.
    """
    if not isinstance(schema, Schema):
        return value
    match value:
        case dict() if schema.properties:
            properties = schema.properties
            return {
                name: _fit(member, properties[name]) for name, member in value.items() if name in properties
            }
        case {"label": label} if schema.type == "string":
            return label
        case list():
            return [_fit(member, schema.items) for member in value]
    return value
