"""An agent that speaks like Amp and has no word for "stop", run as a script: SIGINT ends its turn and itself."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

THREADS = Path(os.environ["AMP_THREADS"])


def say(frame: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({**frame, "session_id": thread.name}) + "\n")
    sys.stdout.flush()


def interrupted(*_: object) -> None:
    say({"type": "result", "is_error": True, "error": "User cancelled (SIGINT/SIGTERM)"})
    with thread.open("a") as file:  # what it does between its last word and its end
        file.write("goodbye\n")
    os._exit(1)


if "--version" in sys.argv:
    print("0.0.1-test")
    sys.exit()
if "continue" in sys.argv:
    thread = THREADS / sys.argv[sys.argv.index("continue") + 1]
    if not thread.exists():
        sys.exit(f"Error: Thread {thread.name} does not exist")
else:
    thread = THREADS / f"T-{os.getpid()}"
signal.signal(signal.SIGINT, interrupted)
say({"type": "system", "subtype": "init"})
for line in sys.stdin:
    content = json.loads(line)["message"]["content"]
    text = content[0]["text"]
    if text == "fail":
        say({"type": "result", "is_error": True, "error": "500 broken"})
        with thread.open("a") as file:
            file.write("fail\n")
        sys.exit()
    if text == "hang":
        signal.pause()
    if text != "store nothing":
        with thread.open("a") as file:
            file.write(f"{text}\n")
    heard = len(thread.read_text().splitlines()) if thread.exists() else 0
    answer = [{"type": "text", "text": f"{text} {heard}"}]
    say({"type": "assistant", "message": {"content": answer, "stop_reason": "end_turn"}})
