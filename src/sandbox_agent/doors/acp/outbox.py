"""Messages on their way to a client that reads them from a stream of server-sent events.

A sender waits while the client does not read, so an outbox holds little more than `MOST_WAITING_BYTES`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

from msgspec import Struct

from ...errors import Conflict

MOST_WAITING_BYTES = 256 << 10
PING_SECONDS = 15.0


class _Numbered(Struct, frozen=True):
    number: int
    message: bytes


class Outbox:
    """The messages of one stream.

    - `kept_bytes`: How much of what was read is kept for a reader that comes back.
    """

    def __init__(self, kept_bytes: int = 0) -> None:
        self._kept_bytes = kept_bytes
        self._messages: deque[_Numbered] = deque()
        self._size = 0
        self._waiting = 0
        self._count = 0
        self._read = 0
        self._changed = asyncio.Event()
        self._reader: object | None = None
        self._is_closed = False

    @property
    def is_used(self) -> bool:
        return self._reader is not None or self._waiting > 0

    @property
    def has_reader(self) -> bool:
        return self._reader is not None

    async def put(self, message: bytes) -> None:
        while self._waiting > MOST_WAITING_BYTES and not self._is_closed:
            await self._until_changed()
        self._count += 1
        self._messages.append(_Numbered(self._count, message))
        self._size += len(message)
        self._waiting += len(message)
        self._notify()

    async def until_read(self) -> None:
        """Wait until the reader has everything, or is gone."""
        while self._waiting and self._reader is not None and not self._is_closed:
            await self._until_changed()

    def require_free(self) -> None:
        if self._reader is not None:
            raise Conflict("this stream already has a reader")

    async def frames(self, after: int, *, numbered: bool) -> AsyncGenerator[bytes | None, None]:
        """Messages after a number, then every new one, as frames; None when a keep-alive is due.

        A new reader takes over from an earlier one, which ends.
        """
        me = self._reader = object()
        self._notify()
        try:
            while self._reader is me:
                following = next((each for each in self._messages if each.number > after), None)
                if following is not None:
                    after = following.number
                    head = b"event: message\nid: %d\n" % after if numbered else b""
                    yield head + b"data: %b\n\n" % following.message
                    self._note_read(after)
                elif self._is_closed:
                    return
                else:
                    try:
                        async with asyncio.timeout(PING_SECONDS):
                            await self._until_changed()
                    except TimeoutError:
                        yield None
        finally:
            if self._reader is me:
                self._reader = None
            self._notify()

    def close(self) -> None:
        self._is_closed = True
        self._notify()

    def _note_read(self, number: int) -> None:
        for each in self._messages:
            if self._read < each.number <= number:
                self._waiting -= len(each.message)
        self._read = max(self._read, number)
        while self._size > self._kept_bytes and self._messages and self._messages[0].number <= self._read:
            self._size -= len(self._messages.popleft().message)
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _until_changed(self) -> None:
        await self._changed.wait()
