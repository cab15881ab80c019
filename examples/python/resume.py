"""Continue after a crash: `python resume.py claude "a long task"`. Kill it at any time and start it again.

Nothing is lost and the prompt is sent once: the daemon (`sandbox-agent daemon start`) keeps working, the same key names
the same turn, and this program only has to remember the offset of the last event that it has handled.
"""

import argparse
import sys
from pathlib import Path

from sandbox_agent import SandboxAgent, SandboxAgentError, SessionAlreadyExists

NOTES = Path("resume.offset")


def remember(offset: int) -> None:
    """Write atomically: the program may be killed at any moment."""
    fresh = NOTES.with_suffix(".new")
    fresh.write_text(str(offset))
    fresh.replace(NOTES)


def main(agent: str, task: str) -> None:
    offset = int(NOTES.read_text()) if NOTES.exists() else 0
    with SandboxAgent.connect() as client:
        try:
            session = client.sessions.create("resume-example", agent=agent)
        except SessionAlreadyExists:
            session = client.session("resume-example")
        turn_id = session.send_message(task, idempotency_key="the one task").turn_id
        for event in session.events(offset=offset, follow=True):
            print(event.sequence, event.type, flush=True)
            remember(event.sequence)
            if event.type == "turn.ended" and event.data.turn_id == turn_id:
                break


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agent", nargs="?", default="mock")
    parser.add_argument("task", nargs="?", default="pace 40 50")
    arguments = parser.parse_args()
    try:
        main(arguments.agent, arguments.task)
    except SandboxAgentError as error:
        sys.exit(str(error))
