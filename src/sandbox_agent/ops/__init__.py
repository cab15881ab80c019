"""The table of operations. HTTP routes, CLI commands, OpenAPI and SDK methods are derived from `OPERATIONS`."""

from __future__ import annotations

from . import (
    agents,
    approvals,
    attachments,
    changes,
    commands,
    config,
    desktop,
    events,
    files,
    nodes,
    policy,
    processes,
    sessions,
    system,
    tool_calls,
    usage,
)
from .groups import GROUPS
from .operation import OPERATIONS, Operation

__all__ = [
    "GROUPS",
    "OPERATIONS",
    "Operation",
    "agents",
    "approvals",
    "attachments",
    "changes",
    "commands",
    "config",
    "desktop",
    "events",
    "files",
    "nodes",
    "policy",
    "processes",
    "sessions",
    "system",
    "tool_calls",
    "usage",
]
