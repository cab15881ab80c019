"""Rounds of load, a random fault, its repair, and a check of every promise."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct, field

from tools.torture.audit import Audit
from tools.torture.users import User, Watcher

from .nodes import LEASE_SECONDS, Fleet, Node
from .world import ClusterWorld

REST_SECONDS = 120.0
GONE_SECONDS = 5.0


class Figures(Struct):
    rounds: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    answers: int = 0
    sessions: int = 0
    events: int = 0
    broken: list[str] = field(default_factory=list)


class Campaign:
    def __init__(self, folder: Path, seed: int, users: int) -> None:
        self.figures = Figures()
        self._random = random.Random(seed)
        self._fleet = Fleet(folder)
        self._world = ClusterWorld(self._fleet, seed)
        self._audit = Audit(self._world)
        self._watchers = [Watcher(self._world) for _ in self._fleet.nodes]
        self._users = [User(self._world, f"u{number}", f"{seed}/{number}") for number in range(users)]

    async def run(self, rounds: int, report: Callable[[Figures], None]) -> Figures:
        """Stops at the first round that breaks a promise."""
        loop = asyncio.get_running_loop()
        await self._fleet.start()
        tasks = [loop.create_task(user.live()) for user in self._users]
        tasks += [loop.create_task(watcher.follow()) for watcher in self._watchers]
        try:
            for _ in range(rounds):
                await self._round(tasks)
                self.figures.rounds += 1
                report(self.figures)
                if self.figures.broken:
                    return self.figures
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await self._finish()
        return self.figures

    async def _round(self, tasks: list[asyncio.Task[None]]) -> None:
        self._world.open()
        await asyncio.sleep(self._random.uniform(0.2, 1.5))
        faults: dict[str, Callable[[Node], Awaitable[None]]] = {
            "kill -9": self._kill,
            "SIGSTOP past the lease": self._pause,
            "crash of the database": self._crash,
            "responses to commits lost": self._swallow,
            "cut off from the database": self._cut_off,
        }
        name = self._random.choice(list(faults))
        self.figures.faults[name] += 1
        await faults[name](self._random.choice(self._fleet.nodes))
        failed = [task for task in tasks if task.done()]
        self._world.shut()
        for task in failed:
            task.result()  # raises
        await self._world.gate.everybody_waits()
        self._note_what_clients_saw()
        self.figures.broken += await self._audit.check(at_rest=False)
        self.figures.messages, self.figures.answers = self._world.messages, self._world.answers

    # -- faults -------------------------------------------------------------------------------

    async def _kill(self, node: Node) -> None:
        await node.kill()
        if self._random.random() < 0.5:  # the others close what it left, before it is back
            await asyncio.sleep(LEASE_SECONDS * 1.7)
        await node.start()

    async def _pause(self, node: Node) -> None:
        node.signal(signal.SIGSTOP)
        await asyncio.sleep(LEASE_SECONDS * self._random.uniform(0.5, 2.0))
        node.signal(signal.SIGCONT)

    async def _crash(self, node: Node) -> None:
        await self._fleet.crash_database()

    async def _swallow(self, node: Node) -> None:
        for _ in range(5):
            node.proxy.way = "swallow_answers"
            await asyncio.sleep(self._random.uniform(0, 0.05))
            node.proxy.cut()
            node.proxy.way = "open"
            await asyncio.sleep(self._random.uniform(0, 0.3))

    async def _cut_off(self, node: Node) -> None:
        if self._random.random() < 0.5:
            node.proxy.way = "black_hole"
        else:
            node.proxy.is_refusing = True
            node.proxy.cut()
        await asyncio.sleep(LEASE_SECONDS * self._random.uniform(0.5, 2.0))
        node.proxy.way, node.proxy.is_refusing = "open", False
        node.proxy.cut()

    # -- checks -------------------------------------------------------------------------------

    def _note_what_clients_saw(self) -> None:
        self.figures.broken += self._world.strange
        for watcher in self._watchers:
            self.figures.broken += watcher.broken

    async def _finish(self) -> None:
        """Wait until everything is idle, and check everything."""
        broken = self.figures.broken
        broken += await self._audit.wait_for_rest(REST_SECONDS)
        self._note_what_clients_saw()
        broken += await self._audit.check_for_good()
        self.figures.events, self.figures.sessions = self._audit.events, self._audit.sessions
        codes = [await node.stop() for node in self._fleet.nodes]
        if any(codes):
            broken.append(f"SIGTERM ended nodes with {codes}")
        began = time.monotonic()
        while (left := self._fleet.started()) and time.monotonic() - began < GONE_SECONDS:
            await asyncio.sleep(0.05)
        broken += [f"processes {sorted(left)} outlived their node"] if left else []
        await self._world.close()

    async def abandon(self) -> None:
        """End everything that was started."""
        await self._fleet.end()
