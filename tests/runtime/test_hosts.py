"""Which sessions share a server, and what is cached for hosts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.config import Config
from sandbox_agent.runtime.daemon import Daemon
from sandbox_agent.runtime.hosts import HostRequest
from sandbox_agent.runtime.locks import Locks
from sandbox_agent.runtime.programs import Program
from sandbox_agent.schema.inputs import Settings


def request(
    path: str = "/bin/opencode", version: str = "1.0.0", directory: str = "/ws", **env: str
) -> HostRequest:
    program = Program(Path(path), version)
    return HostRequest(AGENTS["opencode"], program, Settings(directory), env, None, False)


def test_a_server_is_shared_by_version_and_environment() -> None:
    assert request(A="1", B="2").key() == request(directory="/other", B="2", A="1").key()
    others = [
        request(A="1"),
        request(A="2"),
        request(version="1.0.1", A="1"),
        request("/opt/opencode", A="1"),
    ]
    assert len({other.key() for other in others}) == 4


def test_a_lock_exists_only_while_it_is_needed() -> None:
    async def scenario() -> None:
        locks, held = Locks(), set[str]()

        async def work(name: str) -> None:
            async with locks.hold(name):
                assert name not in held
                held.add(name)
                await asyncio.sleep(0)
                held.remove(name)

        await asyncio.gather(*(work(f"{number % 3}") for number in range(30)))
        assert len(locks) == 0

    asyncio.run(scenario())


def test_the_catalogues_of_recent_directories_are_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox_agent.runtime.catalogues.MAX_CACHED", 2)

    async def scenario() -> None:
        daemon = Daemon(Config(data_dir=str(tmp_path / "data")))
        starts: list[bytes] = []
        daemon.hosts.tap = lambda direction, frame: starts.append(frame) if direction == "cmd" else None
        folders = [tmp_path / name for name in "abc"]
        try:
            for folder in folders:
                folder.mkdir()
                await daemon.catalogue(AGENTS["mock"], str(folder))
            assert len(starts) == 3
            await daemon.catalogue(AGENTS["mock"], str(folders[2]))
            assert len(starts) == 3
            await daemon.catalogue(AGENTS["mock"], str(folders[0]))
            assert len(starts) == 4
        finally:
            await daemon.stop()
            daemon.release_folder()

    asyncio.run(scenario())
