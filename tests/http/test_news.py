"""The stream of all sessions reports updates of each session, even to a reader that was disconnected."""

from __future__ import annotations

from typing import Any

from tests.daemons import Client, Frame, Reader, done


def follow_all(client: Client, last_event_id: int | None = None) -> Reader:
    headers = {} if last_event_id is None else {"last-event-id": str(last_event_id)}
    return client.reader("/v1/events/sse", headers)


def is_news(frame: Frame) -> bool:
    return frame.fields.get("event") == "session"


def until_news(reader: Reader, session: str, **facts: object) -> list[Frame]:
    """The frames up to one that tells this of a session."""
    seen: list[Frame] = []
    for frame in reader.frames():
        if "data" not in frame.fields:
            continue
        seen.append(frame)
        if is_news(frame) and frame.data["sessionId"] == session and facts.items() <= frame.data.items():
            return seen
    raise AssertionError("the stream ended before")


def news(frames: list[Frame], session: str) -> list[dict[str, Any]]:
    return [frame.data for frame in frames if is_news(frame) and frame.data["sessionId"] == session]


def test_every_frame_has_an_id_and_they_ascend(client: Client) -> None:
    with follow_all(client) as reader:
        session = client.create()
        client.turn(session, "hi")
        done(client.patch(f"/v1/sessions/{session}", {"title": "New"}))
        seen = until_news(reader, session, title="New")
    ids = [frame.id for frame in seen]
    assert ids == sorted(set(ids))
    own = news(seen, session)
    assert [update["state"] for update in own] == ["idle", "running", "idle", "idle"]
    assert own[-1] == client.info(session)


def test_a_frame_counts_the_events_that_came_before_it(client: Client) -> None:
    with follow_all(client) as reader:
        session = client.create()
        client.turn(session, "hi")
        done(client.patch(f"/v1/sessions/{session}", {"title": "Last"}))
        seen = until_news(reader, session, title="Last")
    count = 0
    for frame in seen:
        if is_news(frame) and frame.data["sessionId"] == session:
            assert frame.data["eventCount"] == count
        elif frame.data.get("session_id") == session:
            count = frame.data["sequence"]


def test_a_reader_that_was_disconnected_gets_the_updates(client: Client) -> None:
    kept, renamed, deleted = client.create(), client.create(title="Old"), client.create()
    with follow_all(client) as reader:
        done(client.patch(f"/v1/sessions/{kept}", {"title": "Seen"}))
        last = until_news(reader, kept, title="Seen")[-1].id
    done(client.patch(f"/v1/sessions/{renamed}", {"title": "New"}))
    assert client.delete(f"/v1/sessions/{deleted}").status_code == 204
    client.turn(kept, "hi")
    done(client.patch(f"/v1/sessions/{kept}", {"title": "Last"}))
    with follow_all(client, last) as reader:
        seen = until_news(reader, kept, title="Last")
    ids = [frame.id for frame in seen]
    assert ids == sorted(set(ids))
    assert ids[0] > last
    assert news(seen, renamed) == [client.info(renamed)]
    [gone] = news(seen, deleted)
    assert gone["deleted"] is True
    own = [frame.data["sequence"] for frame in seen if frame.data.get("session_id") == kept]
    assert own == list(range(own[0], client.info(kept)["eventCount"] + 1))


def test_a_deletion_is_announced_after_all_earlier_events(client: Client) -> None:
    with follow_all(client) as reader:
        session = client.create()
        client.turn(session, "hi")
        assert client.delete(f"/v1/sessions/{session}").status_code == 204
        seen = until_news(reader, session, deleted=True)
    own = [frame for frame in seen if session in (frame.data.get("session_id"), frame.data.get("sessionId"))]
    assert own[-2].data.get("ended") is True or own[-2].data.get("type") == "session.ended"
    assert not [frame for frame in own[:-1] if frame.data.get("deleted")]
