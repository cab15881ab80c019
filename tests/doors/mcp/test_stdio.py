"""`sandbox-agent mcp`: it finds or starts the daemon, survives its crash, and refuses to serve the agent of a session."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import SECONDS

from sandbox_agent.presence import load

SERVE = [sys.executable, "-m", "sandbox_agent", "mcp"]


class Program:
    """The bridge, spoken to line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._ids = itertools.count(1)

    def write(self, **message: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def begin(self, tool: str, /, **arguments: object) -> int:
        id = next(self._ids)
        self.write(id=id, method="tools/call", params={"name": tool, "arguments": arguments})
        return id

    def answer(self, id: int) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == id:
                return message
        raise AssertionError("the program ended without an answer")

    def call(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        content: dict[str, Any] = self.answer(self.begin(tool, **arguments))["result"]["structuredContent"]
        return content


@contextmanager
def program(folder: Path, *flags: str) -> Iterator[Program]:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "SANDBOX_AGENT_DATA_DIR": str(folder / "data")}
    process = subprocess.Popen(
        [*SERVE, *flags],
        cwd=folder,
        env={**env, "SANDBOX_AGENT_NO_INSTALL": "true"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield Program(process)
        _, stderr = process.communicate(timeout=SECONDS)
        assert (process.returncode, stderr) == (0, b"")
    finally:
        process.kill()
        process.wait()
        if (state := load(folder / "data")) is not None:
            os.kill(state.pid, signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.door(
    "MCP", "starts the daemon", "daemon killed", "turn continues after a disconnect", "session list"
)
def test_it_starts_the_daemon_and_survives_its_crash(tmp_path: Path) -> None:
    with program(tmp_path, "--agent", "mock") as bridge:
        first = bridge.call("run", prompt="hello")
        assert first["status"] == "ended"
        (listed,) = bridge.call("sessions")["sessions"]
        assert listed["directory"] == str(tmp_path)
        running = bridge.call("run", session_id=first["session_id"], prompt="slow 300", timeout_s=0)
        assert running["status"] == "running"
        _crash(tmp_path)
        content = bridge.call("wait", session_id=first["session_id"], turn_id=running["turn_id"])
        assert (content["status"], content["stop_reason"]) == ("ended", "outcome_unknown")


@pytest.mark.slow
def test_a_crash_during_a_call_runs_no_prompt_twice(tmp_path: Path) -> None:
    with program(tmp_path, "--agent", "mock") as bridge:
        session = bridge.call("run", prompt="hello")["session_id"]
        id = bridge.begin("run", session_id=session, prompt="slow 300")
        while bridge.call("wait", session_id=session, timeout_s=0.1)["status"] != "running":
            pass
        _crash(tmp_path)
        content = bridge.answer(id)["result"]["structuredContent"]
        assert content["stop_reason"] == "outcome_unknown"
        events = bridge.call("events", session_id=session, limit=1000)["events"]
        assert [event["type"] for event in events].count("turn.started") == 2


def _crash(folder: Path) -> None:
    state = load(folder / "data")
    assert state is not None
    os.kill(state.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.door("MCP", "cancel")
def test_a_cancelled_request_ends_only_the_waiting(tmp_path: Path) -> None:
    with program(tmp_path, "--agent", "mock") as bridge:
        session = bridge.call("run", prompt="hello")["session_id"]
        id = bridge.begin("run", session_id=session, prompt="slow 300")
        while bridge.call("wait", session_id=session, timeout_s=0.1)["status"] != "running":
            pass
        bridge.write(method="notifications/cancelled", params={"requestId": id})
        assert bridge.call("wait", session_id=session, timeout_s=0)["status"] == "running"
        bridge.call("cancel", session_id=session)
        assert bridge.call("wait", session_id=session)["stop_reason"] == "interrupted"


@pytest.mark.parametrize("clears", [False, True], ids=["own variable", "variable of a parent"])
def test_it_refuses_to_serve_the_agent_of_a_session(tmp_path: Path, clears: bool) -> None:
    data = tmp_path / "data"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SANDBOX_AGENT_INSIDE": "claude"}
    serve = [*SERVE, "--data-dir", str(data)]
    # An agent starts servers without its own variables.
    command = (
        ["sh", "-c", 'env -i PATH="$PATH" HOME="$HOME" "$@"; exit $?', "sh", *serve] if clears else serve
    )
    done = subprocess.run(
        command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "inside a session of claude" in done.stderr
    assert not data.exists()
