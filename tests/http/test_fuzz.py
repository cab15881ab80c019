"""Fuzzing: requests generated from the API description, and malformed output of agents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.daemons import SECONDS, Client, done

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.mock import AnyFrame
from sandbox_agent.openapi import document
from sandbox_agent.ops import OPERATIONS
from sandbox_agent.ops.operation import Stream
from sandbox_agent.schema.processes import USUAL_CONFIG
from sandbox_agent.session.player import translate
from sandbox_agent.testing.rules import violations

EXAMPLES = 12
CONFORMS = [status_code_conformance, content_type_conformance, response_schema_conformance]

TAME = {"app": "true", "delayMs": 0}
"""Values for the desktop that start nothing made up, and do not take minutes."""

load_all_checks()
schemathesis.serializer.alias("application/x-tar", "application/octet-stream")
_described = schemathesis.openapi.from_dict(document())
_not_ours_to_fuzz = {"authorization", "x-sandbox-token", "host"}


# -- requests -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    """One for all requests: creating one costs more than a request."""
    with httpx2.Client(timeout=SECONDS, trust_env=False) as http:
        yield http


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_generated_requests_get_documented_responses(client: Client, http: httpx2.Client, name: str) -> None:
    """Valid or not, no request causes an internal error, and every response has the described shape."""
    row = OPERATIONS[name]
    operation = _described[row.path][row.method]
    cases = operation.as_strategy()
    if operation.definition.raw["parameters"] or "requestBody" in operation.definition.raw:
        cases |= operation.as_strategy(schemathesis.GenerationMode.NEGATIVE)
    session = client.create()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases, real=st.booleans())
    def ask(case: Any, real: bool) -> None:
        if real:
            _aim(case, session)
        if isinstance(case.body, dict) and case.body.get("command") and name.startswith("processes."):
            case.body["command"] = "true"  # not whatever a made-up word happens to start
        if isinstance(case.body, dict) and name.startswith("desktop."):
            case.body.update({field: value for field, value in TAME.items() if field in case.body})
        answer = _sent(client, http, case, stream=row.response is Stream)
        assert "error:internal" not in answer.text, answer.text
        if answer.is_success and row.response is Stream:
            assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        else:
            case.validate_response(answer, checks=CONFORMS)

    ask()
    if name == "processes.configure":
        done(client.post("/v1/processes/config", msgspec.to_builtins(USUAL_CONFIG)))
    assert done(client.get("/v1/health"))["status"] == "ok"


BODIES = {
    "none": b"",
    "an empty object": b"{}",
    "null": b"null",
    "a list": b"[]",
    "a text": b'"x"',
    "cut": b'{"message":',
    "zeros": bytes(16),
    "not utf-8": b'{"message":"\xff"}',
    "a lone surrogate": b'{"message":"\\ud800","agent":"\\ud800","title":"\\ud800"}',
    "a huge number": b'{"message":1e999,"limit":1e999}',
    "doubled": b'{"agent":"mock","agent":"mock","message":"a","message":"b"}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_no_body_makes_any_operation_fail(client: Client, http: httpx2.Client, body: bytes) -> None:
    """Every operation, also those that take no body; on nothing that exists, so that nothing is done."""
    for name, row in OPERATIONS.items():
        path = re.sub(r"{\w+}", "nobody", row.path)
        url = f"http://127.0.0.1:{client.daemon.port}{path}"
        headers = {"content-type": "application/json"}
        with http.stream(row.method, url, content=body, headers=headers) as answer:
            assert answer.status_code < 500, name


def _aim(case: Any, session: str) -> None:
    """At something that exists, so that more than the refusal of unknown names is tried."""
    if (
        "session_id" in (case.path_parameters or {})
        and case.operation.label != "POST /v1/sessions/{session_id}"
    ):
        case.path_parameters["session_id"] = session
    if "agent" in (case.path_parameters or {}):
        case.path_parameters["agent"] = "mock"
    if isinstance(case.body, dict) and "agent" in case.body:
        case.body["agent"] = "mock"
        case.body.pop("directory", None)
        case.body.pop("agentMode", None)


def _sent(client: Client, http: httpx2.Client, case: Any, *, stream: bool) -> httpx2.Response:
    """Send it. Of a stream only the head is awaited: it may have no end."""
    wire = case.as_transport_kwargs(base_url=f"http://127.0.0.1:{client.daemon.port}")
    kwargs = {name: wire[name] for name in ("params", "json") if wire.get(name) is not None}
    if wire.get("data") is not None:
        kwargs["content"] = wire["data"]
    headers = {
        name: str(value).encode("latin-1", "replace")
        for name, value in (wire.get("headers") or {}).items()
        if name.lower() not in _not_ours_to_fuzz
    }
    request = http.build_request(wire["method"], wire["url"], headers=headers, **kwargs)
    answer = http.send(request, stream=True)
    if not (stream and answer.is_success):
        answer.read()
    else:
        answer.close()
        answer._content = b""
    return answer


# -- native lines -------------------------------------------------------------------------------

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
known_frames = [frame for frame in AnyFrame.__args__ if frame.__struct_config__.tag not in ("ready", "gone")]


@st.composite
def frames(draw: st.DrawFn) -> Any:
    """A frame of a known type whose fields hold anything, ids out of a few so that they meet."""
    kind = draw(st.sampled_from(known_frames))
    fields: dict[str, Any] = {"type": kind.__struct_config__.tag}
    for field in kind.__struct_fields__:
        if draw(st.booleans()):
            plausible = st.sampled_from(["a", "b", "c", "", True, 0, [], {}, "edit", "completed", "end_turn"])
            fields[field] = draw(plausible | json_values)
    return fields


native_lines = st.lists(frames() | json_values | st.text(max_size=40), max_size=25)


@settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(lines=native_lines)
def test_no_native_line_breaks_the_rules(lines: list[Any]) -> None:
    """Anything an agent writes in a turn is an event or its own problem, and the turn continues to its end."""
    recorded: list[dict[str, Any]] = [
        {"dir": "cmd", "t": 0, "msg": ["mock", "--conversation", "c"]},
        {"dir": "out", "t": 0, "msg": {"type": "ready", "conversation": "c"}},
        {"dir": "in", "t": 1, "msg": {"type": "prompt", "text": "go"}},
        *({"dir": "out", "t": 2, "msg": line} for line in lines),
        {"dir": "out", "t": 3, "msg": {"type": "text", "id": "last", "delta": "still here"}},
        {"dir": "out", "t": 3, "msg": {"type": "turn_end", "stop_reason": "end_turn"}},
        {"dir": "exit", "t": 4, "msg": {"returncode": 0}},
    ]
    events = [
        each.event for each in translate(AGENTS["mock"], [json.dumps(line).encode() for line in recorded])
    ]
    assert [rule for rule in violations(events) if "agent.unparsed" not in rule] == []
