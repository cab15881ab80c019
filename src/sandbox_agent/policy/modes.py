"""What permission modes and an earlier "always" answer, and what an answer to a plan means."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable

import msgspec

from ..agents.scribe import Ask
from ..agents.titles import mcp_title
from ..schema.desktop import DESKTOP_SERVER, LOOKING_TOOLS
from ..schema.events import PermissionStatus
from ..schema.inputs import Answer, Rule, Settings
from ..schema.tools import CLIENT_SERVER, Tool

STATUS: dict[str, PermissionStatus] = {
    "once": "accept",
    "always": "accept_for_session",
    "reject": "reject",
}

CONFIGURING = frozenset(
    {
        ".git",
        ".gitmodules",
        ".gitattributes",
        ".githooks",
        ".husky",
        ".claude",
        ".claude.json",
        ".codex",
        ".opencode",
        "opencode.json",
        "opencode.jsonc",
        ".amp",
        ".pi",
        ".agents",
        ".cursor",
        ".gemini",
        ".mcp.json",
        ".vscode",
        ".idea",
        ".zed",
        ".editorconfig",
        ".envrc",
        ".npmrc",
        ".devcontainer",
        "CLAUDE.md",
        "CLAUDE.local.md",
        "AGENTS.md",
        "GEMINI.md",
    }
)
"""Files and directories that configure agents, editors or git."""

_CONFIGURING = frozenset(name.casefold() for name in CONFIGURING)  # some file systems ignore case


def refuses(ask: Ask, settings: Settings) -> bool:
    """Some agents ask in their plan mode instead of refusing. Plan mode is read-only, so refuse."""
    return settings.permission_mode == "plan" and ask.kind != "read"


def allows(ask: Ask, settings: Settings, resolve: Callable[[str], str]) -> bool:
    if settings.permission_mode == "acceptEdits":
        return ask.kind == "edit" and _is_plain_edit(ask, settings.directory, resolve)
    return settings.permission_mode == "bypass"


def remembers(ask: Ask, remembered: tuple[Rule, ...]) -> bool:
    return bool(ask.needs) and all(any(rule.covers(need) for rule in remembered) for need in ask.needs)


def is_client_tool(ask: Ask, tools: Iterable[Tool]) -> bool:
    """Whether the agent asks to call a tool of the client, who can refuse the call itself."""
    return _is_of(ask, CLIENT_SERVER, [tool.name for tool in tools])


def only_looks(ask: Ask) -> bool:
    """Whether the agent asks to look at the desktop."""
    return _is_of(ask, DESKTOP_SERVER, LOOKING_TOOLS)


def _is_of(ask: Ask, server: str, tools: Collection[str]) -> bool:
    kind = ask.tool_kind or ask.kind
    if kind not in ("mcp", "other"):
        return False
    names = {mcp_title(server, tool) for tool in tools}
    written = {form.format(server, tool) for form in _MCP_NAMES for tool in tools}
    # The title of another tool is what the model wrote, such as the path of a program.
    return (kind == "mcp" and ask.title in names) or ask.action in written


_MCP_NAMES = ("mcp__{}__{}", "{}_{}", "{}.{}", "{}/{}")
"""How agents name an MCP server's tool."""


def _is_plain_edit(ask: Ask, directory: str, resolve: Callable[[str], str]) -> bool:
    """Every file is inside the directory and configures nothing. A request without paths could touch any file."""
    root = resolve(directory)
    # Agents use the directory as it was given, which may be a link.
    roots = {root, posixpath.normpath(directory)}
    return bool(ask.paths) and all(_is_plain(path, root, roots, resolve) for path in ask.paths or ())


def _is_plain(path: str, root: str, roots: set[str], resolve: Callable[[str], str]) -> bool:
    if "\0" in path:
        return False
    named = posixpath.join(root, path)
    text = posixpath.normpath(named)
    return any(_inside(text, base) for base in roots) and _inside(resolve(named), root)


def _inside(path: str, root: str) -> bool:
    if not path.startswith(root.rstrip("/") + "/"):
        return False
    return _CONFIGURING.isdisjoint(part.casefold() for part in path[len(root) :].split("/"))


def remember(ask: Ask, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Add the rules of an "always"."""
    new = ask.always or ask.needs or (Rule(ask.action),)
    return rules + tuple(rule for rule in new if rule not in rules)


def plan_answer(answer: Answer) -> Answer:
    """`approve` approves; any other answer rejects, and its text goes to the agent."""
    if answer.answers is None or answer.answers == (("approve",),):
        return answer
    text = ", ".join(label for labels in answer.answers for label in labels)
    return Answer(None, answer.message or (text if text.strip().casefold() not in ("", "reject") else None))


def out_of_plan(settings: Settings) -> Settings:
    """The settings after a plan is approved, which ends plan mode."""
    mode = "default" if settings.permission_mode == "plan" else settings.permission_mode
    agent_mode = "build" if settings.agent_mode == "plan" else settings.agent_mode
    return msgspec.structs.replace(settings, permission_mode=mode, agent_mode=agent_mode)
