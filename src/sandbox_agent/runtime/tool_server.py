"""The MCP server through which an agent calls the tools of its session's client.

The agent starts it with the folder of its session, which holds `tools.json`, `secret` and `socket`. Each call is one connection to
the daemon, which answers once a client has. While a call waits, progress is reported to agents that asked for it, because some give
up on a silent tool after a minute. Uses only the standard library, because it runs beside the agent in the agent's environment.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any

PROGRESS_SECONDS = 10.0
METHOD_NOT_FOUND = -32601

_writing = threading.Lock()


class Server:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: dict[object, socket.socket] = {}
        """Connections of the calls that wait, by the id of their request."""

    def run(self) -> None:
        for line in sys.stdin.buffer:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if not isinstance(message, dict) or "method" not in message:
                continue
            if message["method"] == "notifications/cancelled":
                self._cancel(message.get("params") or {})
            elif "id" in message:
                # A call waits for a client; the agent's other requests must not wait behind it.
                threading.Thread(target=self._serve, args=[message], daemon=True).start()

    def _serve(self, request: dict[str, Any]) -> None:
        params = request.get("params") or {}
        match request["method"]:
            case "initialize":
                info = {"name": "sandbox-agent", "version": "1.0.0"}
                version = params.get("protocolVersion")
                reply(
                    request, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
                )
            case "ping":
                reply(request, {})
            case "tools/list":
                reply(request, {"tools": json.loads((self._folder / "tools.json").read_bytes())})
            case "tools/call":
                reply(request, self._call(request["id"], params))
            case method:
                error = {"code": METHOD_NOT_FOUND, "message": f"no method {method}"}
                write({"jsonrpc": "2.0", "id": request["id"], "error": error})

    def _call(self, id: object, params: dict[str, Any]) -> dict[str, Any]:
        finished = threading.Event()
        token = (params.get("_meta") or {}).get("progressToken")
        if token is not None:
            threading.Thread(target=report_progress, args=[token, finished], daemon=True).start()
        try:
            return result_of(self._ask(id, params.get("name"), params.get("arguments") or {}))
        except (OSError, ValueError) as error:
            return result_of({"output": f"the call could not be passed on: {error}", "failed": True})
        finally:
            finished.set()
            self._waiting.pop(id, None)

    def _ask(self, id: object, tool: object, arguments: object) -> dict[str, Any]:
        """The outcome from the daemon. Waits until it answers or the connection ends."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._folder / "socket"))
            self._waiting[id] = connection
            secret = (self._folder / "secret").read_text()
            with connection.makefile("rwb") as stream:
                line = json.dumps({"secret": secret, "tool": tool, "arguments": arguments})
                stream.write(line.encode() + b"\n")
                stream.flush()
                answer = stream.readline()
        outcome = json.loads(answer) if answer else None
        if not isinstance(outcome, dict):
            raise ValueError("the daemon ended the call without an answer")
        return outcome

    def _cancel(self, params: dict[str, Any]) -> None:
        if (connection := self._waiting.get(params.get("requestId"))) is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def result_of(outcome: dict[str, Any]) -> dict[str, Any]:
    text = {"type": "text", "text": outcome["output"]}
    images = [
        {"type": "image", "data": image["data"], "mimeType": image["mime"]}
        for image in outcome.get("images") or ()
    ]
    return {"content": [text, *images], "isError": bool(outcome.get("failed"))}


def report_progress(token: object, finished: threading.Event) -> None:
    progress = 0
    while not finished.wait(PROGRESS_SECONDS):
        progress += 1
        params = {"progressToken": token, "progress": progress, "message": "waiting for the client"}
        write({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def reply(request: dict[str, Any], result: dict[str, Any]) -> None:
    write({"jsonrpc": "2.0", "id": request["id"], "result": result})


def write(message: dict[str, Any]) -> None:
    with _writing:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    Server(Path(sys.argv[1])).run()
