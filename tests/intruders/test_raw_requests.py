"""Requests that no client library would send: odd targets, repeated headers, upgrades, endless heads."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

import msgspec
import pytest
from tests.daemons import SECONDS, Client, Daemon

from sandbox_agent.http.connection import MAX_HEAD_BYTES

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def say(daemon: Daemon, content: bytes) -> tuple[int, str]:
    """Send raw bytes to the daemon. Returns the status and the problem type of the response, or `""`."""
    with socket.create_connection(("127.0.0.1", daemon.port), SECONDS) as connection:
        try:
            connection.sendall(content)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has answered and does not want the rest
        answer = b""
        while b"\r\n\r\n" not in answer or _is_short(answer):
            if not (piece := connection.recv(1 << 16)):
                break
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    problem = msgspec.json.decode(body) if b"application/problem+json" in head else {}
    return int(head.split()[1]), str(problem.get("type", "")).rpartition(":")[2]


def _is_short(answer: bytes) -> bool:
    head, _, body = answer.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(lengths) and len(body) < int(lengths[0].partition(b":")[2])


def get(daemon: Daemon, target: str, **headers: str) -> tuple[int, str]:
    given = {"Host": f"127.0.0.1:{daemon.port}", **headers}
    lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    return say(daemon, "\r\n".join([*lines, "", ""]).encode("latin-1"))


# -- targets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1/v1/sessions",
        "http://127.0.0.1/v1/health/../sessions",
        "http://x/v1/health@127.0.0.1/v1/sessions",
        "/v1/health/../sessions",
        "/v1/health/%2e%2e/sessions",
        "/v1/health%2f..%2fsessions",
        "/v1/sessions/%2e%2e/health/x",
        "/v1/sessions#/v1/health",
        "/v1/sessions;/v1/health",
        "/v1/sessions?/v1/health",
        "/v1/sessions%00/v1/health",
        "/v1/health%00",
        "/v1/health/",
        "/V1/HEALTH",
        "//v1/health",
        "/./v1/health",
        "/v1/ready%20",
    ],
)
def test_whether_a_token_is_needed_is_decided_by_the_route_alone(daemon: Daemon, target: str) -> None:
    """However the target is spelled: anything but an exact public route needs the token."""
    assert get(daemon, target) == (401, "token_invalid")


def test_a_public_route_stays_one_however_it_is_asked_for(daemon: Daemon) -> None:
    for target in (
        "/v1/health",
        "/v1/%68ealth",
        f"http://127.0.0.1:{daemon.port}/v1/health",
        "/v1/health?x=1",
    ):
        assert get(daemon, target) == (200, "")


# -- headers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hosts",
    [["evil.example", "127.0.0.1"], ["127.0.0.1", "evil.example"], ["127.0.0.1", "127.0.0.1"]],
)
def test_two_hosts_are_refused(daemon: Daemon, hosts: list[str]) -> None:
    """A proxy may have checked either of them."""
    lines = ["GET /v1/health HTTP/1.1", *(f"Host: {host}" for host in hosts), "", ""]
    assert say(daemon, "\r\n".join(lines).encode()) == (400, "invalid_request")


@pytest.mark.parametrize("name", ["Authorization", "X-Sandbox-Token", "Origin"])
def test_a_security_header_must_not_be_repeated(daemon: Daemon, token: str, name: str) -> None:
    value = {"Authorization": f"Bearer {token}", "X-Sandbox-Token": token, "Origin": "http://127.0.0.1"}[name]
    lines = ["GET /v1/sessions HTTP/1.1", "Host: 127.0.0.1", f"{name}: {value}", f"{name}: x", "", ""]
    assert say(daemon, "\r\n".join(lines).encode()) == (400, "invalid_request")


@pytest.mark.parametrize(
    "head",
    [
        b"GET /v1/health HTTP/1.1\r\nX-Long: ",
        b"GET /",
        b"GET /v1/health HTTP/1.1\r\n",
        b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;",
    ],
    ids=["value", "target", "many", "chunk"],
)
def test_a_head_without_end_is_refused_soon(client: Client, daemon: Daemon, head: bytes) -> None:
    """Anyone can send one without a token: it must not fill the memory."""
    piece = b"X-Many: 1\r\n" if head.endswith(b"1.1\r\n") else b"x"
    flood = head + piece * (64 * MAX_HEAD_BYTES // len(piece))
    before = _resident_bytes(daemon)
    status, kind = say(daemon, flood)
    assert (status, kind) in {(413, "payload_too_large"), (401, "token_invalid")}
    assert _resident_bytes(daemon) - before < 4 * MAX_HEAD_BYTES + (8 << 20)
    assert client.get("/v1/health").status_code == 200


def test_a_long_head_within_the_limit_is_read(daemon: Daemon) -> None:
    assert get(daemon, "/v1/health", **{"X-Long": "x" * (MAX_HEAD_BYTES // 2)}) == (200, "")


def _resident_bytes(daemon: Daemon) -> int:
    pages = Path(f"/proc/{daemon.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


# -- upgrades -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/v1/sessions", "/v1/events/sse", "/docs", "/v1/sessions/x/events/sse"])
def test_an_upgrade_needs_the_token_like_everything_else(daemon: Daemon, path: str) -> None:
    origin = f"http://127.0.0.1:{daemon.port}"
    assert get(daemon, path, **UPGRADE, Origin=origin) == (401, "token_invalid")
    assert get(daemon, f"{path}?access_token=wrong", **UPGRADE, Origin=origin)[0] == 401


def test_an_upgrade_from_another_site_is_refused_with_the_right_token_too(daemon: Daemon, token: str) -> None:
    """A browser sends no preflight before a WebSocket: the Origin is all there is."""
    for path in ("/v1/sessions", f"/v1/events/sse?access_token={token}"):
        given = {**UPGRADE, "Origin": "https://evil.example", "Authorization": f"Bearer {token}"}
        assert get(daemon, path, **given) == (403, "permission_denied")


def test_an_upgrade_for_another_host_is_misdirected(daemon: Daemon) -> None:
    assert get(daemon, "/v1/sessions", **UPGRADE, Host="evil.example") == (421, "misdirected_host")


@pytest.mark.parametrize("protocol", ["websocket", "h2c", "TLS/1.0"])
def test_nothing_but_a_terminal_switches_protocols(daemon: Daemon, token: str, protocol: str) -> None:
    """No other operation is a WebSocket: an authorized client gets the plain response."""
    given = {**UPGRADE, "Upgrade": protocol, "Authorization": f"Bearer {token}"}
    assert get(daemon, "/v1/sessions", **given) == (200, "")


# -- clients that go ----------------------------------------------------------------------------


def say_and_go(daemon: Daemon, content: bytes) -> None:
    """Send this and reset the connection."""
    with socket.create_connection(("127.0.0.1", daemon.port), SECONDS) as connection:
        connection.sendall(content)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_a_client_that_disconnects_early_causes_no_error(client: Client, daemon: Daemon, token: str) -> None:
    before = daemon.stderr().count("Traceback")
    head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
    stream = f"POST /v1/sessions/{client.create()}/messages/stream HTTP/1.1\r\n{head}Content-Type: application/json\r\n"
    for times in range(40):
        say_and_go(daemon, f"GET /v1/sessions HTTP/1.1\r\n{head}\r\n".encode() * times)
        say_and_go(daemon, f'{stream}Content-Length: 16\r\n\r\n{{"message":"hi"}}'.encode())
    assert client.get("/v1/sessions").status_code == 200
    assert daemon.stderr().count("Traceback") == before
