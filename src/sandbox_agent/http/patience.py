"""How long the daemon waits for its clients, and for how many of them.

A connection costs a descriptor and some memory before anybody knows who is at its other end. So a request that has begun must go
on, and those who have not shown the token share a bounded room, in which a newcomer takes the place of the oldest. Whoever has
shown it is not sent away, and nothing here limits how long a body, a stream or a turn takes as a whole.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

HEAD_SECONDS = 10.0
"""How long the head of a request may take, from the connection or from its first byte on."""
BODY_SECONDS = 30.0
"""How long a body may pause."""
MOST_STRANGERS = 512
"""How many connections there may be that have not shown a right token."""
LOOK_SECONDS = 1.0

TRUST = "sandbox_agent.trust"
"""The ASGI extension by which an answer tells the server that its client has shown a right token."""


class Client(Protocol):
    @property
    def waits_for_us(self) -> bool: ...

    def give_up(self, why: str) -> None: ...

    def drop(self) -> None: ...


class Patience:
    """All connections of one server. There is one timer, and only while something is expected of somebody."""

    def __init__(self) -> None:
        self._strangers: dict[Client, None] = {}  # the oldest first
        self._heads: dict[Client, float] = {}
        self._bodies: dict[Client, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def meet(self, client: Client) -> None:
        self._strangers[client] = None
        self.expect_head(client)
        if len(self._strangers) > MOST_STRANGERS:
            oldest = next((one for one in self._strangers if not one.waits_for_us), client)
            self.forget(oldest)
            oldest.drop()

    def trust(self, client: Client) -> None:
        """It has shown a right token."""
        self._strangers.pop(client, None)

    def forget(self, client: Client) -> None:
        self._strangers.pop(client, None)
        self.expect_nothing(client)

    def expect_head(self, client: Client) -> None:
        """A head has begun, or should; further pieces of it give no further time."""
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
        self._end_overdue(self._heads, HEAD_SECONDS, "the head of the request did not come")
        self._end_overdue(self._bodies, BODY_SECONDS, "nothing more of the body came")
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
