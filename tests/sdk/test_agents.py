"""Lists that iterate, and an installation that reports its progress, with a real daemon."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import msgspec
import pytest

from sandbox_agent import AsyncSandboxAgent, InstallFailed, Progress, SandboxAgent
from sandbox_agent.install.machine import this_machine

from .conftest import TOKEN

VERSION = "2.1.325"
# Slow enough that its check is seen.
PROGRAM = f"#!/bin/sh\nsleep 0.3\necho '{VERSION} (Claude Code)'\n".encode()


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A folder with one version of Claude Code."""
    build = this_machine().key
    place = tmp_path / "mirror" / "claude" / VERSION
    (place / build).mkdir(parents=True)
    (place / build / "claude").write_bytes(PROGRAM)
    manifest = {"platforms": {build: {"checksum": hashlib.sha256(PROGRAM).hexdigest()}}}
    (place / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    return tmp_path / "mirror"


def test_an_installation_reports_its_progress(mirror: Path, tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin", "SANDBOX_AGENT_NO_INSTALL": "", "SANDBOX_AGENT_MIRROR": str(mirror)}
    steps: list[Progress] = []
    with SandboxAgent.start(data_dir=tmp_path / "data", env=env) as client:
        installed = client.agents.install("claude", agent_version=VERSION, on_progress=steps.append)
        assert (installed.version, installed.source) == (VERSION, "mirror")
        # Of several steps at once, only the latest is reported.
        assert "mirror" in {step.source for step in steps}
        with pytest.raises(InstallFailed):
            client.agents.install("claude", agent_version="0.0.1", on_progress=steps.append)


def test_sessions_are_listed_over_all_pages(endpoint: str) -> None:
    with SandboxAgent.connect(endpoint, TOKEN) as client:
        made = {client.sessions.create(agent="mock").id for _ in range(3)}
        listed = [info.session_id for info in client.sessions.list(limit=2)]
        assert made <= set(listed)
        assert len(listed) == len(set(listed))
        page = client.sessions.list(limit=2).page()
        assert ([info.session_id for info in page.sessions], page.next_cursor is None) == (listed[:2], False)
    assert made <= set(asyncio.run(asynchronously(endpoint)))


async def asynchronously(endpoint: str) -> list[str]:
    async with AsyncSandboxAgent.connect(endpoint, TOKEN) as client:
        return [info.session_id async for info in client.sessions.list(limit=2)]
