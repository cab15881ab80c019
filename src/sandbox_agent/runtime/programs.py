"""Finds agents' programs, asks their versions, and builds the environment they see."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..agents.base import Agent
from ..errors import AgentNotInstalled

BASE_VARIABLES = frozenset(
    "PATH HOME LANG LANGUAGE TERM TMPDIR TZ USER LOGNAME SHELL SSL_CERT_FILE SSL_CERT_DIR "
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy".split()
)
BASE_PREFIXES = ("XDG_", "LC_")
VERSION_SECONDS = 20.0


class Program(NamedTuple):
    path: Path
    version: str | None


class Programs:
    def __init__(self, data_dir: Path) -> None:
        self._bin = data_dir / "bin"
        self._versions: dict[tuple[str, int, int], str | None] = {}

    def find(self, agent: Agent) -> Path | None:
        """In the data folder's `bin`, then on PATH. The mock agent is part of this package."""
        if not agent.executables:
            return Path(sys.executable)
        places = f"{self._bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        found = (shutil.which(name, path=places) for name in agent.executables)
        return next((Path(path) for path in found if path), None)

    async def program(self, agent: Agent) -> Program:
        path = self.find(agent)
        if path is None:
            raise AgentNotInstalled(
                f"{agent.title} is not installed: no `{agent.executables[0]}` in {self._bin} or on PATH",
                agent=agent.name,
            )
        return Program(path, await self.version(agent, path))

    async def version(self, agent: Agent, path: Path) -> str | None:
        """What the program calls itself; remembered by path, size and modification time."""
        if not agent.executables:
            return _own_version()
        try:
            stat = path.stat()
        except OSError:
            return None
        key = (str(path), stat.st_size, stat.st_mtime_ns)
        if key not in self._versions:
            self._versions[key] = await _ask_version(agent, path)
        return self._versions[key]


async def _ask_version(agent: Agent, path: Path) -> str | None:
    process = await asyncio.create_subprocess_exec(
        path,
        "--version",
        env=environment(agent, os.environ, {}),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), VERSION_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        return None
    found = re.search(rb"\d+\.\d+\.\d+[\w.+-]*", output)
    return found.group().decode() if found else None


def _own_version() -> str:
    from importlib.metadata import version

    return version("sandbox-agentd")


def environment(agent: Agent, ours: Mapping[str, str], session: Mapping[str, str]) -> dict[str, str]:
    """A small safe base, the agent's own family of variables, and what the session adds; nothing else of ours."""
    return {**dict(_allowed(agent, ours)), **session}


def _allowed(agent: Agent, ours: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    prefixes = BASE_PREFIXES + agent.env_families
    for name, value in ours.items():
        if name in BASE_VARIABLES or name.startswith(prefixes):
            yield name, value
