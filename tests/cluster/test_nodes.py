"""One log, several nodes: what happens to sessions when nodes die, stop answering, come back or leave."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from tests.cluster.logs import KEY_LINE, Logs
from tests.cluster.nodes import Nodes, is_unknown, outcomes, states, wait_for_state
from tests.cluster.proxy import Proxy
from tests.daemons import SECONDS, agent_pids, gone_within, is_stopped, refusal, types, wait_until


def test_a_session_runs_on_the_node_that_created_it(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    elsewhere = two.client.post("/v1/sessions/there", {"agent": "mock", "node": "one"})
    assert elsewhere.status_code == 200, elsewhere.text
    assert [node.client.info(id)["node"] for node in (one, two) for id in (session, "there")] == ["one"] * 4
    assert len(agent_pids(one)) == 2
    assert agent_pids(two) == []
    assert refusal(two.client.post(f"/v1/sessions/{session}", {"agent": "mock"})) == (
        409,
        "session_already_exists",
    )


def test_of_two_requests_for_one_id_a_node_takes_one(nodes: Nodes) -> None:
    one = nodes.start("one", "--lease-seconds", "60")
    with ThreadPoolExecutor(2) as both, nodes.log() as log, nodes.log() as watching:
        # Both are held up where they reserve the id.
        log.execute("BEGIN")
        log.execute("SELECT FROM nodes FOR UPDATE")
        asked = [both.submit(one.client.post, "/v1/sessions/wanted", {"agent": "mock"}) for _ in range(2)]
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%reserve_session%'"
        wait_until(lambda: watching.execute(waiting).fetchone() == (2,))
        log.execute("COMMIT")
        answers = sorted((each.result(SECONDS) for each in asked), key=lambda answer: answer.status_code)
    assert answers[0].status_code == 200
    assert refusal(answers[1]) == (409, "session_already_exists")
    assert outcomes(one.client.turn("wanted", "hello")) == ["end_turn"]


def test_what_a_dead_node_left_open_is_closed_by_another(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    with two.client.follow(session) as reader:
        one.client.send(session, "pace 100000 5")
        seen = reader.until_agent_speaks()
        one.kill()
        seen += reader.until(is_unknown)
    assert seen == two.client.events(session)
    assert states(two) == {"one": "fenced", "two": "live"}
    wait_until(lambda: two.client.info(session)["state"] == "idle")
    # Only the node that has its files can continue.
    refused = two.client.post(f"/v1/sessions/{session}/messages", {"message": "hello"})
    assert refusal(refused) == (503, "unavailable")
    one.start()
    assert outcomes(two.client.turn(session, "hello")) == ["end_turn"]


def test_a_node_that_closed_a_session_with_a_queue_forgets_it(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    with two.client.follow(session) as reader:
        one.client.send(session, "pace 100000 5")
        queued = one.client.send(session, "hello")
        reader.until_agent_speaks()
        one.kill()
        reader.until(is_unknown)
    one.start()
    with one.client.follow(session) as reader:
        reader.until(lambda event: event["type"] == "turn.ended" and event["data"]["turn_id"] == queued)
    wait_until(lambda: one.client.info(session)["state"] == "idle")
    assert two.client.info(session) == one.client.info(session)
    last = one.client.info(session)["eventCount"]
    with two.client.follow(session, last_event_id=last) as reader:
        two.client.send(session, "hello")
        assert next(reader.events()).id == last + 1


def test_a_queue_that_another_node_held_while_its_own_started_goes_on(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    one.client.send(session, "pace 100000 5")
    one.client.send(session, "hello")
    one.kill()
    with nodes.log() as log:
        # As if the other one closed it at this moment, and was slow.
        holder = "(SELECT max(incarnation) FROM nodes WHERE name = 'two')"
        log.execute(f"UPDATE sessions SET owner = {holder}")
        one.start()
        assert two.client.info(session)["state"] == "running"
        log.execute("UPDATE sessions SET owner = NULL")
    with one.client.follow(session) as reader:
        ended = [*reader.until(is_unknown), *reader.until_type("turn.ended")]
    assert outcomes(ended) == ["outcome_unknown", "end_turn"]


def test_the_queue_of_a_node_that_left_goes_on_where_workspaces_are_shared(nodes: Nodes) -> None:
    one = nodes.start("one", "--takeover", "any", "--drain-seconds", "0")
    two = nodes.start("two", "--takeover", "any")
    session = one.client.create()
    one.client.send(session, "pace 100000 5")
    one.client.send(session, "hello")
    assert one.stop() == 0
    with two.client.follow(session) as reader:
        ended = [*reader.until(is_unknown), *reader.until_type("turn.ended")]
    assert outcomes(ended) == ["outcome_unknown", "end_turn"]


# In these tests the connections of a node break while a change of its sessions is being committed, so it does not learn the outcome.
CLAIM, RELEASE = "NEW.owner IS NOT NULL AND NEW.owner IS DISTINCT FROM OLD.owner", "NEW.owner IS NULL"
HELD_UP = """SELECT count(DISTINCT pid) FROM pg_stat_activity JOIN pg_locks USING (pid)
WHERE wait_event = 'PgSleep' AND relation = 'sessions'::regclass"""


def hold_up(log: psycopg.Connection[Any], change: str) -> None:
    body = f"BEGIN IF {change} THEN PERFORM pg_sleep(2); END IF; RETURN NEW; END"
    log.execute(f"CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS $${body}$$".encode())
    log.execute("CREATE TRIGGER slow BEFORE UPDATE ON sessions FOR EACH ROW EXECUTE FUNCTION hold_up()")


def break_off(log: psycopg.Connection[Any], proxy: Proxy) -> None:
    """The database cannot be reached until the change that is held up is committed."""
    wait_until(lambda: log.execute(HELD_UP).fetchone() == (1,))
    proxy.is_refusing = True
    proxy.cut()
    wait_until(lambda: log.execute(HELD_UP).fetchone() == (0,))
    log.execute("DROP TRIGGER slow ON sessions")
    proxy.is_refusing = False


def test_a_session_whose_claim_was_not_confirmed_is_closed(nodes: Nodes, logs: Logs, proxy: Proxy) -> None:
    one, two = nodes.start("one"), nodes.start("two", url=logs.through(proxy, nodes.url))
    session = one.client.create()
    one.client.send(session, "pace 100000 5")
    with nodes.log() as log:
        hold_up(log, CLAIM)
        one.kill()
        break_off(log, proxy)
    with two.client.follow(session) as reader:
        reader.until(is_unknown)
    assert two.client.post(f"/v1/sessions/{session}/messages", {"message": "hello"}).status_code == 503


def test_a_session_whose_claim_was_not_confirmed_goes_on(nodes: Nodes, logs: Logs, proxy: Proxy) -> None:
    one = nodes.start("one", url=logs.through(proxy, nodes.url))
    session = one.client.create()
    one.client.send(session, "pace 100000 5")
    one.client.send(session, "hello")
    one.kill()
    with nodes.log() as log:
        hold_up(log, CLAIM)
        one.launch()
        break_off(log, proxy)
    one.await_start()
    with one.client.follow(session) as reader:
        ended = [*reader.until(is_unknown), *reader.until_type("turn.ended")]
    assert outcomes(ended) == ["outcome_unknown", "end_turn"]


def test_a_session_whose_release_was_not_confirmed_can_be_used_again(
    nodes: Nodes, logs: Logs, proxy: Proxy
) -> None:
    one, two = nodes.start("one"), nodes.start("two", url=logs.through(proxy, nodes.url))
    three = nodes.start("three", url=logs.through(proxy, nodes.url))
    session = one.client.create()
    one.client.send(session, "pace 100000 5")
    with nodes.log() as log:
        hold_up(log, RELEASE)
        one.kill()
        wait_until(lambda: log.execute(HELD_UP).fetchone() == (1,))
        [(closing,)] = log.execute("SELECT n.name FROM nodes n JOIN sessions ON owner = incarnation")
        break_off(log, proxy)
        # As if its own node claimed it as soon as it is free.
        other, taker = (two, "three") if closing == "two" else (three, "two")
        log.execute(
            "UPDATE sessions SET owner = (SELECT max(incarnation) FROM nodes WHERE name = %s)", [taker]
        )
    path = f"/v1/sessions/{session}/messages"
    wait_until(lambda: other.client.post(path, {"message": "hello"}).status_code == 202)


def test_a_node_that_starts_again_on_its_disk_waits_for_nothing(nodes: Nodes) -> None:
    one = nodes.start("one", "--lease-seconds", "600")
    session = one.client.create()
    one.client.send(session, "pace 100000 5")
    queued = one.client.send(session, "hello")
    one.kill()
    one.start()
    with one.client.follow(session) as reader:
        reader.until(lambda event: event["type"] == "turn.ended" and event["data"]["turn_id"] == queued)
    assert outcomes(one.client.events(session)) == ["outcome_unknown", "end_turn"]


def test_a_replacement_takes_the_name_when_the_lease_is_over(nodes: Nodes) -> None:
    one = nodes.start("one")
    session = one.client.create()
    one.client.turn(session, "hello")
    other = nodes.new("one", disk="another disk")
    other.launch()
    wait_until(lambda: "waiting" in other.stderr())
    one.kill()
    other.await_start()
    assert outcomes(other.client.turn(session, "hello", fresh=True)) == ["end_turn"]


def test_a_second_node_of_a_live_name_waits_and_fences_nobody(nodes: Nodes) -> None:
    one = nodes.start("one")
    second = nodes.new("one", disk="another disk")
    second.launch()
    wait_until(lambda: second.stderr().count("waiting") >= 2)
    assert states(one) == {"one": "live"}
    assert second.stop() == 0
    session = one.client.create()
    assert outcomes(one.client.turn(session, "hello")) == ["end_turn"]


def test_a_node_that_leaves_is_replaced_at_once(nodes: Nodes) -> None:
    one = nodes.start("one", "--lease-seconds", "600")
    session = one.client.create()
    one.client.turn(session, "hello")
    assert one.stop() == 0
    other = nodes.start("one", "--lease-seconds", "600", disk="another disk")
    assert "waiting" not in other.stderr()
    assert other.client.info(session)["state"] == "idle"


def test_writes_of_a_node_that_was_paused_past_its_lease_are_not_seen(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    session = one.client.create()
    with two.client.follow(session) as reader:
        one.client.send(session, "pace 100000 5")
        reader.until_agent_speaks()
        agents = agent_pids(one)
        one.pause()
        closed = reader.until(is_unknown)[-1]["sequence"]
        one.resume()
        # It may not know yet what the others have written, but does not deny it.
        with one.client.follow(session, last_event_id=closed):
            pass
        page = one.client.get(f"/v1/sessions/{session}/events", offset=str(closed))
        assert page.json()["events"] == []
        wait_for_state(two, "one", "live")
    assert gone_within(agents, 2) == []
    wait_until(lambda: one.client.get("/v1/ready").status_code == 200)
    # It has joined again, and continues where the other one has closed it.
    assert outcomes(one.client.turn(session, "hello")) == ["end_turn"]
    events = two.client.events(session)
    assert types(events[closed - 1 : closed + 1]) == ["turn.ended", "turn.started"]


def test_any_node_may_continue_where_workspaces_are_shared(nodes: Nodes) -> None:
    one, two = (nodes.start(name, "--takeover", "any") for name in ("one", "two"))
    session = one.client.create()
    one.client.send(session, "pace 100000 5")
    one.client.send(session, "hello")
    with two.client.follow(session) as reader:
        reader.until_agent_speaks()
        one.kill()
        reader.until(is_unknown)
        # The queue continues on the other node. The agent had finished no turn, so nothing is lost with its disk.
        assert outcomes(reader.until_type("turn.ended")) == ["end_turn"]
    assert two.client.info(session)["node"] == "two"
    assert outcomes(two.client.turn(session, "hello")) == ["end_turn"]


def test_a_node_without_the_key_leaves_a_session_to_others(nodes: Nodes, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(KEY_LINE)
    any_node, with_key = ("--takeover", "any"), ("--secrets-key-file", str(keys))
    one, two = nodes.start("one", *any_node, *with_key), nodes.start("two", *any_node)
    session = one.client.create(env={"WORD": "plum"})
    assert one.stop() == 0
    refused = two.client.post(f"/v1/sessions/{session}/messages", {"message": "hello"})
    assert refusal(refused) == (503, "unavailable")
    assert "cannot be opened" in refused.json()["detail"]
    three = nodes.start("three", *any_node, *with_key)
    assert outcomes(three.client.turn(session, "hello")) == ["end_turn"]


def test_agents_of_a_paused_node_do_not_act_once_another_one_may(nodes: Nodes, tmp_path: Path) -> None:
    keys, mark = tmp_path / "keys", tmp_path / "mark"
    keys.write_text(KEY_LINE)
    flags = ("--takeover", "any", "--secrets-key-file", str(keys))
    one, two = nodes.start("one", *flags), nodes.start("two", *flags)
    # A program of the agent's that touches a file again and again.
    touching = ["-c", f"while :; do touch {mark}; sleep 0.05; done"]
    session = one.client.create(mcp={"busy": {"type": "local", "command": "sh", "args": touching}})
    one.client.send(session, "call tool")
    wait_until(mark.exists)
    with two.client.follow(session) as reader:
        one.pause()
        ended = reader.until(is_unknown)[-1]
    last_touched = mark.stat().st_mtime
    assert last_touched < datetime.fromisoformat(ended["time"]).timestamp()
    assert outcomes(two.client.turn(session, "hello")) == ["end_turn"]
    one.resume()
    wait_for_state(two, "one", "live")
    assert mark.stat().st_mtime == last_touched


def test_an_outage_freezes_agents_and_their_turns_go_on(
    nodes: Nodes, logs: Logs, proxy: Proxy, tmp_path: Path
) -> None:
    flags = ("--takeover", "any", "--lease-seconds", "6")
    one = nodes.start("one", *flags, url=logs.through(proxy, nodes.url))
    session = one.client.create()
    with one.client.follow(session) as reader:
        one.client.send(session, "pace 300 20")
        reader.until_agent_speaks()
        [agent] = agent_pids(one)
        proxy.is_refusing = True
        proxy.cut()
        wait_until(lambda: is_stopped(agent))
        proxy.is_refusing = False
        assert outcomes(reader.until_type("turn.ended")) == ["end_turn"]


def test_an_operator_need_not_wait_for_the_lease(nodes: Nodes) -> None:
    one, two = nodes.start("one", "--lease-seconds", "600"), nodes.start("two")
    session = one.client.create()
    one.client.send(session, "pace 100000 5")
    one.kill()
    assert refusal(two.client.post("/v1/nodes/nobody/fence")) == (404, "not_found")
    assert refusal(two.client.post("/v1/nodes/two/fence")) == (409, "conflict")
    assert two.client.post("/v1/nodes/one/fence").status_code == 204
    with two.client.follow(session) as reader:
        reader.until(is_unknown)


def test_a_log_that_went_back_stops_the_daemon(nodes: Nodes, logs: Logs) -> None:
    one = nodes.start("one")
    session = one.client.create()
    logs.server.execute("UPDATE nodes SET writes = writes - 1", nodes.url.rpartition("%3D")[2])
    before = one.client.events(session)
    refused = one.client.post(f"/v1/sessions/{session}/messages", {"message": "hello"})
    assert refusal(refused) == (503, "unavailable")
    assert one.ended() == 1
    assert "acknowledged" in one.stderr()
    two = nodes.start("two")
    assert two.client.events(session) == before


def test_requests_for_another_machine_are_refused(nodes: Nodes) -> None:
    one, two = nodes.start("one"), nodes.start("two")
    asked: dict[str, dict[str, str]] = {
        "/v1/fs/entries": {"path": "/"},
        "/v1/processes": {},
        "/v1/config/skills": {"directory": "/", "skillName": "x"},
        "/v1/desktop/status": {},
        "/v1/desktop/screenshot": {},
    }
    for path, query in asked.items():
        refused = one.client.get(path, **query, node="two")
        assert refusal(refused) == (409, "conflict")
        assert refused.json()["node"] == "two"
    pressed = one.client.request(
        "POST", "/v1/desktop/keyboard/press", params={"node": "two"}, json={"key": "a"}
    )
    assert refusal(pressed) == (409, "conflict")
    limits = one.client.get("/v1/processes/config").json()
    configured = one.client.request("POST", "/v1/processes/config", params={"node": "two"}, json=limits)
    assert refusal(configured) == (409, "conflict")
    assert (
        two.client.request("POST", "/v1/processes/config", params={"node": "two"}, json=limits).json()
        == limits
    )
    assert two.client.get("/v1/fs/entries", path="/", node="two").status_code == 200
