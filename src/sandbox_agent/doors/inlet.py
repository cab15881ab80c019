"""Reads a stream of the log inside the daemon: frames go in as on a connection, and wait here until a door takes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

from msgspec import Struct

MAX_INSERTED = 16
MAX_BYTES = 64 << 10
"""How much may wait here before the stream pauses; it then continues from the store."""


class Frame(Struct, frozen=True):
    """A frame of a stream: an event, or something that its name says."""

    name: str
    data: bytes


class Following(Protocol):
    """A stream of the log."""

    async def run(self, outlet: Any) -> None: ...


@asynccontextmanager
async def inlet_of(following: Following) -> AsyncIterator[Inlet]:
    """Run a stream of the log until the block is left."""
    inlet = Inlet()
    reader = asyncio.get_running_loop().create_task(following.run(inlet))
    reader.add_done_callback(lambda _: inlet.end())
    try:
        yield inlet
    finally:
        inlet.leave()
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)


def _nobody() -> None:
    """Does nothing."""


class Inlet:
    """The outlet of a stream, as the stream sees it."""

    def __init__(self) -> None:
        self.is_full = False
        self.is_gone = False
        self.on_change: Callable[[], None] = _nobody
        self._pieces: list[bytes] = []
        self._size = 0
        self._has_frame = False
        self._has_ended = False
        self._inserted: list[Frame] = []
        self._changed = asyncio.Event()

    def write(self, text: bytes) -> None:
        before = self._pieces[-1][-1:] if self._pieces else b""
        self._has_frame = self._has_frame or b"\n\n" in before + text
        self._pieces.append(text)
        self._size += len(text)
        self.is_full = self._size >= MAX_BYTES
        self._changed.set()

    def insert(self, frame: Frame) -> None:
        """Add a frame that is not in the log. It is dropped if too many wait already."""
        if len(self._inserted) < MAX_INSERTED:
            self._inserted.append(frame)
            self._changed.set()

    def end(self) -> None:
        """Nothing more comes."""
        self._has_ended = True
        self._changed.set()

    def leave(self) -> None:
        self.is_gone = True
        self.on_change()

    async def take(self, seconds: float | None = None) -> list[Frame] | None:
        """The frames that arrived, none if nothing arrives in time; None at the end."""
        if not self._changed.is_set():
            try:
                await asyncio.wait_for(self._changed.wait(), seconds)
            except TimeoutError:
                return []
        frames = self._frames()
        return None if self._has_ended and not frames else frames

    def _frames(self) -> list[Frame]:
        whole: list[bytes] = []
        if self._has_frame:
            # Joined only at the end of a frame, because one may have many megabytes in many pieces.
            *whole, rest = b"".join(self._pieces).split(b"\n\n")
            self._pieces, self._has_frame = [rest], False
        self._size = 0
        if not self._has_ended:
            self._changed.clear()
        if self.is_full:
            self.is_full = False
            self.on_change()
        inserted, self._inserted = self._inserted, []
        return [*(frame for text in whole if (frame := _frame(text)) is not None), *inserted]


def _frame(text: bytes) -> Frame | None:
    """None for a comment."""
    name, data = "", b""
    for line in text.split(b"\n"):
        if line.startswith(b"event: "):
            name = line.removeprefix(b"event: ").decode()
        elif line.startswith(b"data: "):
            data = line.removeprefix(b"data: ")
    return Frame(name, data) if data else None
