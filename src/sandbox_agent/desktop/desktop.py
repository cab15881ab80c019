"""The desktop: at most one at a time, with the programs that run on it."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Callable, Collection, Coroutine
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..errors import (
    AppNotFound,
    DesktopInvalidAction,
    DesktopRuntimeFailed,
    DesktopRuntimeInactive,
    InvalidRequest,
    SandboxAgentError,
)
from ..processes.process import Process
from ..processes.processes import Processes
from ..processes.program import ProgramSpec
from ..schema.desktop import (
    DEFAULT_DPI,
    DEFAULT_FPS,
    DEFAULT_HEIGHT,
    DEFAULT_WIDTH,
    DesktopError,
    DesktopState,
    DesktopStatus,
    LaunchedApp,
    OpenedTarget,
)
from ..schema.world import World
from . import requirements
from .display import Display, DisplaySpec
from .live_view import LiveView
from .recordings import Recordings

logger = logging.getLogger("sandbox_agent.desktop")

WINDOW_SECONDS = 15.0
POLL_SECONDS = 0.05
URL_SCHEMES = ("http://", "https://", "file:///")


class Running(Struct):
    """The display while the desktop is active."""

    display: Display
    started_at: str
    recording_fps: int


class Desktop:
    """`make_folder` makes a folder that only the owner can enter."""

    def __init__(
        self,
        processes: Processes,
        folder: Path,
        make_folder: Callable[[], Path],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        world: World,
    ) -> None:
        self._processes = processes
        self._make_folder = make_folder
        self._spawn = spawn
        self._world = world
        self._running: Running | None = None
        self._change: DesktopState | None = None
        """Set while the desktop is starting or stopping."""
        self._error: DesktopError | None = None
        """Why the desktop ended unexpectedly, or did not start."""
        self._changing = asyncio.Lock()
        self._agents = 0
        """Agents that have tools for it."""
        self._is_for_agents = False
        """Whether an agent's tool started it and nobody else has asked for it."""
        self.recordings = Recordings(folder / "recordings", processes, world)
        self.view = LiveView(processes)

    # -- its state ----------------------------------------------------------------------------

    async def status(self) -> DesktopStatus:
        running = self._running
        if running is None:
            return self._resting()
        display = running.display
        try:
            windows = await display.windows.list()
        except SandboxAgentError:
            windows = ()
        return DesktopStatus(
            state=self._change or "active",
            display=display.name,
            resolution=display.resolution,
            started_at=running.started_at,
            processes=display.processes(),
            windows=windows,
        )

    def _resting(self) -> DesktopStatus:
        absent = requirements.missing()
        if self._change is None and absent:
            error = DesktopError("desktop_dependencies_missing", f"not installed: {', '.join(absent)}")
            return DesktopStatus(
                state="install_required",
                last_error=error,
                missing_dependencies=absent,
                install_command=requirements.INSTALL_COMMAND,
            )
        state = self._change or ("failed" if self._error is not None else "inactive")
        return DesktopStatus(state=state, last_error=self._error)

    @property
    def running(self) -> Running:
        if self._running is not None:
            return self._running
        if absent := requirements.missing():
            raise _not_installed(absent)
        if self._error is not None:
            raise DesktopRuntimeFailed(f"{self._error.message}; start the desktop again")
        raise DesktopRuntimeInactive("the desktop is not started")

    @property
    def display(self) -> Display:
        return self.running.display

    def require_programs(self) -> None:
        if absent := requirements.missing():
            raise _not_installed(absent)

    # -- start and stop -------------------------------------------------------------------------

    async def start(
        self,
        width: int = DEFAULT_WIDTH,
        height: int = DEFAULT_HEIGHT,
        *,
        dpi: int = DEFAULT_DPI,
        number: int | None = None,
        recording_fps: int = DEFAULT_FPS,
    ) -> DesktopStatus:
        """Start the desktop. One that is already running stays as it is."""
        self._is_for_agents = False
        return await self._started(DisplaySpec(width, height, dpi, number), recording_fps)

    async def _started(self, spec: DisplaySpec, recording_fps: int = DEFAULT_FPS) -> DesktopStatus:
        async with self._changing:
            if self._running is None:
                self.require_programs()
                await self._start(spec, recording_fps)
        return await self.status()

    async def _start(self, spec: DisplaySpec, recording_fps: int) -> None:
        self._change, self._error = "starting", None
        display = Display(self._processes, spec, await asyncio.to_thread(self._make_folder))
        try:
            await display.start()
        except BaseException as error:
            if isinstance(error, DesktopRuntimeFailed):
                self._error = DesktopError(error.type, error.detail)
            await self._end_all(display)
            if isinstance(error, OSError):
                raise DesktopRuntimeFailed(f"the X server cannot be reached: {error}") from error
            raise
        finally:
            self._change = None
        self._running = running = Running(display, self._world.now(), recording_fps)
        self._spawn(self._watch(running))

    async def _watch(self, running: Running) -> None:
        """A desktop that loses a part ends as a whole, and can be started again."""
        why = await running.display.until_broken()
        async with self._changing:
            if self._running is running:
                logger.warning("the desktop failed: %s", why)
                self._running, self._error = None, DesktopError(DesktopRuntimeFailed.type, why)
                await self._end_all(running.display)

    async def stop(self) -> DesktopStatus:
        """Also ends every program that was started on it."""
        async with self._changing:
            running, self._running, self._error = self._running, None, None
            if running is not None:
                self._change = "stopping"
                try:
                    await self._end_all(running.display)
                finally:
                    self._change = None
        return await self.status()

    async def _end_all(self, display: Display) -> None:
        try:
            await self.recordings.finish()
        except SandboxAgentError as error:
            logger.error("the end of the recording cannot be recorded: %s", error.detail)
        await self._end_processes()
        display.close()
        await asyncio.to_thread(shutil.rmtree, display.folder, ignore_errors=True)

    async def _end_processes(self, chosen: Collection[str] | None = None) -> None:
        """All that run on the desktop, or those with these ids."""
        infos = await self._processes.list("desktop")
        running = [
            info.id for info in infos if info.status == "running" and (chosen is None or info.id in chosen)
        ]
        found = [self._processes.get(id) for id in running]
        await asyncio.gather(*(_end(process) for process in found), return_exceptions=True)

    # -- agents -------------------------------------------------------------------------------

    def enter(self) -> None:
        """An agent gets tools for it."""
        self._agents += 1

    async def shown(self) -> Display:
        """The display for a tool; a desktop that does not run is started."""
        if self._running is None:
            self._is_for_agents = True
            await self._started(DisplaySpec(DEFAULT_WIDTH, DEFAULT_HEIGHT, DEFAULT_DPI, None))
        return self.display

    async def leave(self, launched: Collection[str]) -> None:
        """End what an agent launched, and the desktop too if only agents were using it."""
        self._agents -= 1
        if self._is_for_agents and not self._agents:
            await self.stop()
        else:
            await self._end_processes(launched)

    # -- programs -------------------------------------------------------------------------------

    async def launch(
        self, app: str, args: tuple[str, ...], *, wait: bool, on_start: Callable[[str], None] | None = None
    ) -> LaunchedApp:
        """`on_start` gets the id of the process at once, before the wait for a window."""
        display = self.display
        program = shutil.which(app)
        if program is None:
            raise AppNotFound(f"no program is called {app[:200]}", app=app[:200])
        before = {window.id for window in await display.windows.list()}
        process = await self._launch(display, program, args)
        if on_start is not None:
            on_start(process.id)
        pid = process.program.pid if process.program is not None else None
        window = await self._first_window(display, process, before) if wait else None
        return LaunchedApp(process.id, pid, window)

    async def _first_window(self, display: Display, process: Process, before: set[str]) -> str | None:
        """None if the program ends, or shows no window in time. Some programs do not say which window is theirs."""
        until = asyncio.get_running_loop().time() + WINDOW_SECONDS
        while not process.exited.is_set() and asyncio.get_running_loop().time() < until:
            for window in await display.windows.list():
                if window.id not in before:
                    return window.id
            await asyncio.sleep(POLL_SECONDS)
        return None

    async def open(self, target: str) -> OpenedTarget:
        if not target.startswith(URL_SCHEMES) and not (os.path.isabs(target) and os.path.exists(target)):
            raise DesktopInvalidAction(
                "`target` is neither the absolute path of a file nor an http, https or file URL",
                field="target",
            )
        process = await self._launch(self.display, "xdg-open", (target,))
        return OpenedTarget(process.id, process.program.pid if process.program is not None else None)

    async def _launch(self, display: Display, program: str, args: tuple[str, ...]) -> Process:
        if any("\0" in arg for arg in args):
            raise DesktopInvalidAction("an argument contains a NUL character", field="args")
        spec = ProgramSpec((program, *args), display.env, None, takes_input=False)
        try:
            process = await self._processes.create(spec, interactive=False, owner="desktop")
        except InvalidRequest as error:
            raise DesktopInvalidAction(error.detail, field="app") from error
        if self._running is None or self._running.display is not display:
            # A stop that came in the meantime has not seen it.
            await _end(process)
            raise DesktopRuntimeInactive("the desktop was stopped before the program ran")
        return process


async def _end(process: Process) -> None:
    if process.program is not None:
        await process.program.stop()
    await process.exited.wait()


def _not_installed(absent: tuple[str, ...]) -> DesktopRuntimeFailed:
    return DesktopRuntimeFailed(
        f"the desktop needs {', '.join(absent)}: run `{requirements.INSTALL_COMMAND}` on its machine",
        missingDependencies=list(absent),
        installCommand=requirements.INSTALL_COMMAND,
    )
