"""Secrets stay where they belong: with the agent they were given to, and nowhere that anybody else can look."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemons import Client, Daemon, agent_pids, client_of, descendants, refusal, running

TOKEN = "planted-token-of-the-daemon"
OF_THE_DAEMON = {
    "ANTHROPIC_API_KEY": "planted-key-of-claude",
    "OPENAI_API_KEY": "planted-key-of-codex",
    "AWS_SECRET_ACCESS_KEY": "planted-key-of-nobody",
    "SANDBOX_AGENT_TOKEN": TOKEN,
    "MY_PRIVATE_NOTE": "planted-note",
}
OF_THE_SESSION = "planted-in-the-session"
OF_THE_MCP_SERVER = "planted-for-the-mcp-server"
HARMLESS = {
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "XDG_CACHE_HOME": "/nonexistent",
    "HTTPS_PROXY": "http://127.0.0.1:9",
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    env = {**OF_THE_DAEMON, **HARMLESS}
    folder = tmp_path_factory.mktemp("secrets")
    with running(Daemon(folder / "data", "--log-level", "debug", env=env)) as daemon:
        yield daemon


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with client_of(daemon, TOKEN) as client:
        yield client


def private_session(client: Client) -> str:
    mcp = {
        "local": {"command": "serve-mcp", "env": {"KEY": OF_THE_MCP_SERVER}},
        "remote": {"url": "https://mcp.example", "headers": {"authorization": OF_THE_MCP_SERVER}},
    }
    return client.create(env={"SESSION_SECRET": OF_THE_SESSION}, mcp=mcp)


def environment_of(pid: int) -> dict[str, str]:
    entries = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(entry.split("=", 1) for entry in entries if entry)


def test_an_agent_sees_a_small_base_and_what_its_session_adds(client: Client, daemon: Daemon) -> None:
    before = set(agent_pids(daemon))
    private_session(client)
    [agent] = set(agent_pids(daemon)) - before
    seen = environment_of(agent)
    marker = seen.pop("SANDBOX_AGENT_GUARD")
    assert "planted" not in marker
    assert seen.keys() == {"PATH", "HOME", *HARMLESS, "SESSION_SECRET"}
    assert seen["SESSION_SECRET"] == OF_THE_SESSION
    assert {name: seen[name] for name in HARMLESS} == HARMLESS


def test_a_session_does_not_see_what_another_was_given(client: Client, daemon: Daemon) -> None:
    private_session(client)
    before = set(agent_pids(daemon))
    client.create()
    [agent] = set(agent_pids(daemon)) - before
    assert OF_THE_SESSION not in str(environment_of(agent))


def test_a_program_that_is_asked_for_its_version_sees_its_own_family_only(
    tmp_path: Path,
) -> None:
    program = tmp_path / "data" / "bin" / "claude"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\necho 1.2.3\n")
    program.chmod(0o755)
    daemon = Daemon(tmp_path / "data", "--log-level", "warning", env=OF_THE_DAEMON)
    with running(daemon), client_of(daemon, TOKEN) as client:
        client.get("/v1/agents")
    seen = (tmp_path / "seen").read_text()
    assert "ANTHROPIC_API_KEY=planted-key-of-claude" in seen
    others = {name for name in OF_THE_DAEMON if name != "ANTHROPIC_API_KEY"}
    assert [name for name in others if name in seen] == []


def test_no_secret_shows_anywhere(client: Client, daemon: Daemon) -> None:
    """After a session that ran, asked, crashed and was refused: events with raw, answers, logs and process lists."""
    session = private_session(client)
    client.turn(session, "hello")
    client.turn(session, "crash 3")
    client.turn(session, "memory")
    shown = [
        client.get(f"/v1/sessions/{session}").text,
        client.get("/v1/sessions").text,
        client.get(f"/v1/sessions/{session}/events", limit=1000, include_raw="true").text,
        client.patch(f"/v1/sessions/{session}", {"title": "new"}).text,
        client.get("/v1/agents").text,
        client.get("/metrics").text,
        client.get("/openapi.json").text,
    ]
    with client.reader(f"/v1/events/sse?offset=0&access_token={TOKEN}") as reader:
        shown += [frame.text for _, frame in zip(range(20), reader.events(), strict=False)]
    for body in (
        {"agent": "nobody", "env": {"A": OF_THE_SESSION}},
        {"agent": "mock", "env": {"A=": OF_THE_SESSION}},
        {"agent": "mock", "env": {"A": OF_THE_SESSION + "\0"}},
        {"agent": "mock", "env": OF_THE_SESSION},
        {"agent": "mock", "directory": "/nonexistent", "env": {"A": OF_THE_SESSION}},
        {"agent": "mock", "mcp": {"a": {"command": "a", "url": "b", "headers": {"k": OF_THE_MCP_SERVER}}}},
        {"agent": "mock", "mcp": {"a": OF_THE_MCP_SERVER}},
    ):
        answer = client.post("/v1/sessions/refused", body)
        assert refusal(answer)[0] == 400
        shown.append(answer.text)
    with client_of(daemon, "planted-wrong-token") as stranger:
        shown.append(stranger.get("/v1/sessions").text)
    for pid in (daemon.pid, *descendants(daemon.pid)):
        shown.append(Path(f"/proc/{pid}/cmdline").read_text())
    shown.append(daemon.said())
    assert [text for text in shown if "planted" in text] == []
    assert "started mock" in daemon.said()  # the log did speak


def test_a_token_from_a_file_is_in_no_process_list(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    daemon = Daemon(tmp_path / "data", "--token-file", str(tmp_path / "token"), "--log-level", "debug")
    with running(daemon), client_of(daemon, TOKEN) as client:
        session = client.create()
        client.turn(session, "hi")
        for pid in (daemon.pid, *descendants(daemon.pid)):
            assert TOKEN not in Path(f"/proc/{pid}/cmdline").read_text()
            assert TOKEN not in Path(f"/proc/{pid}/environ").read_text()


def test_no_session_can_choose_the_program_that_is_run(
    client: Client, daemon: Daemon, tmp_path: Path
) -> None:
    """Not by a field, and not by the PATH of its environment."""
    trap = tmp_path / "python3"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name in ("command", "path", "executable", "program", "args", "argv", "binary"):
        refused = client.post("/v1/sessions/trap", {"agent": "mock", name: str(trap)})
        assert refusal(refused) == (400, "invalid_request")
    for agent in (str(trap), "../../../bin/sh", "mock; sh"):
        assert refusal(client.post("/v1/sessions/trap", {"agent": agent})) == (400, "unsupported_agent")
    session = client.create(
        env={"PATH": str(tmp_path), "PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": str(trap)}
    )
    client.turn(session, "hi")
    assert not (tmp_path / "sprung").exists()
