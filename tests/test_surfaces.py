"""One table, many surfaces: what HTTP answers, OpenAPI describes and the command line offers is `OPERATIONS`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from sandbox_agent.cli.command_line import parser
from sandbox_agent.errors import ERRORS
from sandbox_agent.http.app import _routes
from sandbox_agent.openapi import document, event_schema, page
from sandbox_agent.ops import OPERATIONS, Operation
from sandbox_agent.ops.operation import Stream
from sandbox_agent.schema.events import EVENT_TYPES

CONTRACT = """
GET /v1/health
GET /v1/ready
GET /v1/agents
POST /v1/agents/{agent}/install
GET /v1/agents/{agent}/modes
GET /v1/agents/{agent}/models
GET /v1/sessions
POST /v1/sessions
POST /v1/sessions/{session_id}
GET /v1/sessions/{session_id}
PATCH /v1/sessions/{session_id}
DELETE /v1/sessions/{session_id}
POST /v1/sessions/{session_id}/messages
POST /v1/sessions/{session_id}/messages/stream
GET /v1/sessions/{session_id}/events
GET /v1/sessions/{session_id}/events/sse
GET /v1/events/sse
POST /v1/sessions/{session_id}/attachments
GET /v1/sessions/{session_id}/attachments/{name}
POST /v1/sessions/{session_id}/cancel
POST /v1/sessions/{session_id}/terminate
GET /v1/sessions/{session_id}/queue
DELETE /v1/sessions/{session_id}/queue/{turn_id}
GET /v1/sessions/{session_id}/permissions
GET /v1/sessions/{session_id}/questions
POST /v1/sessions/{session_id}/permissions/{permission_id}/reply
POST /v1/sessions/{session_id}/questions/{question_id}/reply
POST /v1/sessions/{session_id}/questions/{question_id}/reject
GET /v1/processes
POST /v1/processes
POST /v1/processes/run
GET /v1/processes/config
POST /v1/processes/config
GET /v1/processes/{process_id}
DELETE /v1/processes/{process_id}
POST /v1/processes/{process_id}/stop
POST /v1/processes/{process_id}/kill
GET /v1/processes/{process_id}/logs
POST /v1/processes/{process_id}/input
POST /v1/processes/{process_id}/terminal/resize
GET /v1/processes/{process_id}/terminal/ws
GET /v1/fs/entries
GET /v1/fs/file
PUT /v1/fs/file
DELETE /v1/fs/entry
POST /v1/fs/mkdir
POST /v1/fs/move
GET /v1/fs/stat
POST /v1/fs/upload-batch
GET /v1/fs/download
GET /v1/fs/search
GET /v1/fs/watch
GET /v1/desktop/status
POST /v1/desktop/start
POST /v1/desktop/stop
GET /v1/desktop/display/info
GET /v1/desktop/screenshot
GET /v1/desktop/screenshot/region
GET /v1/desktop/mouse/position
POST /v1/desktop/mouse/move
POST /v1/desktop/mouse/click
POST /v1/desktop/mouse/down
POST /v1/desktop/mouse/up
POST /v1/desktop/mouse/drag
POST /v1/desktop/mouse/scroll
POST /v1/desktop/keyboard/type
POST /v1/desktop/keyboard/press
POST /v1/desktop/keyboard/down
POST /v1/desktop/keyboard/up
GET /v1/desktop/windows
GET /v1/desktop/windows/focused
POST /v1/desktop/windows/{window_id}/focus
POST /v1/desktop/windows/{window_id}/move
POST /v1/desktop/windows/{window_id}/resize
GET /v1/desktop/clipboard
POST /v1/desktop/clipboard
POST /v1/desktop/launch
POST /v1/desktop/open
POST /v1/desktop/recording/start
POST /v1/desktop/recording/stop
GET /v1/desktop/recordings
GET /v1/desktop/recordings/{recording_id}
GET /v1/desktop/recordings/{recording_id}/download
DELETE /v1/desktop/recordings/{recording_id}
GET /v1/desktop/stream/status
POST /v1/desktop/stream/start
POST /v1/desktop/stream/stop
GET /metrics
"""
"""What clients rely on. A line may be added; one that is changed or missing breaks them."""


def table() -> set[str]:
    return {f"{op.method} {op.path}" for op in OPERATIONS.values()}


def test_nothing_that_clients_rely_on_is_missing() -> None:
    assert set(CONTRACT.split("\n")) - {""} <= table()


def test_every_operation_has_a_route_and_every_route_an_operation() -> None:
    fixed, patterns = _routes()
    routed = {f"{method} {path}" for path, methods in fixed.items() for method in methods}
    for pattern, methods in patterns:
        path = re.sub(r"\(\?P<(\w+)>\[\^/\]\+\)", r"{\1}", pattern.pattern)
        routed |= {f"{method} {path}" for method in methods}
    assert routed == table()


def test_openapi_describes_every_operation_and_no_other() -> None:
    paths: dict[str, dict[str, Any]] = document()["paths"]
    described = {
        f"{method.upper()} {path}": each
        for path, methods in paths.items()
        for method, each in methods.items()
    }
    assert described.keys() == table()
    assert {each["operationId"] for each in described.values()} == OPERATIONS.keys()


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_openapi_knows_every_field_answer_and_error(operation: Operation) -> None:
    spec = document()["paths"][operation.path][operation.method.lower()]
    body = spec.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    schema = document()["components"]["schemas"].get(body.get("$ref", "").rpartition("/")[2], {})
    described = {parameter["name"] for parameter in spec["parameters"]} | schema.get("properties", {}).keys()
    spelled = {field.name: field.encode_name for field in msgspec.structs.fields(operation.request)}
    elsewhere = {"content", "content_type"} if operation.takes_bytes else set()
    expected = {
        operation.headers.get(name) or (name if name in operation.path_fields else wire)
        for name, wire in spelled.items()
        if name not in elsewhere
    }
    assert described == expected
    assert spec["summary"]
    for error in operation.errors:
        assert f"`{error.type}`" in spec["responses"][str(error.status)]["description"]
    assert str(operation.status) in spec["responses"]
    assert ("text/event-stream" in str(spec["responses"])) == (
        operation.response is Stream or operation.watched or operation.may_stream
    )


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_openapi_says_which_parameters_are_required(operation: Operation) -> None:
    parameters = document()["paths"][operation.path][operation.method.lower()]["parameters"]
    fields = {field.encode_name: field.required for field in msgspec.structs.fields(operation.request)}
    in_query = {entry["name"]: entry["required"] for entry in parameters if entry["in"] == "query"}
    assert in_query == {name: fields[name] for name in in_query}


def test_openapi_describes_every_type_of_event() -> None:
    schemas = document()["components"]["schemas"]
    kinds = {schemas[each["$ref"].rpartition("/")[2]]["title"] for each in schemas["Event"]["anyOf"]}
    assert kinds == EVENT_TYPES.keys()
    assert len(event_schema()["anyOf"]) == len(EVENT_TYPES)


def test_every_reference_in_openapi_leads_somewhere() -> None:
    schemas = document()["components"]["schemas"]
    references = set(re.findall(r'"#/components/schemas/(\w+)"', msgspec.json.encode(document()).decode()))
    assert references <= schemas.keys()


def test_the_page_shows_every_operation() -> None:
    shown = page()
    assert [name for name in OPERATIONS if f'id="{name}"' not in shown] == []


# -- the command line ---------------------------------------------------------------------------


def subcommands(root: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in root._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def commands() -> dict[str, argparse.ArgumentParser]:
    """Every command of two words."""
    return {
        f"{group} {verb}": command
        for group, inner in subcommands(parser())
        for verb, command in subcommands(inner)
    }


def command_of(operation: Operation) -> str:
    return operation.name.replace(".", " ").replace("_", "-")


def test_every_operation_is_a_command() -> None:
    offered = commands()
    assert [name for op in OPERATIONS.values() if (name := command_of(op)) not in offered] == []
    for operation in OPERATIONS.values():
        group = operation.name.partition(".")[0]
        assert [alias for alias in operation.aliases if f"{group} {alias}" not in offered] == []


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_every_field_of_an_operation_has_a_flag_or_argument(operation: Operation) -> None:
    command = commands()[command_of(operation)]
    options = {action.dest for action in command._actions}
    optional_names = {"answers": {"answer", "answers"}}
    fields = set(operation.request.__struct_fields__)
    assert [name for name in fields if not options & optional_names.get(name, {name})] == []


# -- errors -------------------------------------------------------------------------------------


def test_every_error_is_declared_by_an_operation_or_common_to_all_requests() -> None:
    raised = {error.type for op in OPERATIONS.values() for error in op.errors}
    of_every_request = {
        "token_invalid",
        "method_not_allowed",
        "unsupported_media_type",
        "misdirected_host",
        "rate_limited",
        "internal",
    }
    assert raised | of_every_request == ERRORS.keys()


def test_an_error_is_named_as_on_the_wire() -> None:
    for name, error in ERRORS.items():
        assert re.sub(r"(?<!^)(?=[A-Z])", "_", error.__name__).lower() == name
        problem = error("what happened", fact=1).problem("/v1/x")
        assert problem == {
            "type": f"urn:sandbox-agent:error:{name}",
            "title": error.title,
            "status": error.status,
            "detail": "what happened",
            "instance": "/v1/x",
            "fact": 1,
        } | ({"code": name} if error.has_code else {})
