"""Clients that are connected over HTTP, each with its connection and its streams.

A client that is gone is forgotten after a while. Nothing is lost with it: its sessions are the daemon's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from ...errors import Unavailable
from .connection import Connection
from .operations import Operations
from .outbox import Outbox

MAX_CLIENTS = 200
MAX_STREAMS = 250
IDLE_SECONDS = 300.0
"""How long a client without a stream is kept."""
SETTLE_SECONDS = 1.0
"""How long an answer on the connection's stream waits until the updates before it are read."""

Spawn = Callable[[Coroutine[Any, Any, None]], object]
"""Starts a task that ends with the daemon."""


class RemoteClient:
    """One client.

    - `kept_bytes`: Everything is sent on one stream, which keeps this much of what was read.
    """

    def __init__(self, operations: Operations, agent: str | None, *, kept_bytes: int | None = None) -> None:
        self.agent = agent
        self.created_at = time.time()
        self.connection = Connection(operations, self, agent)
        self._is_one_stream = kept_bytes is not None
        # A client may name the last message of an outbox that is gone, for example after a restart of the daemon. Those of
        # this one have higher numbers, so none of them is taken for seen.
        self._outboxes: dict[str | None, Outbox] = {
            None: Outbox(kept_bytes or 0, int(self.created_at * 1000))
        }
        self.used_at = time.monotonic()
        self._ended = asyncio.Event()

    def name_agent(self, agent: str) -> None:
        self.agent = agent
        self.connection.agent = agent

    def touch(self) -> None:
        self.used_at = time.monotonic()

    def end(self) -> None:
        self._ended.set()

    def outbox(self, session_id: str | None = None) -> Outbox:
        """The stream of a session, or of the connection. There is one per open session, so their number is bounded."""
        key = None if self._is_one_stream else session_id
        if key not in self._outboxes:
            self._forget_unused()
            self._outboxes[key] = Outbox()
        return self._outboxes[key]

    def _forget_unused(self) -> None:
        if len(self._outboxes) > MAX_STREAMS:
            unused = [key for key, box in self._outboxes.items() if key is not None and not box.is_used]
            for key in unused:
                del self._outboxes[key]
        if len(self._outboxes) > MAX_STREAMS:
            raise Unavailable("this connection has too many streams", retryAfter=5)

    async def send(self, message: bytes, session_id: str | None) -> None:
        outbox = self.outbox(session_id)
        if outbox is self._outboxes[None] and not self._is_one_stream:
            await self._settle()
        await outbox.put(message)

    async def _settle(self) -> None:
        """Two streams have no common order, so updates get a head start over the answer that follows them."""
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                for outbox in list(self._outboxes.values()):
                    await outbox.until_read()
        except TimeoutError:
            pass

    async def live(self) -> None:
        """Until it ends, or nobody has used it for a while."""
        try:
            while not self._ended.is_set():
                try:
                    async with asyncio.timeout(IDLE_SECONDS):
                        await self._ended.wait()
                except TimeoutError:
                    if self._is_idle():
                        return
        finally:
            for outbox in self._outboxes.values():
                outbox.close()
            await self.connection.close()

    @property
    def is_read(self) -> bool:
        """Whether it has a stream open."""
        return any(outbox.has_reader for outbox in self._outboxes.values())

    def _is_idle(self) -> bool:
        return not self.is_read and time.monotonic() - self.used_at >= IDLE_SECONDS


class Clients:
    """The clients of one kind, by their id."""

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._clients: dict[str, RemoteClient] = {}

    def __iter__(self) -> Iterator[tuple[str, RemoteClient]]:
        return iter(self._clients.items())

    def find(self, id: str) -> RemoteClient | None:
        client = self._clients.get(id)
        if client is not None:
            client.touch()
        return client

    def add(self, id: str, client: RemoteClient) -> None:
        if len(self._clients) >= MAX_CLIENTS:
            self._drop_idlest()
        self._clients[id] = client
        self._spawn(self._keep(id, client))

    def remove(self, id: str) -> None:
        if client := self._clients.pop(id, None):
            client.end()

    def _drop_idlest(self) -> None:
        """Of the clients that read nothing, forget the one that was silent longest: it may never come back."""
        silent = [id for id, client in self._clients.items() if not client.is_read]
        if not silent:
            raise Unavailable(f"{MAX_CLIENTS} clients are connected", retryAfter=30)
        self.remove(min(silent, key=lambda id: self._clients[id].used_at))

    async def _keep(self, id: str, client: RemoteClient) -> None:
        try:
            await client.live()
        finally:
            if self._clients.get(id) is client:
                del self._clients[id]
