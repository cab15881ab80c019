"""A tiny MCP server over stdio with one tool, `add`. The agents run it, so it imports nothing of ours."""

from __future__ import annotations

import json
import sys
from typing import Any

ADD = {
    "name": "add",
    "description": "Adds two numbers.",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None for a method that this server does not have."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "demo", "version": "1.0"},
            }
        case "tools/list":
            return {"tools": [ADD]}
        case "tools/call":
            numbers = params.get("arguments", {})
            return {"content": [{"type": "text", "text": str(numbers.get("a", 0) + numbers.get("b", 0))}]}
        case "ping":
            return {}
    return None


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") is None:
            continue  # a notification
        result = answer(message["method"], message.get("params") or {})
        missing = {"error": {"code": -32601, "message": "no such method"}}
        outcome = missing if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)


if __name__ == "__main__":
    main()
