"""A daemon in an image, and sessions in it."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.offline import offline_environment
from sandbox_agent.testing.scripted_model import ScriptedModel

from .image import USER, Image, terminate


class Container:
    """A running image: an unprivileged user, a read-only root, and the volume, the workspace and /tmp to write to."""

    def __init__(
        self,
        image: Image,
        folder: Path,
        port: int,
        env: Mapping[str, str] | None = None,
        shared: Mapping[Path, str] | None = None,
    ) -> None:
        self.image = image
        self.address = f"http://127.0.0.1:{port}"
        self.token = "a-token-of-the-image-test"
        volumes = {folder / "data": "/data", folder / "workspace": "/workspace"}
        for volume, place in volumes.items():
            image.fill(volume, place)
        self._mounts = {**volumes, **(shared or {})}
        self.env = {
            **image.environ(),
            "SANDBOX_AGENT_PORT": str(port),
            "SANDBOX_AGENT_HOST": "127.0.0.1",
            "SANDBOX_AGENT_TOKEN": self.token,
            **(env or {}),
        }
        self._output = folder / "output"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = self.run([*self.image.config["Entrypoint"], *self.image.config["Cmd"]])
        deadline = time.monotonic() + 60
        while True:
            try:
                self.call("GET", "/v1/ready")
                return
            except (urllib.error.URLError, ConnectionError, AssertionError):
                assert self.process.poll() is None, f"the daemon ended: {self.output()}"
                assert time.monotonic() < deadline, "the daemon does not answer"
                time.sleep(0.1)

    def run(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with self._output.open("ab") as output:
            return self.image.start(command, self.env, self._mounts, output)

    def check(self, command: Sequence[str]) -> int:
        return self.run(command).wait(60)

    def output(self) -> str:
        return self._output.read_text(errors="replace")

    def call(self, method: str, path: str, body: object = None) -> Any:
        return json.loads(self.fetch(method, path, body) or b"null")

    def fetch(self, method: str, path: str, body: object = None) -> bytes:
        request = urllib.request.Request(
            self.address + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                content: bytes = answer.read()
                return content
        except urllib.error.HTTPError as problem:
            with problem:
                raise AssertionError(f"{method} {path}: {problem.read().decode()}") from None

    def create(self, session: str, agent: str, **settings: object) -> None:
        self.call("POST", f"/v1/sessions/{session}", {"agent": agent, "directory": "/workspace", **settings})

    def turn(self, session: str, text: str) -> list[dict[str, Any]]:
        """The events of a turn, once it has ended."""
        before = self.call("GET", f"/v1/sessions/{session}")["eventCount"]
        self.call("POST", f"/v1/sessions/{session}/messages", {"message": text})
        deadline = time.monotonic() + 120
        while True:
            page = self.call("GET", f"/v1/sessions/{session}/events?offset={before}")
            events: list[dict[str, Any]] = page["events"]
            if any(event["type"] == "turn.ended" for event in events):
                return events
            assert time.monotonic() < deadline, f"the turn does not end: {self.output()}"
            time.sleep(0.1)

    def ends_well(self, session: str, text: str = "say hello") -> bool:
        """Whether a turn ends as the agent wants it to."""
        return bool(self.turn(session, text)[-1]["data"]["metadata"]["stop_reason"] == "end_turn")

    def stop(self) -> int:
        assert self.process is not None
        terminate(self.process)
        return self.process.wait(60)


@contextmanager
def started(container: Container) -> Iterator[Container]:
    container.start()
    try:
        yield container
    finally:
        if container.process is not None and container.process.poll() is None:
            container.stop()


@contextmanager
def container_for(
    agent: str, image: Image, folder: Path, port: int, *, preinstalled: bool = False
) -> Iterator[Container]:
    """A container in which a real agent uses the scripted model. The agent is the image's, or that of the tests."""
    home = folder / "data"
    with ScriptedModel() as model:
        offline = offline_environment(agent, model.base_url, home)
        env = {name: value.replace(str(home), "/data") for name, value in offline.items()}
        shared: dict[Path, str] = {}
        if not preinstalled:
            # Its own folder, because only root can look into the cache.
            program = (agent_cache.cache_folder() / "bin" / agent).resolve(strict=True)
            shared = {program.parent: "/opt/agent"}
            env["PATH"] = f"/opt/agent:{image.environ()['PATH']}"
        container = Container(image, folder, port, env, shared)
        for file in home.rglob("*"):
            os.chown(file, USER, USER)
        with started(container):
            yield container
