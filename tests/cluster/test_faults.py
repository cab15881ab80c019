"""The database fails, or the network between it and a node: nothing that was acknowledged is lost, doubled or made up."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tests.cluster.logs import Logs, require_postgres
from tests.cluster.nodes import Node, Nodes, is_unknown, outcomes, states, wait_for_state
from tests.cluster.proxy import Proxy
from tests.daemons import SECONDS, of_type, refusal, wait_until
from tools.postgres import PostgresServer

from sandbox_agent.schema.events import decode_event
from sandbox_agent.testing.rules import violations


def through(proxy: Proxy, logs: Logs, nodes: Nodes) -> str:
    return nodes.url.replace(f":{logs.server.port}/", f":{proxy.port}/")


class Talker:
    """Sends messages to a session until it is told to stop, each with a key until it is answered."""

    def __init__(self, node: Node, session: str) -> None:
        self._node, self._session = node, session
        self.accepted: dict[str, str] = {}
        """Turn to message."""
        self.strange: list[str] = []
        """Answers that a client must never get."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._talk, daemon=True)
        self._thread.start()

    def _talk(self) -> None:
        for number in range(10_000):
            if self._over.is_set():
                return
            text = f"hello {number}"
            while not self._say(text, f"key {number}"):
                if self._over.is_set():
                    return

    def _say(self, text: str, key: str) -> bool:
        answer = self._node.client.post(
            f"/v1/sessions/{self._session}/messages", {"message": text}, **{"idempotency-key": key}
        )
        if answer.status_code == 202:
            self.accepted[answer.json()["turnId"]] = text
            return True
        if answer.status_code not in (429, 503):
            self.strange.append(answer.text)
        time.sleep(0.02)  # what a client does with Retry-After
        return False

    def stop(self) -> None:
        self._over.set()
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()


def check(node: Node, session: str, talker: Talker) -> None:
    """Every acknowledged message has run once, nothing has run twice, and the log has no gap."""
    talker.stop()
    assert talker.strange == []
    wait_until(lambda: node.client.get(f"/v1/sessions/{session}").status_code == 200)
    wait_until(lambda: node.client.info(session)["state"] == "idle")
    events = node.client.events(session)
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    started = Counter(data["turn_id"] for data in of_type(events, "turn.started"))
    assert set(started.values()) == {1}
    assert talker.accepted.keys() <= started.keys()
    said = Counter(
        data["item"]["content"][0]["text"]
        for data in of_type(events, "item.completed")
        if data["item"]["role"] == "user"
    )
    assert set(said.values()) == {1}
    assert violations(decode_event(msgspec.json.encode(event)) for event in events) == []


def test_answers_of_commits_may_be_lost(nodes: Nodes, logs: Logs, proxy: Proxy) -> None:
    lose_answers(nodes, logs, proxy, 10)


@pytest.mark.long
def test_answers_of_many_commits_may_be_lost(nodes: Nodes, logs: Logs, proxy: Proxy) -> None:
    lose_answers(nodes, logs, proxy, 200)


def lose_answers(nodes: Nodes, logs: Logs, proxy: Proxy, times: int) -> None:
    chance = random.Random(times)
    one = nodes.start("one", "--lease-seconds", "30", url=through(proxy, logs, nodes))
    session = one.client.create()
    talker = Talker(one, session)
    for _ in range(times):
        accepted = len(talker.accepted)
        wait_until(lambda: len(talker.accepted) > accepted)  # noqa: B023 - called at once
        time.sleep(chance.uniform(0, 0.05))  # a random moment
        proxy.way = "swallow_answers"
        time.sleep(chance.uniform(0, 0.05))
        proxy.cut()
        proxy.way = "open"
    check(one, session, talker)
    assert "outcome_unknown" not in outcomes(one.client.events(session))


def test_a_node_that_cannot_reach_the_database_is_replaced(nodes: Nodes, logs: Logs, proxy: Proxy) -> None:
    one, two = nodes.start("one", url=through(proxy, logs, nodes)), nodes.start("two")
    session = one.client.create()
    with two.client.follow(session) as reader:
        one.client.send(session, "pace 100000 5")
        reader.until_agent_speaks()
        proxy.is_refusing = True
        proxy.cut()
        for _ in range(2):  # the first may be in the write that broke
            refused = one.client.post(f"/v1/sessions/{session}/messages", {"message": "hello"})
            assert refusal(refused) == (503, "unavailable")
        assert one.client.get("/v1/ready").status_code == 503
        reader.until(is_unknown)
        proxy.is_refusing = False
        wait_for_state(two, "one", "live")
        wait_until(lambda: one.client.get("/v1/ready").status_code == 200)
        assert outcomes(two.client.turn(session, "hello")) == ["end_turn"]


def test_the_database_may_crash(tmp_path: Path) -> None:
    crash(tmp_path, 2)


@pytest.mark.long
def test_the_database_may_crash_again_and_again(tmp_path: Path) -> None:
    crash(tmp_path, 20)


def crash(folder: Path, times: int) -> None:
    require_postgres()
    server = PostgresServer()
    nodes = Nodes(folder, "")
    try:
        server.start()
        nodes.url = server.url()
        one, two = nodes.start("one"), nodes.start("two")
        sessions = [one.client.create(), two.client.create()]
        talkers = [Talker(two, sessions[0]), Talker(one, sessions[1])]
        for _ in range(times):
            before = [len(talker.accepted) for talker in talkers]
            wait_until(lambda: all(len(t.accepted) > n for t, n in zip(talkers, before, strict=True)))  # noqa: B023
            server.stop()
            server.start()
        for session, talker in zip(sessions, talkers, strict=True):
            check(one, session, talker)
        # Nobody has taken over from anybody.
        assert states(one) == {"one": "live", "two": "live"}
        assert [outcomes(one.client.events(session)).count("outcome_unknown") for session in sessions] == [
            0,
            0,
        ]
    finally:
        nodes.end()
        server.remove()
