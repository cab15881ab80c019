"""The client finds its daemon, sends its token to no other, and misses nothing when a connection is lost."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemons import SECONDS

from sandbox_agent import __version__
from sandbox_agent.cli.failures import CommandFailed, WrongUsage
from sandbox_agent.cli.remote import Address, Call, Remote, call, find_address
from sandbox_agent.cli.state import DaemonState, save
from sandbox_agent.runtime.folder import DataFolder

from ..scripted_http import answer, numbered, problem, server, stream
from .conftest import command, environment

# -- where the daemon is ----------------------------------------------------------------------


@pytest.fixture
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data directory in which this very process is the daemon."""
    for name in ("SANDBOX_AGENT_ENDPOINT", "SANDBOX_AGENT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SANDBOX_AGENT_DATA_DIR", str(tmp_path))
    folder = DataFolder(tmp_path)
    save(tmp_path, DaemonState(os.getpid(), "http://127.0.0.1:999", "secret", __version__))
    yield tmp_path
    folder.close()


def test_a_daemon_is_found_through_its_file(state_folder: Path) -> None:
    assert find_address(argparse.Namespace()) == Address("http://127.0.0.1:999", "secret")
    assert (state_folder / "daemon.json").stat().st_mode & 0o777 == 0o600


def test_flags_win_over_the_environment_and_that_over_the_file(
    state_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_AGENT_ENDPOINT", "http://env/")
    monkeypatch.setenv("SANDBOX_AGENT_TOKEN", "T")
    assert find_address(argparse.Namespace()) == Address("http://env", "T")
    assert find_address(argparse.Namespace(endpoint="http://flag", token="F")) == Address("http://flag", "F")


def test_a_token_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("T\n")
    assert find_address(argparse.Namespace(endpoint="http://h", token_file=str(file))).token == "T"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"token_file": "/dev/null"}, "--token-file /dev/null is empty"),
        ({"token_file": "/nowhere"}, "cannot read --token-file /nowhere: No such file or directory"),
        ({"token_file": "/dev/null", "token": "T"}, "use either --token or --token-file, not both"),
    ],
)
def test_a_token_file_that_says_nothing_is_wrong_usage(given: dict[str, str], message: str) -> None:
    with pytest.raises(WrongUsage, match=f"^{message}$"):
        find_address(argparse.Namespace(**given))


def test_the_token_of_a_file_is_sent_to_no_other_daemon(state_folder: Path) -> None:
    assert find_address(argparse.Namespace(endpoint="http://elsewhere")) == Address("http://elsewhere", None)
    assert find_address(argparse.Namespace(endpoint="http://127.0.0.1:999")).token == "secret"


def test_the_file_of_a_dead_daemon_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SANDBOX_AGENT_TOKEN", raising=False)
    folder = DataFolder(tmp_path)
    save(tmp_path, DaemonState(os.getpid(), "http://127.0.0.1:999", "secret", __version__))
    folder.close()
    assert find_address(argparse.Namespace(data_dir=str(tmp_path))) == Address("http://127.0.0.1:2468", None)


# -- streams ----------------------------------------------------------------------------------


GONE = problem("session_not_found", 404, "no session x")


def test_a_lost_stream_goes_on_after_what_was_seen() -> None:
    seen: list[bytes] = []
    with (
        server(stream(*numbered(1, 2), cut=True), stream(*numbered(3)), GONE) as (endpoint, asked),
        Remote(Address(endpoint, None)) as remote,
        pytest.raises(CommandFailed, match="no session x"),
    ):
        seen.extend(frame.data for frame in remote.follow(Call("GET", "/")))
    assert seen == [b"e1", b"e2", b"e3"]
    assert [request.headers.get("last-event-id") for request in asked] == [None, "2", "3"]


def test_a_stream_ends_when_the_daemon_says_that_nothing_more_comes() -> None:
    with (
        server(stream(*numbered(1), b"event: end\ndata: {}\n\n")) as (endpoint, asked),
        Remote(Address(endpoint, None)) as remote,
    ):
        assert [frame.data for frame in remote.follow(Call("GET", "/"))] == [b"e1"]
    assert len(asked) == 1


def test_the_stream_of_a_turn_is_asked_for_again_with_the_same_key_and_ends_with_it() -> None:
    with (
        server(stream(*numbered(5, 6), cut=True), stream(*numbered(5, 6, 7))) as (endpoint, asked),
        Remote(Address(endpoint, "T")) as remote,
    ):
        seen = [frame.data for frame in remote.follow(call("POST", "/", body={}))]
    assert seen == [b"e5", b"e6", b"e7"]
    assert asked[0].headers["idempotency-key"] == asked[1].headers["idempotency-key"]
    assert asked[0].headers["authorization"] == "Bearer T"


def test_a_lost_connection_and_its_return_are_each_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    away = problem("unavailable", 503, "stopping", retry_after="0")
    with (
        server(stream(*numbered(1), cut=True), away, away, stream(*numbered(2), cut=True), GONE) as (
            endpoint,
            _,
        ),
        Remote(Address(endpoint, None)) as remote,
        pytest.raises(CommandFailed, match="no session x"),
    ):
        list(remote.follow(Call("GET", "/")))
    lost, back = "connection lost, reconnecting", "reconnected"
    assert capsys.readouterr().err == "".join(f"sandbox-agent: {text}\n" for text in (lost, back, lost))


def test_another_version_is_warned_about_once(capsys: pytest.CaptureFixture[str]) -> None:
    newer = answer({}, x_sandbox_agent_version="99.0")
    with server(newer, newer) as (endpoint, _), Remote(Address(endpoint, None)) as remote:
        remote.get("/a")
        remote.get("/b")
    assert capsys.readouterr().err == (
        f"sandbox-agent: warning: the daemon is version 99.0, this command is {__version__}: some things may not work\n"
    )


@pytest.mark.parametrize(
    "body", ["<html>", {"error": {"message": "no route"}}, {"detail": "Not Found"}, None]
)
def test_another_server_at_the_address_is_recognized(body: object) -> None:
    with (
        server(answer(body, 500)) as (endpoint, _),
        Remote(Address(endpoint, None)) as remote,
        pytest.raises(CommandFailed) as failed,
    ):
        remote.get("/")
    assert (
        failed.value.readable()
        == f"error: {endpoint} answered with status 500: it is not a sandbox-agent daemon"
    )


def test_a_success_without_json_is_not_from_a_daemon() -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>"
    with (
        server(page) as (endpoint, _),
        Remote(Address(endpoint, None)) as remote,
        pytest.raises(CommandFailed, match="did not answer with JSON: it is not a sandbox-agent daemon"),
    ):
        remote.get("/")


@pytest.mark.parametrize(
    "words",
    [
        *("sessions list", "sessions get s", "sessions events s", "sessions show s", "sessions export s"),
        *("sessions new --agent mock", "sessions stream-message s hello", "run mock hello", "usage"),
        *("exec -- true", "processes logs p", "processes logs p --follow", "cp :a b"),
    ],
)
def test_every_command_recognizes_a_web_server_that_answers_everything_with_a_page(
    words: str, tmp_path: Path
) -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>"
    with server(*[page] * 5) as (endpoint, _):
        ran = subprocess.run(
            command("--endpoint", endpoint, *words.split()),
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert re.fullmatch(
        rf"error: {endpoint} did not answer with .*: it is not a sandbox-agent daemon\n", ran.stderr
    )


@pytest.mark.parametrize("token", ["tökén", "two\nlines"])
def test_an_impossible_token_is_a_clear_error(token: str) -> None:
    with pytest.raises(CommandFailed, match="the token contains something other than printable ASCII"):
        Remote(Address("http://127.0.0.1:1", token))


@pytest.mark.parametrize(
    "endpoint",
    [
        *("127.0.0.1:2468", "ftp://host", "http://", "http://[::1", "http://a..b"),
        *("http://127.0.0.1:abc", "http://127.0.0.1:99999", "http://127.0.0.1:-1"),
    ],
)
def test_an_invalid_address_is_refused(endpoint: str) -> None:
    with pytest.raises(CommandFailed, match="is not an address"):
        find_address(argparse.Namespace(endpoint=endpoint))
