"""Events survive encoding, and unknown events of a newer daemon break nothing."""

from __future__ import annotations

from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_agent.schema.events import (
    EVENT_TYPES,
    AgentUnparsed,
    AnyData,
    AskedQuestion,
    Choice,
    ErrorEvent,
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionMetadata,
    PermissionRequested,
    PermissionResolved,
    QuestionMetadata,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    SessionMetadata,
    SessionStarted,
    Stderr,
    TurnEnded,
    TurnMetadata,
    TurnStarted,
    Usage,
    decode_event,
)
from sandbox_agent.schema.items import (
    FileRef,
    Image,
    Item,
    Json,
    Reasoning,
    StatusPart,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
)

ITEM = Item(
    "itm_1",
    None,
    "itm_0",
    "unknown",
    None,
    "failed",
    (
        Text("é\u2028"),
        Json({"a": [1, None, "x"]}),
        ToolCall("bash", '{"command":"ls"}', "call_1"),
        ToolResult("call_1", "out", 1),
        FileRef("/a", "move", "/b", "--- a\n"),
        Image("/a.png", "image/png"),
        Reasoning("hm", "private"),
        StatusPart("title", "new"),
    ),
)
QUESTIONS = (
    AskedQuestion("Which?", "Colour", (Choice("Red", "as fire"), Choice("Blue")), multi_select=True),
)

EXAMPLES: list[AnyData] = [
    SessionStarted(),
    SessionStarted(SessionMetadata("mock", "1.0", "plan", "bypass", "large", "high", "/tmp")),
    SessionEnded("terminated", "daemon"),
    SessionEnded("error", "agent", "broke", 3, Stderr(True, "a", "z", 99)),
    TurnStarted("turn_1"),
    TurnStarted("turn_1", metadata={"why": "it woke up"}),
    TurnEnded("turn_1", TurnMetadata("end_turn", 12, Usage(1, 2, 3, 4, 5, 0.5))),
    TurnEnded("turn_1", TurnMetadata("outcome_unknown", 0)),
    ItemStarted(Item("itm_1", "native", None, "message", "assistant", "in_progress")),
    ItemDelta("itm_1", None, "more"),
    ItemCompleted(ITEM),
    PermissionRequested(
        "perm_1", "bash", "requested", PermissionMetadata("bash", {"command": "ls"}, "call_1")
    ),
    PermissionResolved(
        "perm_1",
        "edit",
        "accept_for_session",
        PermissionMetadata("edit", None, None, ("/a",), "--- a", "edit", "client", "go on"),
    ),
    QuestionRequested("q_1", "Which?", ("Red", "Blue"), "requested", QuestionMetadata(QUESTIONS)),
    QuestionResolved(
        "q_1",
        "Which?",
        ("Red", "Blue"),
        "answered",
        QuestionMetadata(QUESTIONS, (("Red", "Blue"),), "client", None, "call_1", True),
        "Red, Blue",
    ),
    ErrorEvent("broke", "rate_limited", {"status": 429}),
    ErrorEvent("broke"),
    AgentUnparsed("not JSON", "line 3", "abc"),
]


def event(data: Any, type: str, raw: Any = None) -> Event:
    return Event("evt_1", 1, "2026-01-01T00:00:00.000Z", "s", "native", "agent", False, type, data, raw)


def on_the_wire(data: dict[str, Any], type: str, **envelope: Any) -> bytes:
    return msgspec.json.encode(msgspec.to_builtins(event(data, type)) | envelope)


@pytest.mark.parametrize("data", EXAMPLES, ids=lambda data: data.TYPE)
def test_every_type_comes_back_as_it_was(data: AnyData) -> None:
    original = event(data, data.TYPE)
    encoded = msgspec.json.encode(original)
    assert decode_event(encoded) == original
    assert decode_event(encoded.decode()) == original
    assert msgspec.json.encode(decode_event(encoded)) == encoded


def test_there_is_an_example_of_every_type() -> None:
    assert {data.TYPE for data in EXAMPLES} == EVENT_TYPES.keys()


def test_the_list_of_types_matches_the_contract() -> None:
    assert sorted(EVENT_TYPES) == [
        "agent.unparsed",
        "error",
        "item.completed",
        "item.delta",
        "item.started",
        "permission.requested",
        "permission.resolved",
        "question.requested",
        "question.resolved",
        "session.ended",
        "session.started",
        "turn.ended",
        "turn.started",
    ]


def test_the_envelope_is_on_the_wire_as_the_contract_writes_it() -> None:
    assert msgspec.json.encode(event(TurnStarted("turn_1"), "turn.started")) == (
        b'{"event_id":"evt_1","sequence":1,"time":"2026-01-01T00:00:00.000Z","session_id":"s",'
        b'"native_session_id":"native","source":"agent","synthetic":false,"type":"turn.started",'
        b'"data":{"turn_id":"turn_1","phase":"started"},"raw":null}'
    )


def test_what_an_item_always_has_is_there_and_what_it_may_have_is_not() -> None:
    started = ItemStarted(Item("itm_1", None, None, "message", "user", "in_progress", (Image("/a.png"),)))
    assert msgspec.to_builtins(started) == {
        "item": {
            "item_id": "itm_1",
            "native_item_id": None,
            "parent_id": None,
            "kind": "message",
            "role": "user",
            "status": "in_progress",
            "content": ({"type": "image", "path": "/a.png"},),
        }
    }
    assert msgspec.to_builtins(ItemDelta("itm_1", None, "x")) == {
        "item_id": "itm_1",
        "native_item_id": None,
        "delta": "x",
        "kind": "message",
        "role": "assistant",
    }
    assert msgspec.to_builtins(ItemDelta("itm_1", None, "x", visibility="private"))["visibility"] == "private"


def test_what_a_call_does_and_is_about_is_always_on_the_wire() -> None:
    call = ToolCall("bash", "{}", "call_1")
    assert msgspec.to_builtins(call)["kind"] == "other"
    assert msgspec.to_builtins(call)["title"] == ""
    assert {"kind", "title"} <= msgspec.to_builtins(PermissionMetadata("bash", None)).keys()


def test_the_metadata_of_a_session_is_camel_case() -> None:
    started = SessionStarted(SessionMetadata("mock", "1.0", permission_mode="plan"))
    assert msgspec.to_builtins(started) == {
        "metadata": {"agent": "mock", "agentVersion": "1.0", "permissionMode": "plan"}
    }


def test_raw_comes_along_when_it_is_there() -> None:
    original = event(ItemDelta("itm_1", None, "x"), "item.delta", {"native": [1]})
    assert decode_event(msgspec.json.encode(original)).raw == {"native": [1]}


# -- a newer daemon ---------------------------------------------------------------------------

MESSAGE = {
    "item_id": "itm_1",
    "native_item_id": None,
    "parent_id": None,
    "kind": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "text", "text": "hi"}],
}


@pytest.mark.parametrize(
    "type, data",
    [
        ("session.paused", {"until": "tomorrow"}),
        ("item.completed", {"item": {**MESSAGE, "content": [{"type": "audio", "path": "/a.ogg"}]}}),
        ("item.completed", {"item": {**MESSAGE, "kind": "hologram"}}),
        ("item.completed", {"item": {**MESSAGE, "role": "reviewer"}}),
        (
            "turn.ended",
            {"turn_id": "t", "phase": "ended", "metadata": {"stop_reason": "bored", "duration_ms": 1}},
        ),
        ("error", {"message": "broke", "code": "moon_phase"}),
        ("permission.resolved", {"permission_id": "p", "action": "a", "status": "accept_for_ever"}),
        ("item.delta", {"item_id": "itm_1"}),
    ],
    ids=["type", "part", "kind", "role", "stop reason", "error code", "permission status", "missing field"],
)
def test_unknown_data_stays_plain_json(type: str, data: dict[str, Any]) -> None:
    assert decode_event(on_the_wire(data, type)) == event(data, type)


@pytest.mark.parametrize("type", ["permission.requested", "permission.resolved"])
def test_a_new_value_in_a_permission_is_kept(type: str) -> None:
    metadata = {"tool_name": "browse", "input": {}, "kind": "browser", "decided_by": "committee"}
    data = {"permission_id": "p", "action": "browse", "status": "escalated", "metadata": metadata}
    decoded = decode_event(on_the_wire(data, type)).data
    assert isinstance(decoded, PermissionRequested | PermissionResolved)
    assert msgspec.to_builtins(decoded) == {**data, "metadata": {**metadata, "title": ""}}


@pytest.mark.parametrize("type", ["item.started", "item.completed"])
def test_a_new_kind_of_tool_is_kept(type: str) -> None:
    call = {"type": "tool_call", "name": "browse", "arguments": "{}", "call_id": "c", "kind": "browser"}
    data = {"item": {**MESSAGE, "kind": "tool_call", "status": "postponed", "content": [call]}}
    decoded = decode_event(on_the_wire(data, type)).data
    assert isinstance(decoded, ItemStarted | ItemCompleted)
    assert decoded.item.content == (ToolCall("browse", "{}", "c", cast(ToolKind, "browser")),)
    assert str(decoded.item.status) == "postponed"


@pytest.mark.parametrize("data", EXAMPLES, ids=lambda data: data.TYPE)
def test_an_unknown_field_is_ignored(data: AnyData) -> None:
    more = msgspec.to_builtins(data) | {"colour": "blue"}
    assert decode_event(on_the_wire(more, data.TYPE, colour={"also": "here"})) == event(data, data.TYPE)


def test_an_unknown_source_is_kept() -> None:
    body = on_the_wire(
        {"item_id": "itm_1", "native_item_id": None, "delta": "x"}, "item.delta", source="client"
    )
    decoded = decode_event(body)
    assert (decoded.source, decoded.data) == ("client", ItemDelta("itm_1", None, "x"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.sampled_from([*EVENT_TYPES, "something.new"]), st.dictionaries(st.text(max_size=8), JSON, max_size=4)
)
def test_nothing_that_data_may_hold_breaks_a_reader(type: str, data: dict[str, Any]) -> None:
    decoded = decode_event(on_the_wire(data, type)).data
    assert decoded == data or isinstance(decoded, EVENT_TYPES[type])


# -- usage ------------------------------------------------------------------------------------


def test_usage_adds_what_is_known() -> None:
    assert Usage(1, None, 3, cost_usd=0.5) + Usage(10, 20, None, cost_usd=0.25) == Usage(
        11, 20, 3, cost_usd=0.75
    )
    assert Usage() + Usage() == Usage()


COUNTS = st.none() | st.integers(0, 10**12)
USAGE = st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)


@given(USAGE, USAGE, USAGE)
def test_usage_adds_in_any_order(one: Usage, two: Usage, three: Usage) -> None:
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one + Usage() == one
