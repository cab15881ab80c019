"""The translation into OpenCode's messages, on every recording of every agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from sandbox_agent.doors.opencode.shapes import MessageWithParts, SessionChanged
from sandbox_agent.doors.opencode.thread import Facts
from sandbox_agent.doors.opencode.transcript import Transcript
from sandbox_agent.schema.events import Event, ItemCompleted, decode_event
from sandbox_agent.schema.items import Text, ToolResult

from .screen import Screen

RECORDINGS = Path(__file__).parents[2] / "transcripts"
AGENTS = sorted(folder.name for folder in RECORDINGS.iterdir())


def recorded(path: str) -> list[Event]:
    return [decode_event(line) for line in (RECORDINGS / path / "universal.jsonl").read_bytes().splitlines()]


def new_transcript(events: list[Event], max_messages: int = 1000) -> Transcript:
    return Transcript(Facts(events[0].session_id, "/tmp/ws", "agent", "build", "default"), max_messages)


def transcript_of(events: list[Event], end: int | None = None) -> Transcript:
    transcript = new_transcript(events)
    for event in events[:end]:
        transcript.take(event)
    return transcript


def listed(messages: list[MessageWithParts]) -> list[dict[str, Any]]:
    plain: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(messages))
    return plain


@pytest.fixture(params=AGENTS)
def recordings(request: pytest.FixtureRequest) -> list[list[Event]]:
    """The events of each session of each recording of an agent."""
    sessions: list[list[Event]] = []
    for folder in sorted((RECORDINGS / request.param).iterdir()):
        of_session: dict[str, list[Event]] = {}
        for event in recorded(f"{request.param}/{folder.name}"):
            of_session.setdefault(event.session_id, []).append(event)
        sessions += of_session.values()
    return sessions


def test_a_reader_of_the_stream_sees_what_is_listed_later(recordings: list[list[Event]]) -> None:
    for events in recordings:
        screen, transcript = Screen(), new_transcript(events, max_messages=0)
        for event in events:
            screen.show(transcript.take(event))
        whole = transcript_of(events)
        for id in (whole.main.id, *whole.children):
            assert screen.shown(id) == listed(whole.messages(id))
        assert set(screen.pending) == set(whole.requests.pending)
        assert screen.status.get(whole.main.id, "idle") == whole.status.type


def test_a_reader_that_comes_back_sees_everything_once(recordings: list[list[Event]]) -> None:
    """It misses the second third of the recording."""
    for events in recordings:
        first, second = len(events) // 3, len(events) * 2 // 3
        screen, transcript = Screen(), new_transcript(events)
        for event in events[:first]:
            screen.show(transcript.take(event))
        again = transcript_of(events, second)
        screen.show(again.snapshot(0))
        again.keep_nothing()
        for event in events[second:]:
            screen.show(again.take(event))
        whole = transcript_of(events)
        for id in (whole.main.id, *whole.children):
            assert screen.shown(id) == listed(whole.messages(id))
        assert set(screen.pending) == set(whole.requests.pending)


def test_no_text_and_no_result_is_left_out(recordings: list[list[Event]]) -> None:
    for events in recordings:
        whole = transcript_of(events)
        messages = [each for id in (whole.main.id, *whole.children) for each in listed(whole.messages(id))]
        parts = [part for message in messages for part in message["parts"]]
        texts = [part["text"] for part in parts if part["type"] == "text"]
        results = {part["callID"] for part in parts if part["type"] == "tool" and part["state"].get("time")}
        for item in (event.data.item for event in events if isinstance(event.data, ItemCompleted)):
            for part in item.content:
                if item.kind == "message" and isinstance(part, Text):
                    assert part.text in texts
                if isinstance(part, ToolResult):
                    assert part.call_id in results


def test_a_turn_is_one_message_of_the_user_and_one_of_the_agent() -> None:
    events = recorded("claude/bash_allow")
    (asked, answered) = listed(transcript_of(events).messages(events[0].session_id))
    assert asked["info"]["role"] == "user"
    assert [part["text"] for part in asked["parts"]] == ["SCENARIO:tool-bash go"]
    assert answered["info"]["parentID"] == asked["info"]["id"]
    assert answered["info"]["finish"] == "stop"
    assert [part.get("tool") or part["text"] for part in answered["parts"]] == [
        "I will run a command.",
        "bash",
        "The command finished.",
    ]
    call = answered["parts"][1]["state"]
    assert call["status"] == "completed"
    assert call["input"]["command"] == "touch bash_ran.txt && echo tool-output-ok"
    assert call["metadata"] == {"output": "tool-output-ok", "exit": 0, "truncated": False}


def test_the_work_of_a_sub_agent_is_a_session_of_its_own() -> None:
    events = recorded("claude/subagent")
    whole = transcript_of(events)
    ((id, session),) = whole.child_sessions.items()
    task = next(part for part in listed(whole.messages(events[0].session_id))[1]["parts"])
    assert task["tool"] == "task"
    assert task["state"]["metadata"]["sessionId"] == id
    assert session.parent_id == events[0].session_id
    asked, answered = listed(whole.messages(id))
    assert asked["parts"][0]["text"] == "SCENARIO:subagent-inner do the inner job"
    assert [part["tool"] for part in answered["parts"]] == ["bash"]


def test_a_reader_learns_of_the_session_of_a_sub_agent() -> None:
    """By `session.updated`: the terminal interface ignores that a session was created."""
    events = recorded("claude/subagent")
    follower = new_transcript(events, max_messages=0)
    live = [each for event in events for each in follower.take(event)]
    for seen in (live, list(transcript_of(events).snapshot(0))):
        updates = [each.properties for each in seen if each.type == "session.updated"]
        assert [each.info for each in updates if isinstance(each, SessionChanged)] == [
            *follower.child_sessions.values()
        ]


def test_a_cancelled_turn_is_marked_as_aborted() -> None:
    events = recorded("mock/cancelled")
    answered = listed(transcript_of(events).messages(events[0].session_id))[1]
    assert answered["info"]["error"]["name"] == "MessageAbortedError"
    assert "completed" in answered["info"]["time"]


def test_ids_grow_as_parts_and_messages_follow_each_other(recordings: list[list[Event]]) -> None:
    for events in recordings:
        messages = listed(transcript_of(events).messages(events[0].session_id))
        order = [f"{message['info']['time']['created']}{message['info']['id']}" for message in messages]
        assert order == sorted(order)


def test_the_todo_list_is_reported() -> None:
    events = recorded("opencode/todo")
    screen, transcript = Screen(), new_transcript(events)
    for event in events:
        screen.show(transcript.take(event))
    assert screen.todos == list(msgspec.to_builtins(transcript.todos))
    assert {todo["status"] for todo in screen.todos} <= {"pending", "in_progress", "completed"}
    assert screen.todos[0]["content"]
