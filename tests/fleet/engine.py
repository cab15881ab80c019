"""A stand-in for a Docker engine: the shapes of its API (v1.41) on a Unix socket, with no containers behind them.

It refuses what the engine would refuse: unknown paths, missing fields, mounts of volumes that do not exist, two containers of one
name. A running container answers with the address that the test gives it.
"""

from __future__ import annotations

import io
import json
import re
import secrets
import socketserver
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Struct

JSON = dict[str, Any]


class WireMount(Struct, rename="pascal", forbid_unknown_fields=True):
    type: str
    source: str
    target: str


class WireHostConfig(Struct, rename="pascal", forbid_unknown_fields=True):
    mounts: list[WireMount]
    port_bindings: dict[str, list[dict[str, str]]]
    network_mode: str


class WireContainer(Struct, rename="pascal", forbid_unknown_fields=True):
    """The fields of `POST /containers/create` that may be sent; others would be ignored by the engine, unnoticed."""

    image: str
    cmd: list[str]
    env: list[str]
    labels: dict[str, str]
    exposed_ports: dict[str, dict[str, str]]
    host_config: WireHostConfig
    stop_timeout: int
    working_dir: str | None = None


class Container(Struct):
    id: str
    spec: WireContainer
    status: str = "created"
    exit_code: int = 0
    files: dict[str, bytes] = {}
    """What was unpacked into it, by path."""


class StandIn:
    """The state of the engine, which tests read and change."""

    def __init__(self, port: int) -> None:
        self.port = port
        """Where every container listens."""
        self.images = {"sandbox-agent"}
        self.containers: dict[str, Container] = {}
        self.volumes: dict[str, dict[str, str]] = {}
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, object]:
        url = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        assert url.path.startswith("/v1.41/"), target
        words = url.path.split("/")[2:]
        with self._lock:
            self.asked.append(f"{method} {'/'.join(words)}")
            match method, words:
                case "POST", ["containers", "create"]:
                    return self._create(query["name"], msgspec.json.decode(body, type=WireContainer))
                case "GET", ["containers", "json"]:
                    assert query["all"] == "true"
                    return 200, [
                        self._listed(name, each)
                        for name, each in self.containers.items()
                        if _matches(query, each.spec.labels)
                    ]
                case "GET", ["volumes"]:
                    found_volumes = [
                        _volume(name, labels)
                        for name, labels in self.volumes.items()
                        if _matches(query, labels)
                    ]
                    # The engine says null, not an empty list.
                    return 200, {"Volumes": found_volumes or None, "Warnings": None}
                case "POST", ["volumes", "create"]:
                    wanted = json.loads(body)
                    labels = self.volumes.setdefault(wanted["Name"], wanted["Labels"])
                    return 201, _volume(wanted["Name"], labels)
                case _, ["volumes", name]:
                    return self._volume(method, name)
                case _, ["containers", name, *verb]:
                    return self._container(method, name, verb, query, body)
        raise AssertionError(f"the engine has no {method} {target}")

    def _create(self, name: str, spec: WireContainer) -> tuple[int, object]:
        assert re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9_.-]+", name), name
        if spec.image not in self.images:
            return 404, {"message": f"No such image: {spec.image}:latest"}
        if name in self.containers:
            return 409, {"message": f'Conflict. The container name "/{name}" is already in use'}
        for mount in spec.host_config.mounts:
            assert mount.type == "volume"
            assert mount.source in self.volumes
        self.containers[name] = Container(secrets.token_hex(32), spec)
        return 201, {"Id": self.containers[name].id, "Warnings": []}

    def _container(
        self, method: str, name: str, verb: list[str], query: dict[str, str], body: bytes
    ) -> tuple[int, object]:
        if name not in self.containers:
            return 404, {"message": f"No such container: {name}"}
        container = self.containers[name]
        was = container.status
        match method, verb:
            case "GET", ["json"]:
                return 200, self._inspected(name, container)
            case "POST", ["start"]:
                container.status = "running"
                return (304 if was == "running" else 204), None
            case "PUT", ["archive"]:
                container.files |= unpacked(body, query["path"])
                return 200, None
            case "POST", ["stop"]:
                assert int(query["t"]) > 0
                container.status = "exited"
                return (204 if was == "running" else 304), None
            case "DELETE", []:
                if was == "running" and query.get("force") != "true":
                    return 409, {"message": "You cannot remove a running container"}
                if was == "removing":
                    return 409, {"message": f"removal of container {name} is already in progress"}
                del self.containers[name]
                return 204, None
        raise AssertionError((method, verb))

    def _volume(self, method: str, name: str) -> tuple[int, object]:
        if name not in self.volumes:
            return 404, {"message": f"get {name}: no such volume"}
        if method == "GET":
            return 200, _volume(name, self.volumes[name])
        mounted = {
            mount.source for each in self.containers.values() for mount in each.spec.host_config.mounts
        }
        if name in mounted:
            return 409, {"message": "remove: volume is in use"}
        del self.volumes[name]
        return 204, None

    def _listed(self, name: str, container: Container) -> JSON:
        return {
            "Id": container.id,
            "Names": [f"/{name}"],
            "Image": container.spec.image,
            "State": container.status,
            "Status": "Up 2 seconds",
            "Labels": container.spec.labels,
            "Ports": [],
        }

    def _inspected(self, name: str, container: Container) -> JSON:
        bound = [{"HostIp": "127.0.0.1", "HostPort": str(self.port)}]
        running = container.status == "running"
        state = {"Status": container.status, "Running": running, "ExitCode": container.exit_code}
        return {
            "Id": container.id,
            "Name": f"/{name}",
            "Created": "2026-01-01T00:00:00Z",
            "State": state,
            "Config": {"Labels": container.spec.labels},
            "NetworkSettings": {"Ports": {"2468/tcp": bound} if running else {}, "IPAddress": ""},
        }


def unpacked(archive: bytes, folder: str) -> dict[str, bytes]:
    """The files of an archive by path; each must be for the image's user only."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for entry in opened:
            assert (entry.uid, entry.gid, entry.mode & 0o077) == (1000, 1000, 0), entry.name
            if content := opened.extractfile(entry):
                files[f"{folder}/{entry.name}"] = content.read()
    return files


def _volume(name: str, labels: dict[str, str]) -> JSON:
    return {
        "Name": name,
        "Driver": "local",
        "Mountpoint": f"/var/lib/docker/volumes/{name}",
        "Labels": labels,
    }


def _matches(query: dict[str, str], labels: dict[str, str]) -> bool:
    wanted = json.loads(query["filters"])["label"]
    return all(f"{name}={labels.get(name)}" == each for each in wanted for name in [each.partition("=")[0]])


@contextmanager
def engine(socket: Path, port: int = 0) -> Iterator[StandIn]:
    stand_in = StandIn(port)
    with serving(stand_in, socket):
        yield stand_in


@contextmanager
def serving(stand_in: StandIn, socket: Path) -> Iterator[None]:
    """Answer on a socket."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, result = stand_in.answer(self.command, self.path, body)
            is_archive = isinstance(result, bytes)
            content = (
                result
                if isinstance(result, bytes)
                else b""
                if result is None
                else json.dumps(result).encode()
            )
            self.send_response(status)
            self.send_header("content-type", "application/x-tar" if is_archive else "application/json")
            if status not in (204, 304):
                self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer

        def address_string(self) -> str:
            return "client"

        def log_message(self, *words: object) -> None:
            pass

    class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
        daemon_threads = True

    with Server(str(socket), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
