from __future__ import annotations

import asyncio

from sandbox_agent.agents.jsonrpc import Call, Note
from sandbox_agent.doors.acp.rpc import MAX_TASKS, Rpc

NOTE = b'{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}'


class Slow:
    """Takes notifications and does not finish with any."""

    def __init__(self) -> None:
        self.taken = 0

    async def send(self, message: bytes, session_id: str | None) -> None:
        raise AssertionError(message)

    async def result(self, call: Call) -> object:
        raise AssertionError(call)

    async def notice(self, note: Note) -> None:
        self.taken += 1
        await asyncio.Event().wait()

    def stream_of(self, call: Call, *, is_refused: bool = False) -> str | None:
        return None


def test_a_flood_of_notifications_makes_its_sender_wait() -> None:
    async def flood() -> int:
        slow = Slow()
        rpc = Rpc(slow, slow)

        async def send() -> None:
            for _ in range(2 * MAX_TASKS):
                await rpc.receive(NOTE)

        sender = asyncio.ensure_future(send())
        async with asyncio.timeout(10):
            while slow.taken <= MAX_TASKS:
                await asyncio.sleep(0)
        sender.cancel()
        await rpc.close()
        return slow.taken

    assert asyncio.run(flood()) == MAX_TASKS + 1
