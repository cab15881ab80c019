"""The session methods of the published client `sandbox-agent` work, unmodified."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemons import SECONDS, Daemon, client_of, running

CLIENT = Path(__file__).parents[3] / ".cache" / "published-client" / "node_modules" / "sandbox-agent"
TOKEN = "sixteen-characters-or-more"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not CLIENT.is_dir() or shutil.which("node") is None,
        reason="the published client is not in the cache (`make test` fetches it), or there is no node",
    ),
]


@pytest.fixture
def own_daemon(tmp_path: Path) -> Iterator[Daemon]:
    """Its sessions are listed, so it is for this test alone."""
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon:
        yield daemon


@pytest.mark.door(
    "acp",
    "sandbox-agent 0.4",
    "text",
    "thinking",
    "permission once",
    "permission always",
    "permission rejected",
    "questions",
    "cancel",
    "errors",
    "modes",
    "models",
    "resume",
)
def test_every_session_method_of_the_published_client_works(own_daemon: Daemon) -> None:
    script = Path(__file__).with_name("published_sessions.mjs")
    endpoint = f"http://127.0.0.1:{own_daemon.port}"
    command = ["node", str(script), str(CLIENT), endpoint, TOKEN, str(own_daemon.work_dir)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * SECONDS)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    sessions = {*said.pop("ids"), said.pop("resumedId")}
    with client_of(own_daemon, TOKEN) as native:
        native.sessions += sessions
        assert {session["sessionId"] for session in native.get("/v1/sessions").json()["sessions"]} == sessions
    assert said == {
        "agents": True,
        "options": ["mode", "model", "thought_level", "_permission_mode"],
        "mode": "plan",
        "stop": "end_turn",
        "thinking": [True, "Planning: I thought about it."],
        "gapless": True,
        "refused": "refused",
        "configured": ["build", "mock-2", "default"],
        "once": ["end_turn", "The command said: once"],
        "reject": ["end_turn", "You did not allow bash, so I leave it."],
        "always": ["end_turn", "The command said: always"],
        "question": "You chose: Green.",
        "failed": ["AcpRpcError", -32603],
        "both": ["end_turn", "cancelled"],
        "servers": ["mock"],
        "resumed": "end_turn",
        "resumedText": True,
    }
