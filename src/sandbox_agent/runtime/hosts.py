"""All running agents: which one a session is seated at, and what is known of shared servers."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from ..agents.base import Agent, Conversation, Place
from ..agents.environment import environment
from ..errors import Unavailable
from ..schema.inputs import Settings
from ..schema.world import World
from .host import Host, Tap
from .locks import Locks
from .log import Log
from .process import Exit
from .programs import Program

logger = logging.getLogger("sandbox_agent.hosts")


class Seat(NamedTuple):
    """What a session needs a process for: hosts with the same shared seat are the same host."""

    agent: Agent
    program: Program
    settings: Settings
    env: dict[str, str]
    native_id: str | None
    resume: bool

    def key(self) -> str:
        version = (str(self.program.path), self.program.version)
        fingerprint = hashlib.sha256(repr((version, sorted(self.env.items()))).encode())
        return f"{self.agent.name}:{fingerprint.hexdigest()}"


class Hosts:
    """All running agents."""

    def __init__(
        self,
        log: Log,
        data_dir: Path,
        instance: str,
        world: World,
    ) -> None:
        self._log = log
        self._world = world
        self._data_dir = data_dir
        self._instance = instance
        self._running: set[Host] = set()
        self._shared: dict[str, Host] = {}
        self._locks = Locks()
        self._last_errors: dict[str, str] = {}
        self._starts: dict[str, int] = {}
        self.tap: Tap | None = None

    async def get(self, seat: Seat) -> Host:
        """A process for this seat: the shared server it belongs on, or one of its own. Whoever gets it must `release` it."""
        if not seat.agent.capabilities.shared_process:
            host = await self._start(seat)
            host.expect()
            return host
        key = seat.key()
        async with self._locks.hold(key):
            shared = self._shared.get(key)
            if shared is None or shared.process.is_ending:
                shared = self._shared[key] = await self._start(seat)
                self._starts[seat.agent.name] = self._starts.get(seat.agent.name, 0) + 1
            shared.expect()
            return shared

    async def _start(self, seat: Seat) -> Host:
        agent = seat.agent
        env = environment(agent, os.environ, seat.env)
        place = Place(seat.program.path, self._data_dir, env)
        launch = agent.launch(place, seat.settings, seat.native_id, seat.resume)
        host = Host(agent, launch, self._log, self._world, self._instance, self._exited, self.tap)
        self._running.add(host)
        # A shared server belongs to no session's directory.
        directory = str(self._data_dir) if agent.capabilities.shared_process else seat.settings.directory
        try:
            await host.start(env, directory)
        except OSError as error:
            self._running.discard(host)
            raise Unavailable(f"{agent.title} cannot be started: {error}", agent=agent.name) from error
        except BaseException:
            self._running.discard(host)
            raise
        logger.info("started %s (pid %s)", agent.name, host.process.pid)
        return host

    async def release(self, host: Host, conversation: Conversation | None) -> None:
        """A session leaves; a process that nobody needs any more is ended with all its descendants."""
        host.expect_no_more()
        if conversation is not None:
            await host.leave(conversation)
        if host.empty:
            self._forget(host)
            await host.end()
            # One that nobody was there to hear tells its exit to nobody.
            self._running.discard(host)

    async def stop_all(self) -> None:
        await asyncio.gather(*(host.process.stop() for host in list(self._running)), return_exceptions=True)

    def server_status(self, agent: Agent) -> dict[str, Any] | None:
        """What `GET /v1/agents` tells of a shared server."""
        if not agent.capabilities.shared_process:
            return None
        host = next((one for one in self._shared.values() if one.agent is agent), None)
        facts: dict[str, Any] = {
            "status": "running" if host else "stopped",
            "restartCount": max(0, self._starts.get(agent.name, 0) - 1),
            "uptimeMs": round((time.monotonic() - host.started_at) * 1000) if host else 0,
        }
        if error := self._last_errors.get(agent.name):
            facts["lastError"] = error
        return facts

    @property
    def count(self) -> int:
        return len(self._running)

    def _exited(self, host: Host, exit: Exit) -> None:
        self._forget(host)
        self._running.discard(host)
        if exit.code != 0:
            self._last_errors[host.agent.name] = exit.describe()

    def _forget(self, host: Host) -> None:
        for key in [key for key, one in self._shared.items() if one is host]:
            del self._shared[key]
