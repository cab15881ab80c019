"""Sessions over HTTP: created, listed, shown, changed, cancelled, terminated, deleted."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from tests.daemons import (
    Client,
    Daemon,
    agent_pids,
    client_of,
    done,
    of_type,
    refusal,
    running,
    statuses,
    stop_reason,
    texts,
    types,
    wait_until,
)

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


# -- creating -----------------------------------------------------------------------------------


def test_creating_answers_with_the_session_and_its_native_id(client: Client) -> None:
    answer = done(client.post("/v1/sessions/mine", {"agent": "mock"}))
    client.sessions.append("mine")
    native = answer["nativeSessionId"]
    assert native.startswith("mck_")
    assert answer == {
        "sessionId": "mine",
        "healthy": True,
        "nativeSessionId": native,
        "agentSessionId": native,
    }


def test_a_session_without_a_name_gets_one(client: Client) -> None:
    answer = done(client.post("/v1/sessions", {"agent": "mock"}))
    client.sessions.append(answer["sessionId"])
    assert re.fullmatch(r"ses_[A-Za-z0-9]+", answer["sessionId"])
    assert answer["healthy"] is True


def test_the_first_event_shows_the_settings(client: Client, tmp_path: Path) -> None:
    session = client.create(
        model="mock-2",
        variant="high",
        agentMode="plan",
        permissionMode="acceptEdits",
        directory=str(tmp_path),
    )
    [event] = client.events(session)
    version = event["data"]["metadata"].pop("agentVersion")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", version)
    assert TIME.fullmatch(event.pop("time"))
    assert event.pop("event_id").startswith("evt_")
    assert event == {
        "sequence": 1,
        "session_id": session,
        "native_session_id": client.info(session)["nativeSessionId"],
        "source": "daemon",
        "synthetic": True,
        "type": "session.started",
        "data": {
            "metadata": {
                "agent": "mock",
                "agentMode": "plan",
                "permissionMode": "acceptEdits",
                "model": "mock-2",
                "variant": "high",
                "directory": str(tmp_path),
            }
        },
        "raw": None,
    }


def test_a_session_is_shown_whole(client: Client, daemon: Daemon) -> None:
    session = client.create(title="A title")
    info = client.info(session)
    assert TIME.fullmatch(info.pop("createdAt"))
    assert TIME.fullmatch(info.pop("updatedAt"))
    assert info.pop("nativeSessionId").startswith("mck_")
    assert info == {
        "sessionId": session,
        "agent": "mock",
        "agentMode": "build",
        "permissionMode": "default",
        "model": None,
        "variant": None,
        "title": "A title",
        "directory": str(daemon.work_dir),
        "state": "idle",
        "ended": False,
        "eventCount": 1,
        "usage": {},
        "turns": 0,
        "limits": {},
        "limitReached": None,
        "node": None,
    }


def test_usage_is_the_sum_of_the_turns(client: Client) -> None:
    session = client.create()
    turns = [client.turn(session, "thinking"), client.turn(session, "usage")]
    spent = [of_type(turn, "turn.ended")[0]["metadata"]["usage"] for turn in turns]
    usage = client.info(session)["usage"]
    assert usage["inputTokens"] == sum(turn["input_tokens"] for turn in spent)
    assert usage["outputTokens"] == sum(turn["output_tokens"] for turn in spent)
    assert usage["cacheReadTokens"] == sum(turn["cache_read_tokens"] for turn in spent)
    assert usage["costUsd"] == pytest.approx(sum(turn["cost_usd"] for turn in spent))


def test_a_name_is_given_once(client: Client) -> None:
    session = client.create()
    again = client.post(f"/v1/sessions/{session}", {"agent": "mock"})
    assert refusal(again) == (409, "session_already_exists")
    assert again.json()["sessionId"] == session


@pytest.mark.parametrize("name", ["..", "...", "a.b:c-d_e", "-", "0", "x" * 128])
def test_odd_names_are_names(client: Client, name: str) -> None:
    # `.` and `..` are normalised away by clients unless they are escaped.
    path = f"/v1/sessions/{name.replace('.', '%2E')}"
    assert done(client.post(path, {"agent": "mock"}))["sessionId"] == name
    assert texts(client.turn(name.replace(".", "%2E"), "hi")) == [
        "You said: hi (message 1 of this conversation)"
    ]
    assert client.delete(path).status_code == 204


@pytest.mark.parametrize(
    "name", ["x" * 129, "a%20b", "caf%C3%A9", "a%00b", "%ff", "a%2Fb", "a%0A", "*", "~a"]
)
def test_other_names_are_refused(client: Client, name: str) -> None:
    answer = client.request("POST", f"/v1/sessions/{name}", json={"agent": "mock"})
    assert answer.status_code in (400, 404, 405), answer.text
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, (400, "invalid_request")),
        ({"agent": 7}, (400, "invalid_request")),
        ({"agent": "nobody"}, (400, "unsupported_agent")),
        ({"agent": "mock", "agentMode": "dream"}, (400, "mode_not_supported")),
        ({"agent": "mock", "permissionMode": "yolo"}, (400, "invalid_request")),
        ({"agent": "mock", "directory": "relative"}, (400, "invalid_request")),
        ({"agent": "mock", "directory": "/does/not/exist"}, (400, "invalid_request")),
        ({"agent": "mock", "directory": "/etc/hostname"}, (400, "invalid_request")),
        ({"agent": "mock", "directory": "/a\0b"}, (400, "invalid_request")),
        ({"agent": "mock", "env": {"A=B": "c"}}, (400, "invalid_request")),
        ({"agent": "mock", "env": {"": "c"}}, (400, "invalid_request")),
        ({"agent": "mock", "env": {"A": "c\0"}}, (400, "invalid_request")),
        ({"agent": "mock", "env": {"A": 1}}, (400, "invalid_request")),
        ({"agent": "mock", "mcp": {"a": {}}}, (400, "invalid_request")),
        ({"agent": "mock", "mcp": {"a": {"command": "x", "url": "y"}}}, (400, "invalid_request")),
        ({"agent": "mock", "turnTimeoutMs": 0}, (400, "invalid_request")),
        ({"agent": "mock", "path": "/bin/sh"}, (400, "invalid_request")),
        ({"agent": "mock", "executable": "/bin/sh"}, (400, "invalid_request")),
        ({"agent": "codex"}, (404, "agent_not_installed")),
    ],
)
def test_a_refused_session_is_not_created(
    client: Client, settings: dict[str, object], problem: tuple[int, str]
) -> None:
    assert refusal(client.post("/v1/sessions/refused", settings)) == problem
    assert refusal(client.get("/v1/sessions/refused")) == (404, "session_not_found")


def test_env_and_mcp_are_taken_and_never_returned(client: Client) -> None:
    session = client.create(
        env={"PLANTED": "planted-value"},
        mcp={"one": {"command": "planted-server", "args": ["x"], "env": {"K": "planted-key"}}},
    )
    shown = client.get(f"/v1/sessions/{session}").text + client.get(f"/v1/sessions/{session}/events").text
    assert "planted" not in shown


def test_a_session_whose_agent_cannot_start_has_ended_with_the_reason(tmp_path: Path) -> None:
    program = tmp_path / "data" / "bin" / "amp"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho 'cannot go on' >&2\nexit 7\n")
    program.chmod(0o755)
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as other:
        answer = done(other.post("/v1/sessions/broken", {"agent": "amp"}))
        other.sessions.append("broken")
        error = answer.pop("error")
        assert (answer["healthy"], answer["sessionId"]) == (False, "broken")
        assert error["type"] == "urn:sandbox-agent:error:agent_process_exited"
        assert (error["exitCode"], error["stderr"]["head"]) == (7, "cannot go on")
        started, ended = other.events("broken")
        assert (started["type"], ended["type"]) == ("session.started", "session.ended")
        assert ended["data"] == {
            "reason": "error",
            "terminated_by": "daemon",
            "message": error["detail"],
            "exit_code": 7,
            "stderr": {"truncated": False, "head": "cannot go on", "total_lines": 1},
        }
        assert other.info("broken")["state"] == "ended"


# -- listing ------------------------------------------------------------------------------------


def test_sessions_are_listed_newest_first_page_by_page(client: Client) -> None:
    # Other tests may have made some before.
    made = [client.create() for _ in range(6)]
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while len(seen) < 6:
        page = done(client.get("/v1/sessions", limit=2, **cursor))
        seen += [info["sessionId"] for info in page["sessions"]]
        assert len(page["sessions"]) == 2
        cursor = {"cursor": page.get("nextCursor", "")}
    assert seen == made[::-1]


def test_the_last_page_has_no_cursor(client: Client) -> None:
    client.create()
    assert "nextCursor" not in done(client.get("/v1/sessions", limit=1000))


def test_a_listed_session_is_the_session(client: Client) -> None:
    session = client.create()
    assert done(client.get("/v1/sessions", limit=1))["sessions"] == [client.info(session)]


@pytest.mark.parametrize(
    "query", [{"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"cursor": "x"}, {"cursor": "-1"}, {"page": 1}]
)
def test_a_listing_with_nonsense_is_refused(client: Client, query: dict[str, object]) -> None:
    assert refusal(client.get("/v1/sessions", **query)) == (400, "invalid_request")


# -- changing -----------------------------------------------------------------------------------


def test_a_change_is_seen_in_the_session_and_by_the_agent(client: Client) -> None:
    session = client.create()
    before = client.info(session)
    changed = done(
        client.patch(f"/v1/sessions/{session}", {"title": "New", "model": "mock-2", "variant": "high"})
    )
    assert {**changed, "updatedAt": ""} == {
        **before,
        "title": "New",
        "model": "mock-2",
        "variant": "high",
        "updatedAt": "",
    }
    assert client.info(session) == changed
    assert texts(client.turn(session, "hi")) == [
        "You said: hi (message 1 of this conversation, model mock-2, variant high)"
    ]


def test_the_agent_mode_can_be_switched(client: Client) -> None:
    session = client.create()
    done(client.patch(f"/v1/sessions/{session}", {"agentMode": "plan"}))
    assert texts(client.turn(session, "hi"))[0].startswith("Planning: ")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"agentMode": "dream"}, (400, "mode_not_supported")),
        ({"permissionMode": "yolo"}, (400, "invalid_request")),
        ({"title": 7}, (400, "invalid_request")),
        ({"agent": "claude"}, (400, "invalid_request")),
        ({"title": "x" * 257}, (400, "invalid_request")),
    ],
)
def test_a_refused_change_changes_nothing(
    client: Client, idle_session: str, body: dict[str, object], problem: tuple[int, str]
) -> None:
    assert refusal(client.patch(f"/v1/sessions/{idle_session}", body)) == problem


def test_an_ended_session_can_be_renamed_and_nothing_else(client: Client) -> None:
    session = client.create()
    client.post(f"/v1/sessions/{session}/terminate")
    assert done(client.patch(f"/v1/sessions/{session}", {"title": "Old"}))["title"] == "Old"
    assert refusal(client.patch(f"/v1/sessions/{session}", {"model": "mock-2"})) == (409, "conflict")


# -- ending -------------------------------------------------------------------------------------


def test_cancelling_an_idle_session_does_nothing(client: Client) -> None:
    session = client.create()
    assert client.post(f"/v1/sessions/{session}/cancel").status_code == 204
    assert types(client.events(session)) == ["session.started"]


def test_cancelling_ends_the_turn_and_keeps_the_session(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "slow 60")
        reader.until_agent_speaks()
        assert client.info(session)["state"] == "running"
        assert client.post(f"/v1/sessions/{session}/cancel").status_code == 204
        events = reader.until_type("turn.ended")
    assert stop_reason(events) == "interrupted"
    assert client.info(session)["state"] == "idle"
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]


def test_terminating_ends_the_session_once(client: Client) -> None:
    session = client.create()
    client.turn(session, "hi")
    for _ in range(2):
        assert client.post(f"/v1/sessions/{session}/terminate").status_code == 204
    events = client.events(session)
    assert types(events).count("session.ended") == 1
    assert events[-1]["data"] == {"reason": "terminated", "terminated_by": "daemon"}
    info = client.info(session)
    assert (info["state"], info["ended"]) == ("ended", True)


def test_terminating_ends_the_running_turn_first(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "slow 60")
        reader.until_agent_speaks()
        client.post(f"/v1/sessions/{session}/terminate")
        events = reader.until_type("session.ended")
    assert types(events)[-2:] == ["turn.ended", "session.ended"]
    assert stop_reason(events) == "interrupted"


def test_a_message_to_an_ended_session_is_refused(client: Client) -> None:
    session = client.create()
    client.post(f"/v1/sessions/{session}/terminate")
    answer = client.post(f"/v1/sessions/{session}/messages", {"message": "hi"})
    assert refusal(answer) == (409, "conflict")


def test_the_agent_may_end_the_conversation_itself(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "end")
        events = reader.until_type("session.ended")
    assert events[-1]["data"] == {"reason": "completed", "terminated_by": "agent"}
    assert client.info(session)["state"] == "ended"


def test_a_deleted_session_is_forgotten_and_its_name_free(client: Client, daemon: Daemon) -> None:
    session = client.create()
    client.post(f"/v1/sessions/{session}/attachments?filename=a.txt", None)
    with client.follow(session) as reader:
        client.send(session, "slow 60")
        reader.until_agent_speaks()
        assert client.delete(f"/v1/sessions/{session}").status_code == 204
        reader.rest()  # the stream ends
    for path in ("", "/events", "/events/sse", "/queue", "/permissions"):
        assert refusal(client.get(f"/v1/sessions/{session}{path}")) == (404, "session_not_found")
    assert refusal(client.delete(f"/v1/sessions/{session}")) == (404, "session_not_found")
    assert done(client.post(f"/v1/sessions/{session}", {"agent": "mock"}))["sessionId"] == session
    assert [event["sequence"] for event in client.events(session)] == [1]


# -- queue --------------------------------------------------------------------------------------


def test_messages_wait_in_order_while_a_turn_runs(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        first = client.post(f"/v1/sessions/{session}/messages", {"message": "permission first"}).json()
        reader.until_type("permission.requested")
        second = client.post(f"/v1/sessions/{session}/messages", {"message": "second"}).json()
        third = client.post(f"/v1/sessions/{session}/messages", {"message": "third"}).json()
        assert [message["queued"] for message in (first, second, third)] == [False, True, True]
        waiting = done(client.get(f"/v1/sessions/{session}/queue"))["messages"]
        assert [(message["turnId"], message["message"], message["attachments"]) for message in waiting] == [
            (second["turnId"], "second", []),
            (third["turnId"], "third", []),
        ]
        [permission] = client.pending(session)
        client.post(
            f"/v1/sessions/{session}/permissions/{permission['permission_id']}/reply", {"reply": "once"}
        )
        reader.until(
            lambda event: event["type"] == "turn.ended" and event["data"]["turn_id"] == third["turnId"]
        )
    events = client.events(session)
    started = [data["turn_id"] for data in of_type(events, "turn.started")]
    assert started == [first["turnId"], second["turnId"], third["turnId"]]
    assert statuses(events, "queue") == [
        {"turn_id": second["turnId"], "state": "queued"},
        {"turn_id": third["turnId"], "state": "queued"},
    ]
    assert done(client.get(f"/v1/sessions/{session}/queue")) == {"messages": []}


def test_a_waiting_message_can_be_withdrawn(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        running_turn = client.send(session, "question")
        reader.until_type("question.requested")
        turn = client.send(session, "never")
        assert client.delete(f"/v1/sessions/{session}/queue/{turn}").status_code == 204
        assert refusal(client.delete(f"/v1/sessions/{session}/queue/{turn}")) == (404, "not_found")
        assert refusal(client.delete(f"/v1/sessions/{session}/queue/{running_turn}")) == (404, "not_found")
        client.post(f"/v1/sessions/{session}/cancel")
        reader.until_type("turn.ended")
    events = client.events(session)
    assert statuses(events, "queue") == [
        {"turn_id": turn, "state": "queued"},
        {"turn_id": turn, "state": "withdrawn"},
    ]
    assert types(events).count("turn.started") == 1
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]


def test_cancelling_keeps_what_waits_and_starts_it(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "slow 60")
        reader.until_agent_speaks()
        next_turn = client.send(session, "next")
        client.post(f"/v1/sessions/{session}/cancel")
        events = reader.until(
            lambda event: event["type"] == "turn.ended" and event["data"]["turn_id"] == next_turn
        )
    assert [data["metadata"]["stop_reason"] for data in of_type(events, "turn.ended")] == [
        "interrupted",
        "end_turn",
    ]


def test_cancelling_a_turn_by_its_id_leaves_the_others_alone(client: Client) -> None:
    session = client.create()
    cancel = f"/v1/sessions/{session}/cancel"
    with client.follow(session) as reader:
        over = client.send(session, "hello")
        running = client.send(session, "slow 60")
        waiting = client.send(session, "never")
        reader.until(lambda event: event["type"] == "turn.started" and event["data"]["turn_id"] == running)
        assert refusal(client.post(f"{cancel}?turnId=")) == (400, "invalid_request")
        for turn in (over, waiting, "turn_unknown"):
            assert client.post(f"{cancel}?turnId={turn}").status_code == 204
        assert done(client.get(f"/v1/sessions/{session}"))["state"] == "running"
        assert done(client.get(f"/v1/sessions/{session}/queue")) == {"messages": []}
        assert client.post(f"{cancel}?turnId={running}").status_code == 204
    ended = of_type(client.events(session), "turn.ended")
    assert [(data["turn_id"], data["metadata"]["stop_reason"]) for data in ended] == [
        (over, "end_turn"),
        (running, "interrupted"),
    ]


def test_terminating_withdraws_what_waits(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "slow 60")
        reader.until_agent_speaks()
        waiting = [client.send(session, "one"), client.send(session, "two")]
        client.post(f"/v1/sessions/{session}/terminate")
        events = reader.until_type("session.ended")
    assert statuses(events, "queue")[-2:] == [{"turn_id": turn, "state": "withdrawn"} for turn in waiting]
    assert done(client.get(f"/v1/sessions/{session}/queue")) == {"messages": []}


# -- limits -------------------------------------------------------------------------------------


def test_a_turn_that_takes_too_long_is_ended(client: Client) -> None:
    session = client.create(turnTimeoutMs=100)
    events = client.turn(session, "slow 60")
    assert stop_reason(events) == "limit"
    assert statuses(events, "limit") == [{"limit": "maxTurnSeconds", "value": 0.1, "used": 0.1}]
    assert stop_reason(client.turn(session, "hi")) == "end_turn"


def test_a_daemon_without_bypass_refuses_it_everywhere(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", "--no-token", "--no-bypass")
    with running(daemon), client_of(daemon) as client:
        refused = client.post("/v1/sessions/a", {"agent": "mock", "permissionMode": "bypass"})
        assert refusal(refused) == (403, "permission_denied")
        session = client.create()
        changed = client.patch(f"/v1/sessions/{session}", {"permissionMode": "bypass"})
        assert refusal(changed) == (403, "permission_denied")


def create(path: str, client: Client) -> int:
    return client.post(path, {"agent": "mock"}).status_code


def test_of_simultaneous_creates_one_succeeds(daemon: Daemon) -> None:
    with ExitStack() as stack, ThreadPoolExecutor(6) as pool:
        clients = [stack.enter_context(client_of(daemon)) for _ in range(6)]
        before = len(agent_pids(daemon))
        for number in range(5):
            path = f"/v1/sessions/at-once-{number}"
            answers = pool.map(partial(create, path), clients)
            assert sorted(answers) == [200, 409, 409, 409, 409, 409]
        assert len(agent_pids(daemon)) - before == 5


def test_an_agent_that_is_never_given_a_prompt_is_stopped_too(tmp_path: Path) -> None:
    with (
        running(Daemon(tmp_path / "data", "--no-token", "--idle-seconds", "0.3")) as daemon,
        client_of(daemon) as client,
    ):
        session = client.create()
        wait_until(lambda: agent_pids(daemon) == [])
        assert texts(client.turn(session, "hi")) == ["You said: hi (message 1 of this conversation)"]
