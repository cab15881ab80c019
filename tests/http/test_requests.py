"""What all requests have in common: routes, methods, bodies, spelling, limits, and problems for every error."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

import msgspec
import pytest
from tests.daemons import SECONDS, Client, Daemon, done, refusal, texts

from sandbox_agent.errors import ERRORS
from sandbox_agent.ops import OPERATIONS, Operation


def exchange(daemon: Daemon, request: bytes) -> bytes:
    """Send raw bytes that no client library would send. Returns the whole response."""
    with socket.create_connection(("127.0.0.1", daemon.port), SECONDS) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def raw_request(daemon: Daemon, line: str, headers: str = "", body: bytes = b"") -> tuple[int, bytes, bytes]:
    """Status, headers and body of the answer to a request that is written out."""
    host = f"Host: 127.0.0.1:{daemon.port}\r\nConnection: close\r\n"
    answer = exchange(daemon, f"{line} HTTP/1.1\r\n{host}{headers}\r\n".encode() + body)
    head, _, content = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.lower(), content


# -- routes and methods -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/x",
        "/v1",
        "/v1/",
        "/v2/sessions",
        "/v1/sessions/",
        "/v1/session",
        "/V1/health",
        "/v1/health/",
        "//v1/health",
        "/v1/sessions/a/b",
        "/v1/sessions/a/events/sse/x",
        "/v1/sessions//events",
        "/metrics/",
        "/docs/../openapi.json",
        "/ui/../v1/sessions",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/v1/sessions/a%2Fevents",
    ],
)
def test_an_unknown_route_is_a_problem(daemon: Daemon, path: str) -> None:
    status, head, body = raw_request(daemon, f"GET {path}")
    assert status == 404, path
    assert b"content-type: application/problem+json" in head
    assert msgspec.json.decode(body)["type"] in (
        "urn:sandbox-agent:error:not_found",
        "urn:sandbox-agent:error:session_not_found",
    )


def paths() -> list[str]:
    return sorted({op.path for op in OPERATIONS.values()} | {"/openapi.json", "/docs", "/docs/style.css"})


@pytest.mark.parametrize("path", paths())
def test_a_wrong_method_is_refused_with_the_right_ones(client: Client, path: str) -> None:
    taken = {op.method for op in OPERATIONS.values() if op.path == path} or {"GET"}
    real = re.sub(r"{\w+}", "x", path)
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - taken:
        answer = client.request(method, real)
        assert refusal(answer) == (405, "method_not_allowed"), method
        assert set(answer.json()["allow"]) == taken
        assert set(answer.headers["allow"].split(", ")) == taken


# -- bodies -------------------------------------------------------------------------------------


TAKE_A_BODY = [op for op in OPERATIONS.values() if op.body == "json"]


@pytest.mark.parametrize("operation", TAKE_A_BODY, ids=lambda op: op.name)
@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"nonsense",
        b"[]",
        b"7",
        b'"text"',
        b"null",
        b"\xff\xfe",
        b'{"a":1}x',
        b"{'a':1}",
        b'{"a":NaN}',
        b'{"a":"\\ud800"}',
    ],
)
def test_a_body_that_is_not_a_json_object_is_refused(
    client: Client, operation: Operation, content: bytes
) -> None:
    path = re.sub(r"{\w+}", "x", operation.path)
    answer = client.request(
        operation.method, path, content=content, headers={"content-type": "application/json"}
    )
    assert refusal(answer) == (400, "invalid_request")


@pytest.mark.parametrize("operation", TAKE_A_BODY, ids=lambda op: op.name)
@pytest.mark.parametrize(
    "media",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx"],
)
def test_a_body_needs_its_content_type(client: Client, operation: Operation, media: str) -> None:
    path = re.sub(r"{\w+}", "x", operation.path)
    headers = {"content-type": media} if media else {}
    answer = client.request(operation.method, path, content=b'{"agent":"mock"}', headers=headers)
    assert refusal(answer) == (415, "unsupported_media_type")


@pytest.mark.parametrize("path", ["cancel", "terminate"])
def test_an_operation_without_fields_takes_an_empty_object(client: Client, path: str) -> None:
    session = client.create()
    assert client.post(f"/v1/sessions/{session}/{path}", {}).status_code == 204
    form = client.request("POST", f"/v1/sessions/{session}/{path}", content=b"a=b")
    assert refusal(form) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "media", ["application/json; charset=utf-8", "Application/JSON", "application/json;x=y"]
)
def test_a_content_type_may_have_parameters(client: Client, media: str) -> None:
    session = client.create()
    answer = client.request(
        "POST",
        f"/v1/sessions/{session}/messages",
        content=b'{"message":"hi"}',
        headers={"content-type": media},
    )
    assert answer.status_code == 202


@pytest.mark.parametrize("operation", TAKE_A_BODY, ids=lambda op: op.name)
def test_an_unknown_field_is_refused_by_its_name(client: Client, operation: Operation) -> None:
    path = re.sub(r"{\w+}", "x", operation.path)
    answer = client.request(operation.method, path, json={"surprise": 1})
    assert refusal(answer) == (400, "invalid_request")
    assert answer.json()["field"] == "surprise"


@pytest.mark.parametrize(
    ("path", "body", "field", "message"),
    [
        ("", {}, "agent", "Object missing required field `agent`"),
        ("", {"agent": 7}, "agent", "`agent`: expected `str`, got `int`"),
        ("", {"agent": "mock", "turnTimeoutMs": -1}, "turnTimeoutMs", "`turnTimeoutMs`: expected `int` >= 1"),
        ("", {"agent": "mock", "env": {"A": 1}}, "env", "Expected `str`, got `int` - at `$.env[...]`"),
        (
            "/no%20good",
            {"agent": "mock"},
            "sessionId",
            "invalid `sessionId`. The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -",
        ),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_field(
    client: Client, path: str, body: dict[str, object], field: str, message: str
) -> None:
    answer = client.post(f"/v1/sessions{path}", body).json()
    assert (answer["field"], answer["detail"]) == (field, message)


def test_a_large_body_is_refused_before_it_is_read(daemon: Daemon) -> None:
    """Only its length is sent; the answer comes all the same."""
    headers = "Content-Type: application/json\r\nContent-Length: 1048577\r\n"
    status, head, body = raw_request(daemon, "POST /v1/sessions", headers)
    assert status == 413
    assert b"application/problem+json" in head
    problem = msgspec.json.decode(body)
    assert (problem["type"], problem["limit"]) == ("urn:sandbox-agent:error:payload_too_large", 1 << 20)


def test_a_large_body_in_chunks_is_refused(client: Client) -> None:
    def chunks() -> Iterator[bytes]:
        yield b'{"message":"'
        for _ in range(20):
            yield b"x" * 100_000
        yield b'"}'

    session = client.create()
    answer = client.request(
        "POST",
        f"/v1/sessions/{session}/messages",
        content=chunks(),
        headers={"content-type": "application/json"},
    )
    assert refusal(answer) == (413, "payload_too_large")
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 1 of this conversation)"]


def test_a_body_of_exactly_the_limit_passes(client: Client) -> None:
    session = client.create()
    body = b'{"message":"%b"}'
    content = body % (b"x" * ((1 << 20) - len(body) + 2))
    assert len(content) == 1 << 20
    headers = {"content-type": "application/json"}
    path = f"/v1/sessions/{session}/messages"
    assert client.request("POST", path, content=content, headers=headers).status_code == 202
    over = client.request("POST", path, content=content[:-2] + b'x"}', headers=headers)
    assert refusal(over) == (413, "payload_too_large")


def test_an_attachment_may_be_larger_than_a_body(client: Client) -> None:
    session = client.create()
    stored = client.request("POST", f"/v1/sessions/{session}/attachments", content=bytes(3 << 20))
    assert done(stored)["size"] == 3 << 20


@pytest.mark.parametrize("depth", [200, 1_000, 50_000])
@pytest.mark.parametrize("bracket", [b"[]", b'{"a":}'])
def test_deep_json_is_refused(client: Client, depth: int, bracket: bytes) -> None:
    opening, closing = bracket[:-1], bracket[-1:]
    content = b'{"agent":"mock","env":' + opening * depth + b"1" + closing * depth + b"}"
    answer = client.request(
        "POST", "/v1/sessions/deep", content=content, headers={"content-type": "application/json"}
    )
    assert refusal(answer) == (400, "invalid_request")


def test_json_that_can_be_decoded_but_not_encoded_again_is_refused(client: Client) -> None:
    statuses = {}
    for depth in (400, *range(970, 1_000)):
        content = b'{"agent":"claude","tool":"Bash","input":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
        statuses[depth] = client.request(
            "POST", "/v1/policy/test", content=content, headers={"content-type": "application/json"}
        ).status_code
    assert statuses.pop(400) == 200
    assert set(statuses.values()) <= {200, 400}  # how deep Python can go depends on its version


# -- spellings ----------------------------------------------------------------------------------


def test_both_spellings_of_every_field_of_a_session_are_understood(client: Client, daemon: Daemon) -> None:
    camel = {
        "agentMode": "plan",
        "permissionMode": "acceptEdits",
        "agentVersion": None,
        "turnTimeoutMs": 60000,
        "title": "t",
        "directory": str(daemon.work_dir),
    }
    snake = {
        re.sub(r"[A-Z]", lambda found: "_" + found[0].lower(), name): value for name, value in camel.items()
    }
    assert camel.keys() != snake.keys()
    shown = []
    for settings in (camel, snake):
        info = client.info(client.create(**settings))
        shown.append({name: info[name] for name in ("agentMode", "permissionMode", "title", "directory")})
    assert shown[0] == shown[1]
    session = client.create()
    for body in ({"permissionMode": "plan"}, {"permission_mode": "default"}, {"agent_mode": "plan"}):
        changed = done(client.patch(f"/v1/sessions/{session}", body))
    assert (changed["permissionMode"], changed["agentMode"]) == ("default", "plan")


@pytest.mark.parametrize("name", ["include_raw", "includeRaw"])
def test_both_spellings_of_a_query_parameter_are_understood(client: Client, name: str) -> None:
    session = client.create()
    client.turn(session, "hi")
    assert any(event["raw"] for event in client.events(session, **{name: "true"}))  # type: ignore[arg-type]
    with client.reader(f"/v1/sessions/{session}/events/sse?{name}=true") as reader:
        assert reader.until_type("turn.ended")[-1]["raw"]["type"] == "turn_end"


def test_a_field_given_in_both_spellings_is_refused(client: Client) -> None:
    answer = client.post("/v1/sessions/x", {"agent": "mock", "agentMode": "build", "agent_mode": "build"})
    assert refusal(answer) == (400, "invalid_request")
    session = client.create()
    for query in ("limit=1&limit=2", "include_raw=true&includeRaw=true"):
        answer = client.request("GET", f"/v1/sessions/{session}/events?{query}")
        assert refusal(answer) == (400, "invalid_request")


def test_an_id_in_the_body_must_not_contradict_the_path(client: Client) -> None:
    for name in ("sessionId", "session_id"):
        answer = client.post("/v1/sessions/one", {"agent": "mock", name: "two"})
        assert refusal(answer) == (400, "invalid_request")
    assert refusal(client.get("/v1/sessions/one")) == (404, "session_not_found")


def test_a_field_of_the_body_is_not_a_query_parameter(client: Client) -> None:
    """What a link could carry must not change what a request does."""
    session = client.create()
    for path, body in (
        ("/v1/sessions/linked?permissionMode=bypass", {"agent": "mock"}),
        (f"/v1/sessions/{session}/messages?message=hi", None),
        (f"/v1/sessions/{session}/messages?idempotencyKey=k", {"message": "hi"}),
        (f"/v1/sessions/nobody/cancel?session_id={session}", None),
    ):
        assert refusal(client.post(path, body)) == (400, "invalid_request"), path
    assert refusal(client.get("/v1/sessions/nobody", session_id=session)) == (400, "invalid_request")


# -- what the wire brings -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET /v1/health HTTP/1.1\r\nBad Header\r\n\r\n",
        b"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: x\r\n\r\n",
        b"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n",
    ],
)
def test_input_that_is_not_http_does_no_harm(client: Client, daemon: Daemon, request_bytes: bytes) -> None:
    head, _, body = exchange(daemon, request_bytes).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/problem+json" in head
    assert msgspec.json.decode(body)["type"] == "urn:sandbox-agent:error:invalid_request"
    assert done(client.get("/v1/health"))["status"] == "ok"


def test_a_query_with_broken_escapes_is_not_an_internal_error(daemon: Daemon) -> None:
    for query in ("%", "%zz=1", "a=%ff%fe", "=", "&&&", "limit=%00"):
        status, _, _ = raw_request(daemon, f"GET /v1/sessions?{query}")
        assert status in (200, 400), query


def test_every_answer_forbids_sniffing_and_names_the_version(client: Client) -> None:
    from sandbox_agent import __version__

    for path in ("/v1/health", "/v1/nothing", "/openapi.json", "/docs"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-sandbox-agent-version"] == __version__


def test_every_error_type_is_in_the_api_description(client: Client) -> None:
    described = client.get("/openapi.json").text
    beyond_operations = {
        "token_invalid",
        "method_not_allowed",
        "unsupported_media_type",
        "misdirected_host",
        "rate_limited",
        "internal",
    }
    missing = {name for name in ERRORS if f"`{name}`" not in described}
    assert missing <= beyond_operations
