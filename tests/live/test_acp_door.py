"""`acpx`, a public ACP client, drives every agent through `sandbox-agent acp`; every line is valid in the protocol's schema."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.acp_clients import acp_modules
from tests.acp_recorded import text_in, updates_in

from sandbox_agent.testing.scripted_model import ScriptedModel

from .client import DEADLINE, DaemonProcess
from .live import HELLO, REAL, Live
from .tried import REGISTERED, TRIED, cannot_run, representatives

TEE = Path(__file__).parents[1] / "doors" / "acp" / "tee.py"

# OpenCode alone takes half a minute to start on a busy machine.
pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize(
        "live", representatives(metafunc.config.getoption("--agent"), REGISTERED), indirect=True
    )


@pytest.fixture
def live(request: pytest.FixtureRequest, tmp_path: Path, scripted_model: ScriptedModel) -> Live:
    if REAL:
        pytest.skip("the texts are scripted")
    if why := cannot_run(request.param):
        request.node.user_properties += [("agent", request.param), ("left_out", why)]
        pytest.skip("the agent is not installed")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    daemon: DaemonProcess = request.getfixturevalue("shared_daemon")
    return Live(TRIED[request.param], daemon, scripted_model, workspace)


def test_acpx_drives_the_agent(live: Live, tmp_path: Path) -> None:
    log = tmp_path / "acp.jsonl"
    acpx(live, log, "--approve-all", live.say("text", "", ""))
    assert text_in(updates_in(log)).strip() == HELLO
    made = live.workspace / "made.txt"
    acpx(live, log, "--approve-all", live.command("touch made.txt"))
    assert made.exists()
    calls = [update for update in updates_in(log) if update["sessionUpdate"] == "tool_call"]
    assert [call["kind"] for call in calls] == ["execute"]
    ended = [update for update in updates_in(log) if update.get("status") == "completed"]
    assert [update["toolCallId"] for update in ended] == [call["toolCallId"] for call in calls]


def acpx(live: Live, log: Path, policy: str, prompt: str) -> None:
    """One prompt in a new session."""
    serve = [sys.executable, "-m", "sandbox_agent", "acp", "--agent", live.agent.name]
    program = [sys.executable, str(TEE), str(log), *serve, "--endpoint", str(live.daemon.http.base_url)]
    command = ["node", str(acp_modules() / "acpx" / "dist" / "cli.js"), "--agent", shlex.join(program)]
    done = subprocess.run(
        [*command, "--cwd", str(live.workspace), policy, "exec", prompt],
        env={"PATH": os.environ["PATH"], "HOME": str(log.parent)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * DEADLINE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
