"""The real Claude Code on the scripted model, driven from the page."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.daemons import Daemon, client_of, running

from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.offline import offline_environment
from sandbox_agent.testing.scripted_model import ScriptedModel

from .window import Window

pytestmark = pytest.mark.live


def test_claude_asks_writes_and_answers(new_page: Callable[[], Page], tmp_path: Path) -> None:
    try:
        agent_cache.install("claude")
    except agent_cache.CannotInstall as error:
        pytest.skip(str(error))
    programs = agent_cache.cache_folder() / "bin"
    with ScriptedModel() as model:
        env = offline_environment("claude", model.base_url, tmp_path / "home")
        env["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
        with running(Daemon(tmp_path / "data", env=env)) as daemon, client_of(daemon) as client:
            session = client.create(agent="claude")
            window = Window(new_page(), daemon)
            window.open()
            window.enter(session)
            window.say("SCENARIO:command:touch+made-by-claude")
            expect(window.card("Permission: Bash").locator(".sa-command")).to_contain_text(
                "touch made-by-claude"
            )
            window.button("Allow once").click()
            window.turn_is_over()
            assert (daemon.work_dir / "made-by-claude").exists()
            expect(window.tool("Bash")).to_contain_text("done")
            window.say("SCENARIO:write")
            expect(window.card("Permission: Write")).to_be_visible()
            window.button("Reject…").click()
            window.button("Reject").click()
            window.turn_is_over()
            window.sees("Rejected")
            window.say("SCENARIO:text")
            window.turn_is_over()
            window.sees("Hello from the scripted model.")
