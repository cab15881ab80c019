"""One run: sessions with constant work, readers on each, and the daemon's memory every second."""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path

import httpx2
from msgspec import Struct, field

from tools.daemon import Daemon

from .readers import Kind, Reader

PACED = "pace 25 200"
"""Five events per second for five seconds, each with its write time."""
NOISY = "flood 1000 100"
"""An additional burst for every tenth session."""
KINDS: tuple[Kind, ...] = ("steady", "steady", "slow", "steady", "returning")
CATCH_UP_SECONDS = 120.0


class Outcome(Struct):
    sessions: int
    readers: int
    seconds: float = 0.0
    turns: int = 0
    events: int = 0
    delivered: int = 0
    connections: int = 0
    lost: int = 0
    wrong: list[str] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    """The daemon's memory in bytes, every second."""
    memory_idle: int = 0
    memory_attached: int = 0
    cpu: float = 0.0
    left: int = 0
    """Processes that outlived the daemon."""

    @property
    def failed(self) -> bool:
        return bool(self.lost or self.wrong or self.left)

    def late_ms(self, share: float) -> float:
        ordered = sorted(self.late)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000


class Run:
    def __init__(self, folder: Path, sessions: int, readers: int, seconds: float) -> None:
        self.outcome = Outcome(sessions, readers)
        self._daemon = Daemon(folder)
        self._names = [f"load-{number}" for number in range(sessions)]
        self._seconds = seconds
        self._readers = [
            Reader(self._daemon.port, session, kind, f"{session}/{number}")
            for number, (session, kind) in enumerate(
                zip(itertools.islice(itertools.cycle(self._names), readers), self._kinds(), strict=False)
            )
        ]

    def _kinds(self) -> itertools.chain[Kind]:
        """The first reader of every session is steady; the others are mixed."""
        return itertools.chain(["steady"] * len(self._names), itertools.cycle(KINDS))

    async def run(self) -> Outcome:
        outcome = self.outcome
        await self._daemon.start()
        try:
            async with httpx2.AsyncClient(
                base_url=self._daemon.address, timeout=60, trust_env=False
            ) as self._http:
                outcome.memory_idle = self._daemon.memory()
                await self._work()
            await self._daemon.stop()
            outcome.left = len(self._daemon.started())
        finally:
            await self._daemon.kill()
        return outcome

    async def _work(self) -> None:
        outcome, loop = self.outcome, asyncio.get_running_loop()
        few = asyncio.Semaphore(4)
        await asyncio.gather(*(self._create(session, few) for session in self._names))
        following = [loop.create_task(reader.follow()) for reader in self._readers]
        try:
            while not all(reader.last for reader in self._readers):
                await asyncio.sleep(0.05)
            outcome.memory_attached = self._daemon.memory()
            watching = loop.create_task(self._watch_memory())
            began, cpu = time.monotonic(), self._daemon.cpu_seconds()
            await asyncio.gather(*(self._drive(number, began) for number in range(len(self._names))))
            outcome.seconds = time.monotonic() - began
            outcome.cpu = self._daemon.cpu_seconds() - cpu
            await self._catch_up()
            watching.cancel()
            crashed = [task for task in following if task.done()]
            for task in crashed:
                task.result()
        finally:
            for task in following:
                task.cancel()
            await asyncio.gather(*following, return_exceptions=True)

    async def _create(self, session: str, few: asyncio.Semaphore) -> None:
        async with few:
            body = {"agent": "mock", "env": self._daemon.env}
            answer = await self._http.post(f"/v1/sessions/{session}", json=body)
            answer.raise_for_status()

    async def _drive(self, number: int, began: float) -> None:
        """Run one turn after another in a session until the time is up."""
        session, first = self._names[number], self._readers[number]
        ended = asyncio.Event()
        first.on_turn_ended = ended.set
        for turn in itertools.count():
            if time.monotonic() - began > self._seconds:
                return
            ended.clear()
            message = NOISY if number % 10 == 0 and turn % 2 == 0 else PACED
            answer = await self._http.post(f"/v1/sessions/{session}/messages", json={"message": message})
            answer.raise_for_status()
            self.outcome.turns += 1
            await ended.wait()

    async def _watch_memory(self) -> None:
        while True:
            self.outcome.memory.append(self._daemon.memory())
            await asyncio.sleep(1)

    async def _catch_up(self) -> None:
        """Every reader must reach the end of its session's log."""
        outcome = self.outcome
        counts: dict[str, int] = {}
        for session in self._names:
            counts[session] = (await self._http.get(f"/v1/sessions/{session}")).json()["eventCount"]
        for reader in self._readers:
            reader.catch_up()
        deadline = time.monotonic() + CATCH_UP_SECONDS
        while self._missing(counts) and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        outcome.lost = self._missing(counts)
        outcome.events = sum(counts.values())
        outcome.delivered = sum(reader.last for reader in self._readers)
        outcome.connections = sum(reader.connections for reader in self._readers)
        outcome.wrong = [problem for reader in self._readers for problem in reader.wrong]
        outcome.late = [late for reader in self._readers for late in reader.late]

    def _missing(self, counts: dict[str, int]) -> int:
        return sum(counts[reader.session] - reader.last for reader in self._readers)
