"""Every real agent in OpenCode's terminal interface, on the scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemons import Daemon

from sandbox_agent.agents import AGENTS
from sandbox_agent.install.publishers import RECIPES
from sandbox_agent.testing import agent_cache

from .tui import Tui, attached

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

FIRST = "claude"
"""The agent of the ordinary test run; `make doors` takes all of them."""


@pytest.mark.door(
    "OpenCode terminal interface",
    "text",
    "thinking",
    "tool calls",
    "permission once",
    "questions",
    "cancel",
    "second turn",
    "compaction",
)
@pytest.mark.parametrize(
    "agent",
    [pytest.param(agent, marks=() if agent == FIRST else pytest.mark.long) for agent in sorted(RECIPES)],
)
def test_a_conversation_with_every_agent(scripted_daemon: Daemon, tmp_path: Path, agent: str) -> None:
    if not (agent_cache.cache_folder() / "bin" / agent).exists():
        pytest.skip("the agent is not in the cache (`make test` fetches it)")
    with attached(scripted_daemon.port, tmp_path, agent=agent) as tui:
        tui.expect("Ask anything")
        tui.prompt("SCENARIO:thinking")
        tui.expect("Thought")
        _ends(tui)
        tui.prompt("SCENARIO:command:touch+made.txt")
        tui.expect("Permission required.*touch made.txt.*Allow once")
        tui.press("Enter")
        tui.expect("[$] [^\n]*touch made.txt.*The result was")
        assert (tmp_path / "made.txt").exists()
        tui.prompt("SCENARIO:question")
        tui.answer_questions()
        tui.expect("You answered: .*Red")
        tui.prompt("SCENARIO:slow:500")
        tui.expect("word3|esc interrupt")  # an agent may send whole messages only
        tui.interrupt()
        tui.prompt("SCENARIO:echo")
        tui.expect("You said: .*user message")
        if "compact" not in AGENTS[agent].gaps:
            tui.choose_command("/compact")
            tui.expect("─ Compaction ─")


def _ends(tui: Tui) -> None:
    tui.expect("▣ .* · [0-9.]+m?s")
