"""The path to one reader of a stream: directly to its connection, bypassing the server's response handling.

A stream writes thousands of small frames, each cheaper than a pass through the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .asgi import Scope

# What the socket does not accept stays in the transport's buffer, up to this size.
HIGH_WATER = 32 << 10

OUTLET = "sandbox_agent.outlet"
"""The ASGI extension with which a response opens its outlet."""


def _nobody() -> None:
    """Does nothing."""


class Outlet:
    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self._write = transport.write
        self.is_full = False
        self.is_gone = transport.is_closing()
        if not self.is_gone:
            transport.set_write_buffer_limits(high=HIGH_WATER)
        self.on_change: Callable[[], None] = _nobody

    def write(self, text: bytes) -> None:
        """Non-empty bytes as a chunk of the response body."""
        self._write(b"%x\r\n%b\r\n" % (len(text), text))

    def fill(self) -> None:
        self.is_full = True

    def drain(self) -> None:
        self.is_full = False
        self.on_change()

    def leave(self) -> None:
        self.is_gone = True
        self.on_change()


def outlet_of(scope: Scope) -> Outlet:
    """The outlet for a response whose head has been sent."""
    opened: Callable[[], Outlet] = scope["extensions"][OUTLET]["open"]
    return opened()
