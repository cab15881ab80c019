"""npm as a source: the same programs as npm packages, installed without npm and mostly without Node.js."""

from __future__ import annotations

from pathlib import Path

from .downloads import Fetched
from .machine import Machine
from .node import Node, write_launcher
from .npm import Packages, fetch_tree, names
from .problems import NotThere, SourceFailed
from .progress import Tell
from .publishers import Recipe, Tree


class NpmSource:
    """The packages of one agent, in a registry or a mirror."""

    def __init__(self, recipe: Recipe, machine: Machine, packages: Packages, node: Node) -> None:
        self.name = packages.name
        self._recipe = recipe
        self._machine = machine
        self._packages = packages
        self._node = node

    def newest(self) -> str:
        for tree in self._recipe.npm:
            try:
                return self._packages.newest(tree.packages[0].name.format(**self._words("latest")))
            except NotThere as missing:
                last = missing
        raise last

    def fetch(self, version: str, into: Path, tell: Tell) -> Fetched:
        """Download a version into an empty directory, from the first tree of packages that has it."""
        missing: list[str] = []
        for tree in self._recipe.npm:
            try:
                return self._fetch(tree, version, into, tell)
            except NotThere as error:
                missing.append(str(error))
        raise NotThere("; ".join(missing))

    def _fetch(self, tree: Tree, version: str, into: Path, tell: Tell) -> Fetched:
        words = self._words(version)
        checksum = fetch_tree(self._packages, tree, words, into, tell)
        entry = tree.entry.format(**words)
        if not (into / entry).is_file():
            raise SourceFailed(f"{tree.packages[0].name.format(**words)} does not contain {entry}")
        if tree.runs_on_node:
            write_launcher(into, self._recipe.program, self._node.get(self._packages, tell), entry)
            return Fetched(Path(self._recipe.program), checksum)
        (into / entry).chmod(0o755)
        return Fetched(Path(entry), checksum)

    def _words(self, version: str) -> dict[str, str]:
        return names(self._machine, self._recipe.builds.get(self._machine.key), version)
