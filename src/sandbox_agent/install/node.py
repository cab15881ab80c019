"""Node.js for agents written in JavaScript, and the launchers that start them with it."""

from __future__ import annotations

import shlex
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path

from .machine import Machine
from .npm import Packages, fetch_tree, names
from .problems import SourceFailed
from .progress import Tell
from .publishers import MAIN_MACHINES, NODE, NODE_OLDEST, NODE_VERSION
from .shelf import Receipt, Shelf, size_of
from .version import ask_version


class Node:
    """Installed from npm if there is a build for this machine; otherwise the machine's own, if it is new enough."""

    def __init__(
        self, shelf: Shelf, machine: Machine, environ: Mapping[str, str], stopped: threading.Event
    ) -> None:
        self._shelf = shelf
        self._machine = machine
        self._environ = environ
        self._stopped = stopped

    def get(self, packages: Packages, tell: Tell) -> Path:
        if self._machine.key not in MAIN_MACHINES:
            return self._of_the_machine()
        with self._shelf.lock("node", self._stopped, tell):
            receipt = self._shelf.receipt("node", NODE_VERSION)
            if receipt is None:
                receipt = self._install(packages, tell)
        return self._shelf.program(receipt)

    def _install(self, packages: Packages, tell: Tell) -> Receipt:
        with self._shelf.staging("node") as staged:
            words = names(self._machine, None, NODE_VERSION)
            checksum = fetch_tree(packages, NODE, words, staged, tell)
            if ask_version(staged / NODE.entry, self._environ) != NODE_VERSION:
                raise SourceFailed(
                    f"Node.js {NODE_VERSION} was downloaded, but it does not run on this machine"
                )
            receipt = Receipt("node", NODE_VERSION, NODE.entry, packages.name, size_of(staged), checksum)
            self._shelf.place(staged, receipt)
        return receipt

    def _of_the_machine(self) -> Path:
        oldest = ".".join(map(str, NODE_OLDEST))
        found = shutil.which("node", path=self._environ.get("PATH"))
        version = ask_version(Path(found), self._environ) if found else None
        if found is None or version is None or not is_new_enough(version):
            has = f"the one on PATH is {version}" if version else "there is none on PATH"
            raise SourceFailed(
                f"it needs Node.js {oldest} or newer, which npm does not have for {self._machine.key}; {has}"
            )
        return Path(found)


def is_new_enough(version: str) -> bool:
    return tuple(int(part) for part in version.split(".")[:2]) >= NODE_OLDEST


def write_launcher(tree: Path, name: str, node: Path, entry: str) -> None:
    """Write a script that runs an entry with Node.js. Its paths are relative, so the data directory can be moved."""
    agents = tree.parents[1]
    if node.is_relative_to(agents):
        program = f'"$here"/../../{shlex.quote(str(node.relative_to(agents)))}'
    else:
        program = shlex.quote(str(node))
    script = tree / name
    script.write_text(
        f'#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\nexec {program} "$here"/{shlex.quote(entry)} "$@"\n'
    )
    script.chmod(0o755)
