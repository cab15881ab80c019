"""Commands to another node when that node, or the one that asks, fails in between."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
from tests.cluster.nodes import Nodes, is_unknown, outcomes
from tests.daemons import SECONDS, of_type, refusal, wait_until


def test_a_command_whose_owner_dies_is_refused_and_runs_once(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    path, body, key = f"/v1/sessions/{session}/messages", {"message": "hello"}, {"idempotency-key": "k"}
    with ThreadPoolExecutor(1) as waiting:
        one.pause()
        asked = waiting.submit(lambda: two.client.post(path, body, **key))
        with nodes.log() as connection:
            wait_until(lambda: connection.execute("SELECT count(*) FROM commands").fetchone() == (1,))
        one.kill()
        # It was not taken, so it was surely not carried out.
        refused = asked.result(SECONDS)
        assert refusal(refused) == (503, "unavailable")
        assert refused.json()["node"] == "one"
        assert "outcome" not in refused.json()
    one.start()
    accepted = two.client.post(path, body, **key)
    assert accepted.status_code == 202
    assert two.client.post(path, body, **key).json()["turnId"] == accepted.json()["turnId"]
    wait_until(lambda: outcomes(one.client.events(session)) == ["end_turn"])


def test_an_owner_that_dies_with_a_command_leaves_its_outcome_unknown(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    one.client.send(session, "hang")
    wait_until(lambda: one.client.info(session)["state"] == "running")
    with ThreadPoolExecutor(1) as waiting:
        # The agent ignores a cancel, so the owner has taken the command and works on it.
        asked = waiting.submit(lambda: two.client.post(f"/v1/sessions/{session}/cancel"))
        with nodes.log() as connection:
            wait_until(lambda: connection.execute("SELECT taken FROM commands").fetchone() == (True,))
        one.kill()
        refused = asked.result(SECONDS)
    assert refusal(refused) == (503, "unavailable")
    assert refused.json()["outcome"] == "unknown"


def test_a_node_that_dies_after_it_asked_leaves_no_command(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    one.pause()
    asking = threading.Thread(target=_ask, args=(two.client, session))
    asking.start()
    with nodes.log() as connection:
        wait_until(lambda: connection.execute("SELECT count(*) FROM commands").fetchone() == (1,))
        two.kill()
        asking.join()
        one.resume()
        # The message was in the table, so it is in the log, once, or nowhere.
        wait_until(lambda: one.client.get("/v1/ready").status_code == 200)
        wait_until(
            lambda: connection.execute("SELECT count(*) FROM commands WHERE NOT taken").fetchone() == (0,)
        )
        connection.execute("UPDATE commands SET expires_at = expires_at - interval '2 minutes'")
        one.client.delete(f"/v1/sessions/{one.client.create()}")  # something to tidy up
        wait_until(lambda: connection.execute("SELECT count(*) FROM commands").fetchone() == (0,))
    events = one.client.events(session)
    assert len(of_type(events, "turn.started")) <= 1


def _ask(client: Any, session: str) -> None:
    with contextlib.suppress(httpx2.TransportError):
        client.post(f"/v1/sessions/{session}/messages", {"message": "hello"})


def test_each_session_of_two_dead_nodes_continues_once(nodes: Nodes) -> None:
    three = [nodes.start(name, "--takeover", "any") for name in ("one", "two", "three")]
    sessions = [node.client.create() for node in three[:2] for _ in range(3)]
    for session in sessions:
        three[2].client.turn(session, "the word is plum")
        three[2].client.send(session, "pace 100000 5")
    with nodes.log() as connection:
        carried = "SELECT count(*) FROM files WHERE kind = 'c' AND name = 'manifest'"
        wait_until(lambda: connection.execute(carried).fetchone() == (len(sessions),))
    for node in three[:2]:
        node.kill()
    for session in sessions:
        with three[2].client.follow(session) as reader:
            reader.until(is_unknown)
        answer = three[2].client.turn(session, "memory")
        assert outcomes(answer) == ["end_turn"]
        assert three[2].client.info(session)["node"] == "three"
        assert outcomes(three[2].client.events(session)) == ["end_turn", "outcome_unknown", "end_turn"]
