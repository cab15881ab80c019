"""Requests that no proper client sends: malformed bodies, made-up ids, and clients that ask much and read nothing.

None of them may cause an internal error, wait forever, or keep others from working.
"""

from __future__ import annotations

import base64
import itertools
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.daemons import SECONDS, Client, Daemon, Reader, client_of, running, wait_until

from sandbox_agent.doors.acp.clients import MAX_CLIENTS
from sandbox_agent.doors.acp.connection import METHODS
from sandbox_agent.doors.mcp.tools import TOOLS
from sandbox_agent.doors.opencode.door import _load_routes
from sandbox_agent.doors.opencode.readers import MAX_READERS
from sandbox_agent.doors.opencode.request import ROUTES

STREAM = {"accept": "text/event-stream"}
DEEP = b'{"a":' * 5_000 + b"1" + b"}" * 5_000
BODIES = {
    "nothing": b"",
    "an empty object": b"{}",
    "null": b"null",
    "a list": b"[]",
    "a text": b'"x"',
    "cut": b'{"parts":',
    "zeros": bytes(16),
    "not utf-8": b'{"title":"\xff"}',
    "a lone surrogate": b'{"title":"\\ud800","model":"\\ud800","input":"\\ud800","reply":"\\ud800","id":1,"method":"\\ud800"}',
    "a null character": b'{"title":"\\u0000","model":"\\u0000","input":"\\u0000","id":1,"method":"\\u0000"}',
    "a huge number": b'{"parts":1e999,"id":1e999,"model":1e999}',
    "deep": DEEP,
    "deep inside": b'{"parts":%b,"input":%b,"params":%b,"id":1,"method":"initialize"}' % (DEEP, DEEP, DEEP),
}
IDS = (
    "nobody",
    "%2e%2e",
    "%2e%2e%2fx",
    "a%00b",
    "%ff",
    "~",
    "a~b~c",
    "per_1_nobody",
    "que_1_%2e%2e",
    "x" * 3000,
)
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("intruders") / "data", "--no-token")) as daemon:
        yield daemon
        assert "Traceback" not in daemon.stderr(), daemon.stderr()


@pytest.fixture
def native(daemon: Daemon) -> Iterator[Client]:
    with client_of(daemon) as native:
        yield native


def doors() -> Iterator[tuple[str, str]]:
    """Method and path of everything that a door answers, with a name for each id."""
    _load_routes()
    for route in ROUTES:
        yield route.method, "/opencode" + re.sub(r"\(\?P<(\w+)>[^)]+\)", r"{\1}", route.pattern.pattern)
    for method in ("GET", "POST", "PUT", "DELETE"):
        yield method, "/v1/acp"
        yield method, "/mcp"
    yield from (("POST", "/v1/acp/{id}"), ("DELETE", "/v1/acp/{id}"))
    yield from (("POST", "/openai/v1/responses"), ("POST", "/openai/v1/chat/completions"))
    yield from (("GET", "/openai/v1/responses/{id}"), ("POST", "/openai/v1/responses/{id}/cancel"))


def sent(native: Client, method: str, path: str, body: bytes) -> httpx2.Response:
    answer = native.request(method, path, content=body, headers=JSON)
    assert answer.status_code < 500, (method, path[:100], body[:100], answer.text)
    assert "error:internal" not in answer.text
    return answer


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_no_body_makes_a_door_fail(native: Client, body: bytes) -> None:
    for method, path in doors():
        sent(native, method, re.sub(r"{\w+}", "nobody", path), body)


@pytest.mark.parametrize("id", IDS)
def test_no_id_makes_a_door_fail(native: Client, id: str) -> None:
    for method, path in doors():
        if "{" in path:
            sent(native, method, re.sub(r"{\w+}", id, path), b"{}")


@pytest.mark.parametrize("directory", ["%00", "%ff", "relative", "/none", "/etc/passwd", "/" + "x" * 5000])
def test_no_directory_makes_the_opencode_door_fail(native: Client, directory: str) -> None:
    for path in ("/vcs", "/api/fs/find", "/provider", "/agent", "/command", "/path", "/session"):
        answer = native.request("GET", f"/opencode{path}", headers={"x-opencode-directory": directory})
        assert answer.status_code < 500, answer.text


# -- messages ---------------------------------------------------------------------------------

VALUES: tuple[Any, ...] = (None, 1, "", "x", "../..", "\0", "/none", [], {}, [{}], ["x"], "x" * 70_000)
NAMES = ("sessionId", "cwd", "mcpServers", "prompt", "modeId", "configId", "value", "cursor")
BAD_BLOCKS: tuple[dict[str, Any], ...] = (
    {"type": "resource_link", "uri": "http://[x", "name": "a"},
    {"type": "resource_link", "uri": "http://[x"},
    {"type": "resource", "resource": {"uri": "http://[x", "text": "a"}},
    {"type": "resource", "resource": {"uri": "file:///x"}},
    {"type": "image", "data": "aGk=", "mimeType": "image/png", "uri": "http://[x"},
    {"type": "image", "data": "@", "mimeType": "image/png"},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {"type": "text"},
    {},
)


class Editor:
    """An ACP client over HTTP that reads the stream of its connection only."""

    def __init__(self, native: Client) -> None:
        self.native = native
        answer = native.post("/v1/acp?agent=mock", _call("initialize", {"protocolVersion": 1}, 0))
        self.headers = {"acp-connection-id": answer.headers["acp-connection-id"]}

    def send(self, method: str, params: object, id: int) -> int:
        return self.native.post("/v1/acp", _call(method, params, id), **self.headers).status_code

    def answers(self, wanted: set[int]) -> dict[int, dict[str, Any]]:
        found: dict[int, dict[str, Any]] = {}
        with self.native.reader("/v1/acp", {**self.headers, **STREAM}) as stream:
            for message in _data(stream):
                found[message["id"]] = message
                if wanted <= found.keys():
                    break
        return found


def _data(stream: Reader) -> Iterator[dict[str, Any]]:
    return (frame.data for frame in stream.frames() if "data" in frame.fields)


def _call(method: str, params: object, id: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def test_every_made_up_request_of_an_editor_is_refused_on_its_stream(native: Client) -> None:
    """On the stream of the connection: the session that it names may not exist."""
    editor = Editor(native)
    usual = {"sessionId": "nobody", "cwd": "relative", "mcpServers": [], "modeId": "x", "configId": "y"}
    ids = itertools.count(1)
    for method in METHODS.keys() - {"initialize", "session/list"}:
        sent = {}
        for name, value in itertools.product(NAMES, VALUES):
            sent[next(ids)] = {**usual, "value": "z", "prompt": [], name: value}
        for id, params in sent.items():
            assert editor.send(method, params, id) == 202
        for id, answer in editor.answers(set(sent)).items():
            assert answer["error"]["code"] != -32603, (method, sent[id], answer)


def test_a_prompt_that_cannot_be_read_is_refused(native: Client, tmp_path: Path) -> None:
    editor = Editor(native)
    editor.send("session/new", {"cwd": str(tmp_path), "mcpServers": []}, 1)
    session = editor.answers({1})[1]["result"]["sessionId"]
    native.sessions.append(session)
    with native.reader("/v1/acp", {**editor.headers, **STREAM, "acp-session-id": session}) as stream:
        for id, block in enumerate(BAD_BLOCKS, 2):
            editor.send("session/prompt", {"sessionId": session, "prompt": [block]}, id)
            answer = next(found for found in _data(stream) if "error" in found)
            assert (answer["id"], answer["error"]["code"]) == (id, -32602), answer


def test_no_argument_makes_a_tool_fail(native: Client) -> None:
    for tool in (*TOOLS, "none"):
        for arguments in (
            *VALUES[:-1],
            {"session_id": "../.."},
            {"session_id": "nobody", "prompt": "x"},
            {"prompt": "\0", "agent": "\0"},
            {"prompt": "x", "agent": "mock", "directory": "\0"},
            {"session_id": "nobody", "timeout_s": 1e308},
            {"session_id": "nobody", "offset": 2**70},
            {"session_id": "nobody", "question_id": "x", "answers": [["\0"]]},
        ):
            body = _call("tools/call", {"name": tool, "arguments": arguments}, 1)
            answer = native.post("/mcp", body, accept="application/json")
            assert answer.status_code == 200
            assert answer.json().get("error", {}).get("code") != -32603, (tool, arguments, answer.text)


# -- too much ---------------------------------------------------------------------------------


def test_an_editor_that_reads_nothing_is_told_to_wait(native: Client) -> None:
    editor = Editor(native)
    # The refusal names the method, so a few of them fill the stream.
    codes = [editor.send("x" * 10_000, {}, id) for id in range(1, 400)]
    assert codes == sorted(codes)
    assert {202, 429} == set(codes)
    # What it has asked is answered as soon as it reads.
    assert editor.answers({1, 100})[100]["error"]["code"] == -32601
    assert native.request("DELETE", "/v1/acp", headers=editor.headers).status_code == 202


def test_clients_that_never_come_back_make_room_for_others(native: Client) -> None:
    first = Editor(native)
    with native.reader("/v1/acp", {**first.headers, **STREAM}):
        for _ in range(MAX_CLIENTS + 5):
            Editor(native)
        assert first.send("session/list", {}, 1) == 202  # it reads, so it was not dropped


def test_only_so_many_clients_can_follow_everything(daemon: Daemon, native: Client) -> None:
    with ExitStack() as streams:
        for _ in range(MAX_READERS):
            reader = streams.enter_context(native.reader("/opencode/global/event", STREAM))
            next(reader.frames())
        refused = native.request("GET", "/opencode/event", headers=STREAM)
        assert (refused.status_code, refused.json()["name"]) == (503, "UnknownError")
        session = native.create()
        native.turn(session, "hello")
    # Those that have left make room, as soon as the daemon has noticed it.
    wait_until(lambda: _can_follow(daemon))


def _can_follow(daemon: Daemon) -> bool:
    with socket.create_connection(("127.0.0.1", daemon.port), SECONDS) as connection:
        head = f"GET /opencode/event HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\n\r\n"
        connection.sendall(head.encode())
        return b" 200 " in connection.recv(100)


# -- frames -----------------------------------------------------------------------------------

UPGRADE = """GET /v1/acp?agent=mock HTTP/1.1\r
Host: 127.0.0.1\r
Connection: Upgrade\r
Upgrade: websocket\r
Sec-WebSocket-Version: 13\r
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
\r
"""
MASK = bytes(4)
"""Leaves the payload as it is."""
CLOSE = 0x88


@pytest.mark.parametrize(
    "frame",
    [
        b"\x81\x02{}",
        b"\x83\x81" + MASK + b"x",
        b"\x80\x81" + MASK + b"x",
        b"\x89\xfe\x00\xc8" + MASK + bytes(200),
        b"\x81\xff\x00\x00\x00\x00\x00\x30\x00\x00" + MASK + bytes(1000),
    ],
    ids=["not masked", "unknown kind", "continues nothing", "too long to be a ping", "too large"],
)
def test_what_is_not_a_frame_ends_a_websocket_quietly(daemon: Daemon, frame: bytes) -> None:
    """The log has no traceback, which the fixture checks at the end."""
    with socket.create_connection(("127.0.0.1", daemon.port), SECONDS) as connection:
        connection.sendall(UPGRADE.encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += connection.recv(1)
        assert answer.startswith(b"HTTP/1.1 101 ")
        connection.sendall(frame)
        assert connection.recv(1)[0] == CLOSE


# -- strangers --------------------------------------------------------------------------------

TOKEN = "sixteen-characters-or-more"
PATHS = ("/v1/acp", "/v1/acp/some-server", "/mcp", "/openai/v1/models", "/opencode/session")
KNOWN = ("authorization", f"Bearer {TOKEN}")
IN_QUERY = base64.b64encode(f"anyone:{TOKEN}".encode()).decode()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("guarded") / "data", "--token", TOKEN)) as daemon:
        yield daemon


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 401),
        ([("authorization", "Bearer wrong")], 401),
        ([("authorization", "Bearer")], 401),
        ([("authorization", f"Token {TOKEN}")], 401),
        ([KNOWN, KNOWN], 400),
        ([KNOWN, ("origin", "http://evil.example")], 403),
        ([KNOWN, ("origin", "null")], 403),
        ([KNOWN, ("sec-fetch-site", "cross-site")], 403),
        ([KNOWN, ("host", "evil.example")], 421),
        ([KNOWN, ("host", "127.0.0.1@evil.example")], 421),
    ],
    ids=str,
)
def test_no_door_opens_without_the_token(
    guarded: Daemon, headers: list[tuple[str, str]], status: int
) -> None:
    for path in PATHS:
        answer = httpx2.get(f"http://127.0.0.1:{guarded.port}{path}", headers=headers, timeout=SECONDS)
        assert answer.status_code == status, (path, answer.text)


def test_the_token_counts_in_a_query_at_the_opencode_door_only(guarded: Daemon) -> None:
    for path, (name, value) in itertools.product(PATHS, (("auth_token", IN_QUERY), ("access_token", TOKEN))):
        url = f"http://127.0.0.1:{guarded.port}{path}"
        counts = (path.startswith("/opencode"), name) == (True, "auth_token")
        assert httpx2.get(url, params={name: value}, timeout=SECONDS).status_code == (200 if counts else 401)
    twice = f"http://127.0.0.1:{guarded.port}/opencode/session?auth_token={IN_QUERY}&auth_token={IN_QUERY}"
    assert httpx2.get(twice, timeout=SECONDS).status_code == 400
