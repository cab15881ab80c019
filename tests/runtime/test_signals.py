"""An agent whose process ends with a cancelled or a failed turn: its session goes on, in a real daemon with real processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import Client, Daemon, client_of, refusal, running

pytestmark = pytest.mark.slow

AGENT = Path(__file__).with_name("signalled_agent.py")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    program = tmp_path / "data" / "bin" / "amp"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!{sys.executable}\n{AGENT.read_text()}")
    program.chmod(0o700)
    (tmp_path / "threads").mkdir()
    with (
        running(Daemon(tmp_path / "data", env={"AMP_THREADS": str(tmp_path / "threads")})) as daemon,
        client_of(daemon) as client,
    ):
        yield client


def told(events: list[dict[str, Any]]) -> list[str]:
    """Turns in short: what the agent said, what went wrong and how they ended."""
    words = []
    for event in events:
        match event:
            case {"type": "item.completed", "data": {"item": {"role": "assistant", "content": content}}}:
                words += [part["text"] for part in content]
            case {"type": "item.completed", "data": {"item": {"kind": "status", "content": content}}}:
                words.append(content[0]["label"])
            case {"type": "error", "data": {"message": message}}:
                words.append(message)
            case {"type": "turn.ended", "data": {"metadata": metadata}}:
                words.append(metadata["stop_reason"])
    return words


def test_a_cancel_by_signal_is_no_crash_and_what_waits_resumes_the_conversation(client: Client) -> None:
    session = client.create(agent="amp")
    assert told(client.turn(session, "one")) == ["one 1", "end_turn"]
    client.send(session, "hang")
    last = client.send(session, "two")
    assert client.post(f"/v1/sessions/{session}/cancel").status_code == 204
    with client.follow(session) as reader:
        events = reader.until(
            lambda event: bool(event["type"] == "turn.ended" and event["data"]["turn_id"] == last)
        )
    # Two lines were kept before this: the process was given the time for what it does after its last word.
    assert told(events) == ["one 1", "end_turn", "queue", "interrupted", "two 3", "end_turn"]


def test_after_an_error_that_ends_the_process_the_next_message_resumes(client: Client) -> None:
    session = client.create(agent="amp")
    client.turn(session, "one")
    assert told(client.turn(session, "fail")) == ["500 broken", "error"]
    assert told(client.turn(session, "two")) == ["two 3", "end_turn"]


@pytest.mark.parametrize(
    ("times", "answer"), [(1, ["two 3", "end_turn"]), (9, ["500 broken again", "error"])]
)
def test_a_process_that_ends_over_an_older_message_does_not_take_the_new_one_with_it(
    client: Client, times: int, answer: list[str]
) -> None:
    """The next process gets it; after a few of them the turn fails with what they say."""
    session = client.create(agent="amp")
    client.turn(session, "one")
    assert told(client.turn(session, f"fail again {times}")) == ["500 broken", "error"]
    assert told(client.turn(session, "two")) == answer


def test_a_conversation_that_was_never_stored_starts_anew(client: Client) -> None:
    session = client.create(agent="amp")
    client.send(session, "hang")
    client.post(f"/v1/sessions/{session}/cancel")
    assert told(client.turn(session, "one")) == ["one 1", "end_turn"]
    assert told(client.events(session)) == ["interrupted", "resume_lost", "one 1", "end_turn"]


def test_a_conversation_that_is_gone_is_not_replaced_unasked(client: Client) -> None:
    session = client.create(agent="amp")
    client.turn(session, "one")
    client.turn(session, "forget")
    gone = client.post(f"/v1/sessions/{session}/messages", {"message": "two"})
    assert refusal(gone) == (409, "conflict")
    assert told(client.turn(session, "two", fresh=True))[-2:] == ["two 1", "end_turn"]
