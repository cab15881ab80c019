"""Nodes are exchanged one by one: the release before and the one after share a log under load."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.cluster.nodes import Nodes, states
from tests.cluster.talking import Talker, check

import sandbox_agent

EXPANDS = "ALTER TABLE nodes ADD COLUMN region text NOT NULL DEFAULT '';\nCREATE TABLE regions (name text PRIMARY KEY);\n"
CONTRACTS = "-- contract\nDROP TABLE regions;\nUPDATE meta SET value = '3' WHERE name = 'needs';\n"


@pytest.fixture
def newer(tmp_path: Path) -> dict[str, str]:
    """The environment of a release that adds something to the schema, and removes something."""
    package = tmp_path / "newer" / "sandbox_agent"
    source = Path(sandbox_agent.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__", "ui"))
    migrations = package / "store" / "postgres" / "migrations"
    (migrations / "0002_regions.sql").write_text(EXPANDS)
    (migrations / "0003_no_regions.sql").write_text(CONTRACTS)
    init = package / "__init__.py"
    init.write_text(init.read_text().replace(sandbox_agent.__version__, "99.0.0"))
    return {"PYTHONPATH": str(package.parent)}


def test_nodes_are_upgraded_one_by_one_and_back(nodes: Nodes, newer: dict[str, str]) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    sessions = [one.client.create(), two.client.create(), one.client.create()]
    talkers = [Talker(two, sessions[0]), Talker(one, sessions[1]), Talker(one, sessions[2])]

    def all_continue() -> None:
        assert states(two) == {"one": "live", "two": "live"}
        for talker in talkers:
            talker.go_on()

    def schema() -> int:
        with nodes.log() as connection:
            row = connection.execute("SELECT value::int FROM meta WHERE name = 'schema'").fetchone()
        assert row is not None
        return int(row[0])

    all_continue()
    assert schema() == 1
    one.exchange(newer)
    all_continue()
    assert schema() == 2  # what the old node may use is not removed yet
    one.exchange({})
    all_continue()
    assert schema() == 2
    one.exchange(newer)
    all_continue()
    two.exchange(newer)
    all_continue()
    assert schema() == 3
    for session, talker in zip(sessions, talkers, strict=True):
        check(two, session, talker)
    assert two.stop() == 0
    refused = nodes.new("old", disk="two")
    refused.launch()
    assert refused.ended() == 1
    assert "use a newer sandbox-agent" in refused.stderr()
