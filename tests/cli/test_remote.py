"""The client finds its daemon, tells its token to no other, and misses nothing when a connection is lost."""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from sandbox_agent import __version__
from sandbox_agent.cli.failures import CommandFailed
from sandbox_agent.cli.remote import Address, Call, Remote, call, find_address
from sandbox_agent.cli.state import DaemonState, save
from sandbox_agent.runtime.folder import DataFolder

# -- where the daemon is ----------------------------------------------------------------------


@pytest.fixture
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state folder in which this very process is the daemon."""
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


def test_the_files_token_is_told_to_no_other_daemon(state_folder: Path) -> None:
    assert find_address(argparse.Namespace(endpoint="http://elsewhere")) == Address("http://elsewhere", None)
    assert find_address(argparse.Namespace(endpoint="http://127.0.0.1:999")).token == "secret"


def test_the_file_of_a_dead_daemon_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SANDBOX_AGENT_TOKEN", raising=False)
    folder = DataFolder(tmp_path)
    save(tmp_path, DaemonState(os.getpid(), "http://127.0.0.1:999", "secret", __version__))
    folder.close()
    assert find_address(argparse.Namespace(data_dir=str(tmp_path))) == Address("http://127.0.0.1:2468", None)


# -- streams ----------------------------------------------------------------------------------


@contextmanager
def server(*answers: bytes) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Gives each connection one of the answers and closes it; notes the headers of the requests."""
    waiting = list(answers)
    asked: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append({name.lower(): value for name, value in self.headers.items()})
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.wfile.write(waiting.pop(0))

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}", asked
        finally:
            http.shutdown()
            thread.join()


def stream(*numbers: int, cut: bool = False) -> bytes:
    """An answer with these frames. One that is cut promises more than it holds."""
    body = b"".join(b"id: %d\ndata: e%d\n\n" % (number, number) for number in numbers)
    length = len(body) + (1 if cut else 0)
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (length, body)


GONE = (
    b"HTTP/1.1 404 Not Found\r\nContent-Type: application/problem+json\r\nConnection: close\r\n\r\n"
    b'{"title":"Session not found","status":404,"detail":"no session x"}'
)


def test_a_lost_stream_goes_on_after_what_was_seen() -> None:
    seen: list[bytes] = []
    with (
        server(stream(1, 2, cut=True), stream(3), GONE) as (endpoint, asked),
        Remote(Address(endpoint, None)) as remote,
        pytest.raises(CommandFailed, match="no session x"),
    ):
        seen.extend(frame.data for frame in remote.follow(Call("GET", "/")))
    assert seen == [b"e1", b"e2", b"e3"]
    assert [headers.get("last-event-id") for headers in asked] == [None, "2", "3"]


def test_the_stream_of_a_turn_is_asked_for_again_with_the_same_key_and_ends_with_it() -> None:
    with (
        server(stream(5, 6, cut=True), stream(5, 6, 7)) as (endpoint, asked),
        Remote(Address(endpoint, "T")) as remote,
    ):
        seen = [frame.data for frame in remote.follow(call("POST", "/", body={}))]
    assert seen == [b"e5", b"e6", b"e7"]
    assert asked[0]["idempotency-key"] == asked[1]["idempotency-key"]
    assert asked[0]["authorization"] == "Bearer T"


def test_another_version_is_warned_about_once(capsys: pytest.CaptureFixture[str]) -> None:
    answer = b"HTTP/1.1 200 OK\r\nx-sandbox-agent-version: 99.0\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
    with server(answer, answer) as (endpoint, _), Remote(Address(endpoint, None)) as remote:
        remote.get("/a")
        remote.get("/b")
    assert capsys.readouterr().err == (
        f"sandbox-agent: warning: the daemon is version 99.0, this command is {__version__}: something may not work\n"
    )


def test_something_else_at_the_address_is_said_to_be_that() -> None:
    answer = b"HTTP/1.1 500 Oops\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>"
    with (
        server(answer) as (endpoint, _),
        Remote(Address(endpoint, None)) as remote,
        pytest.raises(CommandFailed) as failed,
    ):
        remote.get("/")
    assert (
        failed.value.readable()
        == f"error: {endpoint} answered with status 500: that is no sandbox-agent daemon"
    )


@pytest.mark.parametrize("endpoint", ["127.0.0.1:2468", "ftp://host", "http://"])
def test_what_is_no_address_is_refused(endpoint: str) -> None:
    with pytest.raises(CommandFailed, match="is not an address"):
        find_address(argparse.Namespace(endpoint=endpoint))
