"""Commands to another node when that node, or the one that asks, fails in between."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import psycopg
from tests.cluster.logs import Logs
from tests.cluster.nodes import Nodes, is_unknown, outcomes
from tests.cluster.proxy import Proxy
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


def test_a_command_that_its_owner_never_learned_of_is_not_waited_for(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    with ThreadPoolExecutor(1) as waiting, nodes.log() as log:
        # As if the owner had taken it and its connection had broken before it got the answer.
        trigger(log, "INSERT", "NEW.taken := true")
        asked = waiting.submit(two.client.post, f"/v1/sessions/{session}/messages", {"message": "hello"})
        wait_until(lambda: log.execute("SELECT taken FROM commands").fetchone() == (True,))
        log.execute("UPDATE commands SET expires_at = clock_timestamp()")
        refused = asked.result(SECONDS)
    assert refusal(refused) == (503, "unavailable")
    assert refused.json()["outcome"] == "unknown"


def test_an_answer_that_cannot_be_stored_at_once_is_not_lost(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    with ThreadPoolExecutor(1) as waiting, nodes.log() as log:
        full = "IF NEW.status IS NOT NULL THEN RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END IF"
        trigger(log, "UPDATE", full)
        asked = waiting.submit(two.client.post, f"/v1/sessions/{session}/messages", {"message": "hello"})
        wait_until(lambda: of_type(one.client.events(session), "turn.started") != [])
        log.execute("DROP TRIGGER fault ON commands")
        assert asked.result(SECONDS).status_code == 202


def test_the_outcome_is_unknown_when_the_database_goes_away_meanwhile(
    nodes: Nodes, logs: Logs, proxy: Proxy
) -> None:
    one, two = nodes.start("one"), nodes.start("two", url=logs.through(proxy, nodes.url))
    session = one.client.create()
    with ThreadPoolExecutor(1) as waiting, nodes.log() as log:
        trigger(log, "UPDATE", "PERFORM pg_sleep(2)")
        asked = waiting.submit(two.client.post, f"/v1/sessions/{session}/messages", {"message": "hello"})
        wait_until(lambda: log.execute("SELECT count(*) FROM commands").fetchone() == (1,))
        proxy.is_refusing = True
        proxy.cut()
        refused = asked.result(SECONDS)
        assert refusal(refused) == (503, "unavailable")
        assert refused.json()["outcome"] == "unknown"
        wait_until(lambda: outcomes(one.client.events(session)) == ["end_turn"])


def test_the_outcome_is_unknown_when_a_command_may_have_been_posted(
    nodes: Nodes, logs: Logs, proxy: Proxy
) -> None:
    one, two = nodes.start("one"), nodes.start("two", url=logs.through(proxy, nodes.url))
    session = one.client.create()
    with ThreadPoolExecutor(1) as waiting, nodes.log() as log:
        trigger(log, "INSERT", "PERFORM pg_sleep(2)")
        asked = waiting.submit(two.client.post, f"/v1/sessions/{session}/messages", {"message": "hello"})
        posting = (
            "SELECT count(DISTINCT pid) FROM pg_stat_activity JOIN pg_locks USING (pid) "
            "WHERE wait_event = 'PgSleep' AND relation = 'commands'::regclass"
        )
        wait_until(lambda: log.execute(posting).fetchone() == (1,))
        proxy.cut()
        refused = asked.result(SECONDS)
        assert refusal(refused) == (503, "unavailable")
        assert refused.json()["outcome"] == "unknown"
        wait_until(lambda: outcomes(one.client.events(session)) == ["end_turn"])


def trigger(log: psycopg.Connection[Any], event: str, statement: str) -> None:
    """Let something happen whenever the table of commands is changed."""
    body = f"BEGIN {statement}; RETURN NEW; END"
    log.execute(f"CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $${body}$$".encode())
    log.execute(
        f"CREATE TRIGGER fault BEFORE {event} ON commands FOR EACH ROW EXECUTE FUNCTION fault()".encode()
    )


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
