"""The translation into responses, on every recording of every agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from sandbox_agent.doors.openai.chat import Chat, completion
from sandbox_agent.doors.openai.ids import TurnName
from sandbox_agent.doors.openai.shapes import StreamEvent
from sandbox_agent.doors.openai.turn import Turn
from sandbox_agent.schema.events import (
    AnyData,
    ErrorEvent,
    Event,
    ItemDelta,
    PermissionMetadata,
    PermissionResolved,
    StopReason,
    TurnEnded,
    TurnMetadata,
    TurnStarted,
    Usage,
    decode_event,
)

RECORDINGS = Path(__file__).parents[2] / "transcripts"
EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def turns_of(agent: str) -> list[tuple[TurnName, list[Event]]]:
    """Each turn of each recording, with all events of its session."""
    found = []
    for recording in sorted((RECORDINGS / agent).glob("*/universal.jsonl")):
        events = [decode_event(line) for line in recording.read_bytes().splitlines()]
        for event in events:
            if isinstance(event.data, TurnStarted):
                own = [each for each in events if each.session_id == event.session_id]
                found.append((TurnName(event.session_id, event.data.turn_id), own))
    return found


def streamed(turn: Turn, events: list[Event]) -> list[StreamEvent]:
    return [made for event in events for made in turn.take(event)]


def plain(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


@pytest.fixture(params=sorted(folder.name for folder in RECORDINGS.iterdir()))
def turns(request: pytest.FixtureRequest) -> list[tuple[TurnName, list[Event]]]:
    return turns_of(request.param)


def test_every_turn_is_a_stream_that_the_client_knows(turns: list[tuple[TurnName, list[Event]]]) -> None:
    for name, events in turns:
        turn = Turn(name, "agent/model")
        sent = [plain(event) for event in streamed(turn, events)]
        for event in sent:
            EVENTS.validate_python(event, strict=False)
        assert [event["sequence_number"] for event in sent] == list(range(len(sent)))
        assert sent[0]["type"] == "response.created"
        assert turn.has_ended
        last = sent[-1]["response"]
        Response.model_validate(last)
        assert last == plain(turn.response())
        added = [event["item"]["id"] for event in sent if event["type"] == "response.output_item.added"]
        done = {
            event["output_index"]: event["item"]
            for event in sent
            if event["type"] == "response.output_item.done"
        }
        assert [done[index] for index in sorted(done)] == last["output"]
        assert added == [item["id"] for item in last["output"]]


def test_every_turn_is_a_completion_that_the_client_knows(turns: list[tuple[TurnName, list[Event]]]) -> None:
    for name, events in turns:
        turn, chat = Turn(name, "agent/model"), Chat(name)
        chunks = [
            plain(chunk) for event in streamed(turn, events) for chunk in chat.chunks(event, with_usage=True)
        ]
        for chunk in chunks:
            ChatCompletionChunk.model_validate(chunk)
        whole = plain(completion(name, turn.response()))
        ChatCompletion.model_validate(whole)
        deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
        assert (
            "".join(delta.get("content", "") for delta in deltas) == whole["choices"][0]["message"]["content"]
        )


# -- ends -------------------------------------------------------------------------------------

NAME = TurnName("demo", "turn_1")
REJECTED = PermissionResolved(
    "perm_1", "bash", "reject", PermissionMetadata("bash", {}, title="ls", decided_by="client")
)


def ended(stop_reason: StopReason, *between: AnyData) -> Any:
    """The response of a turn with these events in between, and the name of its last event."""
    turn = Turn(NAME, "agent")
    metadata = TurnMetadata(stop_reason, 1, Usage(input_tokens=3, output_tokens=2, cache_read_tokens=1))
    data = (TurnStarted("turn_1"), *between, TurnEnded("turn_1", metadata))
    events = [
        Event("evt", number, "2026-01-01T00:00:07.900Z", "demo", None, "agent", False, each.TYPE, each)
        for number, each in enumerate(data, start=1)
    ]
    sent = [plain(event) for event in streamed(turn, events)]
    return sent[-1]["response"], sent[-1]["type"], completion(NAME, turn.response()).choices[0].finish_reason


@pytest.mark.parametrize(
    "stop_reason, status, event, finish_reason",
    [
        ("end_turn", "completed", "response.completed", "stop"),
        ("max_tokens", "incomplete", "response.incomplete", "length"),
        ("limit", "incomplete", "response.incomplete", "length"),
        ("refusal", "incomplete", "response.incomplete", "content_filter"),
        ("interrupted", "cancelled", "response.incomplete", "stop"),
        ("error", "failed", "response.failed", "stop"),
        ("outcome_unknown", "failed", "response.failed", "stop"),
    ],
)
def test_each_stop_reason_has_a_status(
    stop_reason: StopReason, status: str, event: str, finish_reason: str
) -> None:
    response, last, reason = ended(stop_reason)
    assert (response["status"], last, reason) == (status, event, finish_reason)
    assert (response["error"] is not None) == (status == "failed")
    assert response["created_at"] == 1767225607
    assert response["usage"] == {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 5,
    }


def test_an_agent_that_stops_at_a_rejection_has_completed_its_response() -> None:
    assert ended("interrupted", REJECTED)[0]["status"] == "completed"
    # It continued after the rejection, so someone has cancelled it.
    went_on = ItemDelta("itm_1", None, "Then I")
    assert ended("interrupted", REJECTED, went_on)[0]["status"] == "cancelled"


def test_an_error_of_the_agent_is_the_error_of_the_response() -> None:
    response, *_ = ended("error", ErrorEvent("slow down", "rate_limited"))
    assert response["error"] == {"code": "rate_limit_exceeded", "message": "slow down"}
