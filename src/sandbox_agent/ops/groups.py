"""Descriptions of the groups of operations: `sessions.create` belongs to the group `sessions`."""

from __future__ import annotations

GROUPS = {
    "agents": "List and install agents.",
    "sessions": "Create, prompt, read and end sessions.",
    "permissions": "List and answer pending permissions.",
    "questions": "List and answer pending questions.",
    "policy": "Show rules for what agents may do, and try them out.",
    "tool_calls": "List and answer calls to a client's tools.",
    "attachments": "Upload and read files for messages.",
    "events": "Follow the events of all sessions.",
    "changes": "Show and revert what a session has changed in its directory.",
    "config": "MCP servers and skills for all sessions of a directory.",
    "fs": "List, read, write, search and watch files on the daemon's machine.",
    "processes": "Run processes and terminals on the daemon's machine.",
    "nodes": "List the daemons that share the log, and fence one.",
    "desktop": "A virtual desktop on the daemon's machine: look at it, act on it, record it.",
    "usage": "Show what turns have spent.",
    "system": "Health and metrics of the daemon.",
}
