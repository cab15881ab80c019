"""All running agents: which host a session uses, and the state of shared servers."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from ..agents.base import Agent, Conversation, Place
from ..agents.environment import INSIDE, environment
from ..errors import Unavailable
from ..schema.inputs import Settings
from ..schema.world import World
from .host import Host, Tap
from .locks import Locks
from .log import Log
from .process import Exit
from .programs import Program

logger = logging.getLogger("sandbox_agent.hosts")


class HostRequest(NamedTuple):
    """What a session needs from a host. Requests with the same key share one server."""

    agent: Agent
    program: Program
    settings: Settings
    env: dict[str, str]
    native_id: str | None
    resume: bool

    def key(self) -> str:
        version = (str(self.program.path), self.program.version)
        settings = self.agent.server_settings(self.settings)
        fingerprint = hashlib.sha256(repr((version, sorted(self.env.items()), settings)).encode())
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
        self.instance = instance
        self._running: set[Host] = set()
        self._shared: dict[str, Host] = {}
        self._locks = Locks()
        self._last_errors: dict[str, str] = {}
        self._starts: dict[str, int] = {}
        self._held_until: float | None = None
        """When agents that start now must freeze; None if they never must."""
        self.tap: Tap | None = None

    async def get(self, request: HostRequest) -> Host:
        """The shared server for this request, or a process of its own. The caller must `release` it."""
        if not request.agent.capabilities.shared_process:
            host = await self._start(request)
            host.expect()
            return host
        key = request.key()
        async with self._locks.hold(key):
            shared = self._shared.get(key)
            if shared is None or shared.process.is_ending:
                shared = self._shared[key] = await self._start(request)
                self._starts[request.agent.name] = self._starts.get(request.agent.name, 0) + 1
            shared.expect()
            return shared

    def place_of(self, request: HostRequest) -> Place:
        """Where and with which environment its agent runs."""
        agent = request.agent
        env = {**environment(agent, os.environ, request.env), INSIDE: agent.name}
        return Place(request.program.path, self._data_dir, env)

    async def _start(self, request: HostRequest) -> Host:
        agent = request.agent
        place = self.place_of(request)
        env = dict(place.environ)
        launch = agent.launch(place, request.settings, request.native_id, request.resume)
        host = Host(agent, launch, self._log, self._world, self.instance, self._exited, self.tap)
        self._running.add(host)
        # A shared server does not run in any session's directory.
        directory = str(self._data_dir) if agent.capabilities.shared_process else request.settings.directory
        try:
            await host.start(env, directory)
        except OSError as error:
            self._running.discard(host)
            raise Unavailable(f"{agent.title} cannot be started: {error}", agent=agent.name) from error
        except BaseException:
            self._running.discard(host)
            raise
        if self._held_until is not None:
            host.process.hold(self._held_until - time.monotonic())
        logger.info("started %s (pid %s)", agent.name, host.process.pid)
        return host

    async def release(self, host: Host, conversation: Conversation | None) -> None:
        """A session leaves. A process without sessions is ended with all its descendants."""
        host.expect_no_more()
        if conversation is not None:
            await host.leave(conversation)
        if host.empty:
            self._forget(host)
            await host.end()
            # Without tenants, the exit is reported to no one.
            self._running.discard(host)

    def hold(self, seconds: float) -> None:
        """Freeze all agents if this is not called again within this many seconds. Their guardians enforce it, even if this process dies."""
        self._held_until = time.monotonic() + seconds
        for host in self._running:
            host.process.hold(seconds)

    async def stop_all(self) -> None:
        await asyncio.gather(*(host.process.stop() for host in list(self._running)), return_exceptions=True)

    def server_status(self, agent: Agent) -> dict[str, Any] | None:
        """The state of a shared server, for `GET /v1/agents`."""
        if not agent.capabilities.shared_process:
            return None
        host = next((shared for shared in self._shared.values() if shared.agent is agent), None)
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
        for key in [key for key, shared in self._shared.items() if shared is host]:
            del self._shared[key]
