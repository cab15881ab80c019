"""Our own ACP adapter drives our own door: after two translations, an agent's events keep the rules and the text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acp_clients import acp_modules
from tests.acp_recorded import text_in, updates_in
from tests.daemons import Client, Daemon, client_of, of_type, results, running, stop_reason, texts


@pytest.fixture(scope="module")
def outer(daemon: Daemon, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon whose agent `twice` is the mock agent of another daemon."""
    serve = f"{sys.executable} -m sandbox_agent acp --agent mock --endpoint http://127.0.0.1:{daemon.port}"
    data = tmp_path_factory.mktemp("outer") / "data"
    with running(Daemon(data, "--no-token", "--acp-agent", f"twice={serve}")) as outer:
        yield outer


@pytest.fixture
def both(outer: Daemon, native: Client) -> Iterator[tuple[Client, str, str]]:
    """A client of the outer daemon, a session there, and the same agent directly."""
    with client_of(outer) as client:
        directory = str(outer.work_dir)
        yield client, client.create(agent="twice", directory=directory), native.create(directory=directory)


@pytest.mark.parametrize(
    "prompt", ["markdown", "thinking", "tool 3", "parallel", "subagent", "flood 200 10", "error"]
)
def test_a_turn_through_two_translations_says_the_same(
    prompt: str, both: tuple[Client, str, str], native: Client
) -> None:
    client, twice, once = both
    through, directly = client.turn(twice, prompt), native.turn(once, prompt)
    assert texts(through) == texts(directly)
    assert _outputs(through) == _outputs(directly)
    assert stop_reason(through) == stop_reason(directly)
    assert [each["code"] for each in of_type(through, "error")] == [
        each["code"] for each in of_type(directly, "error")
    ]


def _outputs(events: list[dict[str, object]]) -> list[tuple[str, object, object]]:
    return [
        (item["status"], item["content"][0]["output"], item["content"][0].get("exit_code"))
        for item in results(events)
    ]


def test_permissions_and_questions_pass_both(both: tuple[Client, str, str]) -> None:
    client, twice, _ = both
    for reply, text in (
        ("reject", "You did not allow bash, so I leave it."),
        ("once", "The command said: hello"),
    ):
        client.send(twice, "permission hello")
        with client.follow(twice, client.info(twice)["eventCount"]) as reader:
            _answer_permission(client, twice, reply)
            reader.until_type("turn.ended")
        assert texts(client.events(twice))[-1] == text


def _answer_permission(client: Client, session: str, reply: str) -> None:
    with client.follow(session) as reader:
        while not (pending := client.pending(session)):
            reader.until_type("permission.requested")
    path = f"/v1/sessions/{session}/permissions/{pending[0]['permission_id']}/reply"
    assert client.post(path, {"reply": reply}).status_code == 204


def test_a_recording_of_the_door_is_valid(daemon: Daemon, outer: Daemon, tmp_path: Path) -> None:
    acp_modules()
    tee = Path(__file__).with_name("tee.py")
    log = tmp_path / "acp.jsonl"
    serve = f"{sys.executable} {tee} {log} {sys.executable} -m sandbox_agent acp --agent mock"
    flags = ("--no-token", "--acp-agent", f"taped={serve} --endpoint http://127.0.0.1:{daemon.port}")
    with running(Daemon(tmp_path / "data", *flags)) as third, client_of(third) as client:
        session = client.create(agent="taped")
        client.turn(session, "thinking")
        assert text_in(updates_in(log)) == "I thought about it."
