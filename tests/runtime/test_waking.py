"""A turn that the agent begins by itself is like any other, in a real daemon with a real process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.daemons import Daemon, client_of, descendants, of_type, running, wait_until

pytestmark = pytest.mark.slow

AGENT = Path(__file__).with_name("waking_agent.py")


def test_it_can_be_cancelled_even_if_the_one_before_it_was(tmp_path: Path) -> None:
    program = tmp_path / "data" / "bin" / "claude"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!{sys.executable}\n{AGENT.read_text()}")
    program.chmod(0o700)
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        session = client.create(agent="claude")
        processes = descendants(daemon.pid)
        with client.follow(session) as reader:
            client.send(session, "go")
            reader.until(lambda event: event["source"] == "agent" and event["type"] == "item.completed")
            client.post(f"/v1/sessions/{session}/cancel")
            reader.until(lambda event: event["source"] == "agent" and event["type"] == "turn.started")
            client.post(f"/v1/sessions/{session}/cancel")
        ended = [data["metadata"]["stop_reason"] for data in of_type(client.events(session), "turn.ended")]
        assert ended == ["interrupted", "interrupted"]
        # It received both: an agent that ignores them would have been ended.
        wait_until(lambda: client.info(session)["state"] == "idle")
        assert descendants(daemon.pid) == processes
