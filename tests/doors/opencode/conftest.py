"""A real daemon, a client of its door, and the stream of an OpenCode client."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import httpx2
import msgspec
import pytest
from tests.daemons import SECONDS, Daemon, running

from sandbox_agent.install.publishers import RECIPES
from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.offline import offline_environment
from sandbox_agent.testing.scripted_model import Call, Scenario, ScriptedModel, Text

from .screen import Screen
from .tui import TOKEN

CREDENTIALS = ("opencode", TOKEN)
TODO: Scenario = [
    Call("todowrite", {"todos": [{"content": "Look around", "status": "in_progress", "priority": "high"}]}),
    Text("The list is written."),
]


class Watcher:
    """An OpenCode client's event stream, and what it shows on its screen."""

    def __init__(self, base_url: str, path: str = "/global/event") -> None:
        self.screen = Screen()
        self.types: list[str] = []
        self._http = httpx2.Client(base_url=base_url, auth=CREDENTIALS, timeout=SECONDS, verify=False)
        self._path = path
        self._socket: socket.socket | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.until(lambda screen: "server.connected" in self.types)
        return self

    def __exit__(self, *_: object) -> None:
        if self._socket is not None:
            # Closing alone would let the thread read on until the next heartbeat.
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(SECONDS)
        self._http.close()

    def _read(self) -> None:
        try:
            with self._http.stream("GET", self._path) as response:
                self._socket = response.extensions["network_stream"].get_extra_info("socket")
                for line in response.iter_lines():
                    if line.startswith("data: "):
                        self._take(msgspec.json.decode(line.removeprefix("data: ")))
        except (httpx2.HTTPError, RuntimeError):
            pass  # the test has closed it, or killed the daemon

    def _take(self, event: dict[str, Any]) -> None:
        event = event.get("payload", event)
        with self._changed:
            self.types.append(event["type"])
            self.screen.take(event)
            self._changed.notify_all()

    def until(self, shows: Callable[[Screen], object]) -> Screen:
        with self._changed:
            assert self._changed.wait_for(lambda: shows(self.screen), SECONDS), vars(self.screen)
            return self.screen


class OpenCode:
    """Requests as OpenCode's clients make them."""

    def __init__(self, daemon: Daemon, directory: Path) -> None:
        self.url = f"http://127.0.0.1:{daemon.port}/opencode/@mock"
        self.directory = str(directory)
        self.http = httpx2.Client(
            base_url=self.url,
            auth=CREDENTIALS,
            timeout=SECONDS,
            verify=False,
            headers={"x-opencode-directory": self.directory},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def get(self, path: str, **query: Any) -> Any:
        response = self.http.get(path, params=query or None)
        assert response.status_code == 200, response.text
        return response.json()

    def post(self, path: str, body: object = None) -> Any:
        response = self.http.post(path, json=body) if body is not None else self.http.post(path)
        assert response.status_code in (200, 204), response.text
        return response.json() if response.content else None

    def create(self) -> str:
        id = self.post("/session", {"agent": "build", "model": {"providerID": "mock", "id": "default"}})["id"]
        assert isinstance(id, str)
        return id

    def prompt(self, session: str, text: str, **more: Any) -> Any:
        return self.post(f"/session/{session}/message", {"parts": [{"type": "text", "text": text}], **more})

    def prompt_async(self, session: str, text: str, **more: Any) -> None:
        self.post(f"/session/{session}/prompt_async", {"parts": [{"type": "text", "text": text}], **more})

    def watch(self, path: str = "/global/event") -> Watcher:
        return Watcher(self.url, path)

    def until(self, happens: Callable[[], object]) -> None:
        deadline = time.monotonic() + SECONDS
        while not happens():
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("opencode") / "data", "--token", TOKEN)) as daemon:
        yield daemon


@pytest.fixture
def opencode(daemon: Daemon, tmp_path: Path) -> Iterator[OpenCode]:
    with OpenCode(daemon, tmp_path) as opencode:
        yield opencode


@pytest.fixture(scope="session")
def scripted_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """Every real agent, on the scripted model."""
    home = tmp_path_factory.mktemp("home")
    with ScriptedModel(scenarios={"todo": TODO}) as model:
        environ: dict[str, str] = {}
        for agent in RECIPES:
            environ |= offline_environment(agent, model.base_url, home)
        environ["PATH"] = f"{agent_cache.cache_folder() / 'bin'}{os.pathsep}{os.environ['PATH']}"
        daemon = Daemon(tmp_path_factory.mktemp("scripted") / "data", "--token", TOKEN, env=environ)
        with running(daemon):
            yield daemon
