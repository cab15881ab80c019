"""The database fails, or the network between it and a node: nothing that was acknowledged is lost, duplicated or invented."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from tests.busy import busy
from tests.cluster.logs import Logs, require_postgres
from tests.cluster.nodes import Nodes, is_unknown, outcomes, states, wait_for_state
from tests.cluster.proxy import Proxy, Way
from tests.cluster.talking import Talker, check
from tests.daemons import refusal, wait_until
from tools.postgres import PostgresServer


def test_answers_of_commits_may_be_lost(nodes: Nodes, logs: Logs, proxy: Proxy) -> None:
    lose_answers(nodes, logs, proxy, 10)


@pytest.mark.long
def test_answers_of_many_commits_may_be_lost(nodes: Nodes, logs: Logs, proxy: Proxy) -> None:
    lose_answers(nodes, logs, proxy, 200)


def lose_answers(nodes: Nodes, logs: Logs, proxy: Proxy, times: int) -> None:
    chance = random.Random(times)
    one = nodes.start("one", "--lease-seconds", "30", url=logs.through(proxy, nodes.url))
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


@pytest.mark.parametrize("way", ["open", "black_hole"])
def test_a_node_that_cannot_reach_the_database_is_replaced(
    nodes: Nodes, logs: Logs, proxy: Proxy, way: Way
) -> None:
    """Its connections are cut, or silently blocked."""
    one, two = nodes.start("one", url=logs.through(proxy, nodes.url)), nodes.start("two")
    session = one.client.create()
    with two.client.follow(session) as reader:
        one.client.send(session, "pace 100000 5")
        reader.until_agent_speaks()
        proxy.is_refusing, proxy.way = True, way
        if way == "open":
            proxy.cut()
        began = time.monotonic()
        for _ in range(2):  # the first may be in the write that broke
            refused = one.client.post(f"/v1/sessions/{session}/messages", {"message": "hello"})
            assert refusal(refused) == (503, "unavailable")
        assert time.monotonic() - began < busy(6)
        assert one.client.get("/v1/ready").status_code == 503
        reader.until(is_unknown)
        proxy.is_refusing, proxy.way = False, "open"
        proxy.cut()
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
        # No node was replaced.
        assert states(one) == {"one": "live", "two": "live"}
        assert [outcomes(one.client.events(session)).count("outcome_unknown") for session in sessions] == [
            0,
            0,
        ]
    finally:
        nodes.end()
        server.remove()
