"""Chat with an agent: `python chat.py claude`. An empty line ends it."""

import sys

from sandbox_agent import SandboxAgent

with SandboxAgent.start(on_permission=lambda request: input(f"\n{request.action}? [y/n] ") == "y") as client:
    session = client.sessions.create(agent=sys.argv[1])
    while message := input("> "):
        for piece in session.prompt(message).text():
            print(piece, end="", flush=True)
        print()
