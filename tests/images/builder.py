"""Builds the Dockerfile with buildah: `python -m tests.images.builder TARGET...`, or `Builder` in tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .image import USER, Image

ROOT = Path(__file__).parents[2]
BASE = "debian:bookworm-slim"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
BUILD_SECONDS = 3600
# Without overlays, every line of the Dockerfile copies the whole image.
DRIVER = "overlay" if "overlay" in Path("/proc/filesystems").read_text() else "vfs"


def why_not() -> str | None:
    """Why this machine cannot build and run images; None if it can."""
    missing = [program for program in ("buildah", "debootstrap", "unshare") if shutil.which(program) is None]
    if missing:
        return f"{', '.join(missing)} not found"
    return "it needs root" if os.geteuid() != 0 else None


def _name(target: str) -> str:
    return f"localhost/sandbox-agent:{target}"


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
            f"{self._cache}/{DRIVER}",
            "--runroot",
            f"{self._cache}/{DRIVER}-run",
            "--storage-driver",
            DRIVER,
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
        self.build(target)
        with self.built(target) as image:
            yield image

    def build(self, target: str) -> None:
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
            _name(target),
            ".",
        )

    @contextmanager
    def built(self, target: str) -> Iterator[Image]:
        """The image of the last build."""
        config = json.loads(self.run("inspect", "--type", "image", _name(target)))["Docker"]["config"]
        container = self.run("from", "--pull-never", _name(target))
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
            for folder in (root / "data", root / "workspace"):
                folder.mkdir()
                os.chown(folder, USER, USER)
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
            settings = {
                "NODE_EXTRA_CA_CERTS": CERTIFICATES,
                "npm_config_cafile": CERTIFICATES,
                "npm_config_registry": npm.stdout.strip(),
            }
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


def main() -> None:
    """Build the targets that are named, if this machine can."""
    if why := why_not():
        print(f"no image is built: {why}", file=sys.stderr)
        sys.exit(1 if os.environ.get("CI") else 0)
    builder = Builder()
    for target in sys.argv[1:]:
        builder.build(target)


if __name__ == "__main__":
    main()
