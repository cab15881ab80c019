"""The part of Docker's Engine API that sandboxes need, over the engine's Unix socket."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import httpx2
import msgspec
from msgspec import Struct

from ..errors import InvalidRequest, SandboxAgentError, Unavailable

API = "/v1.41"
"""The version of Docker 20.10, which newer engines support too."""
ASK_SECONDS = 60.0
SHOWN_LINES = 15
POLL_SECONDS = 0.1

T = TypeVar("T")


class Published(Struct, frozen=True, rename="pascal"):
    host_port: str


class ContainerState(Struct, frozen=True, rename="pascal"):
    status: str
    """`created`, `running`, `exited`, `dead` and so on."""


class Network(Struct, frozen=True, rename="pascal"):
    ports: dict[str, list[Published] | None] = {}


class Container(Struct, frozen=True, rename="pascal"):
    """The engine's description of a container."""

    state: ContainerState
    network_settings: Network


class ListedContainer(Struct, frozen=True, rename="pascal"):
    labels: dict[str, str] | None = None


class Volume(Struct, frozen=True, rename="pascal"):
    name: str
    labels: dict[str, str] | None = None


class _Volumes(Struct, frozen=True, rename="pascal"):
    volumes: list[Volume] | None = None


class Mount(Struct, frozen=True, rename="pascal"):
    type: str
    source: str
    target: str


class HostConfig(Struct, frozen=True, rename="pascal"):
    mounts: list[Mount]
    port_bindings: dict[str, list[dict[str, str]]]
    network_mode: str = "default"


class ContainerSpec(Struct, frozen=True, rename="pascal"):
    image: str
    cmd: list[str]
    env: list[str]
    labels: dict[str, str]
    exposed_ports: dict[str, dict[str, str]]
    host_config: HostConfig
    stop_timeout: int


class _NewVolume(Struct, frozen=True, rename="pascal"):
    name: str
    labels: dict[str, str]


class _ErrorBody(Struct, frozen=True):
    message: str = ""


class EngineRefused(SandboxAgentError):
    """The engine answered with an error."""

    type, status, title = "internal", 500, "Docker refused"

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"docker answered {code}: {message}")
        self.code = code


class Engine:
    def __init__(self, socket: Path | None = None) -> None:
        self._socket = _default_socket() if socket is None else socket
        self._opened: httpx2.AsyncClient | None = None

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.aclose()
            self._opened = None

    def _http(self) -> httpx2.AsyncClient:
        if self._opened is None:
            transport = httpx2.AsyncHTTPTransport(uds=str(self._socket))
            self._opened = httpx2.AsyncClient(
                transport=transport, base_url="http://docker", timeout=ASK_SECONDS
            )
        return self._opened

    # -- containers -----------------------------------------------------------------------------

    async def container(self, name: str) -> Container | None:
        return await self._found("GET", f"/containers/{quote(name)}/json", Container)

    async def containers(self, label: str) -> list[ListedContainer]:
        query = {"all": "true", "filters": _filter(label)}
        return _decoded(await self._ask("GET", "/containers/json", query=query), list[ListedContainer])

    async def create(self, name: str, spec: ContainerSpec) -> bool:
        """Create a container; False if its name is taken."""
        try:
            await self._ask("POST", "/containers/create", query={"name": name}, body=spec)
        except EngineRefused as refused:
            if refused.code == 409:
                return False
            raise
        return True

    async def start(self, name: str) -> None:
        await self._ask("POST", f"/containers/{quote(name)}/start")

    async def stop(self, name: str, seconds: float) -> None:
        """Send SIGTERM to its first process, and SIGKILL after this many seconds."""
        await self._unless_gone(
            "POST", f"/containers/{quote(name)}/stop", {"t": str(round(seconds))}, seconds + ASK_SECONDS
        )

    async def delete(self, name: str) -> None:
        """Delete a container. If another program is deleting it, wait until it is gone."""
        deadline = time.monotonic() + ASK_SECONDS
        while True:
            try:
                return await self._unless_gone("DELETE", f"/containers/{quote(name)}", {"force": "true"})
            except EngineRefused as refused:
                if refused.code != 409 or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(POLL_SECONDS)

    async def put(self, name: str, folder: str, archive: bytes) -> None:
        """Unpack a tar archive into a folder of a container."""
        await self._ask("PUT", f"/containers/{quote(name)}/archive", query={"path": folder}, body=archive)

    async def archive(self, name: str, path: str) -> bytes:
        """A file of a container, in a tar archive."""
        return await self._ask("GET", f"/containers/{quote(name)}/archive", query={"path": path})

    async def logs(self, name: str) -> str:
        """The last lines that a container has printed."""
        query = {"stdout": "true", "stderr": "true", "tail": str(SHOWN_LINES)}
        return _unframed(await self._ask("GET", f"/containers/{quote(name)}/logs", query=query)).strip()

    # -- volumes --------------------------------------------------------------------------------

    async def volumes(self, label: str) -> list[Volume]:
        content = await self._ask("GET", "/volumes", query={"filters": _filter(label)})
        return _decoded(content, _Volumes).volumes or []

    async def volume(self, name: str) -> Volume | None:
        return await self._found("GET", f"/volumes/{quote(name)}", Volume)

    async def create_volume(self, name: str, labels: dict[str, str]) -> None:
        """Create a volume, or keep the existing one."""
        await self._ask("POST", "/volumes/create", body=_NewVolume(name, labels))

    async def delete_volume(self, name: str) -> None:
        await self._unless_gone("DELETE", f"/volumes/{quote(name)}")

    # -- requests -------------------------------------------------------------------------------

    async def _found(self, method: str, path: str, kind: type[T]) -> T | None:
        try:
            return _decoded(await self._ask(method, path), kind)
        except EngineRefused as refused:
            if refused.code == 404:
                return None
            raise

    async def _unless_gone(
        self, method: str, path: str, query: dict[str, str] | None = None, seconds: float = ASK_SECONDS
    ) -> None:
        try:
            await self._ask(method, path, query=query, seconds=seconds)
        except EngineRefused as refused:
            if refused.code != 404:
                raise

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: Struct | bytes | None = None,
        seconds: float = ASK_SECONDS,
    ) -> bytes:
        """`body` is sent as JSON, or as a tar archive."""
        kind = "application/x-tar" if isinstance(body, bytes) else "application/json"
        headers = {"content-type": kind} if body is not None else {}
        content = msgspec.json.encode(body) if isinstance(body, Struct) else body
        try:
            answer = await self._http().request(
                method, API + path, params=query, content=content, headers=headers, timeout=seconds
            )
        except httpx2.HTTPError as error:
            raise Unavailable(
                f"docker does not answer at {self._socket}: {error or type(error).__name__}"
            ) from None
        # 304: it is in this state already.
        if answer.status_code >= 400:
            raise EngineRefused(answer.status_code, _message(answer.content))
        return answer.content


def _default_socket() -> Path:
    host = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    if not host.startswith("unix://"):
        raise InvalidRequest(f"DOCKER_HOST is {host}: only an engine on this machine (unix://) is supported")
    return Path(host.removeprefix("unix://"))


def _unframed(output: bytes) -> str:
    """Output without a terminal comes in frames: a byte for the stream, three zeros, the length, and the content."""
    pieces = []
    while len(output) >= 8:
        end = 8 + int.from_bytes(output[4:8], "big")
        pieces.append(output[8:end])
        output = output[end:]
    return b"".join(pieces).decode(errors="replace")


def _filter(label: str) -> str:
    return msgspec.json.encode({"label": [label]}).decode()


def _message(content: bytes) -> str:
    try:
        return msgspec.json.decode(content, type=_ErrorBody).message
    except msgspec.DecodeError:
        return "no message"


def _decoded(content: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.DecodeError as error:
        raise Unavailable(f"docker's answer could not be understood: {error}") from None
