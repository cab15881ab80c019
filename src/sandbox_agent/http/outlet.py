"""The way to one reader of a stream: straight to its connection, past everything that a server does for an answer.

A stream writes thousands of small texts, and each is worth less than the way through the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .asgi import Scope

# A piece that the socket does not take stays in the transport; beyond this much nothing is added to it.
HIGH_WATER = 32 << 10

OUTLET = "sandbox_agent.outlet"
"""The ASGI extension by which the server lets an answer open its outlet."""


def _nobody() -> None:
    """Nobody wants to know."""


class Outlet:
    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self._write = transport.write
        self.is_full = False
        self.is_gone = transport.is_closing()
        if not self.is_gone:
            transport.set_write_buffer_limits(high=HIGH_WATER)
        self.on_change: Callable[[], None] = _nobody

    def write(self, text: bytes) -> None:
        """Text that is not empty, as a chunk of the answer's body."""
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
    """The outlet for an answer whose head has been sent."""
    opened: Callable[[], Outlet] = scope["extensions"][OUTLET]["open"]
    return opened()
