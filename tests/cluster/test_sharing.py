"""Any node serves every read and takes every command of every session."""

from __future__ import annotations

import hashlib
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from tests.cluster.nodes import Nodes, outcomes
from tests.daemons import done, of_type, refusal, wait_until


def test_commands_reach_the_owner_from_any_node(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    assert outcomes(two.client.turn(session, "hello")) == ["end_turn"]
    assert done(two.client.patch(f"/v1/sessions/{session}", {"title": "renamed"}))["title"] == "renamed"
    assert one.client.info(session)["title"] == "renamed"
    two.client.send(session, "pace 100000 5")
    queued = two.client.send(session, "hello")
    waiting = done(two.client.get(f"/v1/sessions/{session}/queue"))["messages"]
    assert [message["turnId"] for message in waiting] == [queued]
    assert two.client.info(session)["state"] == "running"
    assert two.client.delete(f"/v1/sessions/{session}/queue/{queued}").status_code == 204
    assert two.client.post(f"/v1/sessions/{session}/cancel").status_code == 204
    assert refusal(two.client.delete(f"/v1/sessions/{session}/queue/{queued}")) == (404, "not_found")
    with two.client.follow(session) as reader:
        assert two.client.post(f"/v1/sessions/{session}/terminate").status_code == 204
        assert reader.rest()[-1]["type"] == "session.ended"
    assert two.client.events(session) == one.client.events(session)
    with two.client.follow(session) as reader:
        two.client.delete(f"/v1/sessions/{session}")
        reader.rest()
    assert refusal(two.client.get(f"/v1/sessions/{session}")) == (404, "session_not_found")


def test_the_first_answer_wins_whichever_node_takes_it(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    with ThreadPoolExecutor(2) as both, two.client.follow(session) as reader:
        for _ in range(20):
            one.client.send(session, "permission")
            reader.until_type("permission.requested")
            [asked] = two.client.pending(session)
            listed = done(two.client.get("/v1/sessions"))["sessions"]
            assert [info["state"] for info in listed] == ["requires_action"]
            path = f"/v1/sessions/{session}/permissions/{asked['permission_id']}/reply"
            replies = both.map(
                lambda given, path=path: given[0].client.post(path, {"reply": given[1]}).status_code,
                [(one, "once"), (two, "reject")],
            )
            statuses = list(replies)
            assert sorted(statuses) == [204, 409]
            [resolved] = of_type(reader.until_type("permission.resolved"), "permission.resolved")
            assert resolved["status"] == ("accept" if statuses == [204, 409] else "reject")
            reader.until_type("turn.ended")


def test_a_key_makes_one_turn_on_all_nodes(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    path, body = f"/v1/sessions/{session}/messages", {"message": "hello"}
    with ThreadPoolExecutor(4) as all_at_once:
        for key in map(str, range(10)):
            answers = all_at_once.map(
                lambda node, key=key: node.client.post(path, body, **{"idempotency-key": key}).json(),
                [one, two, one, two],
            )
            assert len({answer["turnId"] for answer in answers}) == 1
    two.client.turn(session, "hello")
    assert outcomes(one.client.events(session)) == ["end_turn"] * 11


def test_readers_go_from_node_to_node(nodes: Nodes) -> None:
    three = [nodes.start(name) for name in ("one", "two", "three")]
    sessions = [node.client.create() for node in three]
    position = 0
    for turn in range(3):
        node, session = three[turn], sessions[turn]
        before = len(node.client.events(session))
        node.client.send(session, "pace 30 1")
        for hop in range(6):
            with three[hop % 3].client.follow(session, last_event_id=before) as reader:
                assert next(reader.events()).id == before + 1
            before += 1
    counts = [len(three[0].client.events(session)) for session in sessions]
    wait_until(lambda: all(three[0].client.info(session)["state"] == "idle" for session in sessions))
    counts = [len(three[0].client.events(session)) for session in sessions]
    seen: dict[str, int] = dict.fromkeys(sessions, 0)
    hop = 0
    while sum(seen.values()) < sum(counts):
        hop += 1
        reader = three[hop % 3].client.reader(
            "/v1/events/sse?offset=0" if not position else "/v1/events/sse", {"last-event-id": str(position)}
        )
        with reader:
            for _, frame in zip(range(7), reader.events(), strict=False):
                assert frame.id > position
                position = frame.id
                event = frame.data
                assert event["sequence"] == seen[event["session_id"]] + 1
                seen[event["session_id"]] += 1
                if sum(seen.values()) == sum(counts):
                    break
    assert list(seen.values()) == counts


@pytest.mark.parametrize("creator", ["one", "two"])
def test_readers_of_a_deleted_session_never_see_another_with_its_id(nodes: Nodes, creator: str) -> None:
    one, two = (nodes.start(name, "--lease-seconds", "60") for name in ("one", "two"))
    path, body = "/v1/sessions/again", {"agent": "mock"}
    done(one.client.post(path, body))
    one.client.turn("again", "hello")
    with two.client.follow("again") as early:
        early.until_type("turn.ended")
        # The other node learns nothing while there is no session of this name.
        two.pause()
        assert one.client.delete(path).status_code == 204
        if creator == "one":
            done(one.client.post(path, body))
        two.resume()
        if creator == "two":
            done(two.client.post(path, body))
        with two.client.follow("again") as late:
            one.client.turn("again", "hello")
            seen = late.until_type("turn.ended")
        assert seen == one.client.events("again")
        assert list(early.events()) == []


def test_a_stream_ends_with_its_session_beside_a_large_event(nodes: Nodes) -> None:
    one, two = (nodes.start(name, "--lease-seconds", "60") for name in ("one", "two"))
    first, large, last = (one.client.create() for _ in range(3))
    with ExitStack() as stack, nodes.log() as log:
        readers = {id: stack.enter_context(two.client.follow(id)) for id in (first, large, last)}
        for reader in readers.values():
            reader.until_type("session.started")
        # The other node reads all of it at once, and nothing follows the large event for now.
        two.pause()
        for id in (first, last):
            assert one.client.post(f"/v1/sessions/{id}/terminate").status_code == 204
        body = b'{"type":"item.delta","data":"%b"}' % (b"x" * (2 << 20))
        log.execute(
            "INSERT INTO events (era, session, sequence, position, body) SELECT e.era, session, sequence + 1, position + 1, %b "
            "FROM events e JOIN sessions s ON s.ordinal = e.session WHERE session_id = %s",
            [body, large],
        )
        two.resume()
        for id in (first, last):
            assert [frame.data["type"] for frame in readers[id].events()] == ["session.ended"]


def test_files_of_a_session_are_asked_of_its_machine(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    work = one.work_dir
    subprocess.run(["git", "init", "-q", work], check=True)
    session = one.client.create(directory=str(work))
    (work / "made.txt").write_text("made")
    query = {"sessionId": session}
    assert done(two.client.get("/v1/fs/stat", path="made.txt", **query))["size"] == 4
    assert two.client.get("/v1/fs/file", path="made.txt", **query).text == "made"
    changed = done(two.client.get(f"/v1/sessions/{session}/changes"))["files"]
    assert [file["path"] for file in changed] == ["made.txt"]
    assert done(two.client.get(f"/v1/sessions/{session}/mcp")) == {"servers": []}
    # What cannot be passed on is refused, and never answered with the wrong machine's files.
    for refused in (
        two.client.get("/v1/fs/watch", path="made.txt", **query),
        two.client.request("PUT", "/v1/fs/file", params={"path": "made.txt", **query}, content=b"x"),
        two.client.get("/v1/fs/stat", path="made.txt", **query, node="one"),
    ):
        assert refusal(refused) == (409, "conflict")
        assert refused.json()["node"] == "one"
    assert (work / "made.txt").read_text() == "made"


def test_an_upload_may_be_taken_by_one_node_named_on_another_and_used_by_a_third(nodes: Nodes) -> None:
    one, two, three = (nodes.start(name) for name in ("one", "two", "three"))
    session = one.client.create()
    content = os.urandom(3 << 20)
    given = done(
        two.client.request(
            "POST", f"/v1/sessions/{session}/attachments", params={"filename": "a.bin"}, content=content
        )
    )
    sent = three.client.turn(session, "attachments", attachments=[{"path": given["path"]}])
    assert outcomes(sent) == ["end_turn"]
    name = given["path"].rpartition("/")[2]
    [there] = one.data_dir.glob(f"attachments/*/{name}")
    assert hashlib.sha256(there.read_bytes()).digest() == hashlib.sha256(content).digest()
    assert three.client.get(f"/v1/sessions/{session}/attachments/{name}").content == content
