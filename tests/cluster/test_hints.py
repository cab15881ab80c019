"""Notifications of the database are hints: readers and commands need none of them."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime

from tests.busy import busy
from tests.cluster.logs import Logs
from tests.cluster.nodes import Nodes, outcomes
from tests.cluster.proxy import Proxy


def test_readers_and_commands_need_no_notifications(nodes: Nodes, logs: Logs, proxy: Proxy) -> None:
    proxy.way = "drop_notices"
    listen = ("--database-listen-url", f"{logs.through(proxy, nodes.url)}&sslmode=disable")
    one, two = nodes.start("one", *listen), nodes.start("two", *listen)
    session = one.client.create()
    with two.client.follow(session) as reader:
        began = time.monotonic()
        two.client.send(session, "pace 20 50")
        assert time.monotonic() - began < busy(2)
        late = []
        for frame in reader.events():
            late.append((datetime.now(UTC) - datetime.fromisoformat(frame.data["time"])).total_seconds())
            if frame.data["type"] == "turn.ended":
                break
    assert max(late) < busy(1.5)
    assert outcomes(two.client.events(session)) == ["end_turn"]


def test_a_listener_that_loses_its_connection_misses_nothing(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    over = threading.Event()
    killed: list[int] = []

    def kill() -> None:
        with nodes.log() as connection:
            while not over.wait(0.2):
                found = connection.execute(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
                ).fetchone()
                killed.append(found[0] if found else 0)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with two.client.follow(session) as reader:
            two.client.send(session, "pace 300 10")
            seen = reader.until_type("turn.ended")
    finally:
        over.set()
        killer.join()
    assert sum(killed) > 5
    assert seen == one.client.events(session)[-len(seen) :]
    assert [event["sequence"] for event in seen] == list(range(seen[0]["sequence"], seen[-1]["sequence"] + 1))
