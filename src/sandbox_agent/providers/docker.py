"""Sandboxes as containers of a Docker engine, one for each name, with two named volumes that outlive them.

A sandbox is its volumes. Stopping it deletes the container, so a container that exists but does not run has crashed, and the next
start uses the newest image.
"""

from __future__ import annotations

import asyncio
import io
import posixpath
import tarfile
import time
from collections.abc import Mapping

from ..errors import InvalidRequest, Unavailable
from .engine import Container, ContainerSpec, Engine, EngineRefused, HostConfig, Mount
from .provider import DRAIN_SECONDS, START_SECONDS, STOP_SECONDS, Access, Sandbox, SandboxSpec, checked_name

FLEET, NODE = "sandbox-agent.fleet", "sandbox-agent.node"
"""Labels of containers and volumes."""
PORT = "2468/tcp"
SECRETS = "/run/sandbox-agent"
HOME, WORKSPACE = "/data", "/workspace"
"""Where the image keeps what must outlive a container: the daemon's data with the agents' conversations, and the workspace."""
USER = 1000
"""The user of the image."""
POLL_SECONDS = 0.1
ABANDONED_SECONDS = 10.0
"""Another program that has created a container starts it at once; if it does not, that program is gone."""


class DockerProvider:
    def __init__(
        self,
        engine: Engine | None = None,
        fleet: str = "sdk",
        image: str = "sandbox-agent",
        network: str = "default",
    ) -> None:
        """`engine`: that of `DOCKER_HOST`, or of this machine, if absent. `image`: as built by the Dockerfile."""
        self._engine = Engine() if engine is None else engine
        self._fleet = fleet
        self._image = image
        self._network = network

    async def start(self, spec: SandboxSpec) -> Sandbox:
        name = self._container_name(spec.name)
        deadline = time.monotonic() + START_SECONDS
        abandoned: float | None = None
        while time.monotonic() < deadline:
            found = await self._engine.container(name)
            if found is None:
                # Another program may have been faster: use the container that it created.
                await self._create(spec, name)
            elif found.state.status == "running":
                return _reachable(_sandbox(spec.name, found))
            elif found.state.status == "created":
                # It may not have its secrets yet, and only its creator knows.
                abandoned = abandoned or time.monotonic() + ABANDONED_SECONDS
                if time.monotonic() > abandoned:
                    await self._engine.delete(name)
            else:
                await self._engine.delete(name)
            await asyncio.sleep(POLL_SECONDS)
        raise Unavailable(f"container {name} did not start in time", node=spec.name)

    async def _create(self, spec: SandboxSpec, name: str) -> None:
        for volume in self._volume_names(spec.name):
            await self._engine.create_volume(volume, self._labels(spec.name))
        try:
            if not await self._engine.create(name, self._container(spec)):
                return
        except EngineRefused as refused:
            if refused.code == 404:
                raise InvalidRequest(
                    f"docker has no image {self._image}: build or pull it, or name another"
                ) from None
            raise
        await self._engine.put(name, posixpath.dirname(SECRETS), _packed(_secrets(spec)))
        await self._engine.start(name)

    def _container(self, spec: SandboxSpec) -> ContainerSpec:
        home, work = self._volume_names(spec.name)
        mounts = [Mount("volume", home, HOME), Mount("volume", work, WORKSPACE)]
        flags = ["--node-name", spec.name, "--drain-seconds", str(DRAIN_SECONDS)]
        for file in _secrets(spec):
            flags += [f"--{file}-file", f"{SECRETS}/{file}"]
        return ContainerSpec(
            image=self._image,
            cmd=["server", *flags, *spec.flags],
            env=[
                *("SANDBOX_AGENT_HOST=0.0.0.0", "SANDBOX_AGENT_PORT=2468"),
                *(f"{name}={value}" for name, value in spec.env.items()),
            ],
            labels=self._labels(spec.name),
            exposed_ports={PORT: {}},
            host_config=HostConfig(
                mounts=mounts,
                # Only this machine can connect; the engine chooses the port.
                port_bindings={PORT: [{"HostIp": "127.0.0.1", "HostPort": ""}]},
                network_mode=self._network,
            ),
            stop_timeout=round(STOP_SECONDS),
        )

    async def stop(self, name: str) -> None:
        container = self._container_name(name)
        await self._engine.stop(container, STOP_SECONDS)
        await self._engine.delete(container)

    async def remove(self, name: str) -> None:
        await self.stop(name)
        # The first volume stands for the sandbox, so it goes last: what fails halfway can be removed again.
        for volume in reversed(self._volume_names(name)):
            await self._engine.delete_volume(volume)

    async def get(self, name: str) -> Sandbox | None:
        container = await self._engine.container(self._container_name(name))
        if container is not None:
            return _sandbox(name, container)
        volume = await self._engine.volume(self._volume_names(name)[0])
        return Sandbox(name, "stopped") if volume is not None else None

    async def access(self, name: str) -> Access:
        container = self._container_name(name)
        found = await self._engine.container(container)
        if found is None or found.state.status != "running":
            output = await self._engine.logs(container) if found else ""
            raise Unavailable(f"the daemon of sandbox {name} has ended: {output or 'no output'}", node=name)
        return Access(token=_first_file(await self._engine.archive(container, f"{SECRETS}/token")))

    async def list(self) -> list[Sandbox]:
        label = f"{FLEET}={self._fleet}"
        labels = [volume.labels for volume in await self._engine.volumes(label)]
        labels += [container.labels for container in await self._engine.containers(label)]
        names = {each[NODE] for each in labels if each and NODE in each}
        found = [await self.get(name) for name in sorted(names)]
        return [sandbox for sandbox in found if sandbox is not None]

    async def close(self) -> None:
        await self._engine.close()

    def _container_name(self, name: str) -> str:
        # A fleet's name has no dot, so two fleets cannot mean the same container.
        return f"sandbox-agent-{self._fleet}.{checked_name(name)}"

    def _volume_names(self, name: str) -> tuple[str, str]:
        container = self._container_name(name)
        return f"{container}-home", f"{container}-work"

    def _labels(self, name: str) -> dict[str, str]:
        return {FLEET: self._fleet, NODE: name}


def _sandbox(name: str, container: Container) -> Sandbox:
    published = container.network_settings.ports.get(PORT)
    if container.state.status != "running" or not published:
        return Sandbox(name, "dead")
    return Sandbox(name, "running", f"http://127.0.0.1:{published[0].host_port}")


def _secrets(spec: SandboxSpec) -> dict[str, bytes]:
    """Files that the daemon reads. They are copied into the container, because its user need not be able to read ours."""
    files = {
        "token": spec.token_file,
        "database-url": spec.database_url_file,
        "secrets-key": spec.secrets_key_file,
    }
    return {file: path.read_bytes() for file, path in files.items() if path is not None}


def _packed(files: Mapping[str, bytes]) -> bytes:
    """An archive with the folder of the secrets, which only the image's user can read."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as opened:
        folder = tarfile.TarInfo(posixpath.basename(SECRETS))
        folder.type, folder.mode, folder.uid, folder.gid = tarfile.DIRTYPE, 0o700, USER, USER
        opened.addfile(folder)
        for name, content in files.items():
            file = tarfile.TarInfo(f"{folder.name}/{name}")
            file.size, file.mode, file.uid, file.gid = len(content), 0o400, USER, USER
            opened.addfile(file, io.BytesIO(content))
    return archive.getvalue()


def _first_file(archive: bytes) -> str:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        files = [opened.extractfile(entry) for entry in opened if entry.isfile()]
        return files[0].read().decode().strip() if files and files[0] else ""


def _reachable(sandbox: Sandbox) -> Sandbox:
    if sandbox.endpoint is None:
        raise InvalidRequest(
            f"the container of sandbox {sandbox.name} publishes no port: use another network"
        )
    return sandbox
