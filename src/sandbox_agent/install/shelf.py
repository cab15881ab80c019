"""The installed agents: versions side by side in `agents/`, links to the default versions in `bin/`.

agents/claude/2.1.325/             one version, renamed into place when complete
agents/claude/2.1.325/receipt.json its version, source and checksum
agents/claude/.partial/            a running installation, or the remains of a killed one
bin/claude                         a link to the default version, or a program that the user put there
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ..agents.base import Agent
from .problems import Stopped
from .progress import Progress, Tell

RECEIPT = "receipt.json"
POLL_SECONDS = 0.05


class Receipt(Struct, frozen=True, omit_defaults=True):
    """Facts about an installed version."""

    agent: str
    version: str
    program: str
    """Its path in the version's directory."""
    source: str
    size: int
    checksum: str | None = None


class Shelf:
    def __init__(self, data_dir: Path) -> None:
        self.bin = data_dir / "bin"
        self._agents = data_dir / "agents"

    # -- lookup --

    def find(self, agent: Agent) -> Path | None:
        """The default program: in `bin/`, then on PATH."""
        places = f"{self.bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        found = (shutil.which(name, path=places) for name in agent.executables)
        return next((Path(path) for path in found if path), None)

    def receipt(self, name: str, version: str) -> Receipt | None:
        try:
            return msgspec.json.decode((self.folder(name, version) / RECEIPT).read_bytes(), type=Receipt)
        except (OSError, msgspec.MsgspecError):
            return None

    def receipt_of(self, agent: Agent, program: Path) -> Receipt | None:
        """The receipt of a program returned by `find`, if an installer put it there."""
        place = self._agents.resolve() / agent.name
        real = program.resolve()
        if not real.is_relative_to(place):
            return None
        return self.receipt(agent.name, real.relative_to(place).parts[0])

    def program(self, receipt: Receipt) -> Path:
        return self.folder(receipt.agent, receipt.version) / receipt.program

    def source_of(self, agent: Agent, program: Path) -> str:
        """The source of a program."""
        if receipt := self.receipt_of(agent, program):
            return receipt.source
        return "folder" if program.parent == self.bin else "path"

    def folder(self, name: str, version: str) -> Path:
        return self._agents / name / version

    # -- installation --

    @contextlib.contextmanager
    def lock(self, name: str, stopped: threading.Event, tell: Tell) -> Iterator[None]:
        """One installer per agent, across processes. The kernel releases the lock even after a `kill -9`."""
        self._agents.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._agents.mkdir(exist_ok=True, mode=0o700)
        with (self._agents / f"{name}.lock").open("w") as file:
            announced = False
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not announced:
                        tell(Progress("waiting"))
                        announced = True
                    if stopped.wait(POLL_SECONDS):
                        raise Stopped from None
            yield

    @contextlib.contextmanager
    def staging(self, name: str) -> Iterator[Path]:
        """An empty directory to prepare a version in. Unless it is placed, it is removed now or by the next installer."""
        self._restore(name)
        partial = self._agents / name / ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def place(self, staged: Path, receipt: Receipt) -> None:
        """Rename a complete version into place, replacing an existing one."""
        (staged / RECEIPT).write_bytes(msgspec.json.encode(receipt))
        folder = self.folder(receipt.agent, receipt.version)
        aside = folder.with_name(f".old-{receipt.version}")
        if folder.exists():
            folder.rename(aside)
        staged.rename(folder)
        shutil.rmtree(aside, ignore_errors=True)

    def make_default(self, receipt: Receipt, names: tuple[str, ...]) -> Path:
        """Link `bin/` to this version."""
        self.bin.mkdir(parents=True, exist_ok=True, mode=0o700)
        link = self.bin / names[0]
        fresh = link.with_name(f".{names[0]}.{os.getpid()}.{threading.get_ident()}")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(os.path.relpath(self.program(receipt), self.bin))
        fresh.replace(link)
        return link

    def _restore(self, name: str) -> None:
        """Restore the old version after a reinstall that was killed between its two renames."""
        for aside in (self._agents / name).glob(".old-*"):
            folder = aside.with_name(aside.name.removeprefix(".old-"))
            if folder.exists():
                shutil.rmtree(aside, ignore_errors=True)
            else:
                aside.rename(folder)


def size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
