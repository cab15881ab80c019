"""Builds the Dockerfile with buildah, and runs what it gives in a mount namespace with a read-only root.

There is no container engine: the network is the machine's, and the image's user, environment, entry point and volume are
applied by hand, as an engine would.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
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

ROOT = Path(__file__).parents[2]
BASE = "debian:bookworm-slim"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
USER = 1000
CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
"""Found here: the command that enters the image already has the image's PATH."""
BUILD_SECONDS = 3600


class Builder:
    """Keeps the base image and the layers in the cache, so that a second build is quick."""

    def __init__(self) -> None:
        self._cache = ROOT / ".cache" / "images"
        self._cache.mkdir(parents=True, exist_ok=True)
        if not self.run("images", "--quiet", "--filter", f"reference={BASE}"):
            self._make_base()

    def run(self, *command: str, cwd: Path = ROOT) -> str:
        storage = [
            "--root",
            f"{self._cache}/store",
            "--runroot",
            f"{self._cache}/run",
            "--storage-driver",
            "vfs",
        ]
        ended = subprocess.run(
            ["buildah", *storage, *command], cwd=cwd, capture_output=True, text=True, timeout=BUILD_SECONDS
        )
        assert ended.returncode == 0, (
            f"buildah {command[0]} failed:\n{ended.stdout[-3000:]}{ended.stderr[-3000:]}"
        )
        return ended.stdout.strip()

    @contextmanager
    def image(self, target: str) -> Iterator[Image]:
        name = f"localhost/sandbox-agent:{target}"
        self.run(
            "build",
            "--format",
            "docker",
            "--isolation",
            "chroot",
            "--layers",
            "--pull-never",
            "--target",
            target,
            "-t",
            name,
            ".",
        )
        config = json.loads(self.run("inspect", "--type", "image", name))["Docker"]["config"]
        container = self.run("from", "--pull-never", name)
        try:
            yield Image(Path(self.run("mount", container)), config)
        finally:
            self.run("rm", container)

    @contextmanager
    def bare(self, program: Path) -> Iterator[Image]:
        """Debian without Python, and one program in it."""
        container = self.run("from", "--pull-never", BASE)
        try:
            root = Path(self.run("mount", container))
            shutil.copy(program, root / "usr/local/bin/sandbox-agent")
            path = "PATH=/usr/local/bin:/usr/bin:/bin"
            yield Image(
                root,
                {
                    "Env": [path, "HOME=/data", "SANDBOX_AGENT_HOST=0.0.0.0"],
                    "Entrypoint": ["sandbox-agent"],
                    "Cmd": ["server"],
                    "WorkingDir": "/workspace",
                    "Healthcheck": {"Test": ["CMD", "sandbox-agent", "system", "health"]},
                },
            )
        finally:
            self.run("rm", container)

    def _make_base(self) -> None:
        """What Docker would pull: Debian, with this machine's settings for packages."""
        with tempfile.TemporaryDirectory(dir=self._cache) as folder:
            root = Path(folder) / "root"
            mirror = next(
                line.split()[1]
                for file in sorted(Path("/etc/apt/sources.list.d").glob("*.sources"))
                for line in file.read_text().splitlines()
                if line.startswith("URIs:")
            )
            subprocess.run(
                ["debootstrap", "--variant=minbase", "bookworm", root, mirror],
                check=True,
                capture_output=True,
                timeout=BUILD_SECONDS,
            )
            _trim(root)
            _copy_package_settings(root)
            container = self.run("from", "scratch")
            self.run("add", "--quiet", container, str(root), "/")
            npm = subprocess.run(
                ["npm", "config", "get", "registry"], capture_output=True, text=True, check=True
            )
            settings = {"NODE_EXTRA_CA_CERTS": CERTIFICATES, "npm_config_registry": npm.stdout.strip()}
            for name, value in settings.items():
                self.run("config", "--env", f"{name}={value}", container)
            self.run("commit", "--quiet", "--rm", container, BASE)


def _trim(root: Path) -> None:
    """As in Debian's slim images."""
    for folder in (
        "usr/share/doc",
        "usr/share/man",
        "usr/share/locale",
        "var/cache/apt",
        "var/lib/apt/lists",
    ):
        shutil.rmtree(root / folder, ignore_errors=True)
        (root / folder).mkdir()
    (root / "etc/apt/apt.conf.d/docker-clean").write_text('APT::Keep-Downloaded-Packages "false";\n')


def _copy_package_settings(root: Path) -> None:
    (root / "etc/apt/sources.list").unlink(missing_ok=True)
    for folder in ("etc/apt/sources.list.d", "etc/apt/apt.conf.d", "usr/local/share/ca-certificates"):
        shutil.copytree(Path("/") / folder, root / folder, dirs_exist_ok=True)
    (root / "etc/pip.conf").write_text(f"[global]\ncert = {CERTIFICATES}\n")
    registry = subprocess.run(
        ["npm", "config", "get", "registry"], capture_output=True, text=True, check=True
    )
    (root / "root/.npmrc").write_text(f"registry={registry.stdout.strip()}\ncafile={CERTIFICATES}\n")


class Image:
    def __init__(self, root: Path, config: dict[str, Any]) -> None:
        self.root = root
        self.config = config
        self.health: list[str] = config["Healthcheck"]["Test"][1:]

    def size(self) -> int:
        """Bytes of all files; a hard link counts once."""
        found = {
            (status.st_dev, status.st_ino): status.st_blocks * 512
            for file in self.root.rglob("*")
            for status in [file.lstat()]
        }
        return sum(found.values())

    def environ(self) -> dict[str, str]:
        return dict(text.split("=", 1) for text in self.config["Env"])


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
        self.data, self.workspace = folder / "data", folder / "workspace"
        for mine in (self.data, self.workspace):
            mine.mkdir(exist_ok=True)
            os.chown(mine, USER, USER)
        self._shared = {self.data: "/data", self.workspace: "/workspace", **(shared or {})}
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
        """Start a command as the image's user."""
        root = self.image.root
        steps = [
            f"mount --bind {root} {root}",
            f"mount -t proc proc {root}/proc",
            f"mount --rbind /dev {root}/dev",
        ]
        steps += [f"mount -t tmpfs -o mode=1777 tmpfs {root}/tmp"]
        for outside, inside in self._shared.items():
            (root / inside.lstrip("/")).mkdir(parents=True, exist_ok=True)
            steps.append(f"mount --bind {outside} {root}{inside}")
        steps.append(f"mount -o remount,bind,ro {root}")
        enter = f'exec {CHROOT} --userspec={USER}:{USER} {root} sh -c \'cd {self.image.config["WorkingDir"]} && exec "$@"\' sh "$@"'
        with self._output.open("ab") as output:
            return subprocess.Popen(
                [
                    "unshare",
                    "--mount",
                    "--pid",
                    "--fork",
                    "--kill-child",
                    "sh",
                    "-ec",
                    "; ".join([*steps, enter]),
                    "sh",
                    *command,
                ],
                env=self.env,
                stderr=subprocess.STDOUT,
                stdout=output,
            )

    def check(self, command: Sequence[str]) -> int:
        return self.run(command).wait(60)

    def output(self) -> str:
        return self._output.read_text(errors="replace")

    def call(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            self.address + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as problem:
            with problem:
                raise AssertionError(f"{method} {path}: {problem.read().decode()}") from None

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

    def stop(self) -> int:
        """As an engine does it: SIGTERM to the first process of the container."""
        assert self.process is not None
        # The first process is the only child of `unshare`.
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGTERM)
        return self.process.wait(60)


def run_claude(image: Image, folder: Path, port: int) -> str:
    """The stop reason of a turn of Claude Code on the scripted model."""
    home = folder / "data"
    with ScriptedModel() as model:
        offline = offline_environment("claude", model.base_url, home)
        for file in [home, *home.rglob("*")]:
            os.chown(file, USER, USER)
        # Its own folder, because only root can look into the cache.
        program = (agent_cache.cache_folder() / "bin" / "claude").resolve(strict=True)
        env = {name: value.replace(str(home), "/data") for name, value in offline.items()}
        env["PATH"] = f"/opt/claude:{image.environ()['PATH']}"
        container = Container(image, folder, port, env, {program.parent: "/opt/claude"})
        container.start()
        try:
            container.call(
                "POST",
                "/v1/sessions/real",
                {"agent": "claude", "directory": "/workspace", "permissionMode": "bypass"},
            )
            return str(container.turn("real", "say hello")[-1]["data"]["metadata"]["stop_reason"])
        finally:
            container.stop()
