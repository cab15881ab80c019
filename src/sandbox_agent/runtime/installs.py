"""Installations in this daemon, each in a thread of its own. Those who want the same share one."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..agents.base import Agent
from ..errors import InstallFailed, RateLimited
from ..install.problems import Stopped
from ..install.progress import Progress
from ..schema.answers import Installed

if TYPE_CHECKING:
    from ..install.installer import Installer

Heard = TypeVar("Heard")

MOST_AT_ONCE = 16
"""Each has a thread, also while it waits for another of the same agent."""
RETRY_SECONDS = 30


class InstallRequest(NamedTuple):
    """What somebody wants to have installed."""

    agent: Agent
    version: str | None
    reinstall: bool = False
    default: bool = True


class Installs:
    def __init__(self, data_dir: Path, mirror: str | None) -> None:
        self._data_dir = data_dir
        self._mirror = mirror
        self._running: dict[InstallRequest, Installation] = {}

    @functools.cached_property
    def _installer(self) -> Installer:
        # Most daemons never install anything: they need not load what it takes.
        from ..install.installer import Installer

        return Installer(self._data_dir, self._mirror)

    def want(self, request: InstallRequest) -> Installation:
        """The installation for this request: the one already running, or a new one. It ends by itself."""
        running = self._running.get(request)
        if running is None:
            if len(self._running) >= MOST_AT_ONCE:
                raise RateLimited(
                    f"{MOST_AT_ONCE} installations go on already",
                    agent=request.agent.name,
                    retryAfter=RETRY_SECONDS,
                )
            running = self._running[request] = Installation(request, self._installer)
            running.result.add_done_callback(lambda _: self._running.pop(request, None))
            running.start()
        return running

    def stop(self) -> None:
        if self._running:
            self._installer.stop()


class Installation:
    """One that goes on. It has no wait of its own that could keep the daemon from ending: its thread just ends with it."""

    def __init__(self, request: InstallRequest, installer: Installer) -> None:
        self._request = request
        self._installer = installer
        self._loop = asyncio.get_running_loop()
        self._latest: Progress | None = None
        self._news = asyncio.Event()
        self.result: asyncio.Future[Installed] = self._loop.create_future()
        self.result.add_done_callback(self._end)

    def start(self) -> None:
        threading.Thread(target=self._run, name=f"install {self._request.agent.name}", daemon=True).start()

    async def wait(self) -> Installed:
        """The outcome. Whoever stops waiting does not stop the installation."""
        return await asyncio.shield(self.result)

    async def follow(self, ping_seconds: float) -> AsyncGenerator[Progress | None, None]:
        """The latest of what it tells, until it ends; None where a sign of life is due."""
        seen: Progress | None = None
        while not self.result.done():
            if self._latest is not seen:
                seen = self._latest
                yield seen
                continue
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), ping_seconds)
            except TimeoutError:
                yield None

    def _run(self) -> None:
        request = self._request
        try:
            installed = self._installer.install(
                request.agent,
                request.version,
                reinstall=request.reinstall,
                default=request.default,
                tell=self._tell,
            )
        except Stopped:
            self._in_loop(self._fail, InstallFailed("the daemon stops", agent=request.agent.name))
        except Exception as error:
            self._in_loop(self._fail, error)
        else:
            self._in_loop(self._succeed, installed)

    def _tell(self, progress: Progress) -> None:
        self._in_loop(self._hear, progress)

    def _in_loop(self, say: Callable[[Heard], None], what: Heard) -> None:
        # The loop may have ended before us: then nobody listens.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(say, what)

    def _hear(self, progress: Progress) -> None:
        self._latest = progress
        self._news.set()

    def _succeed(self, installed: Installed) -> None:
        self.result.set_result(installed)

    def _fail(self, error: Exception) -> None:
        self.result.set_exception(error)
        # Nobody has to wait for it: an unheard failure is not a bug.
        self.result.exception()

    def _end(self, result: asyncio.Future[Installed]) -> None:
        self._news.set()
