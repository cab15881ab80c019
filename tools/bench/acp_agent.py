"""The agent that the peer runs in place of its own mock. It answers `pace N MS BURST` as our mock agent does.

It speaks ACP over stdio. As in our mock agent, output is buffered until the agent waits, the schedule is fixed from the
start, a late burst is sent at once, and each event has its number and time.
"""

import json
import sys
import time


def main() -> None:
    for line in sys.stdin.buffer:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                _answer(message, {"protocolVersion": 1, "agentCapabilities": {}})
            case "session/new":
                _answer(message, {"sessionId": "bench"})
            case "session/prompt":
                _pace(*map(int, message["params"]["prompt"][0]["text"].split()[1:]))
                _answer(message, {"stopReason": "end_turn"})


def _pace(events: int, every_ms: int, burst: int) -> None:
    begin = time.monotonic()
    for start in range(0, events, burst):
        _pause_until(begin + start // burst * every_ms / 1000)
        for number in range(start, min(start + burst, events)):
            content = {"type": "text", "text": f"{number}@{time.time():.6f} "}
            update = {"sessionUpdate": "agent_message_chunk", "content": content}
            _say({"method": "session/update", "params": {"sessionId": "bench", "update": update}})


def _pause_until(moment: float) -> None:
    sys.stdout.buffer.flush()
    time.sleep(max(0.0, moment - time.monotonic()))


def _answer(request: dict[str, object], result: dict[str, object]) -> None:
    _say({"id": request["id"], "result": result})
    sys.stdout.buffer.flush()


def _say(message: dict[str, object]) -> None:
    line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"))
    sys.stdout.buffer.write(line.encode() + b"\n")


if __name__ == "__main__":
    main()
