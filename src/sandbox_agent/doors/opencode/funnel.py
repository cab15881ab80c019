"""A reader of the log inside the daemon: takes frames from a stream as a connection would, and holds a bounded number of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

MAX_BYTES = 256 << 10
"""How much may wait here before the stream pauses; it then goes on from the store."""


class Frame(Struct, frozen=True):
    """A frame of a stream: an event, or the new state of a session."""

    name: str
    data: bytes


def _nobody() -> None:
    """Does nothing."""


class Funnel:
    """The outlet of a `Following`."""

    def __init__(self) -> None:
        self.is_full = False
        self.is_gone = False
        self.on_change: Callable[[], None] = _nobody
        self._pieces: list[bytes] = []
        self._size = 0
        self._rest = b""
        self._changed = asyncio.Event()
        self._has_ended = False

    def write(self, text: bytes) -> None:
        self._pieces.append(text)
        self._size += len(text)
        self.is_full = self._size > MAX_BYTES
        self._changed.set()

    def end(self) -> None:
        """Nothing more comes."""
        self._has_ended = True
        self._changed.set()

    def leave(self) -> None:
        self.is_gone = True
        self.on_change()

    async def take(self, seconds: float | None = None) -> list[Frame] | None:
        """The frames that came, none if nothing came in time; None at the end."""
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return []
        frames = self._frames()
        return None if self._has_ended and not frames else frames

    def _frames(self) -> list[Frame]:
        *whole, self._rest = b"".join([self._rest, *self._pieces]).split(b"\n\n")
        self._pieces.clear()
        self._size = 0
        if not self._has_ended:
            self._changed.clear()
        if self.is_full:
            self.is_full = False
            self.on_change()
        return [frame for text in whole if (frame := _frame(text)) is not None]


def _frame(text: bytes) -> Frame | None:
    name, data = "", b""
    for line in text.split(b"\n"):
        if line.startswith(b"event: "):
            name = line.removeprefix(b"event: ").decode()
        elif line.startswith(b"data: "):
            data = line.removeprefix(b"data: ")
    return Frame(name, data) if data else None
