"""Limits on how long the daemon waits for clients, and on unauthenticated connections.

A connection costs a descriptor and memory before its client is known. So a request that has started must make progress, and
connections without a valid token share a fixed number of places, in which a new connection replaces the oldest. Authenticated
connections are never replaced, and nothing here limits the total time of a body, a stream or a turn.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

HEAD_SECONDS = 10.0
"""How long the head of a request may take, from the connection or from its first byte."""
BODY_SECONDS = 30.0
"""How long a body may pause."""
MAX_UNTRUSTED = 512
"""The maximum number of connections without a valid token."""
LOOK_SECONDS = 1.0

TRUST = "sandbox_agent.trust"
"""The ASGI extension with which the app tells the server that the client has shown a valid token."""


class Client(Protocol):
    @property
    def waits_for_us(self) -> bool: ...

    def give_up(self, why: str) -> None: ...

    def drop(self) -> None: ...


class Patience:
    """All connections of one server. One timer runs, and only while something is expected from a client."""

    def __init__(self) -> None:
        self._untrusted: dict[Client, None] = {}  # the oldest first
        self._heads: dict[Client, float] = {}
        self._bodies: dict[Client, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def meet(self, client: Client) -> None:
        self._untrusted[client] = None
        self.expect_head(client)
        if len(self._untrusted) > MAX_UNTRUSTED:
            oldest = next((other for other in self._untrusted if not other.waits_for_us), client)
            self.forget(oldest)
            oldest.drop()

    def trust(self, client: Client) -> None:
        """It has shown a valid token."""
        self._untrusted.pop(client, None)

    def forget(self, client: Client) -> None:
        self._untrusted.pop(client, None)
        self.expect_nothing(client)

    def expect_head(self, client: Client) -> None:
        """A head has started, or should; further pieces of it do not extend the time."""
        self._heads.setdefault(client, time.monotonic() + HEAD_SECONDS)
        self._arm()

    def expect_body(self, client: Client) -> None:
        self._heads.pop(client, None)
        self._bodies[client] = time.monotonic() + BODY_SECONDS
        self._arm()

    def expect_nothing(self, client: Client) -> None:
        self._heads.pop(client, None)
        self._bodies.pop(client, None)

    def _arm(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._timer = None
        self._end_overdue(self._heads, HEAD_SECONDS, "the headers of the request did not arrive")
        self._end_overdue(self._bodies, BODY_SECONDS, "the rest of the body did not arrive")
        if self._heads or self._bodies:
            self._arm()

    def _end_overdue(self, expected: dict[Client, float], seconds: float, what: str) -> None:
        now = time.monotonic()
        for client, deadline in list(expected.items()):
            if client.waits_for_us:
                expected[client] = now + seconds
            elif deadline < now:
                del expected[client]
                client.give_up(f"{what} within {seconds:g} seconds")
