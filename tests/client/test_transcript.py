"""Events folded into messages, tools, diffs and usage."""

from __future__ import annotations

from pathlib import Path

import msgspec

from sandbox_agent import ErrorEvent, Event, FileRef, ItemCompleted, Message, Text, Tool, Transcript, Usage
from sandbox_agent.client.events import decode_event
from sandbox_agent.schema.items import Reasoning, ToolResult

RECORDED = Path(__file__).parents[1] / "transcripts"
ALL = sorted(RECORDED.glob("*/*/universal.jsonl"))
SPOKEN = (Text, Reasoning)


def events_of(name: str) -> list[Event]:
    return read(RECORDED / name / "universal.jsonl")


def read(path: Path) -> list[Event]:
    return [decode_event(line) for line in path.read_bytes().splitlines()]


def test_the_transcript_of_a_demo_has_all_its_text_and_tools() -> None:
    transcript = Transcript(events_of("mock/demo"))
    assert [(message.role, message.thinking) for message in transcript.messages[:3]] == [
        ("user", False),
        ("assistant", True),
        ("assistant", False),
    ]
    assert [(tool.name, tool.kind, tool.title, tool.status, tool.exit_code) for tool in transcript.tools][
        :3
    ] == [
        ("bash", "command", "seq 3", "completed", 0),
        ("bash", "command", "echo hello from the mock agent", "completed", 0),
        ("edit", "edit", "/tmp/ws/mock-edit.txt", "completed", None),
    ]
    assert transcript.stop_reason == "end_turn"
    assert (transcript.permissions, transcript.questions) == ({}, {})


def test_a_call_of_an_old_log_has_its_name_as_its_title() -> None:
    part = {"type": "tool_call", "name": "bash", "arguments": "{}", "call_id": "c"}
    [call] = [
        event
        for event in events_of("mock/demo")
        if isinstance(event.data, ItemCompleted) and event.data.item.kind == "tool_call"
    ][:1]
    assert isinstance(call.data, ItemCompleted)
    old = msgspec.to_builtins(call)
    old["data"]["item"]["content"] = [part]
    [tool] = Transcript([decode_event(msgspec.json.encode(old))]).tools
    assert (tool.kind, tool.title) == ("other", "bash")


def test_no_part_of_any_recording_is_lost() -> None:
    """Every text, result, change and error of the events is in the transcript."""
    for path in ALL:
        for events in by_session(read(path)):
            transcript = Transcript(events)
            assert folded(transcript) == expected_fold(events), path


def by_session(events: list[Event]) -> list[list[Event]]:
    sessions: dict[str, list[Event]] = {}
    for event in events:
        sessions.setdefault(event.session_id, []).append(event)
    return list(sessions.values())


def expected_fold(events: list[Event]) -> dict[str, object]:
    items = [event.data.item for event in events if isinstance(event.data, ItemCompleted)]
    parts = [(item, part) for item in items for part in item.content]
    return {
        "texts": sorted(
            part.text for item, part in parts if item.kind == "message" and isinstance(part, SPOKEN)
        ),
        "results": {
            part.call_id: (part.output, item.status) for item, part in parts if isinstance(part, ToolResult)
        },
        "diffs": [part for item, part in parts if item.kind == "tool_result" and isinstance(part, FileRef)],
        "errors": [event.data for event in events if isinstance(event.data, ErrorEvent)],
    }


def folded(transcript: Transcript) -> dict[str, object]:
    return {
        "texts": sorted(message.text for message in transcript.messages if message.status != "in_progress"),
        "results": {
            tool.call_id: (tool.output, tool.status)
            for tool in transcript.tools
            if tool.status != "in_progress"
        },
        "diffs": transcript.diffs,
        "errors": transcript.errors,
    }


def test_an_event_that_is_added_twice_changes_nothing() -> None:
    once, twice = Transcript(), Transcript()
    for event in events_of("mock/demo"):
        once.add(event)
        twice.add(event)
        twice.add(event)
    assert (once.messages, once.tools, once.usage) == (twice.messages, twice.tools, twice.usage)
    assert once.usage != Usage()


def test_a_message_grows_while_it_is_streamed() -> None:
    growing, seen = Transcript(), []
    for event in events_of("mock/demo"):
        growing.add(event)
        if growing.messages and growing.messages[0].status == "in_progress":
            seen.append(growing.messages[0].text)
    assert seen == ["", "demo"]


def test_a_sub_agent_does_not_speak_for_the_agent() -> None:
    transcript = Transcript(events_of("mock/demo"))
    [inner] = [message for message in transcript.messages if message.parent_id]
    assert isinstance(inner, Message)
    assert inner.text == "I am the sub-agent, and I count."
    assert inner.text not in transcript.text
    assert [tool.name for tool in transcript.tools if isinstance(tool, Tool) and tool.parent_id] == ["bash"]
