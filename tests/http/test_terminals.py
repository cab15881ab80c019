"""Terminals over WebSocket: several viewers, late viewers, and access checks."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import SECONDS, Client, Daemon, done, refusal, running
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

TOKEN = "sixteen-characters-or-more"


def create(client: Client, script: str, **more: object) -> str:
    body = {"command": "sh", "args": ["-c", script], "tty": True, **more}
    id: str = done(client.post("/v1/processes", body))["id"]
    return id


def look(client: Client, id: str, query: str = "", **options: Any) -> ClientConnection:
    url = f"ws://127.0.0.1:{client.daemon.port}/v1/processes/{id}/terminal/ws{query}"
    connection: ClientConnection = connect(url, open_timeout=SECONDS, compression=None, proxy=None, **options)
    return connection


class Screen:
    """What one viewer has seen."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.text = b""
        self.frames: list[dict[str, Any]] = []

    def until(self, wanted: bytes) -> None:
        while wanted not in self.text:
            self._take(self._socket.recv(SECONDS))

    def until_frame(self, kind: str) -> dict[str, Any]:
        while not (found := [frame for frame in self.frames if frame["type"] == kind]):
            self._take(self._socket.recv(SECONDS))
        return found[-1]

    def _take(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self.text += message
        else:
            self.frames.append(json.loads(message))

    def type(self, text: str) -> None:
        self._socket.send(json.dumps({"type": "input", "data": text}))

    def send(self, frame: dict[str, object]) -> None:
        self._socket.send(json.dumps(frame))


def test_viewers_share_a_terminal_and_a_late_one_sees_the_same(client: Client) -> None:
    id = create(client, "cat")
    with look(client, id) as one, look(client, id) as two:
        first, second = Screen(one), Screen(two)
        first.type("from the first\n")
        second.until(b"from the first\r\nfrom the first\r\n")
        second.type("from the second\n")
        for screen in (first, second):
            screen.until(b"from the second\r\nfrom the second\r\n")
        assert first.text == second.text
        with look(client, id) as three:
            third = Screen(three)
            third.until(b"from the second\r\nfrom the second\r\n")
            assert third.text == first.text
        first.send({"type": "close"})
        with pytest.raises(ConnectionClosed):
            one.recv(SECONDS)
        second.type("\x04")
        assert second.until_frame("exit") == {"type": "exit", "exitCode": 0}


def test_it_is_the_controlling_terminal(client: Client) -> None:
    id = create(client, "trap 'echo interrupted; exit 6' INT; tty; echo ready; while :; do sleep 0.05; done")
    with look(client, id) as socket:
        screen = Screen(socket)
        screen.until(b"ready")
        assert b"/dev/pts/" in screen.text
        screen.type("\x03")
        assert screen.until_frame("exit")["exitCode"] == 6
        assert b"interrupted" in screen.text


def test_a_resize_reaches_the_program_even_if_the_size_is_the_same(client: Client) -> None:
    id = create(client, "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done")
    with look(client, id) as socket:
        screen = Screen(socket)
        screen.until(b"ready")
        for _ in range(2):
            screen.text = b""
            screen.send({"type": "resize", "cols": 90, "rows": 22})
            screen.until(b"22 90")
    done(client.post(f"/v1/processes/{id}/kill"))


def test_the_scrollback_is_bounded_begins_with_a_line_and_asks_nothing(client: Client) -> None:
    id = create(client, "seq 200000; printf '\\033[c\\033[6n\\033]11;?\\007\\033[31mred'; sleep 60")
    with look(client, id) as socket:
        Screen(socket).until(b"red")
    with look(client, id) as socket:
        screen = Screen(socket)
        screen.until(b"red")
    first, *_ = screen.text.split(b"\r\n")
    assert first.isdigit()
    assert len(screen.text) <= 256 << 10
    assert screen.text.endswith(b"200000\r\n\x1b[31mred")
    done(client.post(f"/v1/processes/{id}/kill"))


@pytest.mark.parametrize(
    "frame",
    ["{", "[]", '{"type":"dance"}', '{"type":"resize","cols":0,"rows":1}', '{"type":"resize","cols":70000,"rows":1}',
     '{"type":"input"}', '{"type":"input","data":"?","encoding":"base64"}',
     '{"type":"input","data":"x","encoding":"latin"}', b"bytes", json.dumps({"type": "input", "data": "x" * 70_000})],
)  # fmt: skip
def test_a_bad_frame_is_reported_and_the_connection_stays_open(
    client: Client, shared: str, frame: str | bytes
) -> None:
    with look(client, shared) as socket:
        screen = Screen(socket)
        socket.send(frame)
        assert screen.until_frame("error")["message"]
        mark = f"still-here-{time.monotonic_ns()}"
        screen.type(f"{mark}\n")
        screen.until(mark.encode())


@pytest.fixture(scope="session")
def shared(daemon: Daemon) -> Iterator[str]:
    """A terminal that stays."""
    client = Client(daemon)
    yield create(client, "cat")
    client.close()


def refused(client: Client, id: str, query: str = "", **options: Any) -> tuple[int, str]:
    with pytest.raises(InvalidStatus) as caught, look(client, id, query, **options):
        pass
    answer = caught.value.response
    problem = json.loads(bytes(answer.body or b""))
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, problem["type"].rpartition(":")[2]


def test_a_viewer_without_permission_is_refused_at_the_upgrade(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data", "--token", TOKEN, "--log-level", "debug")) as daemon:
        client = Client(daemon, TOKEN)
        id = create(client, "cat")
        plain = done(client.post("/v1/processes", {"command": "cat"}))["id"]
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert refused(client, id) == (401, "token_invalid")
        assert refused(client, id, "?access_token=wrong") == (401, "token_invalid")
        assert refused(client, id, f"?access_token={TOKEN}", origin="http://evil.example") == (
            403,
            "permission_denied",
        )
        assert refused(client, id, additional_headers={**bearer, "Host": "evil.example"})[0] in (400, 421)
        assert refused(client, id, f"?access_token={TOKEN}&x=1") == (400, "invalid_request")
        assert refused(client, "proc_99", additional_headers=bearer) == (404, "not_found")
        assert refused(client, plain, additional_headers=bearer) == (409, "conflict")
        with look(client, id, f"?access_token={TOKEN}", origin=f"http://127.0.0.1:{daemon.port}") as socket:
            assert Screen(socket).until_frame("ready") == {"type": "ready", "processId": id}
        assert refusal(client.get(f"/v1/processes/{id}/terminal/ws")) == (400, "invalid_request")
        client.close()
        daemon.stop()
        assert TOKEN not in daemon.stderr()


def test_an_upgrade_elsewhere_is_a_request_like_any_other(client: Client) -> None:
    headers = {"connection": "Upgrade", "upgrade": "websocket"}
    assert client.request("GET", "/v1/health", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("version", "key"), [("13", None), ("13", "no-key"), ("12", "dGhlIHNhbXBsZSBub25jZQ==")]
)
def test_a_handshake_that_is_not_valid_is_refused_with_a_problem(
    client: Client, version: str, key: str | None
) -> None:
    headers = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": version}
    if key is not None:
        headers["sec-websocket-key"] = key
    assert refusal(client.request("GET", "/v1/acp", headers=headers)) == (400, "invalid_request")
