"""A stand-in for the machine of a cloud sandbox: a folder of this machine as its home, and real processes.

The stand-ins of the providers are built on it, so the daemon is really copied, started, frozen, and asked. Nothing separates it
from this machine. `machine.ts` is the same for the examples in TypeScript.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("SANDBOX_AGENT_BINARY") or ROOT / "dist" / "sandbox-agent-linux-x64")
"""The single file, as built by `make dist`."""
CONVERSATION = [
    "You said: hello (message 1 of this conversation)",
    "You said: hello again (message 2 of this conversation)",
]
"""What every example must print, with the mock agent."""


class Ran(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str


class Machine:
    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="sandbox-"))
        self.commands: list[str] = []
        """Every command line that was run, as the provider's logs would show it."""
        self.state: Literal["running", "frozen", "off", "gone"] = "running"

    async def run(self, command: str, env: Mapping[str, str] | None = None) -> Ran:
        """Run a command line to its end, in an environment that has nothing of this program's."""
        assert self.state == "running", f"the sandbox is {self.state}"
        self.commands.append(command)
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", command),
            cwd=self.home,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.home), **(env or {})},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        stdout, stderr = await process.communicate()
        return Ran(process.returncode or 0, stdout.decode(), stderr.decode())

    def freeze(self) -> None:
        """Stop every process where it is, as a pause that keeps the memory does."""
        self._signal(signal.SIGSTOP)
        self.state = "frozen"

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)
        self.state = "running"

    def turn_off(self) -> None:
        """Processes end at once; files stay."""
        self._signal(signal.SIGKILL)
        self.state = "off"

    def turn_on(self) -> None:
        self.state = "running"

    def delete(self) -> None:
        self._signal(signal.SIGKILL)
        shutil.rmtree(self.home, ignore_errors=True)
        self.state = "gone"

    def _signal(self, number: signal.Signals) -> None:
        file = self.home / ".local/share/sandbox-agent/daemon.json"
        # It may have ended already.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.killpg(json.loads(file.read_text())["pid"], number)


def free_port() -> int:
    """A port that is free on this machine, which all stand-ins share."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
