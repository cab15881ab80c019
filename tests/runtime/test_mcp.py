"""What agents get about MCP servers: headers from variables, working directories, time limits."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.base import Place
from sandbox_agent.agents.claude import mcp_config as claude_config
from sandbox_agent.agents.codex.conversation import config_of
from sandbox_agent.agents.opencode.requests import mcp_config as opencode_config
from sandbox_agent.errors import InvalidRequest
from sandbox_agent.runtime.mcp import granted, servers_for
from sandbox_agent.schema.inputs import McpServer, Settings

CLAUDE, CODEX = AGENTS["claude"], AGENTS["codex"]


def test_headers_come_from_the_session_or_from_what_the_operator_named() -> None:
    server = McpServer(
        url="https://host/mcp",
        headers={"a": "plain"},
        env_headers={"b": "OF_SESSION", "c": "OF_BOTH"},
        bearer_token_env_var="OF_DAEMON",
    )
    daemon = granted(("OF_DAEMON", "OF_BOTH", "UNSET"), {"OF_DAEMON": "t", "OF_BOTH": "daemon", "KEY": "k"})
    environ = {**daemon, "OF_SESSION": "s", "OF_BOTH": "session"}
    prepared = servers_for(CLAUDE, {"web": server}, "/", environ)["web"]
    assert prepared == McpServer(
        url="https://host/mcp",
        headers={"a": "plain", "b": "s", "c": "session", "Authorization": "Bearer t"},
    )
    with pytest.raises(InvalidRequest, match="--mcp-env KEY"):
        servers_for(CLAUDE, {"web": McpServer(url="https://host", bearer_token_env_var="KEY")}, "/", environ)


def test_a_server_runs_in_its_working_directory(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    server = McpServer("sh", ("-c", 'pwd; printf "%s\\n" "$@"', "sh", "one two", "$HOME"), cwd="a folder")
    prepared = servers_for(CLAUDE, {"here": server}, str(tmp_path), {})["here"]
    done = subprocess.run(
        [prepared.command or "", *prepared.args], capture_output=True, text=True, timeout=20
    )
    assert done.stdout.splitlines() == [str(tmp_path / "a folder"), "one two", "$HOME"]


def test_a_disabled_server_is_left_out_and_sse_needs_an_agent_that_has_it() -> None:
    assert servers_for(CLAUDE, {"off": McpServer("x", enabled=False)}, "/", {}) == {}
    old = {"old": McpServer(url="https://host", transport="sse")}
    assert servers_for(CLAUDE, old, "/", {}) == old
    with pytest.raises(InvalidRequest, match="`sse`"):
        servers_for(CODEX, old, "/", {})


def test_a_time_limit_reaches_every_agent_that_has_one(tmp_path: Path) -> None:
    server = McpServer("run", timeout_ms=90_500)
    assert b'"timeout":90500' in claude_config({"a": server})
    assert opencode_config(server)["timeout"] == 90_500
    settings = Settings("/ws", mcp={"a": server})
    config = config_of(settings)
    assert config is not None
    assert config.mcp_servers["a"].tool_timeout_sec == 90.5
    launch = AGENTS["pi"].launch(Place(Path("/pi"), tmp_path, {}), settings, "id", False)
    assert b'"timeout":90.5' in next(iter(launch.files.values()))
