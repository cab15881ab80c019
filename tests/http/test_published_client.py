"""The process and session methods of the published client `sandbox-agent` work, unmodified."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemons import SECONDS, Daemon, client_of, running

CLIENT = Path(__file__).parents[2] / ".cache" / "published-client" / "node_modules" / "sandbox-agent"
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
    """Its limits are changed, so it is for this test alone."""
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon:
        yield daemon


def test_every_process_method_of_the_published_client_works(own_daemon: Daemon) -> None:
    script = Path(__file__).with_name("published_processes.mjs")
    endpoint = f"http://127.0.0.1:{own_daemon.port}"
    command = ["node", "--experimental-websocket", str(script), str(CLIENT), endpoint, TOKEN]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * SECONDS)
    assert done.returncode == 0, done.stderr
    usual = {
        "maxConcurrentProcesses": 64,
        "defaultRunTimeoutMs": 30_000,
        "maxRunTimeoutMs": 300_000,
        "maxOutputBytes": 1 << 20,
        "maxLogBytesPerProcess": 10 << 20,
        "maxInputBytesPerRequest": 64 << 10,
    }
    results = json.loads(done.stdout)
    for ran in (results["run"], results["cut"], results["late"]):
        assert ran.pop("durationMs") >= 0
    assert (
        results.pop("made").items()
        >= {
            "id": "proc_1",
            "status": "running",
            "owner": "user",
            "tty": False,
            "interactive": True,
            "command": "sh",
            "createdAtMs": "number",
            "pid": "number",
        }.items()
    )
    assert results == {
        "config": usual,
        "clamped": {**usual, "defaultRunTimeoutMs": 300_000},
        "zero": [400, "invalid_request", "maxOutputBytes"],
        "run": _ran("out\né\n", "err\n", exitCode=3),
        "cut": _ran("123", "", stdoutTruncated=True),
        "late": _ran("early\n", "", exitCode=None, timedOut=True),
        "listed": ["proc_1"],
        "ofDesktop": [],
        "input": {"bytesWritten": 6},
        "plain": {"bytesWritten": 5},
        "notBase64": [400, "invalid_request", "data"],
        "noEncoding": [400, "invalid_request", "encoding"],
        "tooLong": [413, "payload_too_large", None],
        "resizePipe": [409, "conflict", None],
        "deleteRunning": [409, "conflict", None],
        "stopped": "exited",
        "followed": "one\ntyped\ntext\n",
        "streams": "combined",
        "tail": 1,
        "since": [],
        "gone": ["exited", None, None, "number"],
        "inputGone": [409, "conflict", None],
        "unknown": [404, "not_found", None],
        "ignored": "running",
        "killed": "exited",
        "noProgram": [400, "invalid_request", "command"],
        "noFolder": [400, "invalid_request", "cwd"],
        "noCommand": [400, "invalid_request", "command"],
        "tooMany": [409, "conflict", None],
        "resized": {"cols": 91, "rows": 23},
        "screen": "24 80\r\nxy\r\n23 91\r\ngot xy\r\n",
        "exits": [7],
        "ready": [True],
        "frameError": 1,
        "resizeGone": [409, "conflict", None],
    }


@pytest.mark.door(
    "published client",
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
    results = json.loads(done.stdout)
    assert session_methods() - set(results.pop("called")) == set()
    sessions = {*results.pop("ids"), results.pop("resumedId")}
    with client_of(own_daemon, TOKEN) as native:
        native.sessions += sessions
        assert {session["sessionId"] for session in native.get("/v1/sessions").json()["sessions"]} == sessions
    assert results == {
        "agents": True,
        "options": ["mode", "model", "thought_level", "_permission_mode"],
        "mode": "plan",
        "stop": "end_turn",
        "thinking": [True, "Planning: I thought about it."],
        "gapless": True,
        "refused": "refused",
        "configured": ["build", "mock-2", "default"],
        "getModes": "build",
        "kept": [2, True, True, True, True],
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


def session_methods() -> set[str]:
    """The methods that the declarations of the client name: all of a session, and those of the client about sessions."""
    declared = (CLIENT / "dist" / "index.d.ts").read_text()
    found = {f"Session.{name}" for name in _methods(declared, "Session")}
    about = re.compile("Session|Permission|getEvents")
    return found | {
        f"SandboxAgent.{name}" for name in _methods(declared, "SandboxAgent") if about.search(name)
    }


def _methods(declared: str, kind: str) -> list[str]:
    body = declared.partition(f"declare class {kind} {{")[2].partition("\n}")[0]
    return [name for name in re.findall(r"^    (\w+)\(", body, re.MULTILINE) if name != "constructor"]


def _ran(stdout: str, stderr: str, **more: object) -> dict[str, object]:
    usual = {"exitCode": 0, "stdoutTruncated": False, "stderrTruncated": False, "timedOut": False}
    return {"stdout": stdout, "stderr": stderr, **usual, **more}
