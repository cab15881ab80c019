"""`opencode run --attach` at the door: the quick test of the real program, and of every agent on the scripted model."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import Daemon

from sandbox_agent.install.publishers import RECIPES
from sandbox_agent.testing import agent_cache

from .tui import TOKEN, client_environment, opencode_program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def run(daemon: Daemon, home: Path, agent: str, prompt: str) -> list[dict[str, Any]]:
    """The parts that the program prints."""
    url = f"http://127.0.0.1:{daemon.port}/opencode"
    command = [opencode_program(), "run", "--attach", url, "--format", "json", "--auto"]
    done = subprocess.run(
        [*command, "--model", f"{agent}/default", prompt],
        env=client_environment(home, TOKEN),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["part"] for line in done.stdout.splitlines()]


@pytest.mark.door("opencode run", "text", "tool calls", "permission once")
def test_the_program_runs_a_prompt_and_permits_a_command(daemon: Daemon, tmp_path: Path) -> None:
    call, text = run(daemon, tmp_path, "mock", "permission")
    assert (call["tool"], call["state"]["status"]) == ("bash", "completed")
    assert text["text"] == "The command said: hello from the mock agent"


@pytest.mark.door("opencode run", "text", "tool calls")
@pytest.mark.long
@pytest.mark.parametrize("agent", sorted(RECIPES))
def test_every_agent_answers_the_program(scripted_daemon: Daemon, tmp_path: Path, agent: str) -> None:
    if not (agent_cache.cache_folder() / "bin" / agent).exists():
        pytest.skip("the agent is not in the cache (`make test` fetches it)")
    parts = run(scripted_daemon, tmp_path, agent, "SCENARIO:command:echo+from-the-agent")
    calls = [part for part in parts if part["type"] == "tool"]
    assert [call["tool"] for call in calls] == ["bash"]
    # Codex names the shell as well.
    assert "echo from-the-agent" in calls[0]["state"]["input"]["command"]
    assert "from-the-agent" in calls[0]["state"]["output"]
    assert parts[-1]["type"] == "text"
