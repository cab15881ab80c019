"""The load generator: a separate process that runs orders (JSON lines on stdin) against one daemon.

It has the event stream readers and one client that posts. It searches bytes for markers instead of parsing, so that the
daemon, not the generator, is the bottleneck.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar, cast

import msgspec
import uvloop
from msgspec import Struct

from .processes import allow_many_files

T = TypeVar("T")


class Marks(Struct, frozen=True):
    """Markers in a stream of events; neither may span two lines."""

    event: str
    """In each event from the agent."""
    turn_end: str


class Order(Struct, frozen=True, tag=True, kw_only=True):
    seconds: float
    """Seconds after which a request counts as hung."""


class Repeat(Order, frozen=True):
    """Request one path repeatedly on keep-alive connections."""

    path: str
    requests: int
    connections: int


class Attach(Order, frozen=True):
    """Open more readers of an event stream, before the first measured turn, because they receive all earlier events."""

    path: str
    readers: int
    marks: Marks


class Turn(Order, frozen=True):
    """Post a prompt and wait until every reader has seen the end of its turn."""

    path: str
    body: str


class Together(Order, frozen=True):
    """Post prompts to several sessions, slightly apart, and wait until every reader has seen the end of its turn."""

    turns: tuple[Turn, ...]
    apart: float
    """Seconds from one post to the next."""


class Detach(Order, frozen=True):
    """Close all readers."""


class Outcome(Struct, frozen=True):
    hung: int = 0
    wrong: int = 0
    """Responses that are errors."""
    delivered: tuple[int, ...] = ()
    """Events of the agent that each reader saw, without duplicates."""
    doubled: int = 0
    """Duplicate events, over all readers."""
    first_event: float | None = None
    """Seconds from the post to the first event of any kind, at the first reader."""
    first_answer: float | None = None
    """Seconds from the post to the first event of the agent, at the first reader."""
    turn: float | None = None
    """Seconds from the post to the end of the turn, at the first reader."""


AnyOrder = Repeat | Attach | Turn | Together | Detach


class Client(asyncio.Protocol):
    """One keep-alive connection, one request at a time."""

    LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)

    def __init__(self) -> None:
        self._received = b""
        self._answer: asyncio.Future[int] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def ask(self, request: bytes) -> asyncio.Future[int]:
        """The status of the response, after its body has arrived."""
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self._answer

    def data_received(self, data: bytes) -> None:
        self._received += data
        head = self._received.find(b"\r\n\r\n")
        if head < 0:
            return
        length = self.LENGTH.search(self._received, 0, head)
        if len(self._received) < head + 4 + (int(length[1]) if length else 0):
            return
        status, self._received = int(self._received[9:12]), b""
        if self._answer and not self._answer.done():
            self._answer.set_result(status)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer and not self._answer.done():
            self._answer.set_result(0)


class Reader(asyncio.Protocol):
    """One event stream: counts the agent's events of the turn and records when it ends."""

    ID = re.compile(rb"\nid: (\d+)")

    def __init__(self, marks: Marks) -> None:
        self._event, self._turn_end = marks.event.encode(), marks.turn_end.encode()
        self._rest = b""
        self._last_id = -1
        self.status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.begin()

    def begin(self) -> None:
        self.events = self.doubled = 0
        self.first_at: float | None = None
        self.answered_at: float | None = None
        self.ended_at: float | None = None
        self.turn_ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        data = self._rest + data if self._rest else data
        lines_end = max(0, data.rfind(b"\n"))
        self._rest = data[lines_end:]  # begins with a line's end, so that every line has one before it
        if not self.status.done():
            if data.find(b"\r\n\r\n") < 0:
                self._rest = data
                return
            self.status.set_result(int(data[9:12]))
        if data.find(b"data:", 0, lines_end) >= 0:
            self.first_at = self.first_at or now
        doubled = self._seen_before(data, lines_end)
        self.doubled += doubled
        self.events -= doubled
        if events := data.count(self._event, 0, lines_end):
            self.events += events
            self.answered_at = self.answered_at or now
        if data.find(self._turn_end, 0, lines_end) >= 0 and not self.turn_ended.done():
            self.ended_at = now
            self.turn_ended.set_result(None)

    def _seen_before(self, data: bytes, end: int) -> int:
        ids = [int(id) for id in self.ID.findall(data, 0, end)]
        if not ids:  # the rest of an event whose id came with the bytes before
            return 0
        last, self._last_id = self._last_id, max(self._last_id, *ids)
        if ids[0] > last and ids == sorted(set(ids)):  # as it should be, and quick
            return 0
        return len(ids) - len({id for id in ids if id > last})

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.status.done():
            self.status.set_result(0)


class Generator:
    def __init__(self, port: int) -> None:
        self._port = port
        self._readers: list[Reader] = []
        self._clients: list[Client] = []
        """One client per concurrent turn, because a daemon may answer a prompt only when its turn has ended."""

    async def carry_out(self, order: AnyOrder) -> Outcome:
        match order:
            case Repeat():
                return await self._repeat(order)
            case Attach():
                return await self._attach(order)
            case Turn():
                return await self._turns((order,), 0.0, order.seconds)
            case Together():
                return await self._turns(order.turns, order.apart, order.seconds)
            case Detach():
                for reader in self._readers:
                    reader.transport.close()
                self._readers.clear()
                return Outcome()

    async def _repeat(self, order: Repeat) -> Outcome:
        clients = [await self._connect() for _ in range(order.connections)]
        request = get(self._port, order.path)
        wrong = 0

        async def run(client: Client, count: int) -> None:
            nonlocal wrong
            for _ in range(count):
                wrong += await client.ask(request) != 200

        share = order.requests // order.connections
        hung, _ = await _all_within(order.seconds, *(run(client, share) for client in clients))
        for client in clients:
            client.transport.close()
        return Outcome(hung=hung, wrong=wrong)

    async def _attach(self, order: Attach) -> Outcome:
        loop = asyncio.get_running_loop()
        added: list[Reader] = []
        request = follow(self._port, order.path)
        for _ in range(order.readers):
            _, reader = await loop.create_connection(lambda: Reader(order.marks), "127.0.0.1", self._port)
            reader.transport.write(request)
            added.append(reader)
        self._readers += added
        hung, statuses = await _all_within(order.seconds, *(reader.status for reader in added))
        return Outcome(hung=hung, wrong=sum(status != 200 for status in statuses))

    async def _turns(self, turns: Sequence[Turn], apart: float, seconds: float) -> Outcome:
        while len(self._clients) < len(turns):
            self._clients.append(await self._connect())
        for reader in self._readers:
            reader.begin()
        requests = [post(self._port, turn.path, turn.body.encode()) for turn in turns]
        began = time.perf_counter()
        answers: list[asyncio.Future[int]] = []
        for number, (client, request) in enumerate(zip(self._clients, requests, strict=False)):
            if number:
                await asyncio.sleep(began + number * apart - time.perf_counter())
            answers.append(client.ask(request))
        ends = (reader.turn_ended for reader in self._readers)
        hung, _ = await _all_within(seconds, *answers, *ends)
        self._drop_clients([answer.cancelled() for answer in answers])
        first = self._readers[0] if self._readers else None
        return Outcome(
            hung=hung,
            wrong=sum(not answer.cancelled() and answer.result() not in (200, 202) for answer in answers),
            delivered=tuple(reader.events for reader in self._readers),
            doubled=sum(reader.doubled for reader in self._readers),
            first_event=_since(began, first.first_at if first else None),
            first_answer=_since(began, first.answered_at if first else None),
            turn=_since(began, first.ended_at if first else None),
        )

    def _drop_clients(self, hung: Sequence[bool]) -> None:
        """Replace the connection of a request that hung: its response may still arrive."""
        for client in [client for client, late in zip(self._clients, hung, strict=False) if late]:
            client.transport.close()
            self._clients.remove(client)

    async def _connect(self) -> Client:
        _, client = await asyncio.get_running_loop().create_connection(Client, "127.0.0.1", self._port)
        return client


def get(port: int, path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *headers, "", ""]).encode()


def follow(port: int, path: str) -> bytes:
    return get(port, path, "Accept: text/event-stream")


def post(port: int, path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def _since(began: float, moment: float | None) -> float | None:
    return None if moment is None else moment - began


async def _all_within(seconds: float, *waits: Awaitable[T]) -> tuple[int, list[T]]:
    """The number of tasks that were cancelled at the time limit, and the results of the others."""
    futures = [asyncio.ensure_future(wait) for wait in waits]
    done, late = await asyncio.wait(futures, timeout=seconds)
    for future in late:
        future.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    return len(late), [future.result() for future in done]


async def take_orders(kinds: Any, carry_out: Callable[[Any], Awaitable[Outcome]]) -> None:
    """Run orders from stdin, one per line, and answer on stdout, until stdin ends."""
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(orders), sys.stdin
    )
    decoder = msgspec.json.Decoder(kinds)
    async for line in orders:
        outcome = await carry_out(decoder.decode(line))
        sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
        sys.stdout.buffer.flush()


async def main() -> None:
    allow_many_files()
    await take_orders(AnyOrder, Generator(int(sys.argv[1])).carry_out)


if __name__ == "__main__":
    uvloop.run(main())
