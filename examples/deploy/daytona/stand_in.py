"""A stand-in for Daytona's cloud: the methods of its SDK, and real processes of this machine. Used when there is no `DAYTONA_API_KEY`."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from daytona import CreateSandboxFromSnapshotParams, DaytonaNotFoundError, SandboxState
from examples.deploy.machine import Machine

PREVIEW_TOKEN = "token-of-the-proxy"
PASSED = ("authorization", "content-type", "accept", "idempotency-key", "last-event-id")


class StandIn:
    """In place of the class `AsyncDaytona`."""

    def __init__(self) -> None:
        self.sandboxes: list[StandInSandbox] = []

    async def create(self, params: CreateSandboxFromSnapshotParams, *, timeout: float = 60) -> StandInSandbox:
        self.sandboxes.append(StandInSandbox(params.name or "", params.labels or {}))
        return self.sandboxes[-1]

    async def get(self, name: str) -> StandInSandbox:
        for sandbox in self.sandboxes:
            if sandbox.name == name and sandbox.machine.state != "gone":
                return sandbox
        raise DaytonaNotFoundError(f"Sandbox with ID or name {name} not found")

    async def list(self) -> AsyncIterator[StandInSandbox]:
        for sandbox in self.sandboxes:
            if sandbox.machine.state != "gone":
                yield sandbox


class Preview(NamedTuple):
    url: str
    token: str


class Executed(NamedTuple):
    exit_code: int
    result: str


class StandInSandbox:
    def __init__(self, name: str, labels: dict[str, str]) -> None:
        self.name = name
        self.labels = labels
        self.machine = Machine()
        self.process = Process(self.machine)
        self.fs = Files()
        self._proxy: Proxy | None = None

    @property
    def state(self) -> SandboxState:
        return SandboxState.STARTED if self.machine.state == "running" else SandboxState.STOPPED

    async def start(self, timeout: float | None = 60) -> None:
        self.machine.turn_on()

    async def stop(self, timeout: float | None = 60) -> None:
        self.machine.turn_off()

    async def delete(self) -> None:
        self.machine.delete()
        if self._proxy is not None:
            self._proxy.close()
            self._proxy = None

    async def get_preview_link(self, port: int) -> Preview:
        self._proxy = self._proxy or Proxy(port)
        return Preview(self._proxy.url, PREVIEW_TOKEN)


class Process:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    async def exec(
        self, command: str, env: dict[str, str] | None = None, timeout: int | None = None
    ) -> Executed:
        """With both streams in one, as Daytona does it."""
        ran = await self._machine.run(f"exec {command}", env)
        return Executed(ran.exit_code, ran.stderr + ran.stdout)


class Files:
    async def download_file(self, path: str) -> bytes:
        return Path(path).read_bytes()

    async def upload_file(self, content: bytes, path: str) -> None:
        Path(path).write_bytes(content)


class Proxy:
    """Lets nobody through without its own token."""

    def __init__(self, port: int) -> None:
        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if self.headers.get("x-daytona-preview-token") != PREVIEW_TOKEN:
                    self.send_error(401)
                    return
                headers = {name: value for name in PASSED if (value := self.headers.get(name))}
                asked = urllib.request.Request(
                    f"http://127.0.0.1:{port}{self.path}", body or None, headers, method=self.command
                )
                try:
                    answer = urllib.request.urlopen(asked, timeout=60)
                except urllib.error.HTTPError as problem:
                    answer = problem
                except urllib.error.URLError:
                    self.send_error(502)
                    return
                with answer:
                    self.send_response(answer.status)
                    self.send_header("content-type", answer.headers.get("content-type", "text/plain"))
                    self.end_headers()
                    while piece := answer.read1():
                        self.wfile.write(piece)
                        self.wfile.flush()

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
