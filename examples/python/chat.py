"""Chat with an agent: `python chat.py claude`. An empty line or end of input ends it."""

import sys

from sandbox_agent import PermissionRequested, QuestionRequested, SandboxAgent, SandboxAgentError, TurnFailed


def ask(text: str) -> str:
    """A line from the terminal; empty at end of input."""
    try:
        return input(text)
    except EOFError:
        return ""


def permit(request: PermissionRequested) -> bool:
    return ask(f"\n{request.metadata.title}? [y/n] ") == "y"


def answer(request: QuestionRequested) -> str | None:
    return ask(f"\n{request.prompt} {list(request.options)} ") or None


def chat(agent: str) -> None:
    with SandboxAgent.start(on_permission=permit, on_question=answer) as client:
        session = client.sessions.create(agent=agent)
        while message := ask("> "):
            try:
                for piece in session.prompt(message).text():
                    print(piece, end="", flush=True)
            except TurnFailed as failed:
                print(f"\n{failed.message}", end="")
            print()


if __name__ == "__main__":
    try:
        chat(sys.argv[1] if len(sys.argv) > 1 else "mock")
    except SandboxAgentError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print()
