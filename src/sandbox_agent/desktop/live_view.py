"""The live view: a VNC server on a Unix socket that only the daemon can reach, and the viewers that the daemon connects to it."""

from __future__ import annotations

import asyncio
import contextlib

from ..errors import Conflict, DesktopRuntimeFailed
from ..processes.process import Process
from ..processes.processes import Processes
from ..processes.program import ProgramSpec
from ..processes.terminal import Socket
from ..schema.desktop import StreamStatus
from . import requirements
from .display import Display

START_SECONDS = 20.0
POLL_SECONDS = 0.02
PIECE_BYTES = 64 << 10
MAX_VIEWERS = 32


class LiveView:
    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._server: Process | None = None
        self._path = ""
        self._viewers = 0
        self._changing = asyncio.Lock()

    @property
    def status(self) -> StreamStatus:
        server = self._running()
        return StreamStatus(True, server.id, self._viewers) if server is not None else StreamStatus(False)

    def _running(self) -> Process | None:
        return self._server if self._server is not None and not self._server.exited.is_set() else None

    async def start(self, display: Display) -> StreamStatus:
        async with self._changing:
            if self._running() is None:
                self._server = await self._start(display)
        return self.status

    async def _start(self, display: Display) -> Process:
        program = requirements.program("x0vncserver")
        if program is None:
            raise Conflict("x0vncserver is not installed: run `sandbox-agent install desktop`")
        path = display.folder / "rfb"
        path.unlink(missing_ok=True)
        self._path = str(path)
        # Without a port and in a folder that only the owner can enter, it needs no password.
        argv = [
            program,
            f"-display={display.name}",
            f"-rfbunixpath={path}",
            "-rfbunixmode=0600",
            "-rfbport=-1",
        ]
        argv += [
            "-SecurityTypes=None",
            "-AlwaysShared=1",
            "-AcceptSetDesktopSize=0",
            "-desktop=sandbox-agent",
        ]
        server = await self._processes.create(
            ProgramSpec(argv, display.env, None, takes_input=False), interactive=False, owner="desktop"
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                while not server.exited.is_set():
                    if path.exists():
                        return server
                    await asyncio.sleep(POLL_SECONDS)
        if server.program is not None:
            await server.program.stop()
        raise DesktopRuntimeFailed(f"the VNC server did not start; see the logs of process {server.id}")

    async def stop(self) -> StreamStatus:
        async with self._changing:
            server, self._server = self._running(), None
            if server is not None and server.program is not None:
                await server.program.stop()
        return self.status

    def viewer(self) -> Viewer:
        if self._running() is None:
            raise Conflict("the live view is not started")
        if self._viewers >= MAX_VIEWERS:
            raise Conflict(f"there are already {MAX_VIEWERS} viewers", limit=MAX_VIEWERS)
        return Viewer(self)

    async def connect(self, socket: Socket) -> None:
        """Pass everything on, both ways, until either side ends."""
        self._viewers += 1
        try:
            reader, writer = await asyncio.open_unix_connection(self._path)
        except OSError:
            self._viewers -= 1
            return
        showing = asyncio.ensure_future(_show(reader, socket))
        acting = asyncio.ensure_future(_act(socket, writer))
        try:
            await asyncio.wait((showing, acting), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._viewers -= 1
            writer.close()
            for task in (showing, acting):
                task.cancel()
            await asyncio.gather(showing, acting, return_exceptions=True)


class Viewer:
    """One WebSocket."""

    def __init__(self, view: LiveView) -> None:
        self._view = view

    async def run(self, socket: Socket) -> None:
        await self._view.connect(socket)


async def _show(reader: asyncio.StreamReader, socket: Socket) -> None:
    """A slow viewer makes the server wait, which then sends it fewer pictures."""
    while piece := await reader.read(PIECE_BYTES):
        await socket.send_bytes(piece)


async def _act(socket: Socket, writer: asyncio.StreamWriter) -> None:
    while (received := await socket.receive()) is not None:
        if isinstance(received, bytes):
            writer.write(received)
            await writer.drain()
