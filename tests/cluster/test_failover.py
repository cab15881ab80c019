"""A replica takes over from the primary: with everything that was acknowledged, or without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cluster.logs import require_postgres
from tests.cluster.nodes import Nodes, outcomes, states
from tests.cluster.talking import Talker, check
from tests.daemons import wait_until
from tools.postgres import PostgresServer

pytestmark = pytest.mark.long


class Pair:
    """A primary and its replica."""

    def __init__(self) -> None:
        self.primary, self.replica = PostgresServer(), PostgresServer()

    def start(self) -> None:
        self.primary.start()
        self.primary.copy_to(self.replica)
        self.replica.start()

    @property
    def url(self) -> str:
        """Whichever accepts writes."""
        return self.primary.url().replace(
            f":{self.primary.port}/", f":{self.primary.port},127.0.0.1:{self.replica.port}/"
        )

    def wait_for_the_replica(self) -> None:
        """A commit is acknowledged only if the replica has it, from now on."""
        self.primary.set("synchronous_standby_names", "*")
        state = "SELECT sync_state FROM pg_stat_replication"
        wait_until(lambda: self.primary.execute(state) == [("sync",)])

    def cut_off_the_replica(self) -> None:
        self.replica.set("primary_conninfo", "")
        wait_until(lambda: self.primary.execute("SELECT count(*) FROM pg_stat_replication") == [(0,)])

    def fail_over(self) -> None:
        self.primary.stop()
        assert self.replica.execute("SELECT pg_promote()") == [(True,)]

    def remove(self) -> None:
        self.primary.remove()
        self.replica.remove()


@pytest.fixture
def pair() -> Iterator[Pair]:
    require_postgres()
    pair = Pair()
    try:
        pair.start()
        yield pair
    finally:
        pair.remove()


@pytest.fixture
def nodes(pair: Pair, tmp_path: Path) -> Iterator[Nodes]:
    nodes = Nodes(tmp_path, pair.url)
    yield nodes
    nodes.end()


def test_a_synchronous_replica_has_everything(pair: Pair, nodes: Nodes) -> None:
    pair.wait_for_the_replica()
    one, two = (nodes.start(name, "--lease-seconds", "30") for name in ("one", "two"))
    sessions = [one.client.create(), two.client.create()]
    talkers = [Talker(two, sessions[0]), Talker(one, sessions[1])]
    for talker in talkers:
        talker.go_on()
    pair.fail_over()
    for talker in talkers:
        talker.go_on()
    for session, talker in zip(sessions, talkers, strict=True):
        check(one, session, talker)
        assert set(outcomes(one.client.events(session))) == {"end_turn"}
    assert states(one) == {"one": "live", "two": "live"}


def test_nothing_is_appended_to_a_log_that_lacks_acknowledged_events(pair: Pair, nodes: Nodes) -> None:
    one = nodes.start("one")
    session = one.client.create()
    one.client.turn(session, "hello")
    has_session = "SELECT count(*) FROM sessions WHERE record IS NOT NULL"
    wait_until(lambda: pair.replica.execute(has_session) == [(1,)])
    pair.cut_off_the_replica()
    one.client.turn(session, "hello")
    pair.fail_over()
    before = pair.replica.execute("SELECT count(*), max(position) FROM events")
    assert one.ended() == 1
    assert "acknowledged" in one.stderr()
    assert pair.replica.execute("SELECT count(*), max(position) FROM events") == before
