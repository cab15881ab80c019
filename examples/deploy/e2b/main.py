"""A coding agent in an E2B sandbox that is paused between two prompts."""

import os
import sys
import time

from sandbox_agent import SandboxAgent
from sandbox_agent.providers import E2BProvider, Provider


def main(sandbox: Provider, agent: str) -> None:
    name = f"example-{time.time_ns()}"
    env = {"ANTHROPIC_API_KEY": os.environ.get("ANTHROPIC_API_KEY", "")}
    with SandboxAgent.start(sandbox=sandbox, name=name, env=env) as client:
        session = client.sessions.create(agent=agent)
        print(session.prompt("hello").result().text)
        client.pause()

    # The same name finds the sandbox again, with its files and conversations.
    with SandboxAgent.start(sandbox=sandbox, name=name, env=env) as client:
        try:
            print(client.session(session.id).prompt("hello again").result().text)
        finally:
            client.kill()


if __name__ == "__main__":
    # The base template does not contain the daemon, so it is copied into the sandbox.
    main(E2BProvider(binary="sandbox-agent-linux-x64"), sys.argv[1] if len(sys.argv) > 1 else "mock")
