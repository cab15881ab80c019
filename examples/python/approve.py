"""Approve by policy: `python approve.py claude "tidy up this folder"`. Commands that only read are allowed."""

import argparse
import sys

from sandbox_agent import Decision, PermissionRequested, SandboxAgent, SandboxAgentError

HARMLESS = {"cat", "echo", "grep", "head", "ls", "wc"}
SHELL = set("|;&<>$`\\\n")
"""Characters that chain commands or redirect their output."""


def policy(request: PermissionRequested) -> Decision:
    """Allow what is harmless, and reject the rest with a reason that the agent reads."""
    if request.metadata.kind == "command":
        command = str(request.metadata.input.get("command", ""))
        if command.split(" ")[0] in HARMLESS and not SHELL & set(command):
            return Decision("once")
    return Decision("reject", "this program allows only commands that change nothing")


def main(agent: str, prompt: str) -> None:
    with SandboxAgent.start(on_permission=policy) as client:
        turn = client.sessions.create(agent=agent).prompt(prompt)
        for event in turn:
            if event.type == "permission.resolved":
                print(f"{event.data.status:10} {event.data.metadata.title}")
        for tool in turn.transcript.tools:
            print(f"{tool.status:10} {tool.name} {tool.arguments}")
        print(turn.transcript.text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agent", nargs="?", default="mock")
    parser.add_argument("prompt", nargs="?", default="permission hello")
    arguments = parser.parse_args()
    try:
        main(arguments.agent, arguments.prompt)
    except SandboxAgentError as error:
        sys.exit(str(error))
