"""An agent that asks for permission through a helper program, to test the listener. Each line of stdin is a call.

`{"tool", "input"}` runs the program and reports its exit code and stderr; any other line is repeated.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading


def say(frame: object) -> None:
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def ask(call: dict[str, object]) -> None:
    env = {**os.environ, "AGENT_TOOL_NAME": str(call["tool"]), "AGENT_TOOL_USE_ID": "call-1"}
    done = subprocess.run(
        [sys.executable, "-I", "-S", sys.argv[1]],
        input=json.dumps(call["input"]),
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    say({"tool": call["tool"], "code": done.returncode, "stderr": done.stderr})


say({"address": os.environ["SANDBOX_AGENT_DELEGATE"]})
for line in sys.stdin:
    call = json.loads(line)
    if "tool" in call:
        threading.Thread(target=ask, args=[call]).start()
    else:
        say({"read": call})
