"""ACP over HTTP and WebSocket at `/v1/acp`, as plain requests and with the protocol's own SDK."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.acp_clients import acp_modules, python_sdk, violations
from tests.daemons import SECONDS, Client, Daemon, Reader, client_of, refusal, running

TOKEN = "sixteen-characters-or-more"
ACP = "/v1/acp"
STREAM = {"accept": "text/event-stream"}


class Remote:
    """A client of the Streamable HTTP transport."""

    def __init__(self, client: Client, agent: str = "mock") -> None:
        self.client = client
        params = {"protocolVersion": 1, "clientCapabilities": {"elicitation": {"form": {}}}}
        answer = client.post(f"{ACP}?agent={agent}", _message("initialize", params, 0))
        assert answer.status_code == 200, answer.text
        assert answer.json()["result"]["protocolVersion"] == 1
        self.headers = {"acp-connection-id": answer.headers["acp-connection-id"]}

    def post(self, message: object, session: str | None = None) -> httpx2.Response:
        headers = self.headers if session is None else {**self.headers, "acp-session-id": session}
        return self.client.post(ACP, message, **headers)

    def stream(self, session: str | None = None) -> Reader:
        headers = self.headers if session is None else {**self.headers, "acp-session-id": session}
        return self.client.reader(ACP, {**headers, **STREAM})

    def new(self, stream: Reader, cwd: object) -> str:
        assert self.post(_message("session/new", {"cwd": str(cwd), "mcpServers": []}, 1)).status_code == 202
        session: str = next(messages(stream))["result"]["sessionId"]
        self.client.sessions.append(session)
        return session


def _message(method: str, params: object, id: int | None = None) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if id is None else {**message, "id": id}


def _prompt(session: str, text: str, id: int) -> dict[str, Any]:
    params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    return _message("session/prompt", params, id)


def messages(stream: Reader) -> Iterator[dict[str, Any]]:
    for frame in stream.frames():
        if "data" in frame.fields:
            assert violations(frame.data) == []
            yield frame.data


def until_answer(stream: Reader, id: int) -> list[dict[str, Any]]:
    """Everything up to the answer to a request."""
    seen = []
    for message in messages(stream):
        seen.append(message)
        if message.get("id") == id and "method" not in message:
            return seen
    raise AssertionError("the stream ended")


def text_of(seen: list[dict[str, Any]]) -> str:
    updates = [message["params"]["update"] for message in seen if message.get("method") == "session/update"]
    return "".join(
        each["content"]["text"] for each in updates if each["sessionUpdate"] == "agent_message_chunk"
    )


@pytest.mark.door("ACP", "remote")
def test_a_turn_over_http_has_its_answer_after_its_updates(native: Client, tmp_path: Path) -> None:
    remote = Remote(native)
    with remote.stream() as connection:
        session = remote.new(connection, tmp_path)
        # Messages for a stream that is not open yet wait for it.
        assert remote.post(_prompt(session, "thinking", 2), session).status_code == 202
        with remote.stream(session) as stream:
            seen = until_answer(stream, 2)
            assert text_of(seen) == "I thought about it."
            assert seen[-1]["result"]["stopReason"] == "end_turn"
            assert refusal_of_stream(remote, session) == (409, "conflict")
            asked = native.post(
                ACP, _prompt(session, "permission hello", 3), **remote.headers, **{"acp-session-id": session}
            )
            assert asked.status_code == 202
            for message in messages(stream):
                if message.get("method") == "session/request_permission":
                    chosen = {"outcome": {"outcome": "selected", "optionId": "once"}}
                    remote.post({"jsonrpc": "2.0", "id": message["id"], "result": chosen}, session)
                    break
            assert text_of(until_answer(stream, 3)) == "The command said: hello"
        load = _message("session/load", {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}, 4)
        with remote.stream(session) as stream:
            remote.post(load, session)
            answer = next(message for message in messages(connection) if message.get("id") == 4)
            assert answer["result"]["modes"]["currentModeId"] == "build"
            replayed = []
            for message in messages(stream):
                replayed.append(message)
                if text_of(replayed).endswith("The command said: hello"):
                    break
    assert native.request("DELETE", ACP, headers=remote.headers).status_code == 202
    assert refusal(remote.post(_prompt(session, "hello", 5), session)) == (404, "not_found")
    assert native.info(session)["state"] == "idle"


def refusal_of_stream(remote: Remote, session: str) -> tuple[int, str]:
    with remote.stream(session) as second:
        problem = second.problem()
        return second.status, problem["type"].rpartition(":")[2]


def test_bad_requests_are_problems(native: Client) -> None:
    remote = Remote(native)
    assert refusal(native.post(ACP, _message("session/list", {}, 1))) == (400, "invalid_request")
    assert refusal(native.post(ACP, [])) == (400, "invalid_request")
    for malformed in (b"{", b"[" * 20_000, b'{"params":' + b"[" * 20_000):
        sent = native.request("POST", ACP, content=malformed, headers={"content-type": "application/json"})
        assert refusal(sent) == (400, "invalid_request")
    assert refusal(native.request("POST", ACP, content=b"{}")) == (415, "unsupported_media_type")
    assert refusal(native.request("PUT", ACP)) == (405, "method_not_allowed")
    assert refusal(native.request("DELETE", ACP, headers={"acp-connection-id": "x"})) == (404, "not_found")
    assert refusal(native.request("GET", ACP, headers=STREAM)) == (400, "invalid_request")
    assert refusal(native.request("GET", ACP, headers=remote.headers)) == (400, "invalid_request")
    assert refusal(remote.post(_prompt("some-session", "x", 1), "another")) == (400, "invalid_request")
    assert refusal(native.get(f"{ACP}/no%20server")) == (404, "not_found")


def test_a_client_without_the_token_gets_nothing(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon:
        with client_of(daemon) as stranger:
            for method, path in (
                ("GET", ACP),
                ("POST", ACP),
                ("DELETE", ACP),
                ("GET", f"{ACP}/x"),
                ("POST", f"{ACP}/x"),
            ):
                assert refusal(stranger.request(method, path)) == (401, "token_invalid")
        with client_of(daemon, TOKEN) as known:
            assert known.get(ACP).json() == {"servers": []}


@pytest.mark.door("published client", "lost stream")
def test_a_lost_stream_of_a_published_client_goes_on_where_it_was(native: Client, tmp_path: Path) -> None:
    server = f"{ACP}/sdk-mock-1"

    def post(message: object) -> None:
        assert native.post(f"{server}?agent=mock", message).status_code == 202

    with native.reader(server, STREAM) as stream:  # before the first message
        post(_message("initialize", {"protocolVersion": 1}, 0))
        post(_message("session/new", {"cwd": str(tmp_path), "mcpServers": []}, 1))
        session = until_answer(stream, 1)[-1]["result"]["sessionId"]
        native.sessions.append(session)
        post(_prompt(session, "hello", 2))
        last = next(stream.frames()).id
    with native.reader(server, {**STREAM, "last-event-id": str(last)}) as again:
        assert next(each for each in again.frames() if "id" in each.fields).id == last + 1
    with native.reader(server, STREAM) as whole:
        seen = until_answer(whole, 2)
        assert [message.get("id") for message in seen if "result" in message] == [0, 1, 2]
        assert text_of(seen).startswith("You said: hello")
    assert {"serverId": "sdk-mock-1", "agent": "mock"}.items() <= native.get(ACP).json()["servers"][0].items()
    assert native.request("DELETE", server).status_code == 204
    # Its sessions are the daemon's: a connection that the daemon does not know continues with them.
    with native.reader(server, STREAM) as stream:
        post(_prompt(session, "memory", 7))
        assert "hello" in text_of(until_answer(stream, 7))


@pytest.mark.door("published client", "lost stream")
def test_a_published_client_misses_nothing_after_a_restart(tmp_path: Path) -> None:
    server = f"{ACP}/sdk-mock-{uuid.uuid4()}"
    with running(Daemon(tmp_path / "data", "--no-token")) as daemon, client_of(daemon) as native:
        with native.reader(server, STREAM) as stream:
            native.post(f"{server}?agent=mock", _message("initialize", {"protocolVersion": 1}, 0))
            native.post(server, _message("session/new", {"cwd": str(tmp_path), "mcpServers": []}, 1))
            session = until_answer(stream, 1)[-1]["result"]["sessionId"]
            native.sessions.append(session)
            native.post(server, _prompt(session, "hello", 2))
            for frame in stream.frames():
                if "id" in frame.fields:
                    last = frame.id
                    if frame.data.get("id") == 2:
                        break
        daemon.kill()
        daemon.start()
        with native.reader(server, {**STREAM, "last-event-id": str(last)}) as again:
            native.post(server, _prompt(session, "memory", 3))
            assert "hello" in text_of(until_answer(again, 3))
            # It does not say again which agent it means.
            native.post(server, _message("session/new", {"cwd": str(tmp_path), "mcpServers": []}, 4))
            native.sessions.append(until_answer(again, 4)[-1]["result"]["sessionId"])


def test_every_request_to_open_a_session_that_is_opening_is_answered(native: Client, tmp_path: Path) -> None:
    server = f"{ACP}/sdk-mock-2"
    with native.reader(server, STREAM) as stream:
        for message in (
            _message("initialize", {"protocolVersion": 1}, 0),
            _message("session/new", {"cwd": str(tmp_path), "mcpServers": []}, 1),
        ):
            native.post(f"{server}?agent=mock", message)
        session = until_answer(stream, 1)[-1]["result"]["sessionId"]
        native.sessions.append(session)
        place = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        waiting = set(range(2, 32))
        # They all wait until this one is open, and then come at once.
        native.post(server, _message("session/new", {"cwd": str(tmp_path), "mcpServers": []}, 50))
        for id in waiting:
            native.post(server, _message("session/load" if id % 2 else "session/resume", place, id))
        answers: dict[int, dict[str, Any]] = {}
        for message in messages(stream):
            if "method" not in message:
                answers[message["id"]] = message
            if waiting | {50} <= answers.keys():
                break
        native.sessions.append(answers[50]["result"]["sessionId"])
        assert all("opened again" in each["error"]["message"] for each in answers.values() if "error" in each)
        native.post(server, _prompt(session, "hello", 99))
        assert text_of(until_answer(stream, 99)) == "You said: hello (message 1 of this conversation)"


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["http", "ws"])
def test_the_sdk_of_the_protocol_drives_a_session(
    transport: str, daemon: Daemon, native: Client, tmp_path: Path
) -> None:
    script = Path(__file__).with_name("sdk.mjs")
    endpoint = f"127.0.0.1:{daemon.port}{ACP}?agent=mock"
    command = [
        "node",
        "--experimental-websocket",
        str(script),
        str(acp_modules()),
        transport,
        endpoint,
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * SECONDS)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    native.sessions.append(result.pop("session"))
    assert result == {
        "protocol": 1,
        "stop": "end_turn",
        "text": "You chose: Small; Cheese; Now.",
        "permitted": "The command said: hello",
        "cancelled": "cancelled",
        "mode": "plan",
        "listed": True,
        "replayed": ["multi", "permission hello", "slow"],
        "unknown": -32002,
    }


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["http", "ws"])
def test_the_python_sdk_of_the_protocol_drives_a_session(
    transport: str, daemon: Daemon, native: Client, tmp_path: Path
) -> None:
    program = Path(__file__).with_name("sdk_program.py")
    endpoint = f"127.0.0.1:{daemon.port}{ACP}?agent=mock"
    done = subprocess.run(
        [sys.executable, str(program), transport, endpoint, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(python_sdk())},
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    native.sessions.append(result.pop("session"))
    text = "The command said: hello"
    assert result == {"stop": "end_turn", "text": text, "replayed": ["permission hello", text]}
