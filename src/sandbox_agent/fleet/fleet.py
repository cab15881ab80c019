"""The fleet: which sandboxes run. Starts them on demand, ends idle ones, replaces those that died or no longer answer.

One of them, the gateway, has the fleet's own name and always runs, so that there is always a node that can read the log.

A fleet keeps only times and work in progress in memory. Killing its program loses neither sandboxes nor sessions: the next one
finds the sandboxes at the provider.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from msgspec import Struct

from ..client import AsyncSandboxAgent, Retry
from ..client.call import Address
from ..client.failures import ClientError
from ..errors import PermissionDenied, SandboxAgentError, Unavailable
from ..providers.provider import START_SECONDS, Provider, Sandbox, SandboxSpec, is_name

logger = logging.getLogger("sandbox_agent.fleet")

ASK_SECONDS = 10.0
POLL_SECONDS = 0.05
HUNG_SECONDS = 60.0
"""How long a sandbox may run without being a live node before it is replaced. A lease is shorter, an outage of the database may
not be: while no node is live, none is replaced."""
MAX_BACKOFF_SECONDS = 60.0

Found = TypeVar("Found")


class FleetSettings(Struct, frozen=True, kw_only=True):
    name: str
    """The name of the fleet and of its gateway."""
    token: str
    token_file: Path
    database_url_file: Path
    secrets_key_file: Path | None = None
    flags: tuple[str, ...] = ()
    """Flags of every daemon."""
    gateway_flags: tuple[str, ...] = ()
    idle_seconds: float = 900.0
    """Stop a sandbox in which nothing has happened for this long."""
    most_sandboxes: int = 20
    """How many sandboxes may run at once, besides the gateway."""
    look_seconds: float = 1.0


class Activity(Struct, frozen=True):
    """What a node has done so far. As long as it is the same, nothing has happened."""

    turns_running: float
    events_committed: float
    processes_running: int

    @property
    def is_busy(self) -> bool:
        return self.turns_running > 0 or self.processes_running > 0


class Watched(Struct):
    """What the fleet has seen of a sandbox."""

    activity: Activity | None = None
    active_at: float = 0.0
    """When something last happened in it."""
    missing_since: float | None = None
    """Since when it runs and is not a live node."""
    failures: int = 0
    retry_at: float = 0.0


class Fleet:
    def __init__(self, provider: Provider, settings: FleetSettings, http: httpx2.AsyncClient) -> None:
        self._provider = provider
        self._settings = settings
        self._http = http
        self._watched: dict[str, Watched] = {}
        self._work: dict[str, asyncio.Task[Any]] = {}
        """What is being done with a sandbox: one thing at a time."""
        self._starting: set[str] = set()
        self._users: Counter[str] = Counter()
        """Requests that are under way in a sandbox, by name."""

    @property
    def gateway(self) -> str:
        return self._settings.name

    # -- on demand ------------------------------------------------------------------------------

    async def get(self, name: str) -> Sandbox | None:
        """The sandbox of this name, if this fleet has it."""
        return await self._provider.get(name) if is_name(name) else None

    @contextlib.contextmanager
    def used(self, name: str) -> Iterator[None]:
        """While a request is under way, its sandbox is not idle."""
        self._users[name] += 1
        try:
            yield
        finally:
            self._users[name] -= 1
            if not self._users[name]:
                del self._users[name]
            self._watch_of(name).active_at = time.monotonic()

    async def started(self, name: str) -> Sandbox:
        """The sandbox of this name. If it does not run, it is started, and its daemon is ready."""
        if name not in self._work:
            found = await self._provider.get(name)
            if found is not None and found.state == "running":
                return found
        return await self._alone(name, lambda: self._start(name))

    async def _start(self, name: str) -> Sandbox:
        await self._reserve(name)
        settings = self._settings
        gateway_flags = settings.gateway_flags if name == self.gateway else ()
        spec = SandboxSpec(
            name=name,
            token_file=settings.token_file,
            database_url_file=settings.database_url_file,
            secrets_key_file=settings.secrets_key_file,
            flags=(*settings.flags, *gateway_flags),
        )
        try:
            sandbox = await self._provider.start(spec)
            await self._until_ready(sandbox)
        finally:
            self._starting.discard(name)
        self._watched[name] = Watched(active_at=time.monotonic())
        return sandbox

    async def _reserve(self, name: str) -> None:
        """Count a sandbox among those that run, before it does."""
        running = {found.name for found in await self._provider.list() if found.state == "running"}
        others = (running | self._starting) - {self.gateway, name}
        if name != self.gateway and len(others) >= self._settings.most_sandboxes:
            raise Unavailable(
                f"{len(others)} sandboxes are running, which is the limit: stop one, or wait until one is idle",
                retryAfter=30,
                limit=self._settings.most_sandboxes,
            )
        self._starting.add(name)

    async def _until_ready(self, sandbox: Sandbox) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                await self._client(sandbox).system.ready()
                return
            except SandboxAgentError as error:
                if time.monotonic() > deadline:
                    raise Unavailable(
                        f"sandbox {sandbox.name} is not ready: {error}", node=sandbox.name
                    ) from None
            await asyncio.sleep(POLL_SECONDS)

    async def _alone(self, name: str, work: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
        """Do one thing with a sandbox at a time. It continues if the caller is cancelled: others may be waiting for it."""
        while (busy := self._work.get(name)) is not None:
            await asyncio.wait({busy})
        return await asyncio.shield(self._begin(name, work()))

    def _begin(self, name: str, work: Coroutine[Any, Any, Found]) -> asyncio.Task[Found]:
        task = asyncio.get_running_loop().create_task(work)
        self._work[name] = task
        task.add_done_callback(lambda done: self._finished(name, done))
        return task

    def _finished(self, name: str, task: asyncio.Task[Any]) -> None:
        del self._work[name]
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, SandboxAgentError):
            logger.warning("sandbox %s: %s", name, error)
        else:
            logger.error("sandbox %s", name, exc_info=error)

    def _watch_of(self, name: str) -> Watched:
        return self._watched.setdefault(name, Watched(active_at=time.monotonic()))

    # -- watching -------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Watch the sandboxes until cancelled."""
        while True:
            try:
                await self._look()
            except SandboxAgentError as error:
                logger.warning("the sandboxes cannot be watched: %s", error)
            except Exception:
                logger.exception("watching the sandboxes failed")  # those that run can still be used
            await asyncio.sleep(self._settings.look_seconds)

    async def close(self) -> None:
        """Wait for the work in progress. Each step takes bounded time, and stopping halfway would be worse."""
        await asyncio.gather(*self._work.values(), return_exceptions=True)

    async def _look(self) -> None:
        sandboxes = {sandbox.name: sandbox for sandbox in await self._provider.list()}
        for name in self._watched.keys() - sandboxes.keys() - self._work.keys():
            del self._watched[name]
        gateway = sandboxes.pop(self.gateway, None)
        live = None
        if self.gateway not in self._work:
            if gateway is None or gateway.state != "running":
                self._revive(self.gateway)
            else:
                live = await self._live_nodes(gateway)
        await asyncio.gather(*(self._look_at(sandbox, live) for sandbox in sandboxes.values()))

    async def _live_nodes(self, gateway: Sandbox) -> frozenset[str] | None:
        """The names of the live nodes; None if they are unknown."""
        watched = self._watch_of(self.gateway)
        try:
            listed = await self._client(gateway).nodes.list()
        except ClientError as error:
            logger.warning("the gateway does not answer: %s", error)
            self._replace_if_hung(self.gateway, watched)
            return None
        except SandboxAgentError as error:
            # It is not hung: it cannot reach the database, and a new one could not either.
            logger.warning("the gateway cannot list the nodes: %s", error)
            watched.missing_since = None
            return None
        watched.missing_since = None
        return frozenset(node.name for node in listed.nodes if node.state == "live")

    async def _look_at(self, sandbox: Sandbox, live: frozenset[str] | None) -> None:
        if sandbox.name in self._work:
            return
        watched = self._watch_of(sandbox.name)
        if sandbox.state == "stopped":
            # If it runs again, perhaps started by another program, its idle time starts from zero.
            watched.activity, watched.active_at = None, time.monotonic()
        elif sandbox.state == "dead":
            self._revive(sandbox.name)
        elif sandbox.state == "running" and live is not None:
            if sandbox.name not in live:
                self._replace_if_hung(sandbox.name, watched)
            else:
                watched.missing_since = None
                await self._stop_if_idle(sandbox, watched)

    def _revive(self, name: str) -> None:
        """Start a sandbox that should run. One that dies again and again is tried less and less often."""
        watched = self._watch_of(name)
        if time.monotonic() >= watched.retry_at:
            logger.info("starting sandbox %s, which should be running", name)
            self._begin(name, self._restart(name, watched.failures + 1))

    async def _restart(self, name: str, failures: int) -> None:
        try:
            await self._start(name)
        finally:
            watched = self._watch_of(name)
            watched.failures = failures
            watched.retry_at = time.monotonic() + min(2.0**failures, MAX_BACKOFF_SECONDS)

    def _replace_if_hung(self, name: str, watched: Watched) -> None:
        now = time.monotonic()
        if watched.missing_since is None:
            watched.missing_since = now
        if now - watched.missing_since >= HUNG_SECONDS and name not in self._work:
            logger.warning("sandbox %s runs and does not answer; replacing it", name)
            watched.missing_since = None
            self._begin(name, self._replace(name))

    async def _replace(self, name: str) -> None:
        await self._provider.stop(name)
        await self._start(name)

    async def _stop_if_idle(self, sandbox: Sandbox, watched: Watched) -> None:
        before, watched.activity = watched.activity, await self._activity(sandbox)
        if watched.activity is None or watched.activity.is_busy or watched.activity != before:
            watched.active_at = time.monotonic()
            watched.failures = 0
        elif self._is_idle(sandbox.name, watched) and sandbox.name not in self._work:
            self._begin(sandbox.name, self._stop_idle(sandbox, watched))

    async def _stop_idle(self, sandbox: Sandbox, watched: Watched) -> None:
        """Look again: someone may have used it since the last look."""
        if await self._activity(sandbox) == watched.activity and self._is_idle(sandbox.name, watched):
            logger.info("sandbox %s is idle; stopping it", sandbox.name)
            await self._provider.stop(sandbox.name)

    def _is_idle(self, name: str, watched: Watched) -> bool:
        quiet = time.monotonic() - watched.active_at >= self._settings.idle_seconds
        return quiet and name not in self._users

    # -- asking ---------------------------------------------------------------------------------

    async def _activity(self, sandbox: Sandbox) -> Activity | None:
        """What the node says about itself; None if it does not answer, which is not the same as idle."""
        client = self._client(sandbox)
        try:
            metrics = (await client.system.metrics()).content.decode()
            running = await self._processes_running(client)
        except SandboxAgentError:
            return None
        return Activity(
            _metric(metrics, "turns_running"), _metric(metrics, "events_committed_total"), running
        )

    async def _processes_running(self, client: AsyncSandboxAgent) -> int:
        try:
            listed = await client.processes.list()
        except PermissionDenied:
            return 0  # the daemons run with --no-processes
        return sum(process.status == "running" for process in listed.processes)

    def _client(self, sandbox: Sandbox) -> AsyncSandboxAgent:
        assert sandbox.endpoint is not None
        address = Address(sandbox.endpoint, self._settings.token)
        return AsyncSandboxAgent(address, timeout=ASK_SECONDS, http=self._http, retry=Retry(seconds=0))


def _metric(text: str, name: str) -> float:
    found = re.search(rf"^sandbox_agent_{name} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0
