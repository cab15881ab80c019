"""What agents offer: their models, modes and commands, asked from the agents themselves and cached for a minute."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping

from ..agents.base import Agent
from ..schema.features import Catalogue
from ..schema.inputs import Settings
from ..schema.world import World
from .hosts import HostRequest, Hosts
from .programs import Programs

CACHE_SECONDS = 60.0
MAX_CACHED = 100


class Catalogues:
    def __init__(self, programs: Programs, hosts: Hosts, start_seconds: float, world: World) -> None:
        self._programs = programs
        self._hosts = hosts
        self._start_seconds = start_seconds
        self._world = world
        self._cached: OrderedDict[tuple[str, str], tuple[float, Catalogue]] = OrderedDict()

    async def get(
        self, agent: Agent, directory: str, version: str | None = None, env: Mapping[str, str] | None = None
    ) -> Catalogue:
        """What an agent offers in a directory. `env` is a session's own environment, which may change it."""
        program = await self._programs.program(agent, version)
        settings = Settings(directory, agent.modes[0].id)
        native_id = agent.choose_native_id(self._world)
        request = HostRequest(agent, program, settings, dict(env or {}), native_id, False)
        key = (request.key(), directory)
        cached = self._cached.get(key)
        if cached and time.monotonic() - cached[0] < CACHE_SECONDS:
            return cached[1]
        catalogue = await self._ask(request)
        self._cached[key] = (time.monotonic(), catalogue)
        self._cached.move_to_end(key)
        while len(self._cached) > MAX_CACHED:
            self._cached.popitem(last=False)
        return catalogue

    async def _ask(self, request: HostRequest) -> Catalogue:
        host = await self._hosts.get(request)
        try:
            return await host.catalogue(request.settings.directory, self._start_seconds)
        finally:
            await self._hosts.release(host, None)
