"""MCP servers and skills of a directory: kept in the data directory, and given to its sessions."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import Client, Daemon, client_of, done, refusal, running, wait_until
from tests.published_client import run_with_published_client

TOKEN = "sixteen-characters-or-more"
HEAD = "---\nname: {0}\ndescription: About {0}.\n---\n"


def put(client: Client, kind: str, directory: Path, name: str, body: dict[str, Any]) -> Any:
    query = {"directory": str(directory), "mcpName" if kind == "mcp" else "skillName": name}
    return client.request("PUT", f"/v1/config/{kind}", params=query, json=body)


def folder_with_skill(path: Path, name: str) -> str:
    (path / name).mkdir(parents=True)
    (path / name / "SKILL.md").write_text(HEAD.format(name))
    return str(path)


def names_of(answer: Any) -> list[str]:
    return [each["name"] for each in next(iter(done(answer).values()))]


@pytest.mark.slow
def test_every_config_method_of_the_published_client_works(tmp_path: Path) -> None:
    program = Path(__file__).with_name("published_config.mjs")
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon:
        address = f"http://127.0.0.1:{daemon.port}"
        assert run_with_published_client(program, address, TOKEN, str(tmp_path)) == "done\n"


def test_a_session_gets_what_its_directory_has_below_its_own(client: Client, tmp_path: Path) -> None:
    link = tmp_path / "link"
    work = tmp_path / "work"
    work.mkdir()
    link.symlink_to(work)
    for name in ("both", "theirs"):
        assert put(client, "mcp", link, name, {"command": "theirs"}).status_code == 204
    assert put(client, "mcp", work, "off", {"url": "https://host/mcp", "enabled": False}).status_code == 204
    own, house = (folder_with_skill(tmp_path / where, "pdf") for where in ("own", "house"))
    folder_with_skill(tmp_path / "house", "css")
    assert (
        put(client, "skills", work, "house", {"sources": [{"type": "local", "source": house}]}).status_code
        == 204
    )
    session = client.create(
        directory=str(work),
        mcp={"both": {"command": "own"}, "mine": {"type": "local", "command": "own", "args": []}},
        skills={"sources": [{"type": "local", "source": own}]},
    )
    servers = done(client.get(f"/v1/sessions/{session}/mcp"))["servers"]
    assert {server["name"]: server["state"] for server in servers} == {
        "both": "unknown",
        "theirs": "unknown",
        "off": "disabled",
        "mine": "unknown",
    }
    assert done(client.get(f"/v1/sessions/{session}/skills"))["skills"] == [
        {"name": "pdf", "description": "About pdf.", "source": own},
        {"name": "css", "description": "About css.", "source": house},
    ]
    assert os.listdir(work) == []
    elsewhere = client.create(directory=str(tmp_path))
    assert done(client.get(f"/v1/sessions/{elsewhere}/mcp")) == {"servers": []}


def test_what_is_written_at_once_is_all_kept_and_private(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        with ThreadPoolExecutor(8) as threads:
            answers = threads.map(
                lambda n: put(client, "mcp", tmp_path, f"s{n}", {"command": str(n)}), range(24)
            )
        assert [answer.status_code for answer in answers] == [204] * 24
        daemon.kill()
        daemon.start()
        for number in range(24):
            kept = done(client.get("/v1/config/mcp", directory=tmp_path, mcpName=f"s{number}"))
            assert kept == {"type": "local", "command": str(number)}
        (file,) = (tmp_path / "data" / "directories").iterdir()
        assert file.stat().st_mode & 0o777 == 0o600


def test_a_workspace_cannot_configure_itself(client: Client, tmp_path: Path) -> None:
    for place in (".sandbox-agent/config", ".sandbox-agent"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / "mcp.json").write_text('{"evil":{"type":"local","command":"touch"}}')
    session = client.create(directory=str(tmp_path))
    assert done(client.get(f"/v1/sessions/{session}/mcp")) == {"servers": []}


def test_too_much_is_refused_and_what_was_there_stays(client: Client, tmp_path: Path) -> None:
    assert put(client, "mcp", tmp_path, "kept", {"command": "x"}).status_code == 204
    large = put(client, "mcp", tmp_path, "large", {"command": "x" * 300_000})
    assert refusal(large) == (413, "payload_too_large")
    assert refusal(put(client, "mcp", tmp_path / "gone", "x", {"command": "x"})) == (400, "invalid_request")
    assert refusal(put(client, "mcp", Path("relative"), "x", {"command": "x"})) == (400, "invalid_request")
    assert done(client.get("/v1/config/mcp", directory=tmp_path, mcpName="kept"))["command"] == "x"


@pytest.mark.parametrize("name", ["a\0b", "a\nb"])
def test_a_name_that_cannot_be_printed_is_refused(client: Client, tmp_path: Path, name: str) -> None:
    assert refusal(put(client, "mcp", tmp_path, name, {"command": "x"})) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        ({}, "either `command` or `url`"),
        ({"command": "x", "url": "https://host"}, "either `command` or `url`"),
        ({"type": "remote", "command": "x"}, "needs `url`"),
        ({"command": "x", "headers": {"a": "b"}}, "cannot have `headers`"),
        ({"url": "https://host", "cwd": "x"}, "cannot have `cwd`"),
        ({"url": "https://host", "headers": {"a b": "c"}}, "not a valid header name"),
        ({"url": "https://host", "bearerTokenEnvVar": "PATH"}, "--mcp-env PATH"),
        ({"url": "https://host", "envHeaders": {"a": "BROKEN"}}, "cannot be sent in a header"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "x", "unknown": 1}, "unknown"),
        ({"command": "x", "timeoutMs": 0}, "timeoutMs"),
    ],
)
def test_an_mcp_server_that_cannot_work_is_refused(
    client: Client, server: dict[str, Any], reason: str
) -> None:
    body = {"agent": "mock", "env": {"BROKEN": "a\nb"}, "mcp": {"demo": server}}
    answer = client.post("/v1/sessions", body)
    assert refusal(answer) == (400, "invalid_request")
    assert reason in answer.json()["detail"]
    assert answer.json()["field"] == "mcp"


def test_a_source_that_is_missing_creates_nothing_and_is_named(client: Client, tmp_path: Path) -> None:
    source = {"type": "local", "source": str(tmp_path / "none")}
    answer = client.post("/v1/sessions/without", {"agent": "mock", "skills": {"sources": [source]}})
    assert refusal(answer) == (400, "invalid_request")
    assert (answer.json()["field"], answer.json()["source"]) == ("skills", source["source"])
    assert refusal(client.get("/v1/sessions/without")) == (404, "session_not_found")


def test_a_sessions_skills_outlive_the_daemon_and_go_with_the_session(tmp_path: Path) -> None:
    source = folder_with_skill(tmp_path / "mine", "pdf")
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        session = client.create(skills={"sources": [{"type": "local", "source": source}]})
        (skill,) = (tmp_path / "data" / "attachments").glob("*/skills/skills/pdf/SKILL.md")
        daemon.kill()
        daemon.start()
        assert names_of(client.get(f"/v1/sessions/{session}/skills")) == ["pdf"]
        assert skill.read_text() == HEAD.format("pdf")
        assert client.delete(f"/v1/sessions/{session}").status_code == 204
        wait_until(lambda: not skill.parents[3].exists())
