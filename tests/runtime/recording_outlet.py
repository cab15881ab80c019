"""A reader in the test's process: it records what it gets, accepts as much as the test allows, and leaves on request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tests.daemons import SECONDS

from sandbox_agent.runtime.following import Following


class RecordingOutlet:
    """An outlet with room for this many bytes; then it is full."""

    def __init__(self, room: int = 1 << 40) -> None:
        self.is_full = False
        self.is_gone = False
        self.on_change: Callable[[], None] = lambda: None
        self.writes: list[bytes] = []
        self._room = room
        self._written = asyncio.Event()

    def write(self, text: bytes) -> None:
        assert not self.is_gone
        self.writes.append(text)
        self._room -= len(text)
        self.is_full = self._room < 0
        self._written.set()

    def drain(self, room: int = 1 << 40) -> None:
        self._room = room
        self.is_full = False
        self.on_change()

    def leave(self) -> None:
        self.is_gone = True
        self.on_change()

    @property
    def text(self) -> bytes:
        return b"".join(self.writes)

    @property
    def frames(self) -> list[bytes]:
        """The complete frames that were written."""
        return self.text.split(b"\n\n")[:-1]

    @property
    def numbered(self) -> list[tuple[int, bytes]]:
        """Ids and data of the frames that hold an event; updates of a session have a frame name of their own."""
        found = []
        for frame in self.frames:
            id, _, rest = frame.partition(b"\n")
            if id.startswith(b"id: ") and rest.startswith(b"data: "):
                found.append((int(id.removeprefix(b"id: ")), rest.removeprefix(b"data: ")))
        return found

    @property
    def numbers(self) -> list[int]:
        return [number for number, _ in self.numbered]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until what is written makes this true."""
        async with asyncio.timeout(SECONDS):
            while not holds():
                self._written.clear()
                await self._written.wait()

    async def until_number(self, number: int) -> None:
        await self.until(lambda: self.has_number(number))

    def has_number(self, number: int) -> bool:
        """Whether the frame with this number is complete. Looks only at the last writes, because there may be many."""
        if not self.writes or not self.writes[-1].endswith(b"\n\n"):
            return False
        recent = b""
        for text in reversed(self.writes):
            recent = text + recent
            if b"id: %d\n" % number in recent:
                return True
            if b"id: " in recent:
                return False
        return False


@asynccontextmanager
async def followed(following: Following, room: int = 1 << 40) -> AsyncIterator[RecordingOutlet]:
    """What a reader receives while the block runs."""
    outlet = RecordingOutlet(room)
    running = asyncio.create_task(following.run(outlet))
    await asyncio.sleep(0)
    try:
        yield outlet
    finally:
        outlet.leave()
        await running
