"""After a `kill -9` of the daemon: everything acknowledged is there, and the conversation continues."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest
from tests.daemons import (
    Client,
    Daemon,
    Reader,
    agent_pid,
    client_of,
    done,
    gone_within,
    of_type,
    refusal,
    results,
    running,
    statuses,
    stop_reason,
    texts,
    types,
    wait_until,
)

from sandbox_agent.schema.inputs import Settings
from sandbox_agent.store.base import SaveSession, SessionRecord
from sandbox_agent.store.sqlite import SqliteStore

NOW = "2026-01-01T00:00:00.000Z"


def conversation_file(client: Client, session: str) -> Path:
    """Where the mock agent keeps its own conversation."""
    return client.daemon.data_dir / "mock" / f"{client.info(session)['nativeSessionId']}.jsonl"


def count_to(reader: Reader, deltas: int) -> list[dict[str, Any]]:
    """Read until this many deltas have arrived."""
    left = iter(range(deltas))
    return reader.until(lambda event: event["type"] == "item.delta" and next(left, None) is None)


def is_completed(event: dict[str, Any], kind: str) -> bool:
    return bool(event["type"] == "item.completed" and event["data"]["item"]["kind"] == kind)


# -- kill -9 in the middle of a turn ------------------------------------------------------------


def test_nothing_that_a_reader_saw_is_lost_and_the_conversation_goes_on(
    daemon: Daemon, client: Client
) -> None:
    session = client.create()
    client.turn(session, "hello")
    with client.follow(session) as first, client.follow(session, after=3) as second:
        client.send(session, "pace 100000 1")
        before = [count_to(first, 300), count_to(second, 200)]
        daemon.kill()
        before = [before[0] + first.rest(), before[1] + second.rest()]
    daemon.start()

    events = client.events(session)
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    assert before[0] == events[: len(before[0])]
    assert before[1] == events[3 : 3 + len(before[1])]
    assert stop_reason(events) == "outcome_unknown"
    assert types(events)[-1] == "turn.ended"
    assert client.info(session)["state"] == "idle"

    for seen in before:
        last = seen[-1]["sequence"]
        with client.follow(session, last_event_id=last) as reader:
            assert reader.until_type("turn.ended") == events[last:]

    assert texts(client.turn(session, "again")) == ["You said: again (message 3 of this conversation)"]
    remembered = texts(client.turn(session, "memory"))[0]
    assert [line[3:] for line in remembered.splitlines()[2:]] == ["hello", "pace 100000 1", "again"]


def test_a_killed_turn_lasted_as_long_as_the_log_says(daemon: Daemon, client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "slow 60")
        reader.until_agent_speaks()
        daemon.kill()
    daemon.start()
    [ended] = of_type(client.events(session), "turn.ended")
    assert 0 <= ended["metadata"]["duration_ms"] < 10_000


def test_a_cursor_from_before_a_restart_is_valid_and_one_ahead_of_the_log_is_not(
    daemon: Daemon, client: Client
) -> None:
    session = client.create()
    seen = client.turn(session, "hi")
    daemon.kill()
    daemon.start()
    last = seen[-1]["sequence"]
    with client.follow(session, last_event_id=last - 1) as reader:
        assert next(reader.events()).data == seen[-1]
    ahead = client.request(
        "GET", f"/v1/sessions/{session}/events/sse", headers={"last-event-id": str(last + 1)}
    )
    assert refusal(ahead) == (409, "conflict")


def test_positions_of_the_whole_log_continue_after_a_restart(daemon: Daemon, client: Client) -> None:
    session = client.create()
    with client.reader("/v1/events/sse?offset=0") as reader:
        client.turn(session, "one")
        frames = []
        for frame in reader.events():
            frames.append(frame)
            if frame.data["type"] == "turn.ended":
                break
    daemon.kill()
    daemon.start()
    with client.reader("/v1/events/sse", {"last-event-id": str(frames[3].id)}) as reader:
        again = reader.events()
        assert [next(again).text for _ in frames[4:]] == [frame.text for frame in frames[4:]]
        client.turn(session, "two")
        # Between the two turns comes the update that the first has ended.
        assert next(again).id == frames[-1].id + 2


def test_what_waited_in_the_queue_runs_after_a_restart(daemon: Daemon, client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "slow 60")
        reader.until_agent_speaks()
        waiting = [client.send(session, text) for text in ("second", "third")]
        daemon.kill()
    daemon.start()
    with client.follow(session) as reader:
        events = reader.until(
            lambda event: event["type"] == "turn.ended" and event["data"]["turn_id"] == waiting[1]
        )
    ends = [(data["turn_id"], data["metadata"]["stop_reason"]) for data in of_type(events, "turn.ended")]
    assert ends[1:] == [(waiting[0], "end_turn"), (waiting[1], "end_turn")]
    assert ends[0][1] == "outcome_unknown"
    assert texts(events)[1:] == [
        "You said: second (message 2 of this conversation)",
        "You said: third (message 3 of this conversation)",
    ]


def test_a_message_that_was_acknowledged_is_not_lost(daemon: Daemon, client: Client) -> None:
    """Kill it right after each 202: every acknowledged message has exactly one turn afterwards."""
    session = client.create()
    acknowledged = []
    for number in range(4):
        acknowledged.append(client.send(session, f"number {number}"))
        daemon.kill()
        daemon.start()
    last = client.turn(session, "last")
    started = [data["turn_id"] for data in of_type(client.events(session), "turn.started")]
    assert started[:-1] == acknowledged
    assert started[-1] == last[0]["data"]["turn_id"]


def test_settings_rules_and_keys_survive(daemon: Daemon, client: Client) -> None:
    session = client.create(model="mock-2", title="Kept", env={"KEPT": "yes"})
    with client.follow(session) as reader:
        client.send(session, "permission kept")
        asked = reader.until_type("permission.requested")[-1]["data"]
        client.post(f"/v1/sessions/{session}/permissions/{asked['permission_id']}/reply", {"reply": "always"})
        reader.until_type("turn.ended")
    path, key = f"/v1/sessions/{session}/messages", {"idempotency-key": "k"}
    turn = client.post(path, {"message": "keyed"}, **key).json()["turnId"]
    client.turn(session, "done")
    before = client.info(session)
    daemon.kill()
    daemon.start()
    assert client.info(session) == before
    assert client.post(path, {"message": "keyed"}, **key).json() == {"turnId": turn, "queued": False}
    assert refusal(client.post(path, {"message": "other"}, **key)) == (422, "idempotency_mismatch")
    [resolved] = of_type(client.turn(session, "permission kept"), "permission.resolved")
    assert resolved["metadata"]["decided_by"] == "rule"
    assert b"KEPT=yes" in Path(f"/proc/{agent_pid(daemon)}/environ").read_bytes().split(b"\0")


def test_sessions_stay_ended_or_deleted_after_a_restart(daemon: Daemon, client: Client) -> None:
    ended, deleted = client.create(), client.create()
    client.post(f"/v1/sessions/{ended}/terminate")
    client.delete(f"/v1/sessions/{deleted}")
    before = client.events(ended)
    daemon.kill()
    daemon.start()
    assert client.events(ended) == before
    assert client.info(ended)["state"] == "ended"
    assert refusal(client.get(f"/v1/sessions/{deleted}")) == (404, "session_not_found")


def test_a_session_whose_creation_was_cut_in_the_middle_is_a_session(daemon: Daemon, client: Client) -> None:
    """Killed after the session was recorded and before its first event was, as an older daemon could be. It begins when it is used."""
    daemon.stop()
    store = SqliteStore(daemon.data_dir / "log.db")
    settings = Settings(str(daemon.work_dir), "build")
    store.write([SaveSession(SessionRecord("cut", "mock", settings, NOW, NOW))])
    store.close()
    daemon.start()
    client.sessions.append("cut")
    assert client.info("cut")["state"] == "idle"
    assert texts(client.turn("cut", "hi")) == ["You said: hi (message 1 of this conversation)"]
    assert types(client.events("cut"))[:2] == ["session.started", "turn.started"]


# -- what waits for an answer -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "kind", "verb", "body"),
    [
        ("permission x", "permission", "reply", {"reply": "once"}),
        ("question", "question", "reply", {"answers": [["Red"]]}),
        ("plan", "question", "reject", {}),
    ],
)
def test_what_waited_for_an_answer_is_rejected_with_a_reason(
    daemon: Daemon, client: Client, message: str, kind: str, verb: str, body: dict[str, object]
) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, message)
        asked = reader.until_type(f"{kind}.requested")[-1]["data"][f"{kind}_id"]
        daemon.kill()
    daemon.start()
    events = client.events(session)
    [resolved] = of_type(events, f"{kind}.resolved")
    assert resolved["status"] == ("reject" if kind == "permission" else "rejected")
    assert resolved["metadata"]["decided_by"] == "daemon"
    assert resolved["metadata"]["message"]
    assert stop_reason(events) == "outcome_unknown"
    assert client.pending(session, f"{kind}s") == []
    late = client.post(f"/v1/sessions/{session}/{kind}s/{asked}/{verb}", body)
    assert refusal(late) == (409, "conflict")
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]


@pytest.mark.parametrize("who", ["daemon", "agent"])
def test_a_tool_that_ran_before_the_crash_is_not_run_again(daemon: Daemon, client: Client, who: str) -> None:
    """Killed between the action and its record: the call has a failed result, and nothing is done twice."""
    session = client.create(permissionMode="bypass")
    deed = daemon.work_dir / "mock-late.txt"
    with client.follow(session) as reader:
        client.send(session, "late 60")
        reader.until(lambda event: is_completed(event, "tool_call"))
        wait_until(lambda: deed.exists() and deed.read_text() == "ran\n")
        if who == "agent":
            os.kill(agent_pid(daemon), signal.SIGKILL)
            reader.until_type("turn.ended")
        else:
            daemon.kill()
            daemon.start()
    events = client.events(session)
    [result] = results(events)
    assert result["status"] == "failed"
    assert stop_reason(events) == ("outcome_unknown" if who == "daemon" else "error")
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]
    assert deed.read_text() == "ran\n"


# -- resuming -----------------------------------------------------------------------------------


def test_a_conversation_that_is_gone_is_a_conflict_unless_fresh(daemon: Daemon, client: Client) -> None:
    session = client.create()
    client.turn(session, "hello")
    file = conversation_file(client, session)
    before = client.events(session)
    daemon.stop()
    file.unlink()
    daemon.start()
    path = f"/v1/sessions/{session}/messages"
    for _ in range(2):
        assert refusal(client.post(path, {"message": "hi"})) == (409, "conflict")
    assert client.events(session) == before
    events = client.turn(session, "hi", fresh=True)
    assert texts(events) == ["You said: hi (message 1 of this conversation)"]
    assert len(statuses(client.events(session), "resume_lost")) == 1
    assert texts(client.turn(session, "more")) == ["You said: more (message 2 of this conversation)"]


def test_a_conversation_that_was_never_stored_starts_over(daemon: Daemon, client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "slow 60")
        reader.until_agent_speaks()
        agent = agent_pid(daemon)
        daemon.kill()
    assert gone_within([agent], 5) == []
    [file] = (daemon.data_dir / "mock").iterdir()
    file.unlink()
    daemon.start()
    lost = client.info(session)["nativeSessionId"]
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 1 of this conversation)"]
    assert statuses(client.events(session), "resume_lost") == [{"native_session_id": lost}]
    assert client.info(session)["nativeSessionId"] != lost


def test_history_that_the_agent_repeats_is_not_stored_twice(daemon: Daemon, client: Client) -> None:
    """The mock agent repeats its earlier answers whenever it is resumed."""
    session = client.create()
    client.turn(session, "one")
    client.turn(session, "two")
    before = client.events(session)
    daemon.kill()
    daemon.start()
    client.turn(session, "three")
    events = client.events(session)
    assert events[: len(before)] == before
    assert types(events[len(before) :])[0] == "turn.started"
    assert texts(events) == [
        f"You said: {word} (message {number} of this conversation)"
        for number, word in enumerate(("one", "two", "three"), 1)
    ]


def test_a_session_that_was_never_prompted_just_starts(daemon: Daemon, client: Client) -> None:
    session = client.create()
    daemon.kill()
    daemon.start()
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 1 of this conversation)"]


def test_a_resume_that_fails_temporarily_keeps_the_conversation(daemon: Daemon, client: Client) -> None:
    session = client.create()
    client.turn(session, "hello")
    file = conversation_file(client, session)
    native = client.info(session)["nativeSessionId"]
    daemon.stop()
    # The agent finds something that it cannot read, and exits with a traceback.
    aside = file.rename(file.with_suffix(".aside"))
    file.mkdir()
    daemon.start()
    events = client.turn(session, "too early")
    assert stop_reason(events) == "error"
    [error] = of_type(events, "error")
    assert error["code"] == "agent_process_exited"
    assert "IsADirectoryError" in str(error["details"]["stderr"])
    file.rmdir()
    aside.rename(file)
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]
    assert client.info(session)["nativeSessionId"] == native


# -- internal errors ----------------------------------------------------------------------------


def test_what_can_never_be_written_costs_its_turn_and_nothing_else(daemon: Daemon, client: Client) -> None:
    """An event already has the sequence of the next one, which only an internal error could cause."""
    session, other = client.create(), client.create()
    client.turn(session, "hello")
    in_the_way = put_in_the_way(daemon, session, client.events(session)[-1])
    with client.follow(other) as reader, client.follow(session) as cut:
        refused = client.post(f"/v1/sessions/{session}/messages", {"message": "lost"})
        assert refusal(refused) == (500, "internal")
        assert texts(client.turn(other, "hi")) == ["You said: hi (message 1 of this conversation)"]
        reader.until_type("turn.ended")
        cut.rest()  # it is disconnected, and reconnects
    assert client.get("/v1/ready").status_code == 200
    wait_until(lambda: "cannot be written" in daemon.stderr())
    events = client.turn(session, "hi")
    assert texts(events) == ["You said: hi (message 2 of this conversation)"]
    assert client.events(session)[in_the_way["sequence"] - 1] == in_the_way


@pytest.mark.parametrize("fault", ['{"', '"time":"x'], ids=["body", "step"])
def test_a_session_that_cannot_be_loaded_does_not_stop_others(tmp_path: Path, fault: str) -> None:
    """Its log cannot be decoded, or is too much for the machine."""
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        broken, other = client.create(), client.create()
        for session in (broken, other):
            with client.follow(session) as reader:
                client.send(session, "hang")
                reader.until_agent_speaks()
        client.sessions.remove(broken)
        daemon.kill()
        database = apsw.Connection(str(daemon.data_dir / "log.db"))
        database.execute(
            "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), ?, ?) AS BLOB) "
            "WHERE session = (SELECT ordinal FROM sessions WHERE session_id = ?)",
            (fault.removesuffix("x"), fault + "?", broken),
        )
        database.close()
        daemon.start()
        assert refusal(client.post(f"/v1/sessions/{broken}/cancel")) == (500, "internal")
        assert stop_reason(client.events(other)) == "outcome_unknown"
        assert client.get(f"/v1/sessions/{broken}").status_code == 200


def put_in_the_way(daemon: Daemon, session: str, last: dict[str, Any]) -> dict[str, Any]:
    event = {
        **last,
        "sequence": last["sequence"] + 1,
        "event_id": "evt_x",
        "type": "error",
        "data": {"message": "x"},
    }
    database = apsw.Connection(str(daemon.data_dir / "log.db"))
    database.execute(
        "INSERT INTO events (position, session, sequence, body) "
        "SELECT -1, ordinal, ?, ? FROM sessions WHERE session_id = ?",
        (event["sequence"], msgspec.json.encode(event), session),
    )
    database.close()
    return event


# -- SIGTERM ------------------------------------------------------------------------------------


def test_sigterm_lets_a_short_turn_end_and_takes_no_new_work(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", "--no-token", "--drain-seconds", "60")
    with running(daemon), client_of(daemon) as client:
        session = client.create()
        with client.follow(session) as reader, ThreadPoolExecutor(1) as pool:
            client.send(session, "permission hello")
            [asked] = of_type(reader.until_type("permission.requested"), "permission.requested")
            daemon.process.send_signal(signal.SIGTERM)
            ended = pool.submit(daemon.ended)
            wait_until(lambda: client.get("/v1/ready").status_code == 503)
            refused = client.post(f"/v1/sessions/{session}/messages", {"message": "late"})
            assert refusal(refused) == (503, "unavailable")
            assert int(refused.headers["retry-after"]) > 0
            assert refusal(client.post("/v1/sessions/late", {"agent": "mock"})) == (503, "unavailable")
            path = f"/v1/sessions/{session}/permissions/{asked['permission_id']}/reply"
            assert client.post(path, {"reply": "once"}).status_code == 204
            reader.until_type("turn.ended")
            assert reader.rest() == []  # the stream is ended properly
            assert ended.result() == 0
        daemon.start()
        assert stop_reason(client.events(session)) == "end_turn"


def test_sigterm_ends_a_long_turn_as_unknown(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", "--no-token", "--drain-seconds", "0.1")
    with running(daemon), client_of(daemon) as client:
        session = client.create()
        with client.follow(session) as reader:
            client.send(session, "slow 60")
            reader.until_agent_speaks()
            agent = agent_pid(daemon)
            assert daemon.stop() == 0
            assert stop_reason(reader.rest()) == "outcome_unknown"
        assert gone_within([agent], 0) == []
        daemon.start()
        assert stop_reason(client.events(session)) == "outcome_unknown"
        assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]


def test_sigterm_keeps_what_waits_in_the_queue(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", "--no-token", "--drain-seconds", "0.1")
    with running(daemon), client_of(daemon) as client:
        session = client.create()
        with client.follow(session) as reader:
            client.send(session, "slow 60")
            reader.until_agent_speaks()
            waiting = client.send(session, "later")
            daemon.stop()
        daemon.start()
        with client.follow(session) as reader:
            events = reader.until(
                lambda event: event["type"] == "turn.ended" and event["data"]["turn_id"] == waiting
            )
        assert stop_reason(events) == "end_turn"
        assert done(client.get(f"/v1/sessions/{session}/queue")) == {"messages": []}


def test_sigint_stops_it_too(daemon: Daemon) -> None:
    daemon.process.send_signal(signal.SIGINT)
    assert daemon.ended() == 0
