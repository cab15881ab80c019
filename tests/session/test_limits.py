"""Limits of a session: they end turns and hold messages back, and no restart forgets them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.session.test_stories import S, instructions, running, send, session, status, stop_reasons
from tests.session.world import Command, ToyWorld, end_turn, spend

from sandbox_agent.errors import Conflict
from sandbox_agent.schema.events import ItemCompleted, Usage
from sandbox_agent.schema.items import Item, Json, StatusPart
from sandbox_agent.schema.limits import Limits
from sandbox_agent.session import effects, inputs
from sandbox_agent.session.phases import Cancelling, Running


def limit(world: ToyWorld, **limits: Any) -> Command:
    command = world.ask(S, lambda id: inputs.Configure(id, limits=Limits(**limits)))
    world.settle()
    return command


def limits_announced(world: ToyWorld) -> list[str]:
    """The limits that status items name, in order."""
    announced = []
    for event in world.events(S):
        match event.data:
            case ItemCompleted(Item(content=(StatusPart("limit"), Json(payload)))):
                announced.append(payload["limit"])
    return announced


def test_a_budget_ends_the_turn_that_spends_it() -> None:
    world, actor = running(max_cost_usd=0.03)
    for _ in range(3):
        assert isinstance(actor.core.phase, Running)
        actor.feed(spend(0.01))
        world.settle()
    assert isinstance(actor.core.phase, Cancelling)
    assert instructions(actor)[-1] == effects.Interrupt()
    actor.feed(lambda scribe: scribe.end_turn("interrupted"))
    world.settle()
    assert (stop_reasons(world), limits_announced(world)) == (["limit"], ["maxCostUsd"])
    refused = send(world)
    assert isinstance(refused.answer, Conflict)
    assert refused.answer.facts == {"sessionId": S, "limit": "maxCostUsd", "value": 0.03, "used": 0.03}


@pytest.mark.parametrize("spent_in", ["a turn that ended", "the turn that was killed"])
def test_a_limit_is_kept_over_a_kill(spent_in: str) -> None:
    world, actor = running(max_cost_usd=0.03)
    actor.feed(spend(0.01))
    world.settle()
    if spent_in == "a turn that ended":
        actor.feed(lambda scribe: scribe.end_turn("end_turn", Usage(cost_usd=0.03)))
    else:
        actor.feed(spend(0.02))
    world.settle()
    world.kill()
    world.settle()
    assert isinstance(send(world).answer, Conflict)
    assert limits_announced(world) == ["maxCostUsd"]
    assert [row.usage for row in world.store.ledger] == [Usage(cost_usd=0.03)]


def test_what_a_killed_turn_had_spent_counts() -> None:
    world, actor = running(max_cost_usd=1)
    actor.feed(spend(0.01))
    world.settle()
    world.kill()
    world.settle()
    assert stop_reasons(world) == ["outcome_unknown"]
    assert [row.usage for row in world.store.ledger] == [Usage(cost_usd=0.01)]


def test_the_end_of_the_turn_decides_if_the_agent_reports_its_cost_only_then() -> None:
    world, actor = running(max_cost_usd=0.03)
    actor.feed(lambda scribe: scribe.end_turn("end_turn", Usage(cost_usd=0.05)))
    world.settle()
    assert (stop_reasons(world), limits_announced(world)) == (["end_turn"], ["maxCostUsd"])
    assert isinstance(send(world).answer, Conflict)


def test_queued_messages_wait_until_the_limit_is_raised() -> None:
    world, actor = running(max_cost_usd=0.03)
    queued = send(world, "next")
    world.settle()
    assert queued.answer.queued
    actor.feed(lambda scribe: scribe.end_turn("end_turn", Usage(cost_usd=0.03)))
    world.settle()
    assert actor.end.view is not None
    assert (actor.end.view.state, len(world.store.queue_heads(S))) == ("idle", 1)
    assert limit(world, max_cost_usd=1).answer is None
    world.answer_lookups()
    world.settle()
    assert isinstance(actor.core.phase, Running)
    assert actor.end.view.record.limit_reached is None
    assert len(instructions(actor)) == 2


def test_a_held_queue_is_at_rest_and_survives_a_kill() -> None:
    world, actor = running(max_turns=1)
    limit(world, max_turns=2)
    send(world, "next")
    world.settle()
    limit(world, max_turns=1)
    actor.feed(end_turn)
    world.settle()
    world.kill()
    world.settle()
    assert world.actors[S].machine.at_rest
    assert isinstance(send(world).answer, Conflict)
    limit(world, max_turns=None)
    world.answer_lookups()
    world.open(S)
    world.settle()
    assert isinstance(world.actors[S].core.phase, Running)


def test_the_last_turn_that_is_allowed_runs_to_its_end() -> None:
    world, actor = running(max_turns=1)
    assert isinstance(send(world).answer, Conflict)
    assert isinstance(actor.core.phase, Running)
    actor.feed(end_turn)
    world.settle()
    assert (stop_reasons(world), limits_announced(world)) == (["end_turn"], ["maxTurns"])


def test_a_turn_that_the_agent_begins_beyond_its_limit_is_ended() -> None:
    world, actor = running(max_turns=1)
    actor.feed(end_turn)
    world.settle()
    actor.feed(lambda scribe: scribe.start_turn(source="agent"))
    world.settle()
    assert isinstance(actor.core.phase, Cancelling)


def test_a_limit_that_is_lowered_below_what_was_spent_ends_the_turn() -> None:
    world, actor = running(max_cost_usd=1)
    actor.feed(spend(0.5))
    world.settle()
    limit(world, max_cost_usd=0.4)
    assert isinstance(actor.core.phase, Cancelling)


def test_a_refused_change_of_a_limit_has_no_effect() -> None:
    world, actor = running(max_cost_usd=1)
    actor.feed(spend(0.5))
    world.settle()
    world.disk.is_full = True
    changed = world.ask(S, lambda id: inputs.Configure(id, limits=Limits(max_cost_usd=0.4)))
    world.settle()
    assert (status(changed), type(actor.core.phase)) == (503, Running)


def test_a_time_limit_that_was_raised_ignores_the_old_timer() -> None:
    world, actor = running(max_session_seconds=1_000)
    old = actor.timers["session"]
    limit(world, max_session_seconds=2_000)
    actor.step(inputs.Timer("session", old.tag))
    assert isinstance(actor.core.phase, Running)
    world.fire(S, "session")
    assert isinstance(actor.core.phase, Cancelling)
    assert actor.scribe.turn is not None
    assert actor.scribe.turn.stop_reason == "limit"


def test_after_a_restart_a_session_has_the_rest_of_its_time() -> None:
    world, _ = session(max_session_seconds=1_000)
    world.kill()
    world.pass_seconds(900)
    send(world)
    world.settle()
    world.answer_lookups()
    world.open(S)
    world.settle()
    assert 0 < world.actors[S].timers["session"].seconds < 100
    world.kill()
    world.pass_seconds(200)
    refused = send(world)
    world.settle()
    assert isinstance(refused.answer, Conflict)
