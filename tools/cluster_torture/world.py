"""The world of the users: any node answers, and one that cannot is asked again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import httpx2

from tools.torture.world import Refused, World

from .nodes import Fleet

RETRY_SECONDS = 0.05
CHECK_SECONDS = 60.0


class ClusterWorld(World):
    def __init__(self, fleet: Fleet, seed: int) -> None:
        super().__init__(fleet)  # type: ignore[arg-type]  # it needs the address and the environment
        self._random = random.Random(seed)
        self._addresses = [node.address for node in fleet.nodes]
        self._shut = asyncio.Event()
        self.strange: list[str] = []
        """Answers that no client may get."""

    def open(self) -> None:
        self._shut.clear()
        self.gate.open()

    def shut(self) -> None:
        self.gate.shut()
        self._shut.set()

    async def ask(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> httpx2.Response | None:
        """None also for 503, which promises nothing."""
        answer = await super().ask(method, self._anywhere(path), body, **headers)
        return await self._judged(answer)

    async def ask_now(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> httpx2.Response | None:
        if path.startswith("http"):
            return await super().ask_now(method, path, body, **headers)
        deadline = asyncio.get_running_loop().time() + CHECK_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            answer = await self._judged(await super().ask_now(method, self._anywhere(path), body, **headers))
            if answer is not None:
                return answer
        return None

    async def _judged(self, answer: httpx2.Response | None) -> httpx2.Response | None:
        if answer is not None and answer.status_code == 500:
            self.strange.append(answer.text)
        if answer is not None and answer.status_code == 409 and b"session_already_exists" in answer.content:
            # Its id may only be reserved, by a create that fails in the end.
            found = await self.ask_now("GET", answer.request.url.path)
            answer = None if found is None or found.status_code == 404 else answer
        if answer is None or answer.status_code in (429, 500, 503):
            await asyncio.sleep(RETRY_SECONDS)
            return None
        return answer

    async def frames(self, path: str, last: int) -> AsyncIterator[tuple[int, bytes]]:
        """Ends also when the world is checked."""
        frames = super().frames(self._anywhere(path), last)
        shut = asyncio.ensure_future(self._shut.wait())
        try:
            while True:
                frame = asyncio.ensure_future(anext(frames, None))
                await asyncio.wait({frame, shut}, return_when=asyncio.FIRST_COMPLETED)
                if not frame.done():
                    frame.cancel()
                    await asyncio.gather(frame, return_exceptions=True)
                    return
                if (found := frame.result()) is None:
                    await asyncio.sleep(RETRY_SECONDS)
                    return
                yield found
        except Refused as refused:
            if refused.status != 503:
                raise
            await asyncio.sleep(RETRY_SECONDS)
        finally:
            shut.cancel()
            await frames.aclose()  # type: ignore[attr-defined]

    def _anywhere(self, path: str) -> str:
        return self._random.choice(self._addresses) + path
