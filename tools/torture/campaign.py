"""Rounds of load, `kill -9` at a random moment, restart, and a check of every promise."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field

from tools.daemon import Daemon

from .audit import Audit
from .users import User, Watcher
from .world import World

GONE_SECONDS = 5.0
REST_SECONDS = 60.0


class Figures(Struct):
    rounds: int = 0
    kills: int = 0
    kills_while_starting: int = 0
    messages: int = 0
    answers: int = 0
    sessions: int = 0
    events: int = 0
    """Events in the logs at the end."""
    processes: int = 0
    """Processes alive when their daemon was killed."""
    restarts: list[float] = field(default_factory=list)
    gone: list[float] = field(default_factory=list)
    """Seconds until all processes of a killed daemon had ended."""
    broken: list[str] = field(default_factory=list)

    def restart_ms(self) -> tuple[float, float]:
        return statistics.median(self.restarts) * 1000, max(self.restarts) * 1000


class Campaign:
    def __init__(self, folder: Path, seed: int, users: int) -> None:
        self.figures = Figures()
        self._random = random.Random(seed)
        self._victim = Daemon(folder)
        self._world = World(self._victim)
        self._audit = Audit(self._world)
        self._watcher = Watcher(self._world)
        self._users = [User(self._world, f"u{number}", f"{seed}/{number}") for number in range(users)]

    async def run(self, rounds: int, report: Callable[[Figures], None]) -> Figures:
        """Stops at the first round that breaks a promise."""
        loop = asyncio.get_running_loop()
        await self._victim.start()
        tasks = [loop.create_task(user.live()) for user in self._users]
        tasks.append(loop.create_task(self._watcher.follow()))
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
        self._world.gate.open()
        await asyncio.sleep(self._moment())
        failed = [task for task in tasks if task.done()]
        self._world.gate.shut()
        await self._kill()
        for task in failed:
            task.result()  # raises
        await self._world.gate.everybody_waits()
        self.figures.broken += self._watcher.broken
        self.figures.broken += await self._audit.check(at_rest=False)
        self.figures.messages, self.figures.answers = self._world.messages, self._world.answers

    def _moment(self) -> float:
        """Most kills happen during the work, some right after the restart."""
        return (
            self._random.uniform(0, 0.05) if self._random.random() < 0.2 else self._random.uniform(0.05, 1.5)
        )

    async def _kill(self) -> None:
        """Kill and restart it, at once or after its processes have ended; sometimes kill it again during the start."""
        left = self._victim.started()
        self.figures.processes += len(left)
        began = time.monotonic()
        await self._victim.kill()
        self.figures.kills += 1
        at_once = self._random.random() < 0.5
        if not at_once:
            await self._wait_until_gone(lambda: self._victim.started(), began)
        if self._random.random() < 0.2:
            await self._victim.launch()
            await asyncio.sleep(self._random.uniform(0, 0.4))
            await self._victim.kill()
            self.figures.kills_while_starting += 1
        self.figures.restarts.append(await self._victim.start())
        if at_once:
            await self._wait_until_gone(lambda: self._victim.started() & left, began)

    async def _wait_until_gone(self, alive: Callable[[], set[int]], began: float) -> None:
        while left := alive():
            if time.monotonic() - began > GONE_SECONDS:
                self.figures.broken.append(f"processes {sorted(left)} outlived their daemon")
                return
            await asyncio.sleep(0.02)
        self.figures.gone.append(time.monotonic() - began)

    async def _finish(self) -> None:
        """Wait until everything is idle, restart once more, and check everything."""
        broken = self.figures.broken
        broken += await self._audit.wait_for_rest(REST_SECONDS)
        await self._stop()
        self.figures.restarts.append(await self._victim.start())
        broken += self._watcher.broken
        broken += await self._audit.check_for_good()
        self.figures.events, self.figures.sessions = self._audit.events, self._audit.sessions
        await self._stop()
        await self._world.close()

    async def _stop(self) -> None:
        code = await self._victim.stop()
        if code != 0:
            self.figures.broken.append(f"SIGTERM ended it with {code}")
        await self._wait_until_gone(lambda: self._victim.started(), time.monotonic())

    async def abandon(self) -> None:
        """End everything that was started."""
        await self._victim.kill()
