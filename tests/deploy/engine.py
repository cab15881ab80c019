"""A stand-in for a Docker engine whose containers are processes of this machine: the daemon of this checkout, and folders for volumes.

Nothing separates them from this machine. As a program, it serves the socket that it is given until its input ends:
`python -m tests.deploy.engine SOCKET`.
"""

from __future__ import annotations

import io
import shutil
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from tests.fleet.engine import JSON, Container, StandIn, WireContainer, serving, unpacked

from sandbox_agent.private_files import write_private

Program = subprocess.Popen[bytes]
PORT = "2468/tcp"


class RunningEngine(StandIn):
    runs = "the checkout"

    def __init__(self, folder: Path) -> None:
        super().__init__(0)
        self._folder = folder
        self._programs: dict[str, Program] = {}
        self._ports: dict[str, int] = {}

    def close(self) -> None:
        for name in list(self._programs):
            self._end(name, 0)

    # -- requests -------------------------------------------------------------------------------

    def _container(
        self, method: str, name: str, verb: list[str], query: dict[str, str], body: bytes
    ) -> tuple[int, object]:
        if name not in self.containers:
            return super()._container(method, name, verb, query, body)
        container = self.containers[name]
        match method, verb:
            case "POST", ["start"] if container.status == "created":
                self._start(name, container.spec)
            case "POST", ["stop"]:
                self._end(name, int(query["t"]))
            case "DELETE", []:
                self._end(name, 0)
                shutil.rmtree(self._root(name), ignore_errors=True)
            case "PUT", ["archive"]:
                self.unpack(self._root(name), unpacked(body, query["path"]))
                return 200, None
            case "GET", ["archive"]:
                return self._packed(name, query["path"])
            case "GET", ["logs"]:
                return 200, _framed((self._root(name) / "output").read_bytes())
        if (program := self._programs.get(name)) and program.poll() is not None:
            container.status, container.exit_code = "exited", program.returncode
        return super()._container(method, name, verb, query, body)

    def _volume(self, method: str, name: str) -> tuple[int, object]:
        status, body = super()._volume(method, name)
        if method == "DELETE" and status == 204:
            shutil.rmtree(self._folder / "volumes" / name, ignore_errors=True)
        return status, body

    def _inspected(self, name: str, container: Container) -> JSON:
        self.port = self._ports.get(name, 0)
        return super()._inspected(name, container)

    # -- containers -----------------------------------------------------------------------------

    def _start(self, name: str, spec: WireContainer) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._ports[name] = int(free.getsockname()[1])
        places = self._places(name)
        for mount in spec.host_config.mounts:
            if not places[mount.target].is_dir():
                self.fill(places[mount.target], mount.target)
        env = dict(text.split("=", 1) for text in spec.env)
        env |= {"SANDBOX_AGENT_HOST": "127.0.0.1", "SANDBOX_AGENT_PORT": str(self._ports[name])}
        self._root(name).mkdir(parents=True, exist_ok=True)
        with (self._root(name) / "output").open("ab") as output:
            self._programs[name] = self.launch(spec, env, places, output)

    def fill(self, volume: Path, place: str) -> None:
        """Make the folder of a new volume, with what the image has at its place."""
        volume.mkdir(parents=True)

    def launch(
        self,
        spec: WireContainer,
        env: Mapping[str, str],
        places: Mapping[str, Path],
        output: IO[bytes],
    ) -> Program:
        """Start the daemon of this checkout. `places` are the folders and files for paths of the container."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "sandbox_agent", *_translated(spec.cmd, places)],
            env={"PATH": "/usr/bin:/bin", "HOME": str(places["/data"]), **env},
            cwd=places["/workspace"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )

    def _end(self, name: str, seconds: int) -> None:
        program = self._programs.pop(name, None)
        if program is None:
            return
        self.terminate(program) if seconds else program.kill()
        try:
            program.wait(seconds or None)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()

    def terminate(self, program: Program) -> None:
        """Send SIGTERM to the container's first process."""
        program.terminate()

    def _root(self, name: str) -> Path:
        return self._folder / "containers" / name

    def _places(self, name: str) -> dict[str, Path]:
        """Where the mounted paths of a container are, and the one that archives are unpacked to."""
        places = {"/run/sandbox-agent": self._root(name) / "run" / "sandbox-agent"}
        for mount in self.containers[name].spec.host_config.mounts:
            places[mount.target] = self._folder / "volumes" / mount.source
        return places

    def unpack(self, folder: Path, files: Mapping[str, bytes]) -> None:
        """Write files, by their paths in the container, below a folder. Only the image's user may read them."""
        for path, content in files.items():
            write_private(folder / path.lstrip("/"), content)

    def _packed(self, name: str, path: str) -> tuple[int, object]:
        file = Path(_translated([path], self._places(name))[0])
        if not file.is_file():
            return 404, {"message": f"Could not find the file {path} in container {name}"}
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(file, file.name)
        return 200, packed.getvalue()


def _translated(words: Sequence[str], places: Mapping[str, Path]) -> list[str]:
    """Words that are paths of the container, as paths of this machine. The longest place wins."""
    ordered = sorted(places, key=len, reverse=True)

    def translated(word: str) -> str:
        for inside in ordered:
            if word == inside or word.startswith(f"{inside}/"):
                return f"{places[inside]}{word[len(inside) :]}"
        return word

    return [translated(word) for word in words]


def _framed(output: bytes) -> bytes:
    """As the engine sends the output of a container without a terminal."""
    return struct.pack(">BxxxL", 2, len(output)) + output


def serve(stand_in: RunningEngine, socket: Path) -> None:
    """Serve a socket until the input of this program ends. The first line of the output says what the containers run."""
    with serving(stand_in, socket):
        print(stand_in.runs, flush=True)
        sys.stdin.read()
    stand_in.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        serve(RunningEngine(Path(home)), Path(sys.argv[1]))
