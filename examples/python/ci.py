"""A job for CI: `python ci.py claude "fix the failing test" --minutes 10`. The exit code is the outcome.

0: the agent is done, and its changes are printed as a diff. 1: it failed. 2: wrong usage. 3: it asked for something, and
nobody could answer. 124: it took too long and was cancelled.
"""

import argparse
import os
import sys

from sandbox_agent import AnswerNeeded, SandboxAgent, SandboxAgentError, TurnTimeout


def run(agent: str, task: str, minutes: float) -> int:
    with SandboxAgent.start() as client:
        # The job may edit files in this directory; everything else would need an answer.
        session = client.sessions.create(agent=agent, permission_mode="acceptEdits", directory=os.getcwd())
        try:
            result = session.prompt(task, timeout=minutes * 60, answer_timeout=0).result()
        except TurnTimeout as error:
            print(f"{error.detail}; so far: {error.transcript.text}", file=sys.stderr)
            return 124
        except AnswerNeeded as error:
            print(error.detail, file=sys.stderr)
            return 3
    for change in result.diffs:
        print(change.diff, end="")
    return 0 if result.stop_reason == "end_turn" else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agent", nargs="?", default="mock")
    parser.add_argument("task", nargs="?", default="hello")
    parser.add_argument("--minutes", type=float, default=10.0)
    arguments = parser.parse_args()
    try:
        sys.exit(run(arguments.agent, arguments.task, arguments.minutes))
    except SandboxAgentError as error:
        sys.exit(str(error))  # exit code 1
