"""Approve by policy: `python approve.py claude "tidy up this folder"`. Looking is allowed, the rest is not."""

import sys

from sandbox_agent import Decision, PermissionRequested, PermissionResolved, SandboxAgent

HARMLESS = {"cat", "echo", "grep", "head", "ls", "wc"}
SHELL = set("|;&<>$`\\\n")
"""What makes more than one command of a command, or sends its output elsewhere."""


def policy(request: PermissionRequested) -> Decision:
    """What may run without a human; what is refused comes with a reason, which the agent reads."""
    given: dict[str, object] = request.metadata.input if request.metadata else {}
    command = str(given.get("command", ""))
    if command.split(" ")[0] in HARMLESS and not SHELL & set(command):
        return Decision("once")
    return Decision("reject", "this program allows only commands that change nothing")


with SandboxAgent.start(on_permission=policy) as client:
    session = client.sessions.create(agent=sys.argv[1])
    turn = session.prompt(sys.argv[2])
    for event in turn:
        if isinstance(event.data, PermissionResolved):
            print(f"{event.data.status:10} {event.data.action}")
    for tool in turn.transcript.tools:
        print(f"{tool.status:10} {tool.name} {tool.arguments}")
    print(turn.transcript.text)
