"""`acpx` keeps a session over many commands and a crash of the daemon, with every agent; every line is valid in the schema."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemons import wait_until

from sandbox_agent.agents import AGENTS
from sandbox_agent.install.publishers import RECIPES
from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.offline import offline_environment
from sandbox_agent.testing.scripted_model import ScriptedModel

from .acpx import acpx

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.mark.door(
    "ACP",
    "text",
    "permission once",
    "permission rejected",
    "modes",
    "models",
    "cancel",
    "resume",
    "session list",
    "close",
    "daemon killed",
)
def test_the_commands_of_acpx(tmp_path: Path) -> None:
    with acpx("mock", tmp_path, {}) as client:
        assert "The command said: hello" in client.run("--approve-all", "prompt", "permission hello")
        assert "You did not allow bash" in client.run("--deny-all", "prompt", "permission hello")
        assert "mode set: plan" in client.run("set-mode", "plan")
        client.run("set", "model", "mock-2")
        assert "Planning: You said: hello" in client.run("prompt", "hello")
        client.run("set-mode", "build")
        with client.start("prompt", "pace 3000 100") as slow:
            wait_until(lambda: any("1@" in str(update) for update in client.updates()))
            client.run("cancel")
            assert "[done] cancelled" in slow.communicate(timeout=120)[0]
        client.kill_daemon()
        assert "3. hello" in client.run("prompt", "memory")
        assert str(client.directory) in client.run("sessions", "list")
        assert "You did not allow bash" in client.run("sessions", "history")
        assert client.updates()


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a user whose agents use the scripted model."""
    with ScriptedModel() as model:
        environ: dict[str, str] = {}
        for agent in RECIPES:
            environ |= offline_environment(agent, model.base_url, tmp_path)
        environ["PATH"] = f"{agent_cache.cache_folder() / 'bin'}{os.pathsep}{os.environ['PATH']}"
        yield environ


@pytest.mark.door("ACP", "text", "tool calls", "permission once", "daemon killed")
@pytest.mark.parametrize("agent", sorted(RECIPES))
def test_every_agent_keeps_its_session_over_a_crash(
    tmp_path: Path, environ: dict[str, str], agent: str
) -> None:
    if not (agent_cache.cache_folder() / "bin" / agent).exists():
        pytest.skip("the agent is not in the cache (`make test` fetches it)")
    with acpx(agent, tmp_path, environ) as client:
        assert "Hello from the scripted model" in client.run("prompt", "SCENARIO:text")
        client.run("--approve-all", "prompt", "SCENARIO:command:touch+made.txt")
        assert (client.directory / "made.txt").exists()
        client.kill_daemon()
        if "daemon_killed" not in AGENTS[agent].gaps:
            assert "user message 3" in client.run("prompt", "SCENARIO:echo")
        assert client.updates()
