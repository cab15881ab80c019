"""Limits of sessions, and the usage of all turns, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import (
    Client,
    Daemon,
    client_of,
    done,
    refusal,
    running,
    statuses,
    stop_reason,
    texts,
    wait_until,
)


def limits(client: Client, session: str, **limits: float | None) -> dict[str, Any]:
    """Change the limits, and return the session."""
    changed: dict[str, Any] = done(client.patch(f"/v1/sessions/{session}", {"limits": limits}))
    return changed


def say(client: Client, session: str, text: str = "hi") -> Any:
    return client.post(f"/v1/sessions/{session}/messages", {"message": text})


def usage(client: Client, **query: object) -> dict[str, Any]:
    found: dict[str, Any] = done(client.get("/v1/usage", **query))
    return found


# -- budgets ------------------------------------------------------------------------------------


def test_a_budget_of_three_cents_stops_an_agent_that_spends_one_cent_a_call(client: Client) -> None:
    session = client.create(limits={"maxCostUsd": 0.03})
    events = client.turn(session, "spend 10")
    assert stop_reason(events) == "limit"
    assert len(texts(events)) in (3, 4)
    [status] = statuses(events, "limit")
    assert (status["limit"], status["value"]) == ("maxCostUsd", 0.03)
    assert 0.03 <= status["used"] < 0.05


def test_an_agent_that_reports_its_cost_at_the_end_is_stopped_after_the_turn(client: Client) -> None:
    session = client.create(limits={"maxCostUsd": 0.03})
    events = client.turn(session, "spend 5 1 late")
    assert (stop_reason(events), len(texts(events))) == ("end_turn", 5)
    assert refusal(say(client, session)) == (409, "conflict")


def test_a_refused_message_names_the_limit_and_how_to_raise_it(client: Client) -> None:
    session = client.create(limits={"maxTurns": 1})
    client.turn(session, "hi")
    refused = say(client, session).json()
    assert (refused["limit"], refused["value"], refused["used"]) == ("maxTurns", 1, 1)
    assert f'PATCH /v1/sessions/{session}, e.g. {{"limits": {{"maxTurns": null}}}}' in refused["detail"]
    info = limits(client, session, maxTurns=None)
    assert (info["limits"], info["limitReached"], info["turns"]) == ({}, None, 1)
    assert stop_reason(client.turn(session, "hi")) == "end_turn"


def test_queued_messages_wait_for_a_higher_limit(client: Client) -> None:
    session = client.create(limits={"maxCostUsd": 0.02})
    with client.follow(session) as reader:
        client.send(session, "spend 10")
        queued = client.send(session, "hello")
        reader.until_type("turn.ended")
        assert client.info(session)["state"] == "idle"
        assert [
            message["turnId"] for message in done(client.get(f"/v1/sessions/{session}/queue"))["messages"]
        ] == [queued]
        limits(client, session, maxCostUsd=5)
        assert texts(reader.until_type("turn.ended"))[-1].startswith("You said: hello")


def test_a_change_keeps_the_limits_that_it_does_not_name(client: Client) -> None:
    session = client.create(limits={"maxTurns": 5, "maxTokens": 1_000_000, "maxTurnSeconds": 60})
    info = limits(client, session, maxTurns=7, maxTokens=None)
    assert info["limits"] == {"maxTurns": 7, "maxTurnSeconds": 60.0}


def test_tokens_are_limited(client: Client) -> None:
    session = client.create(limits={"maxTokens": 4})
    events = client.turn(session, "spend 10")
    assert (stop_reason(events), statuses(events, "limit")[0]["limit"]) == ("limit", "maxTokens")


def test_the_shorter_time_limit_of_a_turn_counts(client: Client) -> None:
    session = client.create(turnTimeoutMs=60_000, limits={"maxTurnSeconds": 0.1})
    assert stop_reason(client.turn(session, "slow")) == "limit"
    assert client.info(session)["limitReached"] is None
    assert stop_reason(client.turn(session, "hi")) == "end_turn"


def test_a_session_that_is_too_old_ends_its_turn(client: Client) -> None:
    session = client.create(limits={"maxSessionSeconds": 1})
    assert stop_reason(client.turn(session, "slow")) == "limit"
    assert refusal(say(client, session)) == (409, "conflict")


@pytest.mark.parametrize(
    "bad",
    [{"maxTurns": 0}, {"maxTurns": 1.5}, {"maxCostUsd": -1}, {"maxCost": 1}, {"maxTokens": "many"}, 5],
)
def test_a_wrong_limit_is_refused(client: Client, idle_session: str, bad: object) -> None:
    for answer in (
        client.post("/v1/sessions/never", {"agent": "mock", "limits": bad}),
        client.patch(f"/v1/sessions/{idle_session}", {"limits": bad}),
    ):
        assert refusal(answer) == (400, "invalid_request")
        assert answer.json()["field"] == "limits"


# -- a daemon of its own ------------------------------------------------------------------------


@pytest.fixture
def thrifty(tmp_path: Path) -> Iterator[Daemon]:
    with running(Daemon(tmp_path / "data", "--no-token", "--max-cost-usd", "0.03")) as daemon:
        yield daemon


def test_the_limits_of_the_daemon_apply_unless_a_session_has_its_own(thrifty: Daemon) -> None:
    with client_of(thrifty) as client:
        own = [{}, {"maxTurns": 2}, {"maxCostUsd": 1}, {"maxCostUsd": None}]
        created = [client.create(limits=limits) for limits in own]
        assert [client.info(session)["limits"] for session in created] == [
            {"maxCostUsd": 0.03},
            {"maxCostUsd": 0.03, "maxTurns": 2},
            {"maxCostUsd": 1.0},
            {},
        ]


def test_what_a_turn_had_spent_when_the_daemon_was_killed_counts(thrifty: Daemon) -> None:
    with client_of(thrifty) as client:
        session = client.create(limits={"maxCostUsd": 1})
        client.send(session, "spend 90")
        wait_until(lambda: client.info(session)["usage"].get("costUsd", 0) > 0.02)
        thrifty.kill()
        thrifty.start()
        info = client.info(session)
        assert stop_reason(client.events(session)) == "outcome_unknown"
        assert 0.02 < info["usage"]["costUsd"] < 0.9
        assert usage(client)["total"]["costUsd"] == info["usage"]["costUsd"]
        assert limits(client, session, maxCostUsd=0.02)["limitReached"]["limit"] == "maxCostUsd"
        thrifty.kill()
        thrifty.start()
        assert refusal(say(client, session)) == (409, "conflict")


def test_what_was_spent_stays_in_the_ledger_when_the_session_is_deleted(client: Client) -> None:
    session = client.create()
    client.turn(session, "hi")
    client.sessions.remove(session)
    assert client.delete(f"/v1/sessions/{session}").status_code == 204
    assert session in [row["key"] for row in usage(client, by="session")["rows"]]


def test_usage_is_summed_up_by_what_was_asked_for(thrifty: Daemon) -> None:
    with client_of(thrifty) as client:
        assert usage(client) == {"by": "day", "rows": [], "total": {"key": None, **NOTHING}}
        for model in ("small", "large", "large"):
            client.turn(client.create(model=model), "hi")
        by_model = usage(client, by="model")
        assert {row["key"]: row["turns"] for row in by_model["rows"]} == {"small": 1, "large": 2}
        assert by_model["total"] == {**usage(client, by="agent")["rows"][0], "key": None}
        assert by_model["total"]["turnsWithoutCost"] == 0
        [day] = usage(client)["rows"]
        assert usage(client, **{"from": day["key"]})["total"]["turns"] == 3
        assert usage(client, to=day["key"])["total"] == {"key": None, **NOTHING}


NOTHING = {"turns": 0, "turnsWithoutTokens": 0, "turnsWithoutCost": 0}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"by": "colour"}, "by"),
        ({"from": "yesterday"}, "from"),
        ({"to": "2026-13-01"}, "to"),
        ({"from": "0001-01-01T00:00:00+14:00"}, "from"),
        ({"from": "2026-02-01", "to": "2026-01-01"}, "to"),
    ],
)
def test_a_wrong_question_about_usage_is_refused(client: Client, query: dict[str, str], field: str) -> None:
    answer = client.get("/v1/usage", **query)
    assert refusal(answer) == (400, "invalid_request")
    assert answer.json()["field"] == field
