"""Checks the logs of all sessions against what their clients were promised."""

from __future__ import annotations

import asyncio
import time

from .ledger import Promised, broken_promises, digest
from .world import World

MOMENT_SECONDS = 1.0


class Audit:
    """Methods that return texts describe the promises they found broken."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.events = 0
        """Events in the logs that are not checked again."""

    async def check(self, *, at_rest: bool) -> list[str]:
        """Check every session that may still change. `at_rest`: nothing is left to be done."""
        world, broken = self._world, list[str]()
        for session, promised in list(world.promised.items()):
            if promised.deleted:
                continue
            log, found = await self._look_up(session, promised, at_rest or promised.ended)
            if found:
                # While a queued turn is being started, it is briefly neither in the queue nor in the log.
                await asyncio.sleep(MOMENT_SECONDS)
                log, found = await self._look_up(session, promised, at_rest or promised.ended)
            broken += [f"{session}: {promise}" for promise in found]
            if promised.ended:
                world.sealed[session] = digest(log)
                self.events += len(log)
                del world.promised[session]
        return broken

    async def check_for_good(self) -> list[str]:
        """Check every session once more, now that nothing is left to be done."""
        world, broken = self._world, await self.check(at_rest=True)
        for session in world.promised:
            self.events += len(await world.log(session) or ())
        for session, whole in world.sealed.items():
            if digest(await world.log(session) or ()) != whole:
                broken.append(f"{session} changed after its end")
        for session in world.deleted:
            if await world.log(session) is not None:
                broken.append(f"{session} was deleted and is back")
        return broken

    async def wait_for_rest(self, seconds: float) -> list[str]:
        """Wait until no session runs or waits. Pending requests are cancelled."""
        deadline = time.monotonic() + seconds
        while not await self._is_at_rest():
            if time.monotonic() > deadline:
                return [f"not at rest after {seconds:g} s"]
            await asyncio.sleep(0.05)
        return []

    @property
    def sessions(self) -> int:
        return len(self._world.sealed) + len(self._world.promised) + len(self._world.deleted)

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

    async def _is_at_rest(self) -> bool:
        rest = True
        for session in self._world.promised:
            info = await self._world.get(f"/v1/sessions/{session}")
            queue = await self._world.get(f"/v1/sessions/{session}/queue")
            if info.get("state") == "requires_action":
                await self._world.ask_now("POST", f"/v1/sessions/{session}/cancel")
            is_idle = info.get("state") not in ("running", "requires_action")
            rest = rest and is_idle and not queue.get("messages")
        return rest
