"""Sessions of a log in PostgreSQL are exported and pruned with the same commands as in SQLite."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from tests.cluster.nodes import Nodes
from tests.daemons import refusal, wait_until

from sandbox_agent.cli.main import main


def test_sessions_are_exported_and_pruned(
    nodes: Nodes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    old, young = one.client.create(), two.client.create()
    events = one.client.turn(old, "hello")
    endpoint = ("--endpoint", f"http://127.0.0.1:{two.port}")  # not the node that runs them
    file = tmp_path / "old.jsonl"
    assert main(["sessions", "export", old, "--output", str(file), *endpoint]) == 0
    exported = [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]
    assert exported[-len(events) :] == events
    assert exported == two.client.events(old)
    with nodes.log() as connection:
        longer_ago = datetime.now(UTC) - timedelta(days=40)
        connection.execute(
            "UPDATE sessions SET record = convert_to(jsonb_set(convert_from(record, 'UTF8')::jsonb, '{updated_at}', "
            "to_jsonb(%s::text))::text, 'UTF8') WHERE session_id = %s",
            (longer_ago.isoformat(timespec="milliseconds").replace("+00:00", "Z"), old),
        )
    one.kill()
    one.start()
    assert main(["sessions", "prune", "--older-than", "30d", "--yes", *endpoint]) == 0
    assert old in capsys.readouterr().out
    assert refusal(one.client.get(f"/v1/sessions/{old}")) == (404, "session_not_found")
    assert two.client.info(young)["state"] == "idle"
    with nodes.log() as connection:
        count = "SELECT count(*) FROM events WHERE session NOT IN (SELECT ordinal FROM sessions)"
        wait_until(lambda: connection.execute(count).fetchone() == (0,))
