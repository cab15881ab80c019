"""Drives a session with the protocol's Python SDK over HTTP or WebSocket, and prints what it saw.

acp_sdk.py http|ws HOST:PORT/PATH DIRECTORY
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from acp import connect_to_agent, text_block  # type: ignore[import-not-found]
from acp.http import create_http_stream  # type: ignore[import-not-found]
from acp.ws import create_websocket_stream  # type: ignore[import-not-found]


class Editor:
    def __init__(self) -> None:
        self.texts: list[str] = []

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        if update.session_update in ("agent_message_chunk", "user_message_chunk"):
            self.texts.append(update.content.text)

    async def request_permission(self, options: Any, session_id: str, tool_call: Any, **_: Any) -> Any:
        return {"outcome": {"outcome": "selected", "optionId": options[0].option_id}}

    def on_connect(self, connection: Any) -> None:
        pass


async def main(transport: str, address: str, cwd: str) -> None:
    editor = Editor()
    if transport == "http":
        stream = create_http_stream(f"http://{address}")
    else:
        stream = await create_websocket_stream(f"ws://{address}")
    agent = connect_to_agent(editor, stream)
    await agent.initialize(protocol_version=1)
    session = (await agent.new_session(cwd=cwd, mcp_servers=[])).session_id
    answer = await agent.prompt(session_id=session, prompt=[text_block("permission hello")])
    facts = {"session": session, "stop": answer.stop_reason, "text": "".join(editor.texts)}
    editor.texts.clear()
    await agent.load_session(session_id=session, cwd=cwd, mcp_servers=[])
    async with asyncio.timeout(15):
        while len(editor.texts) < 2:
            await asyncio.sleep(0.01)
    print(json.dumps({**facts, "replayed": editor.texts}))
    await agent.close()


asyncio.run(main(*sys.argv[1:]))
