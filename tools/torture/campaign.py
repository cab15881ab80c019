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

from .ledger import Promised, broken_promises, digest
from .users import User, Watcher
from .world import World

GONE_SECONDS = 5.0
REST_SECONDS = 60.0
MOMENT_SECONDS = 1.0


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
        self._watcher = Watcher(self._world)
        self._users = [User(self._world, f"u{number}", f"{seed}/{number}") for number in range(users)]

    async def run(self, rounds: int, told: Callable[[Figures], None]) -> Figures:
        """Stops at the first round that breaks a promise."""
        loop = asyncio.get_running_loop()
        await self._victim.start()
        tasks = [loop.create_task(user.live()) for user in self._users]
        tasks.append(loop.create_task(self._watcher.follow()))
        try:
            for _ in range(rounds):
                await self._round(tasks)
                self.figures.rounds += 1
                told(self.figures)
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
        await self._check(at_rest=False)
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

    async def _check(self, *, at_rest: bool) -> None:
        world, broken = self._world, self.figures.broken
        broken += self._watcher.broken
        for session, promised in list(world.promised.items()):
            if promised.deleted:
                continue
            log, found = await self._look_up(session, promised, at_rest or promised.ended)
            if found:
                # While a queued turn is being started, it is briefly neither in the queue nor in the log.
                await asyncio.sleep(MOMENT_SECONDS)
                log, found = await self._look_up(session, promised, at_rest or promised.ended)
            broken += [f"{session}: {one}" for one in found]
            if promised.ended:
                world.sealed[session] = digest(log)
                self.figures.events += len(log)
                del world.promised[session]

    async def _look_up(
        self, session: str, promised: Promised, at_rest: bool
    ) -> tuple[list[bytes], list[str]]:
        """A session's log, and the promises it breaks."""
        queue = (await self._world.get(f"/v1/sessions/{session}/queue")).get("messages", [])
        log = await self._world.log(session)
        if log is None:
            return [], ["it was acknowledged and is lost"]
        queued = {message["turnId"] for message in queue}
        return log, broken_promises(promised, log, queued, at_rest=at_rest)

    async def _finish(self) -> None:
        """Wait until everything is idle, restart once more, and check everything."""
        world, broken = self._world, self.figures.broken
        deadline = time.monotonic() + REST_SECONDS
        while not await self._at_rest():
            if time.monotonic() > deadline:
                broken.append(f"not at rest after {REST_SECONDS:g} s")
                break
            await asyncio.sleep(0.05)
        await self._stop()
        self.figures.restarts.append(await self._victim.start())
        await self._check(at_rest=True)
        for session in world.promised:
            self.figures.events += len(await world.log(session) or ())
        for session, whole in world.sealed.items():
            if digest(await world.log(session) or ()) != whole:
                broken.append(f"{session} changed after its end")
        for session in world.deleted:
            if await world.log(session) is not None:
                broken.append(f"{session} was deleted and is back")
        self.figures.sessions = len(world.sealed) + len(world.promised) + len(world.deleted)
        await self._stop()
        await world.close()

    async def _at_rest(self) -> bool:
        """Whether nothing runs or waits. Pending requests are answered."""
        rest = True
        for session in self._world.promised:
            info = await self._world.get(f"/v1/sessions/{session}")
            queue = await self._world.get(f"/v1/sessions/{session}/queue")
            if info.get("state") == "requires_action":
                await self._world.ask_now("POST", f"/v1/sessions/{session}/cancel")
            rest = (
                rest and info.get("state") not in ("running", "requires_action") and not queue.get("messages")
            )
        return rest

    async def _stop(self) -> None:
        code = await self._victim.stop()
        if code != 0:
            self.figures.broken.append(f"SIGTERM ended it with {code}")
        await self._wait_until_gone(lambda: self._victim.started(), time.monotonic())

    async def abandon(self) -> None:
        """End everything that was started."""
        await self._victim.kill()
