"""A daemon that tools start, load, kill and restart, and the processes of its sessions."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
import uuid
from pathlib import Path

START_SECONDS = 60.0
MARK = "SANDBOX_AGENT_TOOL"


class Daemon:
    """A daemon on one data directory and one port, across restarts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {MARK: uuid.uuid4().hex}
        """An environment variable for every session, which marks all processes that its agent starts."""
        self.port = _free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.flags: tuple[str, ...] = ()
        self._process: asyncio.subprocess.Process | None = None
        self._log = folder / "daemon.log"

    async def launch(self) -> None:
        work = self.folder / "work"
        work.mkdir(exist_ok=True)
        command = ["-m", "sandbox_agent", "server", "--no-token", "--port", str(self.port)]
        with self._log.open("ab") as log:
            self._log_start = log.tell()
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, *command, "--data-dir", str(self.folder / "data"), *self.flags),
                cwd=work,
                env={"PATH": os.environ["PATH"], "HOME": str(self.folder)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=log,
            )

    async def start(self) -> float:
        """Start it and wait until it listens. Returns how long that took."""
        began = time.monotonic()
        await self.launch()
        while b"listening on" not in self.output():
            if time.monotonic() - began > START_SECONDS or self.process.returncode is not None:
                raise RuntimeError(f"the daemon did not start: {self.output().decode()}")
            await asyncio.sleep(0.01)
        return time.monotonic() - began

    def memory(self) -> int:
        """Resident memory in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self._process is not None
        return self._process

    def output(self) -> bytes:
        """Its output since the last start."""
        return self._log.read_bytes()[self._log_start :]

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), START_SECONDS)

    def started(self) -> set[int]:
        """The live processes of its sessions."""
        wanted = f"{MARK}={self.env[MARK]}".encode()
        found = set()
        for entry in os.scandir("/proc"):
            if entry.name.isdecimal():
                try:
                    if wanted in Path(entry.path, "environ").read_bytes().split(b"\0"):
                        found.add(int(entry.name))
                except OSError:
                    continue  # it ended just now
        return found


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
