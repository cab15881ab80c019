"""The clients that people have: the protocol's Python SDK, with and without a handshake, and the MCP inspector."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import SECONDS, Client, Daemon, texts
from tests.doors.mcp.test_http import TOOLS
from tests.mcp_clients import inspector, python_sdk

PROGRAM = Path(__file__).with_name("sdk_program.py")
SERVE = [sys.executable, "-m", "sandbox_agent", "mcp"]


@pytest.mark.slow
@pytest.mark.door(
    "MCP",
    "text",
    "permission once",
    "errors",
    "progress",
    "with handshake",
    "without handshake",
    "HTTP",
    "stdio",
)
@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_the_python_sdk_runs_prompts(transport: str, daemon: Daemon, native: Client, tmp_path: Path) -> None:
    endpoint = f"http://127.0.0.1:{daemon.port}"
    where = [f"{endpoint}/mcp", str(tmp_path)] if transport == "http" else ["stdio", str(tmp_path), *SERVE]
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *where],
        env={**os.environ, "PYTHONPATH": str(python_sdk()), "SANDBOX_AGENT_ENDPOINT": endpoint},
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
    )
    assert done.returncode == 0, done.stderr
    for line, version in zip(done.stdout.splitlines(), ["2026-07-28", "2025-11-25"], strict=True):
        seen = json.loads(line)
        native.sessions.append(seen.pop("session"))
        assert seen == {
            "version": version,
            "tools": TOOLS,
            "status": ["waiting", "ended"],
            "text": "The command said: hello",
            "failed": True,
            "progress": True,
        }


@pytest.mark.long
@pytest.mark.door("MCP inspector", "text", "session list", "HTTP", "stdio", "with handshake")
@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_the_inspector_lists_and_calls_tools(
    transport: str, daemon: Daemon, native: Client, tmp_path: Path
) -> None:
    endpoint = f"http://127.0.0.1:{daemon.port}"
    server = (
        [f"{endpoint}/mcp", "--transport", "http"]
        if transport == "http"
        else [*SERVE, "--endpoint", endpoint]
    )

    def inspect(*arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            ["node", str(inspector().resolve()), "--cli", *server, *arguments],
            env=dict(os.environ),
            capture_output=True,
            text=True,
            timeout=2 * SECONDS,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        printed: dict[str, Any] = json.loads(done.stdout)
        return printed

    assert [tool["name"] for tool in inspect("--method", "tools/list")["tools"]] == TOOLS
    call = ("--method", "tools/call", "--tool-name")
    given = ("--tool-arg", "agent=mock", "--tool-arg", "prompt=hello", "--tool-arg", f"directory={tmp_path}")
    content = inspect(*call, "run", *given)["structuredContent"]
    native.sessions.append(content["session_id"])
    assert content["text"] == texts(native.events(content["session_id"]))[-1]
    listed = inspect(*call, "sessions")["structuredContent"]["sessions"]
    assert content["session_id"] in [session["session_id"] for session in listed]
