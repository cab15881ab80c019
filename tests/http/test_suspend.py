"""A suspended session: its agent's process is gone, and the next message continues the conversation."""

from __future__ import annotations

from pathlib import Path

from tests.daemons import Daemon, agent_pids, client_of, refusal, running, stop_reason, texts


def test_a_suspended_agent_resumes_and_a_busy_one_keeps_running(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        session = client.create()
        client.turn(session, "first")
        count = len(client.events(session))
        for _ in range(2):
            assert client.post(f"/v1/sessions/{session}/suspend").status_code == 204
            assert agent_pids(daemon) == []
        assert len(client.events(session)) == count
        assert (
            texts(client.turn(session, "second"))[-1] == "You said: second (message 2 of this conversation)"
        )

        with client.follow(session) as reader:
            client.send(session, "pace 50 5")
            seen = reader.until_agent_speaks()
            assert client.post(f"/v1/sessions/{session}/suspend").status_code == 204
            seen += reader.until_type("turn.ended")
        assert stop_reason(seen) == "end_turn"
        assert refusal(client.post("/v1/sessions/nobody/suspend")) == (404, "session_not_found")
