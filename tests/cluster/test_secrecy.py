"""The database's password and sessions' secrets are seen by nobody who does not need them."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.logs import KEY_LINE
from tests.cluster.nodes import Nodes
from tests.daemons import descendants, done, wait_until

PASSWORD = "correct-horse-battery"
SECRET = "staple-of-a-session"


def test_the_address_of_the_database_and_secrets_stay_with_the_daemon(nodes: Nodes, tmp_path: Path) -> None:
    address, keys = tmp_path / "url", tmp_path / "keys"
    address.write_text(nodes.url.replace("postgres@", f"postgres:{PASSWORD}@"))
    keys.write_text(KEY_LINE)
    flags = ("--secrets-key-file", str(keys))
    env = {"SANDBOX_AGENT_DATABASE_URL": address.read_text(), "SANDBOX_AGENT_LOG_LEVEL": "debug"}
    one, two = nodes.start("one", *flags, env=env), nodes.start("two", *flags)
    session = one.client.create(env={"TOKEN": SECRET})
    one.client.send(session, "slow 60")
    process = done(one.client.post("/v1/processes", {"command": "sleep", "args": ["60"]}))
    assert process["pid"]
    two.client.send(session, "hello")
    wait_until(lambda: one.client.info(session)["state"] == "running")
    for pid in descendants(one.pid):
        assert PASSWORD.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
        assert PASSWORD.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
    shown = [
        one.client.get(path).text
        for path in ("/metrics", "/v1/nodes", "/v1/health", f"/v1/sessions/{session}")
    ]
    with nodes.log() as connection:
        commands = connection.execute("SELECT convert_from(request, 'UTF8') FROM commands").fetchall()
    for text in (*shown, str(commands), one.stderr(), two.stderr()):
        assert PASSWORD not in text
        assert SECRET not in text
