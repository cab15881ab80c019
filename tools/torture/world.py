"""Shared by users and readers: the client, the ledger, and a gate that is closed while the daemon is dead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import msgspec

from tools.daemon import Daemon

from .ledger import Promised


class Gate:
    """Closed while the daemon is dead or being checked. Once everyone waits at it, no new promises are made."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._quiet = asyncio.Condition()
        self._members = 0
        self._waiting = 0

    @contextmanager
    def member(self) -> Iterator[None]:
        """Registers a participant."""
        self._members += 1
        try:
            yield
        finally:
            self._members -= 1

    async def pass_through(self) -> None:
        if self._open.is_set():
            return
        async with self._quiet:
            self._waiting += 1
            self._quiet.notify_all()
        await self._open.wait()
        self._waiting -= 1

    def open(self) -> None:
        self._open.set()

    def shut(self) -> None:
        self._open.clear()

    async def everybody_waits(self) -> None:
        while self._waiting < self._members:
            async with self._quiet:
                with_timeout = asyncio.wait_for(self._quiet.wait(), 0.1)
                try:
                    await with_timeout
                except TimeoutError:
                    continue


class World:
    def __init__(self, victim: Daemon) -> None:
        self.victim = victim
        self.gate = Gate()
        self.promised: dict[str, Promised] = {}
        self.sealed: dict[str, bytes] = {}
        """Digests of the logs of ended, checked sessions."""
        self.deleted: set[str] = set()
        self.messages = 0
        self.answers = 0
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=16)
        self._http = httpx2.AsyncClient(base_url=victim.address, timeout=60, limits=limits, trust_env=False)

    async def ask(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> httpx2.Response | None:
        """The response; None if the daemon died first, so that the outcome is unknown."""
        await self.gate.pass_through()
        return await self.ask_now(method, path, body, **headers)

    async def ask_now(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> httpx2.Response | None:
        content = None if body is None else msgspec.json.encode(body)
        kind = {} if body is None else {"content-type": "application/json"}
        try:
            return await self._http.request(method, path, content=content, headers={**kind, **headers})
        except httpx2.TransportError:
            return None

    async def frames(self, path: str, last: int) -> AsyncIterator[tuple[int, bytes]]:
        """The events of a stream after an id, until it ends or breaks; session frames have no body. Raises `Refused`."""
        await self.gate.pass_through()
        rest = b""
        try:
            headers = {"last-event-id": str(last)}
            async with self._http.stream("GET", path, headers=headers) as answer:
                if answer.status_code == 204:
                    return  # it has ended, and we have everything
                if answer.status_code != 200:
                    raise Refused(answer.status_code)
                async for chunk in answer.aiter_raw():
                    *whole, rest = (rest + chunk).split(b"\n\n")
                    for frame in whole:
                        if frame.startswith(b"id: "):
                            number, _, data = frame.partition(b"\n")
                            yield int(number[4:]), data.removeprefix(b"data: ") if data[:1] == b"d" else b""
        except httpx2.TransportError:
            return

    async def log(self, session: str) -> list[bytes] | None:
        """All events of a session; None if it does not exist."""
        found: list[bytes] = []
        while True:
            answer = await self.ask_now(
                "GET", f"/v1/sessions/{session}/events?offset={len(found)}&limit=1000"
            )
            if answer is None or answer.status_code == 404:
                return None
            page = msgspec.json.decode(answer.content, type=_Page)
            found += map(bytes, page.events)
            if not page.has_more:
                return found

    async def get(self, path: str) -> Any:
        answer = await self.ask_now("GET", path)
        return answer.json() if answer is not None and answer.status_code == 200 else {}

    async def close(self) -> None:
        await self._http.aclose()


class Refused(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"refused with {status}")
        self.status = status


class _Page(msgspec.Struct, rename="camel"):
    events: list[msgspec.Raw]
    has_more: bool
