"""An agent that speaks like Amp and has no interrupt message: SIGINT ends its turn and its process. Runs as a script."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

THREADS = Path(os.environ["AMP_THREADS"])


def say(frame: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({**frame, "session_id": thread.name}) + "\n")
    sys.stdout.flush()


def interrupted(*_: object) -> None:
    say({"type": "result", "is_error": True, "error": "User cancelled (SIGINT/SIGTERM)"})
    if thread.exists():
        keep("goodbye")  # between its last word and its end
    os._exit(1)


def keep(line: str) -> None:
    with thread.open("a") as file:
        file.write(f"{line}\n")


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
while (THREADS / "slow").exists():
    time.sleep(0.05)
unanswered = Path(f"{thread}.unanswered")
say({"type": "system", "subtype": "init"})
for line in sys.stdin:
    if unanswered.exists() and (times := int(unanswered.read_text())):
        unanswered.write_text(str(times - 1))
        # A thread that is continued begins with what was left unanswered, and fails before it looks at the new message.
        say({"type": "result", "is_error": True, "error": "500 broken again"})
        sys.exit()
    content = json.loads(line)["message"]["content"]
    say({"type": "user", "message": {"content": content}})
    text, _, times_again = content[0]["text"].partition(" again ")
    unanswered.write_text(times_again or "0")
    if text == "hang":
        signal.pause()
    if text == "close":
        os.close(sys.stdout.fileno())
        signal.pause()
    if text == "forget":
        thread.unlink()
    if text in ("fail", "forget"):
        say({"type": "result", "is_error": True, "error": "500 broken"})
        if text == "fail":
            keep(text)
        sys.exit()
    keep(text)
    answer = [{"type": "text", "text": f"{text} {len(thread.read_text().splitlines())}"}]
    say({"type": "assistant", "message": {"content": answer, "stop_reason": "end_turn"}})
