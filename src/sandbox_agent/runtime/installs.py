"""Installations in this daemon, each in its own thread. Identical requests share one."""

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

Value = TypeVar("Value")

MAX_AT_ONCE = 16
"""Each has a thread, even while it waits for another installation of the same agent."""
RETRY_SECONDS = 30


class InstallRequest(NamedTuple):
    """What to install."""

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
        # Imported late: most daemons never install anything.
        from ..install.installer import Installer

        return Installer(self._data_dir, self._mirror)

    def get_or_start(self, request: InstallRequest) -> Installation:
        """The installation for this request: the one already running, or a new one. It ends by itself."""
        running = self._running.get(request)
        if running is None:
            if len(self._running) >= MAX_AT_ONCE:
                raise RateLimited(
                    f"{MAX_AT_ONCE} installations are already running",
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
    """A running installation. Its daemon thread never keeps the process from exiting."""

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
        """The outcome. A caller that stops waiting does not stop the installation."""
        return await asyncio.shield(self.result)

    async def follow(self, ping_seconds: float) -> AsyncGenerator[Progress | None, None]:
        """The latest progress, until the installation ends; None when a ping is due."""
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
                tell=self._report,
            )
        except Stopped:
            self._in_loop(self._fail, InstallFailed("the daemon is stopping", agent=request.agent.name))
        except Exception as error:
            self._in_loop(self._fail, error)
        else:
            self._in_loop(self._succeed, installed)

    def _report(self, progress: Progress) -> None:
        self._in_loop(self._set_latest, progress)

    def _in_loop(self, callback: Callable[[Value], None], value: Value) -> None:
        # The loop may already be closed: then no one is listening.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, value)

    def _set_latest(self, progress: Progress) -> None:
        self._latest = progress
        self._news.set()

    def _succeed(self, installed: Installed) -> None:
        self.result.set_result(installed)

    def _fail(self, error: Exception) -> None:
        self.result.set_exception(error)
        # Retrieve the exception: a failure that no one waits for is not a bug.
        self.result.exception()

    def _end(self, result: asyncio.Future[Installed]) -> None:
        self._news.set()
