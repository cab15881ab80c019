"""The agents that are installed: versions side by side in `agents/`, the one to run by default in `bin/`.

agents/claude/2.1.325/             one version, whole: it is renamed into its place when it is complete
agents/claude/2.1.325/receipt.json what it is, where it came from
agents/claude/.partial/            what is being installed, or what a killed installer left
bin/claude                         a link to the program of one version, or a program that somebody put there
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
    """What is known of a version that is installed."""

    agent: str
    version: str
    program: str
    """Its path in the version's folder."""
    source: str
    size: int
    checksum: str | None = None


class Shelf:
    def __init__(self, data_dir: Path) -> None:
        self.bin = data_dir / "bin"
        self._agents = data_dir / "agents"

    # What is there.

    def find(self, agent: Agent) -> Path | None:
        """The program to run when no version is asked for: in `bin/`, then on PATH."""
        places = f"{self.bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        found = (shutil.which(name, path=places) for name in agent.executables)
        return next((Path(path) for path in found if path), None)

    def receipt(self, name: str, version: str) -> Receipt | None:
        try:
            return msgspec.json.decode((self.folder(name, version) / RECEIPT).read_bytes(), type=Receipt)
        except (OSError, msgspec.MsgspecError):
            return None

    def receipt_of(self, agent: Agent, program: Path) -> Receipt | None:
        """The receipt of a program that `find` found, if an installer put it there."""
        place = self._agents.resolve() / agent.name
        real = program.resolve()
        if not real.is_relative_to(place):
            return None
        return self.receipt(agent.name, real.relative_to(place).parts[0])

    def program(self, receipt: Receipt) -> Path:
        return self.folder(receipt.agent, receipt.version) / receipt.program

    def source_of(self, agent: Agent, program: Path) -> str:
        """Where a program that was found comes from."""
        if receipt := self.receipt_of(agent, program):
            return receipt.source
        return "folder" if program.parent == self.bin else "path"

    def folder(self, name: str, version: str) -> Path:
        return self._agents / name / version

    # Putting something there.

    @contextlib.contextmanager
    def lock(self, name: str, stopped: threading.Event, tell: Tell) -> Iterator[None]:
        """One installer per agent, in all processes; the kernel gives the lock back even after a `kill -9`."""
        self._agents.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._agents.mkdir(exist_ok=True, mode=0o700)
        with (self._agents / f"{name}.lock").open("w") as file:
            told = False
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not told:
                        tell(Progress("waiting"))
                        told = True
                    if stopped.wait(POLL_SECONDS):
                        raise Stopped from None
            yield

    @contextlib.contextmanager
    def staging(self, name: str) -> Iterator[Path]:
        """An empty folder to make a version in. What is not shelved is thrown away, now or by the next installer."""
        self._mend(name)
        partial = self._agents / name / ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def place(self, staged: Path, receipt: Receipt) -> None:
        """Rename a complete version into its place. One that is there already makes way."""
        (staged / RECEIPT).write_bytes(msgspec.json.encode(receipt))
        folder = self.folder(receipt.agent, receipt.version)
        aside = folder.with_name(f".old-{receipt.version}")
        if folder.exists():
            folder.rename(aside)
        staged.rename(folder)
        shutil.rmtree(aside, ignore_errors=True)

    def make_default(self, receipt: Receipt, names: tuple[str, ...]) -> Path:
        """Let `bin/` lead to this version."""
        self.bin.mkdir(parents=True, exist_ok=True, mode=0o700)
        link = self.bin / names[0]
        fresh = link.with_name(f".{names[0]}.{os.getpid()}.{threading.get_ident()}")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(os.path.relpath(self.program(receipt), self.bin))
        fresh.replace(link)
        return link

    def _mend(self, name: str) -> None:
        """A reinstall that was killed between its two renames left the old version aside: it goes back."""
        for aside in (self._agents / name).glob(".old-*"):
            folder = aside.with_name(aside.name.removeprefix(".old-"))
            if folder.exists():
                shutil.rmtree(aside, ignore_errors=True)
            else:
                aside.rename(folder)


def size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
