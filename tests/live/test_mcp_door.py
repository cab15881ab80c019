"""A real agent gives work to another agent through `sandbox-agent mcp`, and reads what it said."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_agent.testing.scripted_model import ScriptedModel

from .client import DaemonProcess
from .live import REAL, Live
from .tried import REGISTERED, TRIED, cannot_run, chosen

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

ALWAYS = ("claude", "codex")
"""One with a process of its own, and one whose server several sessions share; the others take their time."""


@pytest.fixture(
    params=[pytest.param(name, marks=() if name in ALWAYS else pytest.mark.long) for name in REGISTERED]
)
def live(request: pytest.FixtureRequest, tmp_path: Path, scripted_model: ScriptedModel) -> Live:
    if REAL:
        pytest.skip("the texts are scripted")
    if request.param not in chosen(request.config.getoption("--agent"), "text"):
        pytest.skip("--agent names others")
    if cannot_run(request.param):
        pytest.skip("the agent is not installed")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    daemon: DaemonProcess = request.getfixturevalue("shared_daemon")
    return Live(TRIED[request.param], daemon, scripted_model, workspace)


@pytest.mark.door("MCP", "delegation, with a real agent")
def test_an_agent_runs_another_and_gets_its_text(live: Live) -> None:
    servers = {"agents": {"command": "sandbox-agent", "args": ["mcp"]}}
    session = live.session(permissionMode="bypass", mcp=servers)
    turn = session.run(live.say("delegate", "", "Give the prompt hello to the agent mock with the tool run."))
    (call,) = (call for call in turn.calls if "run" in call.name)
    (result,) = (result for result in turn.results if result.call_id == call.call_id)
    assert '"status":"ended"' in result.output.replace("\\", "")
    assert "You said: hello" in result.output
