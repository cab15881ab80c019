"""The data directory, and what must not stay in it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.base import Agent, Place
from sandbox_agent.presence import lock_holder
from sandbox_agent.private_files import write_private
from sandbox_agent.runtime.folder import DataFolder
from sandbox_agent.schema.inputs import McpServer, Settings


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_launch_files_can_be_removed(agent: Agent, tmp_path: Path) -> None:
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


def test_a_client_that_looks_for_a_daemon_does_not_keep_one_from_starting(tmp_path: Path) -> None:
    DataFolder(tmp_path).close()  # as in a container, the next daemon has the process id of the last one
    is_done = threading.Event()

    def look() -> None:
        while not is_done.is_set():
            lock_holder(tmp_path)

    with ThreadPoolExecutor(2) as clients:
        for _ in range(2):
            clients.submit(look)
        try:
            for _ in range(300):
                DataFolder(tmp_path).close()
        finally:
            is_done.set()
