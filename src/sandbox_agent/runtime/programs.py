"""Finds agents' programs and their versions."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import NamedTuple

from ..agents.base import Agent
from ..agents.environment import environment
from ..errors import AgentNotInstalled
from ..install.shelf import Shelf
from ..install.version import ask_version


class Program(NamedTuple):
    path: Path
    version: str | None


class Asked(NamedTuple):
    """The version that a program with this path, size and modification time reported."""

    path: Path
    size: int
    modified: int
    version: str | None


class Programs:
    def __init__(self, data_dir: Path) -> None:
        self.shelf = Shelf(data_dir)
        self._asked: dict[str, Asked] = {}
        """The program last asked, by agent."""

    def find(self, agent: Agent) -> Path | None:
        """In `bin` of the data directory, then on PATH. The mock agent is part of this package."""
        if not agent.executables:
            return Path(sys.executable)
        return self.shelf.find(agent)

    async def program(self, agent: Agent, version: str | None = None) -> Program:
        """An agent's program: the default one, or the requested version."""
        if version is not None and (receipt := self.shelf.receipt(agent.name, version)):
            return Program(self.shelf.program(receipt), version)
        path = self.find(agent)
        if path is None:
            raise AgentNotInstalled(
                f"{agent.title} is not installed: no `{agent.executables[0]}` in {self.shelf.bin} or on PATH",
                agent=agent.name,
            )
        found = Program(path, await self.version(agent, path))
        if version not in (None, found.version):
            raise AgentNotInstalled(
                f"{agent.title} {version} is not installed; {path} is {found.version}",
                agent=agent.name,
                version=found.version,
            )
        return found

    async def version(self, agent: Agent, path: Path) -> str | None:
        """The version that the program reports; cached by path, size and modification time."""
        if not agent.executables:
            return _own_version()
        try:
            stat = path.stat()
        except OSError:
            return None
        known = self._asked.get(agent.name)
        if known is None or known[:3] != (path, stat.st_size, stat.st_mtime_ns):
            version = await asyncio.to_thread(ask_version, path, environment(agent, os.environ, {}))
            known = self._asked[agent.name] = Asked(path, stat.st_size, stat.st_mtime_ns, version)
        return known.version

    def source(self, agent: Agent, path: Path) -> str:
        """Where a program comes from."""
        return self.shelf.source_of(agent, path) if agent.executables else "built-in"

    def size(self, agent: Agent, path: Path) -> int | None:
        """Its size on disk, including everything installed with it, if known."""
        if not agent.executables:
            return None
        if receipt := self.shelf.receipt_of(agent, path):
            return receipt.size
        return path.stat().st_size if path.is_file() else None


def _own_version() -> str:
    from importlib.metadata import version

    return version("sandbox-agentd")
