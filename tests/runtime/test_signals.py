"""An agent whose process ends with a cancelled or failed turn: its session continues, in a real daemon with real processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import Client, Daemon, client_of, descendants, refusal, running, wait_until

pytestmark = pytest.mark.slow

AGENT = Path(__file__).with_name("signalled_agent.py")


@pytest.fixture
def threads(tmp_path: Path) -> Path:
    """The agent's storage. While it contains a file `slow`, the agent does not start."""
    (tmp_path / "threads").mkdir()
    return tmp_path / "threads"


@pytest.fixture
def daemon(tmp_path: Path, threads: Path) -> Iterator[Daemon]:
    program = tmp_path / "data" / "bin" / "amp"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!{sys.executable}\n{AGENT.read_text()}")
    program.chmod(0o700)
    with running(Daemon(tmp_path / "data", env={"AMP_THREADS": str(threads)})) as daemon:
        yield daemon


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with client_of(daemon) as client:
        yield client


def summary(events: list[dict[str, Any]]) -> list[str]:
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


def test_a_cancel_by_signal_is_not_a_crash_and_queued_messages_resume_the_conversation(
    client: Client,
) -> None:
    session = client.create(agent="amp")
    assert summary(client.turn(session, "one")) == ["one 1", "end_turn"]
    client.send(session, "hang")
    last = client.send(session, "two")
    assert client.post(f"/v1/sessions/{session}/cancel").status_code == 204
    with client.follow(session) as reader:
        events = reader.until(
            lambda event: bool(event["type"] == "turn.ended" and event["data"]["turn_id"] == last)
        )
    # Two lines were kept before this: the process was given the time for what it does after its last word.
    assert summary(events) == ["one 1", "end_turn", "queue", "interrupted", "two 3", "end_turn"]


def test_after_an_error_that_ends_the_process_the_next_message_resumes(client: Client) -> None:
    session = client.create(agent="amp")
    client.turn(session, "one")
    assert summary(client.turn(session, "fail")) == ["500 broken", "error"]
    assert summary(client.turn(session, "two")) == ["two 3", "end_turn"]


def test_an_agent_that_closes_its_output_and_lives_on_ends_its_turn_with_an_error(client: Client) -> None:
    session = client.create(agent="amp")
    client.turn(session, "one")
    closed = "the agent's process closed its output and was stopped (SIGTERM)"
    assert summary(client.turn(session, "close")) == [closed, "error"]
    assert summary(client.turn(session, "two")) == ["two 2", "end_turn"]


@pytest.mark.parametrize(
    ("times", "answer"), [(1, ["two 3", "end_turn"]), (9, ["500 broken again", "error"])]
)
def test_a_process_that_ends_over_an_older_message_does_not_take_the_new_one_with_it(
    client: Client, times: int, answer: list[str]
) -> None:
    """The next process gets it; after a few attempts the turn fails with their error."""
    session = client.create(agent="amp")
    client.turn(session, "one")
    assert summary(client.turn(session, f"fail again {times}")) == ["500 broken", "error"]
    assert summary(client.turn(session, "two")) == answer


def test_a_conversation_that_was_never_stored_starts_over(client: Client) -> None:
    session = client.create(agent="amp")
    client.send(session, "hang")
    client.post(f"/v1/sessions/{session}/cancel")
    assert summary(client.turn(session, "one")) == ["one 1", "end_turn"]
    assert summary(client.events(session)) == ["interrupted", "resume_lost", "one 1", "end_turn"]


def test_a_conversation_that_is_gone_is_not_replaced_unasked(client: Client) -> None:
    session = client.create(agent="amp")
    client.turn(session, "one")
    client.turn(session, "forget")
    gone = client.post(f"/v1/sessions/{session}/messages", {"message": "two"})
    assert refusal(gone) == (409, "conflict")
    assert summary(client.turn(session, "two", fresh=True))[-2:] == ["two 1", "end_turn"]


# -- sessions that end, and daemons that stop, while an agent starts ------------------------------


def test_ending_a_session_while_its_agent_starts_leaves_no_waiter_and_no_process(
    daemon: Daemon, client: Client, threads: Path
) -> None:
    session = client.create(agent="amp")
    client.turn(session, "one")
    client.turn(session, "fail")
    (threads / "slow").touch()
    with ThreadPoolExecutor() as pool, client_of(daemon) as other:
        waiting = pool.submit(client.post, f"/v1/sessions/{session}/messages", {"message": "two"})
        wait_until(lambda: len(descendants(daemon.pid)) == 2)  # guardian and agent
        assert other.post(f"/v1/sessions/{session}/terminate").status_code == 204
        assert descendants(daemon.pid) == set()
        assert refusal(waiting.result(10)) == (409, "conflict")
    assert descendants(daemon.pid) == set()


def test_a_queued_message_whose_agent_starts_when_the_daemon_stops_is_left_to_the_next_start(
    daemon: Daemon, client: Client, threads: Path
) -> None:
    session = client.create(agent="amp")
    client.turn(session, "one")
    client.send(session, "hang")
    last = client.send(session, "two")
    (threads / "slow").touch()
    client.post(f"/v1/sessions/{session}/cancel")
    wait_until(lambda: len(descendants(daemon.pid)) == 2)  # guardian and agent
    daemon.stop()
    (threads / "slow").unlink()
    daemon.start()
    with client_of(daemon) as again, again.follow(session) as reader:
        events = reader.until(
            lambda event: event["data"].get("turn_id") == last and event["type"] == "turn.ended"
        )
    assert summary(events)[-2:] == ["two 3", "end_turn"]


def test_a_start_that_the_disk_refuses_is_reported_and_later_works(client: Client, tmp_path: Path) -> None:
    launch = tmp_path / "data" / "launch"
    launch.write_text("a file where a folder should be")
    refused = client.post("/v1/sessions/s", {"agent": "amp", "directory": str(tmp_path)})
    assert refusal(refused) == (503, "unavailable")
    launch.unlink()
    assert summary(client.turn(client.create(agent="amp"), "one")) == ["one 1", "end_turn"]


def test_a_deleted_picture_is_still_named(client: Client, tmp_path: Path) -> None:
    session = client.create(agent="amp")
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG")
    client.send(session, "hang")
    client.send(session, "look", attachments=[{"path": str(picture), "mime": "image/png"}])
    picture.unlink()
    client.post(f"/v1/sessions/{session}/cancel")
    with client.follow(session) as reader:
        reader.until_type("turn.ended")
        events = reader.until_type("turn.ended")
    assert summary(events)[-2:] == [f"look\n\nAttached file: {picture} 3", "end_turn"]


def test_a_picture_that_is_too_large_for_a_message_is_only_named(client: Client, tmp_path: Path) -> None:
    picture = tmp_path / "huge.png"
    with picture.open("wb") as file:
        file.truncate(1 << 42)
    session = client.create(agent="amp")
    assert summary(client.turn(session, "one", attachments=[{"path": str(picture)}]))[-1] == "end_turn"
