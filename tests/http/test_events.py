"""Events over HTTP: pages and streams of one session, and the stream of all."""

from __future__ import annotations

import asyncio
import http.client
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest
from tests.daemons import Client, Daemon, Reader, done, of_type, refusal, running, texts, types

from sandbox_agent.http.answers import send_stream
from sandbox_agent.ops.events import PAGE_BYTES
from sandbox_agent.ops.operation import Stream


def bodies(client: Client, session: str, **query: object) -> list[bytes]:
    """The events of one page as the bytes that were sent."""
    page = client.get(f"/v1/sessions/{session}/events", **query).content
    raw = msgspec.json.decode(page, type=dict[str, msgspec.Raw])["events"]
    return [bytes(event) for event in msgspec.json.decode(raw, type=list[msgspec.Raw])]


# -- pages --------------------------------------------------------------------------------------


def test_pages_continue_where_the_previous_one_ended(client: Client) -> None:
    session = client.create()
    client.turn(session, "flood 30")
    pages, offset = [], 0
    while True:
        page = done(client.get(f"/v1/sessions/{session}/events", offset=offset, limit=7))
        pages.append(page)
        if not page["hasMore"]:
            break
        offset = page["events"][-1]["sequence"]
    assert {len(page["events"]) for page in pages[:-1]} == {7}
    sequences = [event["sequence"] for page in pages for event in page["events"]]
    assert sequences == list(range(1, client.info(session)["eventCount"] + 1))


def test_a_page_holds_a_hundred_events_unless_asked(client: Client) -> None:
    session = client.create()
    client.turn(session, "flood 200")
    page = done(client.get(f"/v1/sessions/{session}/events"))
    assert ([event["sequence"] for event in page["events"]], page["hasMore"]) == (list(range(1, 101)), True)


def test_the_end_of_the_log_is_an_empty_page(client: Client) -> None:
    session = client.create()
    assert done(client.get(f"/v1/sessions/{session}/events", offset=1)) == {"events": [], "hasMore": False}


@pytest.mark.parametrize(
    "query",
    [
        {"offset": -1},
        {"offset": "x"},
        {"offset": "1.5"},
        {"offset": 2**63},
        {"limit": 0},
        {"limit": 1001},
        {"include_raw": "perhaps"},
        {"surprise": "1"},
    ],
)
def test_a_page_with_nonsense_is_refused(client: Client, idle_session: str, query: dict[str, object]) -> None:
    answer = client.get(f"/v1/sessions/{idle_session}/events", **query)
    assert refusal(answer) == (400, "invalid_request")


def test_an_offset_beyond_the_log_is_a_conflict(client: Client, idle_session: str) -> None:
    for path in ("events", "events/sse"):
        answer = client.get(f"/v1/sessions/{idle_session}/{path}", offset=2)
        assert refusal(answer) == (409, "conflict")
        assert (answer.json()["offset"], answer.json()["committed"]) == (2, 1)


def test_events_of_an_unknown_session_are_not_found(client: Client) -> None:
    for path in ("events", "events/sse"):
        assert refusal(client.get(f"/v1/sessions/nobody/{path}")) == (404, "session_not_found")


def test_a_page_of_huge_events_is_bounded_in_bytes(client: Client) -> None:
    session = client.create()
    for _ in range(3):
        client.turn(session, "bigline 500k")
    offset, sizes, seen = 0, [], 0
    while True:
        answer = client.get(f"/v1/sessions/{session}/events", offset=offset, limit=1000)
        page = done(answer)
        sizes.append(len(answer.content))
        seen += len(page["events"])
        offset = page["events"][-1]["sequence"]
        if not page["hasMore"]:
            break
    assert seen == client.info(session)["eventCount"]
    assert len(sizes) > 2
    assert max(sizes) < PAGE_BYTES + 100_000


def test_an_event_larger_than_a_page_is_a_page(client: Client) -> None:
    session = client.create()
    client.turn(session, "bigline 2m")
    large = next(
        event
        for event in client.events(session)
        if event["type"] == "item.delta" and len(event["data"]["delta"]) > 1000
    )
    page = done(client.get(f"/v1/sessions/{session}/events", offset=large["sequence"] - 1, limit=1000))
    assert [event["sequence"] for event in page["events"]] == [large["sequence"]]
    assert page["hasMore"] is True


# -- raw ----------------------------------------------------------------------------------------


def test_raw_is_null_unless_asked_for(client: Client) -> None:
    session = client.create()
    client.turn(session, "hi")
    assert {event["raw"] for event in client.events(session)} == {None}


def test_raw_is_the_native_payload(client: Client) -> None:
    session = client.create()
    client.turn(session, "tool")
    plain = client.events(session)
    raw = client.events(session, include_raw="true")
    assert [{**event, "raw": None} for event in raw] == plain
    assert {event["raw"] is None for event in raw if event["source"] == "agent"} == {False}
    [ended] = [event["raw"] for event in raw if event["type"] == "turn.ended"]
    assert (ended["type"], ended["stop_reason"]) == ("turn_end", "end_turn")


def test_raw_of_a_line_that_is_not_json_is_text(client: Client) -> None:
    session = client.create()
    client.expects_unparsed = True
    client.turn(session, "unparsed")
    raw = [
        event["raw"]
        for event in client.events(session, include_raw="true")
        if event["type"] == "agent.unparsed"
    ]
    assert raw == ["Segmentation fault (not really)", {"type": "text", "id": 7}]


def test_every_surface_gives_the_same_bytes(client: Client) -> None:
    session = client.create()
    with client.reader("/v1/events/sse") as everything:
        client.turn(session, "parallel")
        page = bodies(client, session, limit=1000)
        live = [frame.fields["data"].encode() for frame in _take(everything, len(page) - 1)]
    with client.follow(session) as reader:
        replayed = [frame.fields["data"].encode() for frame in _take(reader, len(page))]
    assert replayed == page
    assert live == page[1:]
    with client.reader(f"/v1/sessions/{session}/events/sse?include_raw=true") as reader:
        with_raw = [frame.fields["data"].encode() for frame in _take(reader, len(page))]
    assert with_raw == bodies(client, session, limit=1000, include_raw="true")


def _take(reader: Reader, count: int) -> list[Any]:
    frames = reader.events()
    return [next(frames) for _ in range(count)]


# -- one session's stream -----------------------------------------------------------------------


def test_a_stream_says_how_it_wants_to_be_treated(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        first, second = reader.frames(), None
        assert next(first).text == "retry: 3000"
        second = next(first)
    headers = reader.response.headers
    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["cache-control"] == "no-cache, no-transform"
    assert headers["x-accel-buffering"] == "no"
    assert headers["content-length"] is None
    # No `event:` line: a browser's onmessage gets it.
    assert [line.partition(":")[0] for line in second.text.split("\n")] == ["id", "data"]
    assert (second.id, second.data["sequence"]) == (1, 1)


def test_a_stream_replays_then_continues_live(client: Client) -> None:
    session = client.create()
    client.turn(session, "one")
    with client.follow(session) as reader:
        before = reader.until_type("turn.ended")
        client.turn(session, "two")
        after = reader.until_type("turn.ended")
    assert before + after == client.events(session)


def test_a_stream_starts_after_its_offset(client: Client) -> None:
    session = client.create()
    client.turn(session, "one")
    with client.follow(session, after=3) as reader:
        assert next(reader.events()).id == 4


def test_last_event_id_wins_over_the_offset(client: Client) -> None:
    session = client.create()
    client.turn(session, "one")
    for header, first in (("5", 6), ("0", 1), ("", 3)):
        with client.reader(
            f"/v1/sessions/{session}/events/sse?offset=2", {"last-event-id": header}
        ) as reader:
            assert next(reader.events()).id == first


@pytest.mark.parametrize("header", ["x", "-1", "1.0", "9" * 19, "evt_1", "٣"])
def test_a_last_event_id_that_no_stream_gave_is_refused(
    client: Client, idle_session: str, header: str
) -> None:
    for path in (f"/v1/sessions/{idle_session}/events/sse", "/v1/events/sse"):
        answer = client.request("GET", path, headers={b"last-event-id": header.encode()})
        assert refusal(answer) == (400, "invalid_request")


def test_a_last_event_id_ahead_of_the_log_is_a_conflict(client: Client) -> None:
    session = client.create()
    answer = client.request("GET", f"/v1/sessions/{session}/events/sse", headers={"last-event-id": "1000"})
    assert refusal(answer) == (409, "conflict")


@pytest.mark.parametrize("query", ["", "?include_raw=true"])
def test_the_stream_of_an_ended_session_is_whole_and_ends(client: Client, query: str) -> None:
    session = client.create()
    client.turn(session, "one")
    path = f"/v1/sessions/{session}/events/sse{query}"
    with client.reader(path) as live:
        client.post(f"/v1/sessions/{session}/terminate")
        with client.reader(path) as replayed:
            for reader in (live, replayed):
                *frames, end = reader.frames()
                assert [frame.data["type"] for frame in frames[1:]] == types(client.events(session))
                assert end.text == "event: end\ndata: {}"
                assert reader.response.headers["connection"] == "close"


def test_a_reader_that_has_everything_of_an_ended_session_need_not_come_back(client: Client) -> None:
    session = client.create()
    path = f"/v1/sessions/{session}/events/sse"
    client.post(f"/v1/sessions/{session}/terminate")
    last = str(client.info(session)["eventCount"])
    for options in ({"headers": {"last-event-id": last}}, {"params": {"offset": last}}):
        answer = client.request("GET", path, **options)
        assert (answer.status_code, answer.content) == (204, b"")
    with client.follow(session, last_event_id=int(last) - 1) as reader:
        assert types(reader.rest()) == ["session.ended"]


def test_a_session_loaded_from_the_store_can_end_too(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data")) as daemon:
        client = Client(daemon)
        session = client.create()
        client.turn(session, "end")
        events = client.events(session)
        daemon.stop()
        daemon.start()
        assert client.get(f"/v1/sessions/{session}/events/sse", offset=len(events)).status_code == 204
        with client.follow(session) as reader:
            assert list(reader.frames())[-1].text == "event: end\ndata: {}"
        client.close()


def test_a_quiet_stream_shows_signs_of_life() -> None:
    """The ping's format, without waiting for one: it is what the answer writes when nothing came."""
    sent: list[bytes] = []

    async def quiet() -> Any:
        yield None

    async def receive() -> Any:
        await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    asyncio.run(send_stream({}, receive, send, Stream(quiet()), []))
    assert sent == [b"", b"retry: 3000\n\n", b": ping\n\n", b""]


def test_a_stream_that_fails_in_its_middle_is_cut_off_and_logged_once(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data")) as daemon:
        client = Client(daemon)
        session = client.create()
        apsw.Connection(str(daemon.data_dir / "log.db")).execute("DROP TABLE events")
        with client.follow(session) as reader, pytest.raises(http.client.IncompleteRead):
            list(reader.frames())
        client.close()
        daemon.stop()
        logged = [line for line in daemon.stderr().splitlines() if '"level":"error"' in line]
        assert len(logged) == 1
        assert f"GET /v1/sessions/{session}/events/sse failed" in logged[0]
        assert "no such table: events" in logged[0]


# -- all sessions -------------------------------------------------------------------------------


def test_the_stream_of_all_begins_now(client: Client) -> None:
    old = client.create()
    client.turn(old, "before")
    with client.reader("/v1/events/sse") as reader:
        client.turn(old, "after")
        events = reader.until_type("turn.ended")
    assert texts(events) == ["You said: after (message 2 of this conversation)"]


def test_the_stream_of_all_says_where_it_begins_before_anything_happens(client: Client) -> None:
    session = client.create()
    client.turn(session, "before")
    with client.reader("/v1/events/sse") as reader:
        frames = reader.frames()
        _, here = next(frames), next(frames)
    assert "data" not in here.fields
    client.turn(session, "meanwhile")
    with client.reader("/v1/events/sse", {"last-event-id": str(here.id)}) as reader:
        events = reader.until_type("turn.ended")
    assert texts(events) == ["You said: meanwhile (message 2 of this conversation)"]


def test_the_stream_of_all_numbers_events_across_sessions(client: Client) -> None:
    with client.reader("/v1/events/sse") as reader:
        one, two = client.create(), client.create()
        client.turn(one, "hi")
        client.turn(two, "end")
        frames = []
        for frame in reader.events():
            frames.append(frame)
            if frame.data["type"] == "session.ended":
                break
    positions = [frame.id for frame in frames]
    assert positions == sorted(set(positions))
    for session in (one, two):
        own = [frame.data for frame in frames if frame.data["session_id"] == session]
        assert own == client.events(session)
    middle = frames[len(frames) // 2]
    with client.reader("/v1/events/sse?offset=0", {"last-event-id": str(middle.id)}) as reader:
        again = [next_frame.text for next_frame in _take(reader, len(frames) - len(frames) // 2 - 1)]
    assert again == [frame.text for frame in frames[len(frames) // 2 + 1 :]]


def test_an_offset_beyond_the_whole_log_is_a_conflict(client: Client) -> None:
    assert refusal(client.get("/v1/events/sse", offset=2**40)) == (409, "conflict")


def test_the_stream_of_all_reports_updates_of_sessions(client: Client) -> None:
    with client.reader("/v1/events/sse") as reader:
        frames = reader.frames()

        def news(state: str, **wanted: object) -> dict[str, Any]:
            """The next update of our session with this state."""
            for frame in frames:
                if frame.fields.get("event") == "session":
                    event: dict[str, Any] = frame.data
                    if (
                        event["sessionId"] == session
                        and event["state"] == state
                        and wanted.items() <= event.items()
                    ):
                        return event
            raise AssertionError("the stream ended")

        session = client.create(title="First")
        assert news("idle", title="First").keys() == client.info(session).keys()
        client.send(session, "question")
        news("running")
        news("requires_action")
        client.post(f"/v1/sessions/{session}/cancel")
        news("idle")
        client.patch(f"/v1/sessions/{session}", {"title": "Second"})
        news("idle", title="Second")
        client.patch(f"/v1/sessions/{session}", {"model": "mock-2", "permissionMode": "bypass"})
        news("idle", model="mock-2", permissionMode="bypass")
        client.delete(f"/v1/sessions/{session}")
        assert news("ended", deleted=True)["sessionId"] == session


def test_session_frames_have_their_place_in_the_log(client: Client) -> None:
    with client.reader("/v1/events/sse") as reader:
        client.create()
        frames = (frame for frame in reader.frames() if "data" in frame.fields)
        first, second = next(frames), next(frames)
    assert sorted(frame.fields.get("event", "") for frame in (first, second)) == ["", "session"]
    assert first.id < second.id


# -- every kind of event ------------------------------------------------------------------------


def test_the_demo_shows_every_kind_of_item(client: Client, daemon: Daemon) -> None:
    session = client.create(permissionMode="bypass")
    with client.follow(session) as reader:
        client.send(session, "demo")
        question = reader.until_type("question.requested")[-1]["data"]["question_id"]
        client.post(f"/v1/sessions/{session}/questions/{question}/reply", {"answers": [["Red"]]})
        reader.until_type("turn.ended")
    items = [data["item"] for data in of_type(client.events(session), "item.completed")]
    assert {(item["kind"], item["role"]) for item in items} == {
        ("message", "user"),
        ("message", "assistant"),
        ("tool_call", "assistant"),
        ("tool_result", "tool"),
        ("status", None),
    }
    assert {part["type"] for item in items for part in item["content"]} == {
        "text",
        "reasoning",
        "tool_call",
        "tool_result",
        "file_ref",
        "status",
        "json",
    }
    assert (daemon.work_dir / "mock-edit.txt").exists()


def test_invalid_output_of_the_agent_is_an_event_and_the_turn_continues(client: Client) -> None:
    session = client.create()
    client.expects_unparsed = True
    events = client.turn(session, "unparsed")
    assert types(events).count("agent.unparsed") == 2
    assert all(data["raw_hash"] for data in of_type(events, "agent.unparsed"))
    unknown = [
        data["item"] for data in of_type(events, "item.completed") if data["item"]["kind"] == "unknown"
    ]
    assert [item["content"] for item in unknown] == [
        [{"type": "json", "json": {"type": "surprise", "mood": "good"}}]
    ]
    assert texts(events)[-1] == "I go on all the same."


def test_an_error_of_the_agent_is_one_event(client: Client) -> None:
    session = client.create()
    events = client.turn(session, "error")
    assert of_type(events, "error") == [{"message": "the model is overloaded", "code": "overloaded"}]
    assert of_type(events, "turn.ended")[0]["metadata"]["stop_reason"] == "error"
