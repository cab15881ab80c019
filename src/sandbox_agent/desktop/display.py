"""An X server without a screen (Xvfb) and its window manager. Connecting takes the cookie, and there is no TCP port."""

from __future__ import annotations

import asyncio
import os
import secrets
import struct
from pathlib import Path

from msgspec import Struct

from ..errors import DesktopInvalidAction, DesktopRuntimeFailed
from ..private_files import write_private
from ..processes.output_log import Place
from ..processes.process import Process
from ..processes.processes import Processes
from ..processes.program import ProgramSpec
from ..schema.desktop import DesktopProcess, Resolution
from .clipboard import Clipboard
from .keyboard import Keyboard
from .mouse import Mouse
from .pictures import Pictures
from .windows import Windows
from .x_connection import COOKIE_NAME, XConnection

START_SECONDS = 20.0
POLL_SECONDS = 0.02
SOCKETS = "/tmp/.X11-unix"  # noqa: S108 - where every X server and client looks
ANY_HOST = b"\xff\xff"
MAX_ERROR_BYTES = 2000


class DisplaySpec(Struct, frozen=True):
    width: int
    height: int
    dpi: int
    number: int | None
    """None takes a free one."""


class Display:
    """`folder` is private to it, and removed by its owner."""

    def __init__(self, processes: Processes, spec: DisplaySpec, folder: Path) -> None:
        self._processes = processes
        self._spec = spec
        self._cookie = secrets.token_bytes(16)
        self.folder = folder
        self.resolution = Resolution(spec.width, spec.height, spec.dpi)
        self.name = ""
        self.parts: dict[str, Process] = {}
        """Xvfb and the window manager."""
        self._listening: asyncio.Future[None] | None = None

    async def start(self) -> None:
        """If this raises, the caller stops what was started."""
        authority = self.folder / "Xauthority"
        await asyncio.to_thread(write_private, authority, _authority(self._cookie))
        self.env = {"DISPLAY": "", "XAUTHORITY": str(authority), "XDG_SESSION_TYPE": "x11"}
        if not any(os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")):
            self.env["LANG"] = "C.UTF-8"  # otherwise many programs accept only ASCII from the keyboard
        spec = self._spec
        number = () if spec.number is None else (f":{spec.number}",)
        screen = ("-screen", "0", f"{spec.width}x{spec.height}x24", "-dpi", str(spec.dpi))
        guarded = ("-auth", str(authority), "-nolisten", "tcp", "-noreset", "-displayfd", "1")
        server = await self._run("Xvfb", *number, *screen, *guarded)
        found = await self._number(server)
        self.name = self.env["DISPLAY"] = f":{found}"
        self.x = await XConnection.open(f"{SOCKETS}/X{found}", self._cookie)
        self._listening = asyncio.ensure_future(self.x.run())
        await self.x.begin()
        self.windows = Windows(self.x)
        self.mouse = Mouse(self.x, self.windows)
        self.keyboard = Keyboard(self.x)
        self.clipboard = Clipboard(self.x)
        self.pictures = Pictures(self.x, self._processes, self.folder)
        self.x.on_event = self.clipboard.handle
        await self.clipboard.begin()
        await self._wait_for_manager(await self._run("openbox", "--sm-disable"))

    async def _run(self, name: str, *args: str) -> Process:
        spec = ProgramSpec((name, *args), self.env if self.name else {}, None, takes_input=False)
        self.parts[name] = process = await self._processes.create(spec, interactive=False, owner="desktop")
        return process

    async def _number(self, server: Process) -> int:
        """Xvfb says it once it accepts connections."""
        log = await self._processes.log(server)
        try:
            async with asyncio.timeout(START_SECONDS):
                while not server.exited.is_set():
                    first_line = b"".join(
                        entry.data for entry in log.read(Place(0), 64) if entry.stream == "stdout"
                    )
                    if first_line.endswith(b"\n") and first_line.strip().isdigit():
                        return int(first_line)
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            raise DesktopRuntimeFailed(f"Xvfb did not start in {START_SECONDS:g} s") from None
        output = b"".join(entry.data for entry in log.read(Place(0), MAX_ERROR_BYTES)).decode(
            "utf-8", "replace"
        )
        if "already active" in output:
            raise DesktopInvalidAction(f"display :{self._spec.number} is in use", field="displayNum")
        raise DesktopRuntimeFailed(f"Xvfb did not start: {output.strip()}")

    async def _wait_for_manager(self, manager: Process) -> None:
        ready = await self.x.atom("_NET_SUPPORTING_WM_CHECK")
        try:
            async with asyncio.timeout(START_SECONDS):
                while await self.x.property(self.x.root, ready, 4) is None:
                    if manager.exited.is_set():
                        raise DesktopRuntimeFailed(
                            f"openbox did not start; see the logs of process {manager.id}"
                        )
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            raise DesktopRuntimeFailed(f"openbox did not start in {START_SECONDS:g} s") from None

    async def until_broken(self) -> str:
        """Wait until a part is gone, and say which."""
        waits = {
            asyncio.ensure_future(process.exited.wait()): name for name, process in self.parts.items()
        } | {asyncio.ensure_future(self.x.lost.wait()): "the connection to Xvfb"}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        name = next(name for wait, name in waits.items() if wait.done() and not wait.cancelled())
        process = self.parts.get(name)
        ended = process.record if process is not None else None
        if ended is None or ended.exited_at_ms is None:
            return f"{name} ended"
        return f"{name} ended: {ended.signal or f'exit code {ended.exit_code}'}"

    def close(self) -> None:
        """End the connection. The owner ends the processes."""
        if self._listening is not None:
            self.x.close()
            self._listening.cancel()

    def processes(self) -> tuple[DesktopProcess, ...]:
        found = []
        for name, process in self.parts.items():
            running = not process.exited.is_set()
            pid = process.program.pid if running and process.program is not None else None
            found.append(DesktopProcess(name, running, process.id, pid))
        return tuple(found)


def _authority(cookie: bytes) -> bytes:
    """The file from which X programs take the cookie: one entry, for every host and display."""
    fields = b"".join(struct.pack(">H", len(field)) + field for field in (b"", b"", COOKIE_NAME, cookie))
    return ANY_HOST + fields
