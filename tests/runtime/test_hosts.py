"""Which sessions share a server."""

from __future__ import annotations

from pathlib import Path

from sandbox_agent.agents import AGENTS
from sandbox_agent.runtime.hosts import Seat
from sandbox_agent.runtime.programs import Program
from sandbox_agent.schema.inputs import Settings


def seat(path: str = "/bin/opencode", version: str = "1.0.0", directory: str = "/ws", **env: str) -> Seat:
    program = Program(Path(path), version)
    return Seat(AGENTS["opencode"], program, Settings(directory), env, None, False)


def test_a_server_is_shared_by_version_and_environment_alone() -> None:
    assert seat(A="1", B="2").key() == seat(directory="/other", B="2", A="1").key()
    others = [seat(A="1"), seat(A="2"), seat(version="1.0.1", A="1"), seat("/opt/opencode", A="1")]
    assert len({other.key() for other in others}) == 4
