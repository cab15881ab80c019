"""What a client does when the daemon is unreachable, busy, another program or another version."""

from __future__ import annotations

import asyncio
import math
import socket
import warnings
import weakref
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest

from sandbox_agent import (
    AgentProcessExited,
    AsyncSandboxAgent,
    BadAddress,
    BadToken,
    ClientClosed,
    Conflict,
    DaemonUnreachable,
    Event,
    IncompatibleDaemon,
    InvalidRequest,
    NoAnswerInTime,
    NotADaemon,
    PermissionRequested,
    Progress,
    Retry,
    SandboxAgent,
    TokenInvalid,
    Transcript,
    Unavailable,
    UnknownEvent,
    UnknownProblem,
    VersionMismatch,
    __version__,
)

from ..scripted_http import answer, problem, server, stream

QUICK = Retry(seconds=5, first_delay=0.001, max_delay=0.001)
HEALTH = {"status": "ok", "version": __version__}
LOST = b""
"""The connection is closed without an answer."""


@pytest.fixture(autouse=True)
def nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No daemon of the machine that runs the tests."""
    monkeypatch.setenv("SANDBOX_AGENT_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("SANDBOX_AGENT_TOKEN", raising=False)


def connect(endpoint: str) -> SandboxAgent:
    return SandboxAgent.connect(endpoint, "T", retry=QUICK)


# -- trying again -------------------------------------------------------------------------------


def test_a_busy_daemon_is_asked_again_after_its_retry_after() -> None:
    busy = problem("unavailable", 503, "stopping", retry_after="1")
    with server(busy, answer(HEALTH)) as (endpoint, asked), connect(endpoint) as client:
        assert client.system.health().version == __version__
    assert len(asked) == 2


def test_a_daemon_that_asks_for_too_much_patience_is_not_waited_for() -> None:
    busy = problem("unavailable", 503, "stopping", retry_after="60")
    with server(busy) as (endpoint, _), connect(endpoint) as client, pytest.raises(Unavailable) as raised:
        client.system.health()
    assert raised.value.facts == {"retryAfter": 60}


def test_a_message_is_repeated_under_its_key_when_the_answer_was_lost() -> None:
    sent = answer({"turnId": "turn_1", "queued": False}, 202)
    with server(answer(HEALTH), LOST, sent) as (endpoint, asked), connect(endpoint) as client:
        client.system.health()
        assert client.session("s").send_message("hello").turn_id == "turn_1"
    keys = [request.headers.get("idempotency-key") for request in asked]
    assert keys[0] is None
    assert keys[1] == keys[2] is not None


def test_a_session_with_a_generated_id_is_ours_when_the_answer_was_lost() -> None:
    exists = problem("session_already_exists", 409)
    with server(answer(HEALTH), LOST, exists) as (endpoint, asked), connect(endpoint) as client:
        client.system.health()
        session = client.sessions.create(agent="mock")
    assert [request.path for request in asked[1:]] == [f"/v1/sessions/{session.id}"] * 2


def test_an_answer_that_was_lost_is_not_given_twice() -> None:
    conflict = problem("conflict", 409, "it was answered already")
    with server(answer(HEALTH), LOST, conflict, conflict) as (endpoint, _), connect(endpoint) as client:
        client.system.health()
        client.session("s").permissions.reply("perm_1", "once")
        with pytest.raises(Conflict):
            client.session("s").permissions.reply("perm_1", "once")


def test_a_gateway_in_front_of_a_restarting_daemon_is_asked_again() -> None:
    gateway = answer("Bad Gateway", 502)
    with server(gateway, answer(HEALTH)) as (endpoint, _), connect(endpoint) as client:
        assert client.system.health().status == "ok"


# -- ids ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn_id", ["..", ".", "", "../..", "x/y"])
def test_an_id_that_names_another_resource_is_refused(turn_id: str) -> None:
    """`DELETE /v1/sessions/s/queue/..` would delete the session, and a slash names a resource even if it is encoded."""
    with (
        server() as (endpoint, asked),
        connect(endpoint) as client,
        pytest.raises(InvalidRequest, match="is not an id"),
    ):
        client.session("s").withdraw(turn_id)
    assert asked == []


def test_a_limit_that_is_no_number_is_refused() -> None:
    with server() as (endpoint, _), connect(endpoint) as client:
        with pytest.raises(InvalidRequest, match="`timeout` is NaN"):
            client.session("s").prompt("hello", timeout=math.nan)
        with pytest.raises(InvalidRequest, match="`answer_timeout` is NaN"):
            client.session("s").prompt("hello", answer_timeout=math.nan)


# -- streams ------------------------------------------------------------------------------------


def frame(sequence: int, type: str = "item.delta", data: object = None) -> bytes:
    """An event as a daemon sends it; a delta unless said otherwise."""
    import msgspec

    payload = {"item_id": "itm_1", "native_item_id": None, "delta": "x"} if data is None else data
    head = {"event_id": f"evt_{sequence}", "sequence": sequence, "time": "2026-01-01T00:00:00.000Z"}
    rest = {"session_id": "s", "native_session_id": None, "source": "agent", "synthetic": False}
    body = msgspec.json.encode({**head, **rest, "type": type, "data": payload, "raw": None})
    return b"id: %d\ndata: %b\n\n" % (sequence, body)


ENDED = {"reason": "terminated", "terminated_by": "daemon"}
STARTED = {"turn_id": "turn_1", "phase": "started"}
TURN_ENDED = {
    "turn_id": "turn_1",
    "metadata": {"stop_reason": "end_turn", "duration_ms": 1},
    "phase": "ended",
}


def numbers(events: list[Event]) -> list[int]:
    return [event.sequence for event in events]


def test_a_stream_continues_after_the_last_event_without_loss_or_duplicates() -> None:
    pieces = (
        stream(frame(4), frame(5), cut=True),
        LOST,
        stream(frame(5), frame(6)),  # ended in an orderly way, and with one that was seen
        stream(frame(7), frame(8, "session.ended", ENDED)),
    )
    with server(*pieces) as (endpoint, asked), connect(endpoint) as client:
        assert numbers(list(client.session("s").events(offset=3, follow=True))) == [4, 5, 6, 7, 8]
    assert [request.path.partition("?")[2] for request in asked] == [
        "offset=3",
        "offset=5",
        "offset=5",
        "offset=6",
    ]


END = b"event: end\ndata: {}\n\n"


def test_a_stream_is_over_when_the_daemon_says_that_nothing_more_comes() -> None:
    with server(stream(frame(4), END)) as (endpoint, asked), connect(endpoint) as client:
        assert numbers(list(client.session("s").events(offset=3, follow=True))) == [4]
    assert len(asked) == 1


def test_a_reader_who_comes_back_and_has_everything_is_done() -> None:
    nothing_more = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
    with server(stream(frame(4), cut=True), nothing_more) as (endpoint, asked), connect(endpoint) as client:
        assert numbers(list(client.session("s").events(offset=3, follow=True))) == [4]
    assert [request.path.partition("?")[2] for request in asked] == ["offset=3", "offset=4"]


def test_an_asynchronous_reader_is_done_likewise() -> None:
    nothing_more = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"

    async def read(endpoint: str) -> list[int]:
        async with AsyncSandboxAgent.connect(endpoint, "T", retry=QUICK) as client:
            return [event.sequence async for event in client.session("s").events(follow=True)]

    for pieces in ([stream(frame(1), END)], [stream(frame(1)), nothing_more]):
        with server(*pieces) as (endpoint, asked):
            assert asyncio.run(read(endpoint)) == [1]
        assert len(asked) == len(pieces)


def test_an_event_counts_as_seen_when_the_reader_is_done_with_it() -> None:
    """A reader that fails on an event gets it again when it reads on from where it was."""
    with (
        server(stream(frame(1), frame(2), frame(3)), stream(frame(2))) as (endpoint, asked),
        connect(endpoint) as client,
    ):
        events = iter(client.session("s").events(follow=True))
        done = next(events).sequence
        failed_on = next(events).sequence
        again = next(iter(client.session("s").events(offset=done, follow=True)))
    assert (done, failed_on, again.sequence) == (1, 2, 2)
    assert [request.path.partition("?")[2] for request in asked] == ["offset=0", "offset=1"]


def test_a_prompt_is_retried_until_it_is_accepted_and_then_followed() -> None:
    started = frame(2, "turn.started", {"turn_id": "turn_1", "phase": "started"})
    metadata = {"stop_reason": "end_turn", "duration_ms": 1}
    ended = frame(4, "turn.ended", {"turn_id": "turn_1", "metadata": metadata, "phase": "ended"})
    pieces = (answer(HEALTH), LOST, stream(started, cut=True), stream(frame(3), ended))
    with server(*pieces) as (endpoint, asked), connect(endpoint) as client:
        client.system.health()
        turn = client.session("s").prompt("hello")
        assert numbers(list(turn)) == [2, 3, 4]
        assert (turn.turn_id, turn.transcript.stop_reason) == ("turn_1", "end_turn")
    first, second, third = asked[1:]
    assert first[:2] == second[:2] == ("POST", "/v1/sessions/s/messages/stream")
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert third[:2] == ("GET", "/v1/sessions/s/events/sse?offset=2")


def test_a_turn_that_a_program_lets_go_of_is_gone_at_once_and_its_connection_with_it() -> None:
    with server(stream(frame(1), frame(2), cut=True)) as (endpoint, _), connect(endpoint) as client:
        turn = client.session("s").prompt("hello")
        assert next(turn).sequence == 1
        left, reading = weakref.ref(turn), weakref.ref(turn._events)
        del turn
        assert (left(), reading()) == (None, None)


def test_a_reader_of_everything_that_was_cut_off_at_once_goes_on_from_where_it_began() -> None:
    with (
        server(stream(b": here\nid: 7\n\n", cut=True), stream(frame(8))) as (endpoint, asked),
        connect(endpoint) as client,
    ):
        assert isinstance(event := next(iter(client.events.sse())), Event)
    assert event.sequence == 8
    assert [request.path for request in asked] == ["/v1/events/sse", "/v1/events/sse?offset=7"]


def test_an_event_of_a_newer_daemon_is_unknown_and_can_be_passed_on_as_it_came() -> None:
    new = frame(1, "weather.changed", {"sky": "blue"})
    half_new = frame(2, "error", {"message": "broke", "code": "moon_phase"})
    with (
        server(stream(new, half_new, frame(3, "session.ended", ENDED))) as (endpoint, _),
        connect(endpoint) as client,
    ):
        first, second, last = client.session("s").events(follow=True)
    assert isinstance(first, UnknownEvent)
    assert isinstance(second, UnknownEvent)
    assert (first.type, first.named, first.data) == ("unknown", "weather.changed", {"sky": "blue"})
    assert (second.type, second.named, second.data["code"]) == ("unknown", "error", "moon_phase")
    assert last.type == "session.ended"
    for event, came in ((first, new), (second, half_new)):
        assert msgspec.json.decode(msgspec.json.encode(event)) == {
            **msgspec.json.decode(came.partition(b"data: ")[2]),
            "raw": None,
        }


def test_a_turn_that_ends_in_a_way_of_a_newer_daemon_has_ended() -> None:
    started = frame(2, "turn.started", {"turn_id": "turn_1", "phase": "started"})
    error = frame(3, "error", {"message": "the moon is full", "code": "moon_phase"})
    metadata = {"stop_reason": "asleep", "duration_ms": 1}
    ended = frame(4, "turn.ended", {"turn_id": "turn_1", "metadata": metadata, "phase": "ended"})
    with server(stream(started, error, ended)) as (endpoint, _), connect(endpoint) as client:
        result = client.session("s").prompt("hello").result()
    assert (result.stop_reason, result.errors[0].message) == ("asleep", "the moon is full")


def test_a_turn_whose_session_ends_in_a_way_of_a_newer_daemon_has_ended_too() -> None:
    started = frame(2, "turn.started", {"turn_id": "turn_1", "phase": "started"})
    ended = frame(3, "session.ended", {"reason": "retired", "terminated_by": "daemon"})
    with server(stream(started, ended)) as (endpoint, _), connect(endpoint) as client:
        assert numbers(list(client.session("s").prompt("hello"))) == [2, 3]


BROWSING: dict[str, Any] = {
    "permission_id": "perm_1",
    "action": "browse",
    "status": "escalated",
    "metadata": {"tool_name": "browse", "input": {}, "kind": "browser", "title": "open a page"},
}
WONDERING: dict[str, Any] = {
    "question_id": "quest_1",
    "prompt": "Which moon?",
    "options": ["Io"],
    "status": "escalated",
    "metadata": {"questions": [{"question": "Which moon?", "header": "", "options": []}]},
}


def tool_request(status: str) -> dict[str, object]:
    call = {"call_id": "call_1", "name": "moons", "arguments": {}}
    content = [{"type": "status", "label": "tool_request"}, {"type": "json", "json": call}]
    item = {"item_id": "itm_1", "native_item_id": None, "parent_id": None, "kind": "status", "role": "system"}
    return {"item": {**item, "status": status, "content": content}}


def test_a_permission_with_values_of_a_newer_daemon_is_asked_for() -> None:
    asks = frame(3, "permission.requested", BROWSING)
    pieces = (
        stream(frame(2, "turn.started", STARTED), asks, frame(4, "turn.ended", TURN_ENDED)),
        answer({"permissions": [BROWSING]}),
        answer(status=204),
    )
    requests: list[PermissionRequested] = []

    def allow(request: PermissionRequested) -> bool:
        requests.append(request)
        return True

    with server(*pieces) as (endpoint, asked), connect(endpoint) as client:
        turn = client.session("s").prompt("hello", on_permission=allow)
        event = list(turn)[1]
    [request] = requests
    assert (event.type, event.data) == ("permission.requested", request)
    assert [str(value) for value in (request.status, request.metadata.kind)] == ["escalated", "browser"]
    assert (asked[-1].path, msgspec.json.decode(asked[-1].body)) == (
        "/v1/sessions/s/permissions/perm_1/reply",
        {"reply": "once"},
    )
    assert msgspec.json.decode(msgspec.json.encode(event)) == msgspec.json.decode(
        asks.partition(b"data: ")[2]
    )


def test_a_question_with_values_of_a_newer_daemon_is_asked() -> None:
    asks = frame(3, "question.requested", WONDERING)
    pieces = (
        stream(frame(2, "turn.started", STARTED), asks, frame(4, "turn.ended", TURN_ENDED)),
        answer({"questions": [WONDERING]}),
        answer(status=204),
    )
    with server(*pieces) as (endpoint, asked), connect(endpoint) as client:
        client.session("s").prompt("hello", on_question=lambda request: request.options[0]).result()
    assert msgspec.json.decode(asked[-1].body) == {"answers": [["Io"]]}


def test_a_call_of_a_tool_with_values_of_a_newer_daemon_is_answered() -> None:
    def moons() -> str:
        return "Io"

    pieces = (
        stream(
            frame(2, "turn.started", STARTED),
            frame(3, "item.started", tool_request("waiting")),
            frame(4, "turn.ended", TURN_ENDED),
        ),
        answer({"toolCalls": [{"call_id": "call_1", "name": "moons", "arguments": {}}]}),
        answer(status=204),
    )
    with server(*pieces) as (endpoint, asked), connect(endpoint) as client:
        client.session("s", tools=[moons]).prompt("hello").result()
    assert msgspec.json.decode(asked[-1].body)["output"] == "Io"


def test_what_was_answered_in_a_way_of_a_newer_daemon_waits_no_more() -> None:
    decided = {"metadata": {**BROWSING["metadata"], "decided_by": "committee"}}
    answered = {"metadata": {**WONDERING["metadata"], "decided_by": "committee"}}
    pieces = stream(
        frame(1, "permission.requested", BROWSING),
        frame(2, "question.requested", WONDERING),
        frame(3, "item.started", tool_request("in_progress")),
        frame(4, "permission.resolved", {**BROWSING, **decided}),
        frame(5, "question.resolved", {**WONDERING, **answered}),
        frame(6, "item.completed", tool_request("withdrawn")),
        END,
    )
    transcript = Transcript()
    waiting: list[int] = []
    with server(pieces) as (endpoint, _), connect(endpoint) as client:
        for event in client.session("s").events(follow=True):
            transcript.add(event)
            waiting.append(
                len(transcript.permissions) + len(transcript.questions) + len(transcript.tool_requests)
            )
    assert waiting == [1, 2, 3, 2, 1, 0]


def test_an_answer_with_values_of_a_newer_daemon_is_readable() -> None:
    newer = answer({"status": "radiant", "version": __version__})
    with server(newer) as (endpoint, _), connect(endpoint) as client:
        assert str(client.system.health().status) == "radiant"


# -- problems -----------------------------------------------------------------------------------


def test_a_problem_is_raised_as_its_class_with_its_facts() -> None:
    exited = problem("agent_process_exited", 500, "it died", exitCode=3, instance="/v1/x")
    with (
        server(exited) as (endpoint, _),
        connect(endpoint) as client,
        pytest.raises(AgentProcessExited) as raised,
    ):
        client.agents.list()
    assert (raised.value.detail, raised.value.facts) == ("it died", {"exitCode": 3})
    assert raised.value.problem()["instance"] == "/v1/x"


def test_a_session_whose_agent_cannot_start_is_that_problem() -> None:
    error = {"type": "urn:sandbox-agent:error:agent_process_exited", "detail": "it died", "exitCode": 3}
    created = answer({"sessionId": "s", "healthy": False, "error": error})
    with (
        server(created) as (endpoint, _),
        connect(endpoint) as client,
        pytest.raises(AgentProcessExited) as raised,
    ):
        client.sessions.create("s", agent="claude")
    assert raised.value.facts == {"exitCode": 3, "sessionId": "s"}


def test_a_problem_that_only_a_newer_daemon_knows_is_kept_whole() -> None:
    with (
        server(problem("out_of_cheese", 418, "redo from start", cheese=0)) as (endpoint, _),
        connect(endpoint) as client,
        pytest.raises(UnknownProblem, match="redo from start") as raised,
    ):
        client.agents.list()
    assert (raised.value.problem()["status"], raised.value.facts) == (418, {"cheese": 0})


def test_another_server_at_the_address_is_recognized() -> None:
    with (
        server(answer("<html>", 404)) as (endpoint, _),
        connect(endpoint) as client,
        pytest.raises(NotADaemon, match="answered with status 404: it is not a sandbox-agent daemon"),
    ):
        client.agents.list()


def test_another_server_that_answers_200_is_recognized_too() -> None:
    with (
        server(answer(["an", "index"])) as (endpoint, _),
        connect(endpoint) as client,
        pytest.raises(NotADaemon, match="did not answer like a sandbox-agent daemon"),
    ):
        client.agents.list()


def test_an_unexpected_answer_names_the_versions_of_client_and_daemon() -> None:
    newer = answer({"agents": [{"name": "claude"}]}, x_sandbox_agent_version="99.0.0")
    with (
        server(newer) as (endpoint, _),
        connect(endpoint) as client,
        pytest.warns(VersionMismatch),
        pytest.raises(
            IncompatibleDaemon, match=r"is version 99\.0\.0 and this client is .* the same version"
        ),
    ):
        client.agents.list()


def test_a_raw_response_has_status_headers_and_bytes_beside_the_result() -> None:
    with server(answer(HEALTH, x_mood="good")) as (endpoint, _), connect(endpoint) as client:
        raw = client.with_raw_response(client.system.health)
    assert (raw.status, raw.headers["x-mood"], raw.parsed.status) == (200, "good", "ok")
    assert msgspec.json.decode(raw.content) == HEALTH


def test_an_install_with_progress_has_a_raw_response_too() -> None:
    installed = {"alreadyInstalled": False, "version": "1.0", "path": "/mock", "source": "npm"}
    frames = (
        b'event: progress\ndata: {"stage": "dreaming"}\n\n',
        b"event: result\ndata: %b\n\n" % msgspec.json.encode(installed),
    )
    steps: list[Progress] = []
    with server(stream(*frames)) as (endpoint, _), connect(endpoint) as client:
        raw = client.with_raw_response(client.agents.install, "mock", on_progress=steps.append)
    assert [step.stage for step in steps] == ["dreaming"]
    assert (raw.status, raw.headers["content-type"], raw.parsed.version) == (200, "text/event-stream", "1.0")
    assert msgspec.json.decode(raw.content) == installed


def test_what_sends_no_request_has_no_raw_response() -> None:
    with (
        SandboxAgent.connect(free_address()) as client,
        pytest.raises(TypeError, match="takes a method that sends a request"),
    ):
        client.with_raw_response(client.session, "s")


# -- wrong use ----------------------------------------------------------------------------------


def free_address() -> str:
    """Where nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_without_a_daemon_the_error_says_at_once_how_to_start_it() -> None:
    with SandboxAgent.connect(free_address()) as client, pytest.raises(DaemonUnreachable) as raised:
        client.agents.list()
    assert "start one with `sandbox-agent daemon start`" in raised.value.detail
    assert "SandboxAgent.start()" in raised.value.detail


def test_a_prompt_too() -> None:
    with (
        SandboxAgent.connect(free_address()) as client,
        pytest.raises(DaemonUnreachable, match="daemon start"),
    ):
        client.session("s").prompt("hello").result()


def test_a_connection_that_no_daemon_could_accept_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with server(LOST) as (endpoint, _):
        secure = endpoint.replace("http:", "https:")
        unknown = "http://no-such-host.invalid:1"
        for wrong, why in ((secure, "SSL"), (unknown, "[Nn]ame")):
            with (
                SandboxAgent.connect(wrong, "T") as client,
                pytest.raises(DaemonUnreachable, match=rf"^cannot connect to {wrong}: .*{why}"),
            ):
                client.agents.list()


def test_a_wrong_token_is_refused_with_where_to_set_it() -> None:
    with (
        server(problem("token_invalid", 401, "the token is wrong")) as (endpoint, _),
        connect(endpoint) as client,
        pytest.raises(
            TokenInvalid,
            match=r"the token is wrong: give the daemon's token, as in connect\(base_url, token\)",
        ),
    ):
        client.agents.list()


@pytest.mark.parametrize("endpoint", ["127.0.0.1:2468", "ftp://host", "http://"])
def test_an_invalid_address_is_refused_with_an_example(endpoint: str) -> None:
    with pytest.raises(BadAddress, match=r"it should look like http://127\.0\.0\.1:2468"):
        SandboxAgent.connect(endpoint)


def test_an_impossible_token_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(BadToken, match="something other than printable ASCII"):
        SandboxAgent.connect("http://127.0.0.1:1", "tökén")


def test_a_closed_client_says_so() -> None:
    client = connect("http://127.0.0.1:1")
    client.close()
    with pytest.raises(ClientClosed, match="use it inside its `with` block, or create a new one"):
        client.agents.list()


@pytest.mark.parametrize("theirs", ["99.0.0", "0.0.1"])
def test_another_version_is_warned_about_once(theirs: str) -> None:
    other = answer(HEALTH, x_sandbox_agent_version=theirs)
    with server(other, other) as (endpoint, _), connect(endpoint) as client:
        with pytest.warns(VersionMismatch, match=f"the daemon is version {theirs}, this client is"):
            client.system.health()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            client.system.health()


def test_the_client_sends_its_version_and_token() -> None:
    with server(answer(HEALTH)) as (endpoint, asked), connect(endpoint) as client:
        client.system.health()
    assert asked[0].headers["user-agent"] == f"sandbox-agent-python/{__version__}"
    assert asked[0].headers["authorization"] == "Bearer T"


def test_a_stream_from_another_server_is_not_waited_for() -> None:
    page = answer("<html>", content_type="text/html")
    with server(page) as (endpoint, asked), connect(endpoint) as client, pytest.raises(NotADaemon):
        client.session("s").prompt("hello").result()
    assert len(asked) == 1


# -- timeouts and custom HTTP clients --------------------------------------------------------------


def test_a_timeout_is_kept_and_not_tried_again() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with (
            SandboxAgent.connect(address, timeout=0.05) as client,
            pytest.raises(NoAnswerInTime, match=r"within the timeout of 0\.05 seconds"),
        ):
            client.agents.list()


def test_a_given_http_client_is_used_and_left_open() -> None:
    def reply(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json={**HEALTH, "version": request.headers["x-mine"]})

    with httpx2.Client(transport=httpx2.MockTransport(reply), headers={"x-mine": "7"}) as http:
        with SandboxAgent.connect("http://elsewhere", http=http) as client:
            assert client.system.health().version == "7"
        assert not http.is_closed


def test_so_is_an_asynchronous_one() -> None:
    async def use() -> None:
        transport = httpx2.MockTransport(lambda _: httpx2.Response(200, json=HEALTH))
        async with httpx2.AsyncClient(transport=transport) as http:
            async with AsyncSandboxAgent.connect("http://elsewhere", http=http) as client:
                assert (await client.system.health()).status == "ok"
            assert not http.is_closed

    asyncio.run(use())
