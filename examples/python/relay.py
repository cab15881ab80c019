"""Relay sessions to a WebSocket: `python relay.py claude`, for a page of your own. Needs `pip install websockets`.

The page sends {"prompt": "…"} and gets every event of the turn as JSON; a permission or question is answered with
{"permission": id, "reply": "once"} or {"question": id, "answers": [["Red"]]}. What goes wrong comes as {"problem": "…"}.
"""

import argparse
import asyncio
import sys
from contextlib import suppress
from typing import Literal

import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

from sandbox_agent import AsyncSandboxAgent, AsyncSession, SandboxAgentError


class Said(msgspec.Struct, forbid_unknown_fields=True):
    """What a page may send."""

    prompt: str | None = None
    permission: str | None = None
    reply: Literal["once", "always", "reject"] = "reject"
    question: str | None = None
    answers: list[list[str]] | None = None


class Relay:
    """One page and its session."""

    def __init__(self, page: ServerConnection, session: AsyncSession) -> None:
        self._page = page
        self._session = session

    async def run(self) -> None:
        """Listen to the page until it is gone. Turns run beside it: their answers come from the page."""
        async with asyncio.TaskGroup() as turns:
            try:
                async for text in self._page:
                    await self._hear(text, turns)
            except ConnectionClosed:
                pass
            finally:
                await self._session.terminate()  # its turns end with it

    async def _hear(self, text: str | bytes, turns: asyncio.TaskGroup) -> None:
        try:
            said = msgspec.json.decode(text, type=Said)
            if said.prompt is not None:
                turns.create_task(self._turn(said.prompt))
            if said.permission is not None:
                await self._session.permissions.reply(said.permission, said.reply)
            if said.question is not None and said.answers is not None:
                await self._session.questions.reply(said.question, said.answers)
        except (msgspec.DecodeError, SandboxAgentError) as error:
            await self._tell(error)

    async def _turn(self, prompt: str) -> None:
        try:
            # The page answers, and may take its time.
            async for event in self._session.prompt(prompt, answer_timeout=None):
                await self._page.send(msgspec.json.encode(event), text=True)
        except ConnectionClosed:
            pass
        except SandboxAgentError as error:
            await self._tell(error)

    async def _tell(self, error: Exception) -> None:
        with suppress(ConnectionClosed):
            await self._page.send(msgspec.json.encode({"problem": str(error)}), text=True)


async def main(agent: str, port: int, origin: str | None) -> None:
    async with AsyncSandboxAgent.start() as client:

        async def meet(page: ServerConnection) -> None:
            await Relay(page, await client.sessions.create(agent=agent)).run()

        # Any page in a browser can reach this port: only yours may use it, and programs, which send no origin.
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
    except SandboxAgentError as error:
        sys.exit(str(error))
