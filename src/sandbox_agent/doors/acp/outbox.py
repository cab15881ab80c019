"""Messages on their way to a client that reads them from a stream of server-sent events.

A sender waits while the client does not read, so an outbox holds little more than `MAX_WAITING_BYTES`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

from ...errors import Conflict

MAX_WAITING_BYTES = 256 << 10
PING_SECONDS = 15.0


class Outbox:
    """The messages of one stream.

    - `kept_bytes`: How much of what was read is kept for a reader that comes back.
    - `begins_after`: The number before that of the first message.
    """

    def __init__(self, kept_bytes: int = 0, begins_after: int = 0) -> None:
        self._kept_bytes = kept_bytes
        self._messages: deque[bytes] = deque()
        self._size = 0
        self._waiting = 0
        self._last = self._read = begins_after
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
        while self._waiting > MAX_WAITING_BYTES and not self._is_closed:
            await self._until_changed()
        self._last += 1
        self._messages.append(message)
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

    async def take(self) -> bytes:
        """The first message, which then is not streamed."""
        while not self._messages:
            await self._until_changed()
        message = self._messages[0]
        self._note_read(self._first, message)
        return message

    async def frames(self, after: int, *, numbered: bool) -> AsyncGenerator[bytes | None, None]:
        """Messages after a number, then every new one, as frames; None when a keep-alive is due.

        A new reader takes over from an earlier one, which ends.
        """
        me = self._reader = object()
        self._notify()
        if after > self._last:
            after = 0  # a number of another outbox
        try:
            while self._reader is me:
                if after < self._last and self._messages:
                    after = max(after + 1, self._first)
                    message = self._messages[after - self._first]
                    head = b"event: message\nid: %d\n" % after if numbered else b""
                    yield head + b"data: %b\n\n" % message
                    self._note_read(after, message)
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

    @property
    def _first(self) -> int:
        """The number of the oldest message."""
        return self._last - len(self._messages) + 1

    def _note_read(self, number: int, message: bytes) -> None:
        if number > self._read:
            self._read = number
            self._waiting -= len(message)
        while self._size > self._kept_bytes and self._messages and self._first <= self._read:
            self._size -= len(self._messages.popleft())
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _until_changed(self) -> None:
        await self._changed.wait()
