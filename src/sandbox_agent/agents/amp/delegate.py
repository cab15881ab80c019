"""The program that Amp runs before a tool: asks the daemon and reports the answer by its exit code.

Amp passes the tool's input as JSON on stdin and the rest in the environment. `SANDBOX_AGENT_DELEGATE` says
where the daemon listens: `unix:<path>`. One JSON line goes there, one comes back. Exit code 0 lets the tool
run and 2 rejects the call; the model reads stderr. No answer is a rejection. Uses only the standard library,
because it starts once per tool call in the agent's environment.
"""

from __future__ import annotations

import json
import os
import socket
import sys

ALLOW = 0
REJECT = 2


def ask(address: str, question: dict[str, object]) -> tuple[bool, str]:
    """The daemon's answer: allowed or not, and why not. Waits as long as it takes."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address.removeprefix("unix:"))
        with connection.makefile("rwb") as stream:
            stream.write(json.dumps(question).encode() + b"\n")
            stream.flush()
            line = stream.readline()
    if not line:
        return False, "The permission was not answered."
    answer = json.loads(line)
    return answer.get("allow") is True, answer.get("message") or "The user rejected this call."


def main() -> int:
    question = {
        "tool": os.environ.get("AGENT_TOOL_NAME", ""),
        "tool_use_id": os.environ.get("AGENT_TOOL_USE_ID"),
        "thread": os.environ.get("AMP_THREAD_ID"),
        "input": json.loads(sys.stdin.read() or "null"),
    }
    try:
        allowed, reason = ask(os.environ["SANDBOX_AGENT_DELEGATE"], question)
    except (OSError, KeyError, ValueError) as error:
        allowed, reason = False, f"The permission could not be asked for: {error}"
    if allowed:
        return ALLOW
    sys.stderr.write(reason)
    return REJECT


if __name__ == "__main__":
    sys.exit(main())
