"""An agent that speaks like Claude Code and begins a turn by itself after it was interrupted, run as a script."""

from __future__ import annotations

import json
import sys
import threading


def say(frame: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({"session_id": "s", **frame}) + "\n")
    sys.stdout.flush()


def speak(text: str) -> None:
    content = [{"type": "text", "text": text}]
    say({"type": "assistant", "message": {"id": text, "role": "assistant", "model": "m", "content": content}})


if "--version" in sys.argv:
    print("2.1.325")
    sys.exit()
interrupts = 0
for line in sys.stdin:
    frame = json.loads(line)
    if frame["type"] == "user":
        speak("working")
        continue
    request = frame["request"]
    answer = {"subtype": "success", "request_id": frame["request_id"], "response": {}}
    say({"type": "control_response", "response": answer})
    if request["subtype"] == "interrupt":
        interrupts += 1
        say({"type": "result", "subtype": "error_during_execution", "is_error": True})
        if interrupts == 1:
            threading.Timer(0.2, speak, ["woke up"]).start()
