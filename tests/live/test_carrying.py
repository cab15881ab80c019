"""Each agent's own conversation outlives its machine, where that is possible."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.cluster.logs import Logs
from tests.cluster.nodes import Nodes, outcomes
from tests.cluster.test_carrying import reply_text, wait_until_carried
from tests.daemons import SECONDS, descendants, gone_within

from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.offline import offline_environment
from sandbox_agent.testing.scripted_model import ScriptedModel

from .tried import cannot_run, representatives

pytestmark = pytest.mark.live

CARRIED = ("claude", "codex", "pi", "opencode")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("name", representatives(metafunc.config.getoption("--agent"), CARRIED))


def test_a_replacement_resumes_what_the_agent_said_before(
    name: str, request: pytest.FixtureRequest, scripted_model: ScriptedModel, tmp_path: Path
) -> None:
    if (why := cannot_run(name)) is not None:
        pytest.skip(why)
    logs: Logs = request.getfixturevalue("logs")  # only now: it starts a database
    nodes, home, work = Nodes(tmp_path, logs.new()), tmp_path / "home", tmp_path / "work"
    work.mkdir()
    path = f"{agent_cache.cache_folder() / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "LANG": "C.UTF-8", **offline_environment(name, scripted_model.base_url, home)}
    try:
        one = nodes.start("one", env=env)
        session = one.client.create(agent=name, directory=str(work))
        one.client.turn(session, "The secret word is plum. Reply with OK.")
        one.client.turn(session, "Reply with OK again.")
        wait_until_carried(nodes, one, session, 2)
        native_id = one.client.info(session)["nativeSessionId"]
        left = descendants(one.pid)
        one.kill()
        assert gone_within(left, SECONDS) == []
        shutil.rmtree(home)
        offline_environment(name, scripted_model.base_url, home)
        other = nodes.start("one", disk="another disk", env=env)
        answer = other.client.turn(session, "What is the secret word?")
        assert outcomes(answer) == ["end_turn"]
        assert "(user message 3)" in reply_text(answer)
        assert other.client.info(session)["nativeSessionId"] == native_id
    finally:
        nodes.end()
