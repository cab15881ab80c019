"""Slow clients and crowds of them do not affect clients with the token."""

from __future__ import annotations

import http.client
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.daemons import SECONDS, Daemon, client_of, running
from tests.intruders import impatient

from sandbox_agent.http.patience import MAX_UNTRUSTED
from sandbox_agent.processes import descriptors

CROWD = 1000
HALF_A_HEAD = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-"


@pytest.fixture(scope="module")
def impatient_daemon(tmp_path_factory: pytest.TempPathFactory, token: str) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("impatient")
    script = [sys.executable, str(impatient.__file__)]
    with running(Daemon(folder / "data", "--token", token, inside=script)) as daemon:
        yield daemon


@contextmanager
def connection(daemon: Daemon, content: bytes = b"") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", daemon.port), SECONDS) as connected:
        try:
            connected.sendall(content)
        except ConnectionError:
            pass  # it was refused before all of it was sent
        yield connected


def rest(connected: socket.socket) -> bytes:
    """Everything until the daemon closes the connection."""
    answer = b""
    try:
        while piece := connected.recv(1 << 16):
            answer += piece
    except ConnectionResetError:
        pass
    return answer


def an_upload(daemon: Daemon, token: str, length: int) -> bytes:
    lines = [
        "POST /v1/sessions/x HTTP/1.1",
        f"Host: 127.0.0.1:{daemon.port}",
        f"Authorization: Bearer {token}",
    ]
    lines += ["Content-Type: application/json", f"Content-Length: {length}", "", ""]
    return "\r\n".join(lines).encode()


# -- time ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("begun", [b"", b"\r\n", b"GET /v1", HALF_A_HEAD])
def test_a_head_must_be_complete_in_time(impatient_daemon: Daemon, begun: bytes) -> None:
    with connection(impatient_daemon, begun) as connected:
        answer = rest(connected)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"the headers of the request did not arrive within 1 seconds" in answer


def test_a_head_that_comes_byte_by_byte_gets_no_more_time(impatient_daemon: Daemon) -> None:
    began = time.monotonic()
    with connection(impatient_daemon, HALF_A_HEAD) as connected:
        connected.settimeout(0.1)
        while time.monotonic() - began < SECONDS:
            try:
                connected.sendall(b"x")
                assert connected.recv(100).startswith(b"HTTP/1.1 400 ")
                break
            except TimeoutError:
                continue
    assert impatient.HEAD_SECONDS <= time.monotonic() - began < SECONDS


def test_the_head_of_a_second_request_must_be_complete_in_time_too(impatient_daemon: Daemon) -> None:
    whole = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with connection(impatient_daemon, whole + HALF_A_HEAD) as connected:
        answer = rest(connected)
    assert answer.count(b"HTTP/1.1 200 ") == answer.count(b"HTTP/1.1 400 ") == 1


def test_a_body_must_not_pause(impatient_daemon: Daemon, token: str) -> None:
    with connection(impatient_daemon, an_upload(impatient_daemon, token, 100) + b'{"agent"') as connected:
        answer = rest(connected)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"the rest of the body did not arrive within 0.6 seconds" in answer


def test_a_body_may_take_as_long_as_it_goes_on(impatient_daemon: Daemon, token: str) -> None:
    body = b'{"agent": "nobody"}'
    began = time.monotonic()
    with connection(impatient_daemon, an_upload(impatient_daemon, token, len(body))) as connected:
        for number in range(len(body)):
            time.sleep(0.1)  # a slow client
            connected.sendall(body[number : number + 1])
        answer = b""
        while b"unsupported_agent" not in answer:
            answer += connected.recv(1 << 16)
    assert time.monotonic() - began > max(impatient.HEAD_SECONDS, impatient.BODY_SECONDS)
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_streams_idle_connections_and_slow_answers_are_not_hurried(
    impatient_daemon: Daemon, token: str
) -> None:
    with client_of(impatient_daemon, token) as client:
        session = client.create()
        with client.follow(session) as reader, connection(impatient_daemon) as clock:
            reader.until_type("session.started")
            rest(clock)  # by now a head would have been overdue
            with client.reader(
                f"/v1/sessions/{session}/messages/stream", body={"message": "sleep 1.5"}
            ) as turn:
                assert [frame.data for frame in turn.events()][-1]["type"] == "turn.ended"
            reader.until_type("turn.ended")


# -- crowds -------------------------------------------------------------------------------------


@pytest.fixture
def small_daemon(tmp_path: Path, token: str) -> Iterator[Daemon]:
    """A daemon with a hard limit of 1,024 descriptors."""
    limited = ["sh", "-c", 'ulimit -n 1024; exec "$@"', "sh"]
    with running(Daemon(tmp_path / "data", "--token", token, inside=limited)) as daemon:
        yield daemon


@pytest.mark.slow
@pytest.mark.parametrize(
    "head",
    [HALF_A_HEAD, HALF_A_HEAD + b"x" * 60_000, HALF_A_HEAD + b"Y: 1\r\nX-" * 7000],
    ids=["short", "long", "many headers"],
)
def test_many_half_open_requests_do_not_block_the_daemon(
    small_daemon: Daemon, token: str, head: bytes
) -> None:
    descriptors.raise_limit()  # the crowd is ours
    with (
        client_of(small_daemon, token) as early,
        client_of(small_daemon, token) as late,
        ExitStack() as crowd,
    ):
        session = early.create()
        reader = crowd.enter_context(early.follow(session))
        reader.until_type("session.started")
        before = resident_bytes(small_daemon)
        for _ in range(CROWD):
            crowd.enter_context(connection(small_daemon, head))
        assert late.get("/v1/sessions").status_code == 200
        assert open_descriptors(small_daemon) < MAX_UNTRUSTED + 100
        grown = resident_bytes(small_daemon) - before
        assert grown < 64 << 20
        # A client that has shown the token is not disconnected, and agents can be started.
        early.turn(session, "hello")
        reader.until_type("turn.ended")
        late.turn(late.create(), "hello")


@pytest.mark.slow
def test_idle_connections_without_a_token_make_room_for_others(small_daemon: Daemon, token: str) -> None:
    descriptors.raise_limit()
    with client_of(small_daemon, token) as client, ExitStack() as crowd:
        for _ in range(CROWD):
            connected = crowd.enter_context(
                connection(small_daemon, b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            )
            assert connected.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        assert client.get("/v1/sessions").status_code == 200
        assert open_descriptors(small_daemon) < MAX_UNTRUSTED + 100


def open_descriptors(daemon: Daemon) -> int:
    return len(os.listdir(f"/proc/{daemon.pid}/fd"))


def resident_bytes(daemon: Daemon) -> int:
    return int(Path(f"/proc/{daemon.pid}/statm").read_text().split()[1]) * 4096


# -- unwanted bodies ----------------------------------------------------------------------------


@pytest.mark.parametrize(("right", "length", "status"), [(False, 1000, 401), (True, 1 << 30, 413)])
def test_after_a_refusal_the_rest_of_the_body_is_not_read(
    daemon: Daemon, token: str, right: bool, length: int, status: int
) -> None:
    head = an_upload(daemon, token if right else "a-token-that-is-wrong", length)
    with connection(daemon, head + b"{") as connected:
        answer = rest(
            connected
        )  # which ends: the daemon has closed the connection, and did not wait for the body
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"\r\nconnection: close\r\n" in answer


def test_a_body_without_a_token_is_not_read_on_public_routes_either(daemon: Daemon) -> None:
    head = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n"
    with connection(daemon, head + b"x") as connected:
        assert rest(connected).startswith(b"HTTP/1.1 413 ")


def test_a_connection_whose_request_was_read_stays_open_after_a_refusal(daemon: Daemon, token: str) -> None:
    client = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=SECONDS)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    client.request("POST", "/v1/sessions/x", b'{"agent": "nobody"}', headers)
    connected = client.sock
    assert client.getresponse().read().startswith(b'{"type":"urn:sandbox-agent:error:unsupported_agent"')
    client.request("GET", "/v1/sessions", headers=headers)
    assert client.getresponse().status == 200
    assert client.sock is connected
    client.close()
