"""What OpenCode may do without asking, and how it asks for the rest.

A session's own rules come last and win, but its sub-agents inherit only denials. So the server's settings
(`OPENCODE_PERMISSION`) ask for the same permissions, and in modes that need no questions the daemon answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from ...schema.inputs import PermissionMode
from ...schema.items import arguments_of
from ..plain_asks import command_in, hosts_in
from ..scribe import Ask, AskKind, Rule
from .bodies import PermissionRule
from .events import PermissionAsked
from .messages import AskMetadata, ToolPart, lenient
from .tools import MCP_PREFIX, kind_of

APPROVE, DISAPPROVE = "Yes", "No"
"""The answer the agent's own question about a plan expects."""
ASKED_QUIETLY = PermissionRule("edit", "*", "ask")
"""In `bypass`, the adapter itself allows edits. The request has the diff, which a result may lack, and gives us time
to read the file before it changes.
"""
ASKED = ("bash", "edit", "webfetch", f"{MCP_PREFIX}*")
_TOOL_OUTPUT = "*/opencode/tool-output/*"  # where the agent keeps its own long outputs
_PLANS = "*/opencode/plans/*"  # where it keeps its plans outside of a repository

_READS = frozenset({"read", "glob", "grep", "list", "lsp", "webfetch", "websearch", "codesearch", "skill"})


def session_rules(
    mode: PermissionMode, foreign_servers: Iterable[str], plan_file: str | None = None
) -> tuple[PermissionRule, ...]:
    """The rules of a session; `foreign_servers` are MCP servers that other sessions added to its directory.

    `plan_file`: the session plans, and may write this file.
    """
    denied = denials(foreign_servers)
    if mode == "bypass":
        return (
            PermissionRule("*", "*", "allow"),
            # Sub-agents inherit rules about directories, so this one is named.
            PermissionRule("external_directory", "*", "allow"),
            ASKED_QUIETLY,
            *denied,
        )
    # The daemon decides what a mode may do: in all others the agent asks.
    return (
        *(PermissionRule(name, "*", "ask") for name in (*ASKED, "external_directory", "doom_loop")),
        PermissionRule("external_directory", _TOOL_OUTPUT, "allow"),
        *_plan_rules(plan_file),
        *denied,
    )


def denials(servers: Iterable[str]) -> tuple[PermissionRule, ...]:
    return tuple(PermissionRule(f"{server}_*", "*", "deny") for server in servers)


def _plan_rules(plan_file: str | None) -> tuple[PermissionRule, ...]:
    if plan_file is None:
        return ()
    return (
        PermissionRule("edit", f"*{plan_file}", "allow"),
        PermissionRule("external_directory", _PLANS, "allow"),
    )


def server_permissions(environ: Mapping[str, str]) -> str:
    """`OPENCODE_PERMISSION`: what sub-agents ask for as well. What the user's own value denies stays denied."""
    own = lenient(msgspec.Raw(environ.get("OPENCODE_PERMISSION", "{}").encode()), dict[str, object], {})
    asked = {name: "ask" for name in ASKED if own.get(name) != "deny"}
    return msgspec.json.encode({**own, **asked}).decode()


def ask_of(asked: PermissionAsked, call: ToolPart | None, name: str, permission: str) -> Ask:
    """Our form of the request: `name` is the tool's; the permission's own name is included if it differs."""
    metadata = lenient(asked.metadata, AskMetadata, AskMetadata())
    shown = call.state.input if call and call.state.input else msgspec.json.decode(asked.metadata)
    paths = tuple(file.filePath for file in metadata.files) or (
        (metadata.filepath,) if metadata.filepath is not None else None
    )
    whole = (Rule(permission, arguments_of(shown)),)
    return Ask(
        action=name,
        input=shown,
        kind=_kind(permission, call.tool if call else None),
        call=call.id if call else None,
        paths=paths,
        diff=metadata.diff,
        reason=permission if permission != name else None,
        needs=tuple(Rule(permission, pattern) for pattern in asked.patterns) or whole,
        always=tuple(rule for pattern in asked.always for rule in _rules(permission, pattern)),
        tool_kind=kind_of(call.tool if call else asked.permission),
        command=command_in(shown),
        hosts=hosts_in(shown),
    )


def _kind(permission: str, tool: str | None) -> AskKind:
    if permission == "external_directory":
        # Leaving the directory is more than the edit that may follow, which asks separately.
        return "command" if tool == "bash" else "read" if tool in _READS else "other"
    if permission in _READS:
        return "read"
    kinds: dict[str, AskKind] = {"edit": "edit", "bash": "command"}
    return kinds.get(permission, "other")


def _rules(permission: str, pattern: str) -> Iterable[Rule]:
    """A pattern as rules of ours, which match whole texts and prefixes; any other pattern is taken literally."""
    if pattern == "*":
        yield Rule(permission)
    elif pattern.endswith("*") and not set("*?") & set(pattern[:-1]):
        yield Rule(permission, pattern[:-1], prefix=True)
        if pattern.endswith(" *"):
            yield Rule(permission, pattern[:-2])  # `ls *` includes plain `ls`
    else:
        yield Rule(permission, pattern)
