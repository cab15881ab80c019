"""The data folder, and what must not stay in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.base import Agent, Place
from sandbox_agent.private_files import write_private
from sandbox_agent.runtime.folder import DataFolder
from sandbox_agent.schema.inputs import McpServer, Settings


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_what_an_agent_was_given_at_its_start_can_be_removed(agent: Agent, tmp_path: Path) -> None:
    data = tmp_path / "data"
    server = McpServer(url="https://mcp.example", headers={"authorization": "planted"})
    place = Place(Path("/bin/agent"), data, {"HOME": str(tmp_path)})
    launch = agent.launch(place, Settings("/ws", mcp={"remote": server}), "id", False)
    folder = DataFolder(data)
    for path, content in launch.files.items():
        write_private(Path(path), content)
    folder.remove_launch_files()
    folder.remove_launch_files()
    assert [file.name for file in data.rglob("*")] == ["lock"]
    folder.close()
