"""A fleet program for tests: the real command, with sandboxes that are gone after the test."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import msgspec
from tests.cli.conftest import command, environment
from tests.daemons import SECONDS

from sandbox_agent.providers.local import LocalProvider

TOKEN = "a-token-for-the-fleet"
NEVER = "3600"


class FleetProgram:
    """`fleet serve` with the local provider, on a free port."""

    def __init__(self, folder: Path, url: str, *flags: str) -> None:
        self.folder = folder
        self._flags = flags
        folder.mkdir(exist_ok=True)
        (folder / "token").write_text(TOKEN)
        (folder / "url").write_text(url)
        self.provider = LocalProvider(folder / "state" / "fleets" / "fleet")
        self._lines: list[str] = []

    @property
    def secrets(self) -> list[str]:
        return [
            *("--token-file", str(self.folder / "token")),
            *("--database-url-file", str(self.folder / "url")),
            *("--server-flag=--lease-seconds=2", "--server-flag=--drain-seconds=1"),
        ]

    def start(self) -> FleetProgram:
        self.process = subprocess.Popen(
            command("fleet", "serve", "--port", "0", *self.secrets, *self._flags),
            env=environment(self.folder),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        found = next(
            filter(None, (re.match(r"listening on (\S+)", line) for line in self._read_lines())), None
        )
        assert found is not None, "".join(self._lines)
        self.http = httpx2.Client(
            base_url=found[1], headers={"authorization": f"Bearer {TOKEN}"}, timeout=SECONDS
        )
        # Later output must not fill the pipe.
        self._reader = threading.Thread(target=lambda: list(self._read_lines()), daemon=True)
        self._reader.start()
        return self

    def _read_lines(self) -> Iterator[str]:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.append(line)
            yield line

    def stderr(self) -> str:
        return "".join(self._lines)

    def kill(self) -> None:
        self.process.kill()
        self._ended()

    def stop(self) -> int:
        self.process.terminate()
        return self._ended()

    def _ended(self) -> int:
        code = self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        assert self.process.stderr is not None
        self.process.stderr.close()
        self.http.close()
        return code

    def end(self) -> None:
        """End everything, also what a test has left behind."""
        if hasattr(self, "process") and self.process.poll() is None:
            self.kill()
        for name in self.names():
            if pid := self.pid(name):
                os.kill(pid, signal.SIGKILL)

    # -- sandboxes ------------------------------------------------------------------------------

    def cli(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command("fleet", *words),
            env=environment(self.folder),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def place(self, name: str) -> Path:
        return self.folder / "state" / "fleets" / "fleet" / name

    def names(self) -> list[str]:
        return [sandbox.name for sandbox in asyncio.run(self.provider.list())]

    def state(self, name: str) -> str | None:
        sandbox = asyncio.run(self.provider.get(name))
        return sandbox.state if sandbox else None

    def pid(self, name: str) -> int | None:
        from sandbox_agent.presence import lock_holder

        return lock_holder(self.place(name) / "data")

    # -- sessions -------------------------------------------------------------------------------

    def create(self, session_id: str, **settings: str) -> None:
        answer = self.http.post(f"/v1/sessions/{session_id}", json={"agent": "mock", **settings})
        assert answer.status_code == 200, (answer.text, self.stderr())
        assert answer.json()["healthy"], answer.text

    def turn(self, session_id: str, message: str) -> list[dict[str, Any]]:
        """The events of one turn."""
        path = f"/v1/sessions/{session_id}/messages/stream"
        with self.http.stream("POST", path, json={"message": message}) as stream:
            body = stream.read().decode()
            assert stream.status_code == 200, (body, self.stderr())
        return [msgspec.json.decode(line[6:]) for line in body.splitlines() if line.startswith("data: {")]


def stop_reasons(events: Sequence[dict[str, Any]]) -> list[str]:
    return [event["data"]["metadata"]["stop_reason"] for event in events if event["type"] == "turn.ended"]


def reply_text(events: Sequence[dict[str, Any]]) -> str:
    """The text of an agent."""
    return "".join(
        event["data"]["delta"]
        for event in events
        if event["type"] == "item.delta" and event["data"].get("role") == "assistant"
    )
