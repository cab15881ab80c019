"""An image that has been built, and how its programs are started: in a mount namespace with a read-only root.

There is no container engine: the network is the machine's, and the image's user, environment, entry point and volume are
applied by hand, as an engine would.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

USER = 1000
CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
"""Found here: the command that enters the image already has the image's PATH."""


class Image:
    def __init__(self, root: Path, config: dict[str, Any]) -> None:
        self.root = root
        self.config = config
        kind, *words = config["Healthcheck"]["Test"]
        self.health: list[str] = ["sh", "-c", *words] if kind == "CMD-SHELL" else words

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

    def fill(self, volume: Path, place: str) -> None:
        """Do what an engine does with a new volume: it gets what the image has at its place, and that folder's owner."""
        volume.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "--archive", f"{self.root}{place}/.", volume], check=True)

    def start(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        mounts: Mapping[Path, str],
        output: IO[bytes],
        directory: str | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a command as the image's user. It can write to the mounts and to /tmp, and is the first process that it sees."""
        root = self.root
        steps = [
            f"mount --bind {root} {root}",
            f"mount -t proc proc {root}/proc",
            f"mount --rbind /dev {root}/dev",
            f"mount -t tmpfs -o mode=1777 tmpfs {root}/tmp",
        ]
        for outside, inside in mounts.items():
            (root / inside.lstrip("/")).mkdir(parents=True, exist_ok=True)
            steps.append(f"mount --bind {outside} {root}{inside}")
        steps.append(f"mount -o remount,bind,ro {root}")
        place = directory or self.config["WorkingDir"]
        enter = f'exec {CHROOT} --userspec={USER}:{USER} {root} sh -c \'cd {place} && exec "$@"\' sh "$@"'
        namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        return subprocess.Popen(
            [*namespaces, "sh", "-ec", "; ".join([*steps, enter]), "sh", *command],
            env=env,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            stdout=output,
        )


def terminate(process: subprocess.Popen[bytes]) -> None:
    """As an engine stops a container: SIGTERM to its first process, which is the only child of `unshare`."""
    if process.poll() is None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGTERM)
