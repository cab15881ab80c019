"""`acpx`, a public ACP client, as a user runs it. It starts `sandbox-agent acp`, which finds or starts the daemon."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.acp_clients import acp_modules
from tests.acp_recorded import updates_in
from tests.daemons import SECONDS, gone_within

from sandbox_agent.presence import running_daemon

TEE = Path(__file__).with_name("tee.py")
PROGRAM = [sys.executable, "-m", "sandbox_agent"]


class Acpx:
    """Every line of the program that it starts is recorded; `updates` checks them."""

    def __init__(self, agent: str, folder: Path, environ: Mapping[str, str]) -> None:
        self.data = folder / "data"
        self.directory = folder / "work"
        self.directory.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"],
            **environ,
            "HOME": str(folder),
            "SANDBOX_AGENT_DATA_DIR": str(self.data),
            "SANDBOX_AGENT_NO_INSTALL": "true",
        }
        self._log = folder / "acp.jsonl"
        program = [sys.executable, str(TEE), str(self._log), *PROGRAM, "acp", "--agent", agent]
        client = ["node", str(acp_modules() / "acpx" / "dist" / "cli.js")]
        self._command = [*client, "--agent", shlex.join(program), "--cwd", str(self.directory)]

    def run(self, *words: str) -> str:
        with self.start(*words) as process:
            output, _ = process.communicate(timeout=8 * SECONDS)
        assert process.returncode == 0, output
        return output

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._command, *words],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def updates(self) -> list[dict[str, Any]]:
        return updates_in(self._log)

    def kill_daemon(self) -> None:
        state = running_daemon(self.data)
        assert state is not None
        os.kill(state.pid, signal.SIGKILL)
        assert gone_within([state.pid], SECONDS) == []


@contextmanager
def acpx(agent: str, folder: Path, environ: Mapping[str, str]) -> Iterator[Acpx]:
    """A client with one session, which it closes at the end."""
    client = Acpx(agent, folder, environ)
    try:
        client.run("sessions", "new")
        yield client
        client.run("sessions", "close")
    finally:
        subprocess.run([*PROGRAM, "daemon", "stop"], env=client.environ, capture_output=True, timeout=SECONDS)
