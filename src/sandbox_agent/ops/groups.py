"""What the operations of a group are about: `sessions.create` is of the group `sessions`."""

from __future__ import annotations

GROUPS = {
    "agents": "Agents: list, install, what they offer.",
    "sessions": "Sessions: create, talk, read, end.",
    "permissions": "Permissions that wait for an answer.",
    "questions": "Questions that wait for an answer.",
    "attachments": "Files that go with messages.",
    "events": "The events of all sessions.",
    "changes": "What a session has changed in its directory, and the way back.",
    "fs": "Files of the daemon's machine: list, read, write, search, watch.",
    "processes": "Processes of the sandbox, and terminals.",
    "system": "Health and figures of the daemon.",
}
