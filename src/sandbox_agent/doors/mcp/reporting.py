"""The messages that answer one call: its progress, if the client asked for it, and finally its result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import msgspec

from ...agents.jsonrpc import Call, Notification
from .frames import Params, Progress, Token
from .server import JSONRPC, Server

TICK_SECONDS = 1.0
QUIET_TICKS = 10
"""Progress is reported after this many ticks even if there is no news: some clients give up on a silent call."""


async def messages_of(server: Server, call: Call, key: str | None) -> AsyncGenerator[bytes | None, None]:
    """The messages for a call, the answer last, and None at each tick without news.

    Closing the generator only stops the waiting.
    """
    news = _News(_token_of(call))
    answering = asyncio.get_running_loop().create_task(server.answer(call, key, news.report))
    try:
        while not answering.done():
            await asyncio.wait({answering}, timeout=TICK_SECONDS)
            if not answering.done():
                yield news.take()
        if (last := news.take()) is not None:
            yield last
        yield answering.result()
    finally:
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)


class _News:
    def __init__(self, token: Token | None) -> None:
        self._token = token
        self._message = ""
        self._has_changed = False
        self._quiet = 0
        self._count = 0

    def report(self, message: str) -> None:
        self._has_changed = self._has_changed or message != self._message
        self._message = message

    def take(self) -> bytes | None:
        """A notification, if it is time for one."""
        self._quiet += 1
        if self._token is None or not (self._has_changed or self._quiet >= QUIET_TICKS):
            return None
        self._has_changed, self._quiet = False, 0
        self._count += 1
        params = Progress(
            progress_token=self._token, progress=self._count, message=self._message or "working"
        )
        return msgspec.json.encode(
            Notification(method="notifications/progress", params=params, version=JSONRPC)
        )


def _token_of(call: Call) -> Token | None:
    try:
        return msgspec.json.decode(call.params, type=Params).meta.progress_token
    except (msgspec.DecodeError, RecursionError):
        return None
