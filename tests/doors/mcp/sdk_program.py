"""Drives the door with the protocol's Python SDK, with and without a handshake, and prints what it saw, a line for each.

sdk_program.py URL DIRECTORY
sdk_program.py stdio DIRECTORY COMMAND [ARGUMENT...]
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from mcp.client.client import Client  # type: ignore[import-not-found]
from mcp.client.stdio import StdioServerParameters, stdio_client  # type: ignore[import-not-found]


async def drive(mode: str, where: str, directory: str, *command: str) -> None:
    target: Any = where
    if where == "stdio":
        ours = {name: value for name, value in os.environ.items() if name.startswith("SANDBOX_AGENT_")}
        target = stdio_client(StdioServerParameters(command=command[0], args=[*command[1:]], env=ours))
    progress: list[float] = []

    async def reported(done: float, total: float | None, message: str | None) -> None:
        progress.append(done)

    async with Client(target, mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        arguments = {"agent": "mock", "prompt": "permission hello", "directory": directory}
        asked = (await client.call_tool("run", arguments, progress_callback=reported)).structured_content
        permission = asked["waiting"]["permissions"][0]["permission_id"]
        answer = {"session_id": asked["session_id"], "permission_id": permission, "reply": "once"}
        content = (await client.call_tool("answer", answer)).structured_content
        failed = await client.call_tool("wait", {"session_id": "nobody"})
        facts = {
            "version": client.session.protocol_version,
            "tools": tools,
            "session": asked["session_id"],
            "status": [asked["status"], content["status"]],
            "text": content["text"],
            "failed": failed.is_error,
            "progress": progress == sorted(set(progress)) and bool(progress),
        }
        print(json.dumps(facts))


async def main(*where: str) -> None:
    for mode in ("auto", "legacy"):
        await drive(mode, *where)


asyncio.run(main(*sys.argv[1:]))
