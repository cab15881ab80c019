"""A fleet whose sandboxes are processes of this machine: when they start, stop and come back."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.daemons import SECONDS, gone_within, refusal, wait_until
from tests.fleet.conftest import NewFleet
from tests.fleet.programs import NEVER, reply_text, stop_reasons
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from sandbox_agent.fleet.fleet import HUNG_SECONDS
from sandbox_agent.providers.provider import STOP_SECONDS

BYTES = {"content-type": "application/octet-stream"}


def test_a_session_gets_a_sandbox_of_its_own_when_it_is_created(new_fleet: NewFleet) -> None:
    fleet = new_fleet("--idle-seconds", NEVER, "--max-sandboxes", "1")
    create = {"agent": "mock"}
    anyone = fleet.http.post("/v1/sessions/demo", json=create, headers={"authorization": "Bearer wrong"})
    assert refusal(anyone) == (401, "token_invalid")
    assert fleet.names() == ["fleet"]
    assert refusal(fleet.http.post("/v1/sessions/demo", json={**create, "node": "../x"})) == (
        400,
        "invalid_request",
    )
    fleet.create("demo")
    assert fleet.names() == ["fleet", "s-demo"]
    # The answer of a stream comes from the sandbox itself, the session from the gateway.
    assert stop_reasons(fleet.turn("demo", "hello")) == ["end_turn"]
    info = fleet.http.get("/v1/sessions/demo").json()
    assert (info["node"], info["directory"]) == ("s-demo", str(fleet.place("s-demo") / "work"))
    full = fleet.http.post("/v1/sessions/other", json=create)
    assert refusal(full) == (503, "unavailable")
    assert full.headers["retry-after"] == "30"
    fleet.create("other", node="s-demo")


def test_sessions_are_created_however_many_sandboxes_there_have_been(new_fleet: NewFleet) -> None:
    fleet = new_fleet("--idle-seconds", NEVER)
    fleet.create("first")
    with psycopg.connect((fleet.folder / "url").read_text(), autocommit=True) as log:
        log.execute(
            "INSERT INTO nodes (name, folder, version, knows, lease_until, fenced_at) "
            "SELECT 's-' || md5(n::text), 'gone', '1.0', 1, now(), now() FROM generate_series(1, 20000) n"
        )
    fleet.create("demo")


def test_files_and_terminals_of_a_sandbox_are_used_through_the_fleet(new_fleet: NewFleet) -> None:
    fleet = new_fleet("--idle-seconds", NEVER)
    fleet.create("demo")
    work = fleet.place("s-demo") / "work"
    large = b"x" * (3 << 20)
    query = {"path": str(work / "large"), "sessionId": "demo"}
    sent = fleet.http.put("/v1/fs/file", content=large, params=query, headers=BYTES)
    assert sent.status_code == 200, sent.text
    assert (work / "large").read_bytes() == large
    there = {"node": "s-demo"}
    process = fleet.http.post("/v1/processes", json={"command": "cat", "tty": True}, params=there)
    assert process.status_code == 200, process.text
    id = process.json()["id"]
    url = f"ws{str(fleet.http.base_url).removeprefix('http').rstrip('/')}/v1/processes/{id}/terminal/ws"
    with pytest.raises(InvalidStatus, match="401"):
        connect(f"{url}?node=s-demo", proxy=None).close()
    token = {"authorization": fleet.http.headers["authorization"]}
    with connect(f"{url}?node=s-demo", additional_headers=token, proxy=None) as terminal:
        terminal.send('{"type": "input", "data": "hello\\n"}')
        seen = b""
        while seen.count(b"hello") < 2:  # the echo of the terminal, and the answer of the program
            output = terminal.recv(SECONDS)
            seen += output if isinstance(output, bytes) else b""


def test_an_idle_sandbox_ends_and_the_next_message_continues_its_conversation(new_fleet: NewFleet) -> None:
    fleet = new_fleet("--idle-seconds", "0.5")
    fleet.create("demo")
    fleet.turn("demo", "hello")
    # While it stops, it answers 503, like any daemon.
    wait_until(lambda: fleet.state("s-demo") == "stopped" and fleet.pid("s-demo") is None)
    before = fleet.http.get("/v1/sessions/demo/events").json()["events"]
    assert stop_reasons(before) == ["end_turn"]
    assert fleet.state("s-demo") == "stopped"
    assert "message 2 of this conversation" in reply_text(fleet.turn("demo", "again"))


def test_a_dead_sandbox_is_replaced_and_goes_on_with_its_queue(new_fleet: NewFleet) -> None:
    fleet = new_fleet("--idle-seconds", NEVER)
    fleet.create("demo")
    for message in ("pace 100000 5", "hello"):
        queued = fleet.http.post("/v1/sessions/demo/messages", json={"message": message})
        assert queued.status_code == 202, queued.text
    died = fleet.pid("s-demo")
    assert died is not None
    os.kill(died, signal.SIGKILL)

    def events() -> list[dict[str, object]]:
        listed: list[dict[str, object]] = []
        has_more = True
        while has_more:  # on a busy machine, the first turn may have said a lot
            params = {"offset": str(len(listed)), "limit": "1000"}
            page = fleet.http.get("/v1/sessions/demo/events", params=params).json()
            listed += page["events"]
            has_more = page["hasMore"]
        return listed

    wait_until(lambda: stop_reasons(events()) == ["outcome_unknown", "end_turn"])
    assert fleet.pid("s-demo") != died
    # One that was stopped on purpose stays away until someone needs it.
    assert fleet.cli("stop", "s-demo").returncode == 0
    listed = fleet.cli("list", "--json").stdout
    assert '"stopped"' in listed
    assert stop_reasons(fleet.turn("demo", "hello")) == ["end_turn"]


def test_two_fleet_programs_share_sandboxes_which_outlive_them(new_fleet: NewFleet) -> None:
    first, second = new_fleet("--idle-seconds", NEVER), new_fleet("--idle-seconds", NEVER)
    with ThreadPoolExecutor(2) as both:
        created = [both.submit(each.create, id, node="one") for each, id in ((first, "a"), (second, "b"))]
        for each in created:
            each.result()
    sent = first.http.post("/v1/sessions/a/messages", json={"message": "pace 20 5"})
    assert sent.status_code == 202, sent.text
    pids = {name: first.pid(name) for name in first.names()}
    assert sorted(pids) == ["fleet", "one"]
    first.kill()
    assert stop_reasons(second.turn("a", "hello")) == ["end_turn"]
    listed = second.http.get("/v1/sessions/a/events", params={"limit": "1000"}).json()["events"]
    assert stop_reasons(listed) == ["end_turn", "end_turn"]
    assert second.stop() == 0
    assert {name: first.pid(name) for name in first.names()} == pids


@pytest.mark.long
def test_a_sandbox_that_hangs_is_replaced(new_fleet: NewFleet) -> None:
    fleet = new_fleet("--idle-seconds", NEVER)
    fleet.create("demo")
    hanging = fleet.pid("s-demo")
    assert hanging is not None
    os.kill(hanging, signal.SIGSTOP)
    assert gone_within([hanging], HUNG_SECONDS + STOP_SECONDS + SECONDS) == []
    assert stop_reasons(fleet.turn("demo", "hello")) == ["end_turn"]


def test_files_stay_until_they_are_removed_which_asks(new_fleet: NewFleet) -> None:
    fleet = new_fleet("--idle-seconds", NEVER)
    fleet.create("demo", node="one")
    kept = fleet.place("one") / "work" / "kept"
    kept.write_text("by the agent")
    asked = fleet.cli("remove", "one")
    assert (asked.returncode, "--yes" in asked.stderr) == (2, True)
    assert kept.exists()
    assert fleet.cli("remove", "two", "--yes").returncode == 1
    assert fleet.cli("remove", "one", "--yes").returncode == 0
    assert fleet.names() == ["fleet"]
    # Its sessions can be read, but not continued.
    assert fleet.http.get("/v1/sessions/demo").json()["node"] == "one"
    message = fleet.http.post("/v1/sessions/demo/messages", json={"message": "hello"})
    assert refusal(message) == (503, "unavailable")
    assert message.json()["node"] == "one"
    # Nor does a new sandbox take its name unnoticed.
    again = fleet.http.post("/v1/sessions/more", json={"agent": "mock", "node": "one"})
    assert refusal(again) == (409, "conflict")
    assert fleet.names() == ["fleet"]
    assert fleet.cli("start", "one", *fleet.secrets).returncode == 0
    assert fleet.state("one") == "running"
