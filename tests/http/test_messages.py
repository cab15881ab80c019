"""Messages over HTTP: accepted, streamed, repeated with a key, with files."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.daemons import (
    Client,
    Daemon,
    done,
    of_type,
    refusal,
    results,
    statuses,
    stop_reason,
    texts,
    types,
    wait_until,
)
from tests.runtime.recording_outlet import RecordingOutlet

from sandbox_agent.agents.scribe import Scribe
from sandbox_agent.runtime.channel import Channel, frame_of
from sandbox_agent.runtime.following import TurnFollowing
from sandbox_agent.runtime.log import End
from sandbox_agent.runtime.reading import Reading
from sandbox_agent.schema.world import counted
from sandbox_agent.store.memory import MemoryStore


def user_items(events: list[dict[str, object]]) -> list[object]:
    items = (data["item"] for data in of_type(events, "item.completed"))
    return [item["content"] for item in items if item["role"] == "user"]


# -- a turn -------------------------------------------------------------------------------------


def test_a_message_is_accepted_and_answered(client: Client) -> None:
    session = client.create()
    answer = client.post(f"/v1/sessions/{session}/messages", {"message": "hello"})
    assert answer.status_code == 202
    assert answer.json() == {"turnId": answer.json()["turnId"], "queued": False}
    assert answer.json()["turnId"].startswith("turn_")
    with client.follow(session) as reader:
        events = reader.until_type("turn.ended")
    assert types(events) == [
        "session.started",
        "turn.started",
        *("item.started", "item.delta", "item.completed"),
        "item.started",
        *["item.delta"] * (len(events) - 8),
        "item.completed",
        "turn.ended",
    ]
    assert events[1]["data"] == {"turn_id": answer.json()["turnId"], "phase": "started"}
    assert events[-1]["data"]["turn_id"] == answer.json()["turnId"]
    assert events[-1]["data"]["phase"] == "ended"
    assert events[-1]["data"]["metadata"].keys() == {"stop_reason", "duration_ms", "waiting_ms", "usage"}
    assert user_items(events) == [[{"type": "text", "text": "hello"}]]
    assert texts(events) == ["You said: hello (message 1 of this conversation)"]


@pytest.mark.parametrize(
    "message",
    ["日本語 🦀 \u2028 \u0085 end", 'quotes " and \\ and \n lines', "<script>alert(1)</script>", "\x01\x7f"],
)
def test_text_passes_unchanged(client: Client, message: str) -> None:
    session = client.create()
    events = client.turn(session, f"say {message}")
    assert user_items(events) == [[{"type": "text", "text": f"say {message}"}]]
    assert texts(events) == [f"You said: say {message} (message 1 of this conversation)"]


def test_a_stream_holds_its_turn_and_ends_with_it(client: Client) -> None:
    session = client.create()
    client.turn(session, "first")
    body = {"message": "second"}
    with client.reader(f"/v1/sessions/{session}/messages/stream", body=body) as reader:
        assert reader.status == 200
        assert reader.response.headers["content-type"] == "text/event-stream; charset=utf-8"
        frames = list(reader.frames())
    assert frames[0].text == "retry: 3000"
    events = [frame.data for frame in frames[1:]]
    assert [frame.id for frame in frames[1:]] == [event["sequence"] for event in events]
    assert (events[0]["type"], events[-1]["type"]) == ("turn.started", "turn.ended")
    assert events[0]["data"]["turn_id"] == events[-1]["data"]["turn_id"]
    assert events == client.events(session)[-len(events) :]


def test_a_queued_message_can_be_streamed(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader, ThreadPoolExecutor(1) as pool:
        client.send(session, "question")
        reader.until_type("question.requested")
        queued = pool.submit(client.turn, session, "afterwards")
        reader.until(
            lambda event: event["type"] == "item.completed" and event["data"]["item"]["kind"] == "status"
        )
        client.post(f"/v1/sessions/{session}/cancel")
        assert texts(queued.result()) == ["You said: afterwards (message 2 of this conversation)"]


def test_a_stream_ends_with_the_session(client: Client) -> None:
    session = client.create()
    with client.reader(f"/v1/sessions/{session}/messages/stream", body={"message": "slow 60"}) as reader:
        reader.until_agent_speaks()
        client.post(f"/v1/sessions/{session}/terminate")
        assert types(reader.rest())[-1] == "turn.ended"


@pytest.mark.parametrize(
    "content",
    [{"type": "session.ended"}, {"type": "turn.ended"}, {"type": "item.completed", "state": "withdrawn"}],
)
def test_a_stream_is_not_ended_by_what_an_agent_says(content: dict[str, str]) -> None:
    """The input of a tool may be any JSON, also such that looks like an event and names the turn."""
    scribe = Scribe(counted())
    end = End("s", "", 0, None)
    scribe.start_turn("turn_1")
    scribe.unknown({**content, "turn_id": "turn_1"})
    scribe.end_turn("end_turn")
    bodies = [row.body for row in end.stamp(scribe.drafts, 0, b"x", b"now")[0]]

    async def streamed() -> list[int]:
        channel, outlet = Channel(0), RecordingOutlet()
        reading = Reading(MemoryStore())
        running = asyncio.create_task(TurnFollowing(reading, channel, "s", 0, "turn_1").run(outlet))
        await asyncio.sleep(0)
        for number, body in enumerate(bodies, start=1):
            channel.publish([(number, frame_of(number, body))])
        await running
        return outlet.numbers

    assert asyncio.run(streamed()) == list(range(1, len(bodies) + 1))


@pytest.mark.parametrize("end", ["withdraw", "terminate"])
def test_a_stream_of_a_message_that_never_runs_ends(client: Client, end: str) -> None:
    session = client.create()
    with client.follow(session) as everything:
        client.send(session, "question")
        everything.until_type("question.requested")
        with client.reader(f"/v1/sessions/{session}/messages/stream", body={"message": "never"}) as reader:
            [waiting] = done(client.get(f"/v1/sessions/{session}/queue"))["messages"]
            if end == "withdraw":
                client.delete(f"/v1/sessions/{session}/queue/{waiting['turnId']}")
            else:
                client.post(f"/v1/sessions/{session}/terminate")
            updates = statuses([frame.data for frame in reader.events()], "queue")
    assert updates == [{"turn_id": waiting["turnId"], "state": "withdrawn"}]


@pytest.mark.parametrize("form", ["messages", "messages/stream"])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": ""},
        {"message": " \n\t"},
        {"message": None},
        {"message": ["a"]},
        {"message": "a", "fresh": "yes"},
        {"message": "a", "attachments": "a.txt"},
        {"message": "a", "attachments": [{"mime": "text/plain"}]},
        {"message": "a", "attachments": [{"path": "/does/not/exist"}]},
        {"message": "a", "attachments": [{"path": "/etc"}]},
        {"message": "a", "attachments": [{"path": "a\0b"}]},
        {"message": "a", "attachments": [{"path": "x" * 5000}]},
        {"message": "a", "attachments": [{"path": "/etc/hostname"}] * 101},
        {"message": "a", "surprise": 1},
    ],
)
def test_a_message_with_nonsense_is_refused(
    client: Client, idle_session: str, form: str, body: dict[str, object]
) -> None:
    assert refusal(client.post(f"/v1/sessions/{idle_session}/{form}", body)) == (400, "invalid_request")


def test_a_message_to_an_unknown_session_is_refused(client: Client) -> None:
    for form in ("messages", "messages/stream"):
        answer = client.post(f"/v1/sessions/nobody/{form}", {"message": "hi"})
        assert refusal(answer) == (404, "session_not_found")


# -- idempotency --------------------------------------------------------------------------------


def test_the_same_key_gives_the_same_turn(client: Client) -> None:
    session = client.create()
    path = f"/v1/sessions/{session}/messages"
    answers = [client.post(path, {"message": "once"}, **{"idempotency-key": "k"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [202, 202, 202]
    assert len({answer.json()["turnId"] for answer in answers}) == 1
    assert texts(client.turn(session, "next")) == ["You said: next (message 2 of this conversation)"]


def test_the_same_key_sent_at_once_gives_one_turn(client: Client) -> None:
    session = client.create()
    path = f"/v1/sessions/{session}/messages"
    with ThreadPoolExecutor(8) as pool:
        posts = [
            pool.submit(client.post, path, {"message": "once"}, **{"idempotency-key": "k"}) for _ in range(8)
        ]
        assert len({post.result().json()["turnId"] for post in posts}) == 1
    assert texts(client.turn(session, "next")) == ["You said: next (message 2 of this conversation)"]


def test_the_same_key_with_another_body_is_refused(client: Client) -> None:
    session = client.create()
    path = f"/v1/sessions/{session}/messages"
    assert client.post(path, {"message": "one"}, **{"idempotency-key": "k"}).status_code == 202
    for body in ({"message": "two"}, {"message": "one", "fresh": True}):
        other = client.post(path, body, **{"idempotency-key": "k"})
        assert refusal(other) == (422, "idempotency_mismatch")


def test_a_key_belongs_to_its_session(client: Client) -> None:
    turns = {
        client.post(
            f"/v1/sessions/{client.create()}/messages", {"message": text}, **{"idempotency-key": "k"}
        ).json()["turnId"]
        for text in ("one", "two")
    }
    assert len(turns) == 2


def test_a_repeated_stream_gives_the_turn_again(client: Client) -> None:
    session = client.create()
    client.turn(session, "before")
    path, body, key = f"/v1/sessions/{session}/messages/stream", {"message": "once"}, {"idempotency-key": "k"}
    streams = []
    for _ in range(2):
        with client.reader(path, key, body) as reader:
            streams.append([frame.text for frame in reader.frames()])
        client.turn(session, "between")
    assert streams[0] == streams[1]


def test_a_repeated_key_is_answered_when_the_session_has_ended_since(client: Client) -> None:
    session = client.create()
    path, body, key = f"/v1/sessions/{session}/messages/stream", {"message": "end"}, {"idempotency-key": "k"}
    streams = []
    for _ in range(2):
        with client.reader(path, key, body) as reader:
            streams.append([frame.text for frame in reader.frames()])
    assert streams[0] == streams[1]
    assert refusal(client.post(path, body)) == (409, "conflict")


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_a_length(client: Client, idle_session: str, key: str) -> None:
    path = f"/v1/sessions/{idle_session}/messages"
    answer = client.post(path, {"message": "a"}, **{"idempotency-key": key})
    assert refusal(answer) == (400, "invalid_request")


# -- attachments --------------------------------------------------------------------------------


def upload(
    client: Client, session: str, content: bytes, query: str = "", media: str = "text/plain"
) -> dict[str, object]:
    answer = client.request(
        "POST",
        f"/v1/sessions/{session}/attachments{query}",
        content=content,
        headers={"content-type": media} if media else {},
    )
    stored: dict[str, object] = done(answer)
    return stored


def test_an_attachment_is_read_back_as_it_was_sent(client: Client) -> None:
    session = client.create()
    content = bytes(range(256)) * 300
    stored = upload(client, session, content, "?filename=photo.png", "image/png")
    path = Path(str(stored["path"]))
    assert stored == {"path": str(path), "mime": "image/png", "size": len(content)}
    assert path.read_bytes() == content
    assert path.stat().st_mode & 0o077 == 0
    answer = client.get(f"/v1/sessions/{session}/attachments/{path.name}")
    assert (answer.status_code, answer.content) == (200, content)
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("query", "media", "mime"),
    [
        ("?filename=a.txt", "", "text/plain"),
        ("?filename=a.png", "application/octet-stream", "image/png"),
        ("?filename=a.png", "image/webp; x=y", "image/webp"),
        ("", "text/markdown", "text/markdown"),
        ("", "", None),
    ],
)
def test_the_media_type_is_the_given_one_or_follows_from_the_name(
    client: Client, idle_session: str, query: str, media: str, mime: str | None
) -> None:
    assert upload(client, idle_session, b"x", query, media)["mime"] == mime


@pytest.mark.parametrize(
    "name",
    ["..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "a%00b", "..", "%20", "x" * 1024, "caf%C3%A9.txt", "a%0Ab"],
)
def test_a_file_name_cannot_lead_out_of_the_folder(
    client: Client, daemon: Daemon, idle_session: str, name: str
) -> None:
    session = idle_session
    path = Path(str(upload(client, session, b"content", f"?filename={name}")["path"]))
    assert path.resolve().parent.parent == (daemon.data_dir / "attachments").resolve()
    assert client.get(f"/v1/sessions/{session}/attachments/{path.name}").content == b"content"


@pytest.mark.parametrize(
    "name", ["nothing", "%2e%2e", "%2e%2e%2flog.db", "..%2f..%2flog.db", "%2fetc%2fpasswd", "a%00"]
)
def test_only_attachments_can_be_read(client: Client, idle_session: str, name: str) -> None:
    upload(client, idle_session, b"x")
    answer = client.request("GET", f"/v1/sessions/{idle_session}/attachments/{name}")
    assert refusal(answer) == (404, "not_found")


def test_an_empty_attachment_is_refused(client: Client) -> None:
    session = client.create()
    answer = client.request("POST", f"/v1/sessions/{session}/attachments", content=b"")
    assert refusal(answer) == (400, "invalid_request")


def test_an_attachment_for_an_unknown_session_is_refused(client: Client) -> None:
    answer = client.request("POST", "/v1/sessions/nobody/attachments", content=b"x")
    assert refusal(answer) == (404, "session_not_found")


def test_a_message_names_an_attachment_by_path_or_by_name(client: Client) -> None:
    session = client.create()
    path = Path(str(upload(client, session, b"12345", "?filename=notes.txt")["path"]))
    for given in (str(path), path.name):
        events = client.turn(session, "look", attachments=[{"path": given, "filename": "notes.txt"}])
        assert texts(events)[0].endswith("with notes.txt (text/plain, 5 bytes))")
        [content] = user_items(events)
        assert content == [
            {"type": "text", "text": "look"},
            {"type": "file_ref", "path": str(path), "action": "read"},
        ]


def test_a_message_may_be_only_an_attachment(client: Client) -> None:
    session = client.create()
    path = str(upload(client, session, b"12345")["path"])
    events = client.turn(session, "", attachments=[{"path": path}])
    assert stop_reason(events) == "end_turn"
    assert user_items(events) == [[{"type": "file_ref", "path": path, "action": "read"}]]


def test_an_image_that_an_agent_makes_is_an_attachment(client: Client) -> None:
    session = client.create()
    [result] = results(client.turn(session, "image"))
    _, image = result["content"]
    path = Path(image["path"])
    assert image == {"type": "image", "path": str(path), "mime": "image/png"}
    answer = client.get(f"/v1/sessions/{session}/attachments/{path.name}")
    assert answer.content == path.read_bytes()
    assert answer.content.startswith(b"\x89PNG")
    seen = texts(client.turn(session, "image", attachments=[{"path": path.name}]))
    assert "a PNG of 8 by 8 pixels" in seen[0]


def test_attachments_go_with_their_session(client: Client) -> None:
    session = client.create()
    path = Path(str(upload(client, session, b"x")["path"]))
    client.delete(f"/v1/sessions/{session}")
    wait_until(lambda: not path.parent.exists())
