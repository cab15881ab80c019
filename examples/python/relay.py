"""Relay sessions to a WebSocket: `python relay.py claude`, for a page of your own. Needs `pip install websockets`.

The page sends {"prompt": "…"} and gets every event of the turn as JSON. It answers a permission or a question with
{"permission": id, "reply": "once"} or {"question": id, "answers": [["Red"]]}. Errors arrive as {"problem": "…"}.
"""

import argparse
import asyncio
import sys
from contextlib import suppress

import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

from sandbox_agent import AsyncSandboxAgent, AsyncSession, Reply, SandboxAgentError


class PageMessage(msgspec.Struct, forbid_unknown_fields=True):
    """A message of the page."""

    prompt: str | None = None
    permission: str | None = None
    reply: Reply = "reject"
    question: str | None = None
    answers: list[list[str]] | None = None


class Relay:
    """One page and its session."""

    def __init__(self, page: ServerConnection, session: AsyncSession) -> None:
        self._page = page
        self._session = session

    async def run(self) -> None:
        """Handle the page's messages until it disconnects. Turns run in tasks, because the page answers their requests."""
        async with asyncio.TaskGroup() as turns:
            try:
                async for text in self._page:
                    await self._handle(text, turns)
            except ConnectionClosed:
                pass
            finally:
                await self._session.terminate()  # its turns end with it

    async def _handle(self, text: str | bytes, turns: asyncio.TaskGroup) -> None:
        try:
            message = msgspec.json.decode(text, type=PageMessage)
            if message.prompt is not None:
                turns.create_task(self._turn(message.prompt))
            if message.permission is not None:
                await self._session.permissions.reply(message.permission, message.reply)
            if message.question is not None and message.answers is not None:
                await self._session.questions.reply(message.question, message.answers)
        except (msgspec.DecodeError, SandboxAgentError) as error:
            await self._report(error)

    async def _turn(self, prompt: str) -> None:
        try:
            # The page answers requests, however long that takes.
            async for event in self._session.prompt(prompt, answer_timeout=None):
                await self._page.send(msgspec.json.encode(event), text=True)
        except ConnectionClosed:
            pass
        except SandboxAgentError as error:
            await self._report(error)

    async def _report(self, error: Exception) -> None:
        with suppress(ConnectionClosed):
            await self._page.send(msgspec.json.encode({"problem": str(error)}), text=True)


async def main(agent: str, port: int, origin: str | None) -> None:
    async with AsyncSandboxAgent.start() as client:

        async def meet(page: ServerConnection) -> None:
            await Relay(page, await client.sessions.create(agent=agent)).run()

        # Any page in a browser can reach this port. Allow only yours, and programs, which send no origin.
        origins = [None, Origin(origin)] if origin else [None]
        async with serve(meet, "127.0.0.1", port, origins=origins) as server:
            [socket] = server.sockets
            print(f"ws://127.0.0.1:{socket.getsockname()[1]}", flush=True)
            await server.wait_closed()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agent", nargs="?", default="mock")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--origin", help="the origin of your page, e.g. http://localhost:3000")
    arguments = parser.parse_args()
    try:
        asyncio.run(main(arguments.agent, arguments.port, arguments.origin))
    except KeyboardInterrupt:
        pass
    except (SandboxAgentError, OSError, OverflowError) as error:
        sys.exit(str(error))  # e.g. the port is in use, or no port at all
