"""Command-line arguments become the request that the API expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from sandbox_agent.cli.command_line import parse
from sandbox_agent.cli.failures import CommandFailed, WrongUsage
from sandbox_agent.cli.remote import Call
from sandbox_agent.cli.request import (
    PIECE_BYTES,
    answers,
    call_of,
    mcp_servers,
    pairs,
    pieces_of_file,
    skill_source,
)
from sandbox_agent.errors import InvalidRequest


def upload(session_id: str, path: Path) -> dict[str, Any]:
    return {"path": f"/stored/{session_id}/{path.name}"}


def call(*words: str) -> Call:
    args = parse(words)
    return call_of(args._command, args, upload)


def test_a_body_holds_what_was_given() -> None:
    made = call(
        *("sessions", "create", "a b?c", "--agent", "mock", "--turn-timeout-ms", "5"),
        *("--env", "A=1=2", "--mcp", "files=run 'some thing' --fast", "--mcp", "web=https://host/mcp"),
    )
    assert (made.method, made.path) == ("POST", "/v1/sessions/a%20b%3Fc")
    assert made.headers == {"Content-Type": "application/json"}
    assert msgspec.json.decode(made.content or b"") == {
        "agent": "mock",
        "turnTimeoutMs": 5,
        "env": {"A": "1=2"},
        "mcp": {
            "files": {"command": "run", "args": ["some thing", "--fast"]},
            "web": {"url": "https://host/mcp"},
        },
    }


def test_an_id_cannot_name_another_resource() -> None:
    for turn_id in ("..", ".", "", "../..", "x/y"):
        with pytest.raises(InvalidRequest, match="is not an id"):
            call("sessions", "withdraw", "s", turn_id)
    assert call("sessions", "withdraw", "s", "a b?").path == "/v1/sessions/s/queue/a%20b%3F"


def test_a_get_has_its_fields_in_the_query() -> None:
    assert call("sessions", "events", "x", "--offset", "3", "--include-raw") == Call(
        "GET", "/v1/sessions/x/events", {"offset": "3", "includeRaw": "true"}
    )


def test_a_header_field_travels_as_a_header() -> None:
    made = call("sessions", "events-sse", "x", "--last-event-id", "7")
    assert made == Call("GET", "/v1/sessions/x/events/sse", {}, {"Last-Event-ID": "7"})


def test_a_relative_directory_is_one_of_this_shell() -> None:
    made = call("agents", "models", "mock", "--directory", "src")
    assert made.query == {"directory": str(Path.cwd() / "src")}


def test_a_local_file_is_uploaded_and_another_path_is_the_daemons(tmp_path: Path) -> None:
    here = tmp_path / "here.txt"
    here.write_text("hi")
    made = call(
        "sessions", "send-message", "x", "--message", "m", "--attach", str(here), "--attach", "/there.txt"
    )
    assert msgspec.json.decode(made.content or b"") == {
        "message": "m",
        "attachments": [{"path": "/stored/x/here.txt"}, {"path": "/there.txt"}],
    }


def test_an_upload_sends_the_bytes_under_the_files_name(tmp_path: Path) -> None:
    file = tmp_path / "a.bin"
    file.write_bytes(b"\0\1")
    made = call("attachments", "upload", "x", str(file))
    assert made._replace(content=b"".join(made.content)) == Call(
        "POST",
        "/v1/sessions/x/attachments",
        {"filename": "a.bin"},
        {"Content-Type": "application/octet-stream", "Content-Length": "2"},
        b"\0\1",
    )


def test_a_variable_without_a_value_comes_from_the_shell() -> None:
    assert pairs(["KEY", "EMPTY="], {"KEY": "secret"}) == {"KEY": "secret", "EMPTY": ""}
    with pytest.raises(WrongUsage, match="`GONE` is not set"):
        pairs(["GONE"], {})


def test_a_header_without_a_value_does_not_come_from_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "secret")
    with pytest.raises(WrongUsage, match="use --headers KEY=VALUE"):
        call("config", "set-mcp", "/srv/app", "web", "--url", "https://host/mcp", "--headers", "KEY")


def test_a_server_can_be_switched_off() -> None:
    made = call("config", "set-mcp", "/srv/app", "files", "--no-enabled", "--command", "npx", "--args=-y")
    assert msgspec.json.decode(made.content or b"") == {"command": "npx", "args": ["-y"], "enabled": False}


def test_a_source_of_skills_is_a_path_a_repository_or_json() -> None:
    made = call(
        *("config", "set-skills", "/srv/app", "house", "--source", "/srv/skills", "--source", "owner/name"),
        *("--source", "git@host:x", "--source", '{"type":"git","source":"https://host/x","ref":"v1"}'),
    )
    assert (made.method, made.path) == ("PUT", "/v1/config/skills")
    assert made.query == {"directory": "/srv/app", "skillName": "house"}
    assert msgspec.json.decode(made.content or b"") == {
        "sources": [
            {"type": "local", "source": "/srv/skills"},
            {"type": "github", "source": "owner/name"},
            {"type": "git", "source": "git@host:x"},
            {"type": "git", "source": "https://host/x", "ref": "v1"},
        ]
    }
    assert skill_source("./x")["source"].startswith("/")
    with pytest.raises(WrongUsage):
        skill_source("{")


def test_mcp_servers_may_be_json() -> None:
    assert mcp_servers(['{"a": {"command": "x"}}', "b=y"]) == {
        "a": {"command": "x"},
        "b": {"command": "y", "args": []},
    }


@pytest.mark.parametrize("text", ["{nonsense", "nameless", "=x", "a='"])
def test_a_bad_mcp_server_is_wrong_usage(text: str) -> None:
    with pytest.raises(WrongUsage):
        mcp_servers([text])


def test_answers_are_labels_per_question() -> None:
    assert answers(["Red", "Cheese, Basil"], None) == [["Red"], ["Cheese", "Basil"]]
    assert answers(None, '[["one, with a comma"]]') == [["one, with a comma"]]
    with pytest.raises(WrongUsage):
        answers(None, '["flat"]')


def test_a_log_that_grows_is_sent_as_long_as_it_was(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * (PIECE_BYTES + 1))
    pieces, size = pieces_of_file(str(log))
    assert len(next(pieces)) == PIECE_BYTES
    with log.open("ab") as more:
        more.write(b"more")
    assert (size, next(pieces), next(pieces, None)) == (PIECE_BYTES + 1, b"x", None)


def test_a_file_that_becomes_shorter_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 2 * PIECE_BYTES)
    pieces, _ = pieces_of_file(str(file))
    next(pieces)
    file.write_bytes(b"")
    with pytest.raises(CommandFailed, match="became shorter while it was read"):
        next(pieces)


@pytest.mark.parametrize("value", ["nan", "inf", "1e999", "much"])
def test_a_limit_is_a_number(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    """NaN would be sent as null, which is no limit."""
    with pytest.raises(WrongUsage, match="is not NAME=NUMBER"):
        call("sessions", "create", "s", "--agent", "mock", "--limits", f"maxCostUsd={value}")
    with pytest.raises(SystemExit):
        parse(["run", "mock", "hello", "--max-cost-usd", value])
    assert f"invalid number value: '{value}'" in capsys.readouterr().err
