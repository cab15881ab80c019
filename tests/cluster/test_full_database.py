"""A database without space: nothing that was acknowledged is lost, and work continues when there is space again."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cluster.logs import Logs
from tests.cluster.nodes import Nodes, outcomes
from tests.daemons import refusal, wait_until


class SmallDisk:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._mount("size=12m")
        user = pwd.getpwnam("nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)

    def grow(self) -> None:
        self._mount("remount,size=256m")

    def _mount(self, options: str) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.folder], check=True)


@pytest.fixture
def disk(logs: Logs) -> Iterator[SmallDisk]:
    if os.getuid() != 0:
        pytest.skip("a small disk can only be mounted as root")
    try:
        disk = SmallDisk(logs.server.folder / "disk")
    except subprocess.CalledProcessError:
        pytest.skip("a small disk cannot be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", disk.folder], check=True)


@pytest.fixture
def url(logs: Logs, disk: SmallDisk) -> Iterator[str]:
    """A log whose tables are on the small disk."""
    schema = logs.server.new_schema()
    logs.server.execute(f"CREATE TABLESPACE small LOCATION '{disk.folder}'")
    yield f"{logs.server.url(schema)}%20-cdefault_tablespace%3Dsmall"
    logs.server.execute(f"DROP SCHEMA {schema} CASCADE")
    logs.server.execute("DROP TABLESPACE small")


def test_a_full_database_refuses_messages_and_recovers(url: str, disk: SmallDisk, nodes: Nodes) -> None:
    node = nodes.start("one", url=url)
    client = node.client
    session = client.create()
    client.send(session, "flood 100 200k")
    wait_until(lambda: client.get("/v1/ready").status_code == 503)
    seen = client.events(session)
    refused = client.post(f"/v1/sessions/{session}/messages", {"message": "hello"})
    assert refusal(refused) == (503, "unavailable")
    assert "Retry-After" in refused.headers
    disk.grow()
    wait_until(lambda: client.get("/v1/ready").status_code == 200)
    wait_until(lambda: outcomes(client.events(session)) == ["end_turn"])
    assert client.events(session)[: len(seen)] == seen
    assert outcomes(client.turn(session, "hello")) == ["end_turn"]
    client.check_rules()
