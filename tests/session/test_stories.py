"""Interleavings that once failed, each in a few lines."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from tests.session.world import (
    Actor,
    Command,
    ToyWorld,
    allow,
    ask_permission,
    ask_plan,
    call_tool,
    end_turn,
    prompt,
    say,
)

from sandbox_agent.errors import Conflict, NotFound, SandboxAgentError, Unavailable
from sandbox_agent.schema.events import (
    AskedQuestion,
    ItemCompleted,
    PermissionResolved,
    SessionEnded,
    TurnEnded,
    TurnStarted,
)
from sandbox_agent.schema.inputs import Answer, Decision
from sandbox_agent.schema.items import Text
from sandbox_agent.schema.limits import SessionLimits
from sandbox_agent.schema.policy import PolicyRule, RuleReference
from sandbox_agent.schema.tools import ToolOutcome
from sandbox_agent.session import effects, inputs
from sandbox_agent.session.phases import (
    Cancelling,
    Ended,
    Gone,
    Handing,
    Idle,
    Open,
    Reopening,
    Running,
    Starting,
    current_turn,
)

S = "s"


def session(**limits: float) -> tuple[ToyWorld, Actor]:
    """An idle session with its agent."""
    world = ToyWorld()
    command = world.create(S, SessionLimits(**limits))  # type: ignore[arg-type]
    world.open(S)
    world.settle()
    assert command.answer.problem is None
    return world, world.actors[S]


def running(**limits: float) -> tuple[ToyWorld, Actor]:
    world, actor = session(**limits)
    sent = send(world)
    world.settle()
    assert isinstance(actor.core.phase, Running)
    assert sent.answer.queued is False
    return world, actor


def send(world: ToyWorld, text: str = "hello", **more: Any) -> Command:
    return world.ask(S, lambda id: inputs.Send(id, prompt(text), **more))


def instructions(actor: Actor) -> list[effects.Instruction]:
    return actor.process.instructions if actor.process else []


def status(command: Command) -> int:
    answer = command.answer
    return answer.status if isinstance(answer, SandboxAgentError) else 200


def waiting(world: ToyWorld) -> str:
    view = world.actors[S].end.view
    assert view is not None
    [asked] = view.pending
    return str(getattr(asked, "permission_id", None) or getattr(asked, "question_id", ""))


def stop_reasons(world: ToyWorld) -> list[str]:
    ends = (event.data for event in world.events(S))
    return [data.metadata.stop_reason for data in ends if isinstance(data, TurnEnded)]


def test_of_two_answers_to_a_permission_one_wins_and_the_other_conflicts() -> None:
    world, actor = running()
    actor.feed(ask_permission("k"))
    world.settle()
    asked = waiting(world)
    first = world.ask(S, lambda id: inputs.Decide(id, asked, allow()))
    second = world.ask(S, lambda id: inputs.Decide(id, asked, allow()))
    assert (first.answers, second.answers) == ([], [])
    world.settle()
    world.answer_lookups()
    assert first.answer is None
    assert isinstance(second.answer, Conflict)
    assert instructions(actor)[1:] == [effects.GiveDecision("k", allow())]


def test_a_refused_mode_change_has_no_effect() -> None:
    world, actor = running()
    world.disk.is_full = True
    changed = world.ask(S, lambda id: inputs.Configure(id, permission_mode="bypass"))
    world.settle()
    assert status(changed) == 503
    world.disk.is_full = False
    world.settle()
    actor.feed(ask_permission("k"))
    world.settle()
    assert actor.end.view is not None
    assert (actor.end.view.record.settings.permission_mode, actor.end.view.state) == (
        "default",
        "requires_action",
    )
    assert not any(isinstance(message, effects.Switch) for message in instructions(actor))


def test_terminate_on_a_full_disk_ends_the_process_without_a_success() -> None:
    world, actor = running()
    queued = send(world, "next")
    world.settle()
    assert queued.answer.queued is True
    world.disk.is_full = True
    ended = world.ask(S, inputs.Terminate)
    assert actor.process is not None
    assert not actor.process.is_open
    world.close(S)
    world.settle()
    assert status(ended) == 503
    world.kill()
    assert not any(isinstance(event.data, SessionEnded) for event in world.events(S))
    world.come_to_rest()
    assert world.store.session(S) is not None


def test_a_session_whose_end_could_not_be_written_ends_when_there_is_space() -> None:
    world, actor = running()
    world.disk.is_full = True
    first = world.ask(S, inputs.Terminate)
    world.close(S)
    world.settle()
    world.disk.is_full = False
    world.settle()
    second = world.ask(S, inputs.Terminate)
    world.settle()
    assert (status(first), second.answer) == (503, None)
    assert actor.end.view is not None
    assert actor.end.view.state == "ended"


def test_terminate_succeeds_only_once_written_on_a_slow_disk() -> None:
    world, actor = running()
    ended = world.ask(S, inputs.Terminate)
    world.close(S)
    world.fire(S, "patience")
    assert status(ended) == 503
    world.settle()
    assert actor.end.view is not None
    assert actor.end.view.state == "ended"


@pytest.mark.parametrize("kind", [inputs.Terminate, inputs.Delete])
def test_an_end_does_not_wait_for_a_slow_disk_behind_a_message(
    kind: type[inputs.Terminate | inputs.Delete],
) -> None:
    world, actor = session()
    sent = send(world)
    ended = world.ask(S, kind)
    world.close(S)
    world.fire(S, "patience")
    assert (status(ended), sent.answers) == (503, [])
    world.settle()
    assert status(sent) == 200
    assert isinstance(actor.core.phase, Ended | Gone)


def test_a_refused_prompt_never_becomes_a_turn() -> None:
    world, actor = session()
    world.disk.is_full = True
    sent = send(world)
    world.settle()
    assert isinstance(sent.answer, Unavailable)
    world.disk.is_full = False
    world.come_to_rest()
    assert not any(isinstance(event.data, TurnStarted) for event in world.events(S))
    assert instructions(actor) == []
    # Its sequences are free again: the next prompt leaves no hole.
    send(world)
    world.come_to_rest()
    sequences = [event.sequence for event in world.events(S)]
    assert sequences == list(range(1, len(sequences) + 1))


def test_a_refused_decision_leaves_the_request_pending() -> None:
    world, actor = running()
    actor.feed(ask_permission("k"))
    world.settle()
    asked = waiting(world)
    world.disk.is_full = True
    decided = world.ask(S, lambda id: inputs.Decide(id, asked, allow()))
    world.settle()
    assert status(decided) == 503
    assert waiting(world) == asked
    assert len(instructions(actor)) == 1


def test_a_refused_withdrawal_leaves_the_message_queued() -> None:
    world, _ = running()
    queued = send(world, "next")
    world.settle()
    world.disk.is_full = True
    withdrawn = world.ask(S, lambda id: inputs.Withdraw(id, queued.answer.turn_id))
    world.settle()
    assert status(withdrawn) == 503
    assert [head.turn_id for head in world.store.queue_heads(S)] == [queued.answer.turn_id]


def test_the_end_of_another_run_does_not_end_the_turn_that_is_being_written() -> None:
    world, actor = session()
    actor.feed(lambda scribe: scribe.start_turn(source="agent"))
    actor.feed(end_turn)
    sent = send(world)
    actor.feed(lambda scribe: scribe.start_turn(source="agent"))
    world.settle()
    assert [type(message) for message in instructions(actor)] == [effects.GivePrompt]
    assert isinstance(actor.core.phase, Running)
    actor.feed(end_turn)
    world.settle()
    assert sent.answer.queued is False
    assert stop_reasons(world) == ["end_turn", "end_turn"]


def test_an_exit_while_a_prompt_is_written_passes_it_on_to_the_next_process() -> None:
    world, actor = session()
    sent = send(world)
    world.exit(S)
    world.settle()
    assert sent.answer.queued is False
    assert isinstance(actor.core.phase, Reopening)
    world.open(S)
    assert [type(message) for message in instructions(actor)] == [effects.GivePrompt]
    assert stop_reasons(world) == []


def test_a_process_that_is_always_found_ending_counts_as_a_try() -> None:
    world, actor = session()
    assert actor.process is not None
    actor.process.ignores_input = True
    send(world)
    world.settle()
    for _ in range(2):
        world.close(S)
        actor.process.ignores_input = True
        world.open(S)
        world.settle()
    assert stop_reasons(world) == ["error"]
    assert isinstance(actor.core.phase, Idle)


def test_a_change_while_the_process_starts_makes_it_stale() -> None:
    world, actor = session()
    world.fire(S, "idle")
    world.close(S)
    sent = send(world)
    world.settle()
    world.answer_lookups()
    changed = world.ask(S, lambda id: inputs.Configure(id, model="other"))
    world.settle()
    world.open(S)
    assert actor.core.link.__class__.__name__ == "Closing"
    world.close(S)
    world.open(S)
    world.settle()
    assert (changed.answer, sent.answer.queued) == (None, False)
    assert isinstance(actor.core.link, Open)
    assert actor.core.link.settings.model == "other"


def test_no_allow_follows_an_interrupt() -> None:
    world, actor = running()
    actor.feed(ask_permission("k"))
    world.settle()
    asked = waiting(world)
    world.ask(S, lambda id: inputs.Decide(id, asked, allow()))
    world.ask(S, inputs.Cancel)
    world.settle()
    assert [type(message) for message in instructions(actor)] == [
        effects.GivePrompt,
        effects.GiveDecision,
        effects.Interrupt,
    ]


def test_a_rule_decision_is_not_sent_after_an_interrupt() -> None:
    world, actor = session()
    world.ask(S, lambda id: inputs.Configure(id, permission_mode="bypass"))
    world.settle()
    send(world)
    world.settle()
    actor.feed(ask_permission("k"))
    world.ask(S, inputs.Cancel)
    world.settle()
    assert isinstance(actor.core.phase, Cancelling)
    assert not any(isinstance(message, effects.GiveDecision) for message in instructions(actor))


def test_a_time_limit_affects_only_its_own_turn() -> None:
    world, actor = running()
    armed = actor.timers["turn"]

    def ends_and_goes_on(scribe: Any) -> None:
        scribe.end_turn("end_turn")
        scribe.start_turn(source="agent")

    actor.feed(ends_and_goes_on)
    actor.step(inputs.Timer("turn", armed.tag))
    world.settle()
    assert isinstance(actor.core.phase, Running)
    assert stop_reasons(world) == ["end_turn"]


def test_an_agent_that_leaves_withdraws_the_queue_first() -> None:
    world, actor = running()
    queued = send(world, "next")
    world.settle()
    actor.feed(lambda scribe: scribe.agent_left("completed"))
    world.close(S)
    world.settle()
    types = [event.type for event in world.events(S)]
    assert types[-1] == "session.ended"
    assert world.store.queue_heads(S) == []
    assert queued.answer.queued is True
    world.check()


def test_a_refused_delete_leaves_a_consistent_state() -> None:
    world, actor = session()
    first = world.ask(S, inputs.Delete)
    world.close(S)
    world.disk.finish() if world.disk.is_busy else world.loop.run()
    world.loop.run()
    if world.disk.is_busy:
        world.disk.finish()
    world.disk.is_full = True
    world.settle()
    assert status(first) == 503
    assert actor.end.view is not None
    assert actor.end.view.state == "ended"
    world.disk.is_full = False
    world.settle()
    renamed = world.ask(S, lambda id: inputs.Configure(id, title="kept"))
    world.settle()
    assert renamed.answer is None
    second = world.ask(S, inputs.Delete)
    world.settle()
    assert second.answer is None
    assert world.store.session(S) is None


def test_free_text_rejects_a_plan_and_reaches_the_agent_as_feedback() -> None:
    world, actor = session()
    world.ask(S, lambda id: inputs.Configure(id, permission_mode="plan"))
    world.settle()
    send(world)
    world.settle()
    actor.feed(ask_plan("p"))
    world.settle()
    asked = waiting(world)
    answered = world.ask(S, lambda id: inputs.Reply(id, asked, Answer((("use fewer steps",),))))
    world.settle()
    assert answered.answer is None
    assert instructions(actor)[-1] == effects.GiveAnswer("p", Answer(None, "use fewer steps"))
    assert actor.end.view is not None
    assert actor.end.view.record.settings.permission_mode == "plan"


def test_an_approved_plan_leaves_plan_mode() -> None:
    world, actor = session()
    world.ask(S, lambda id: inputs.Configure(id, permission_mode="plan", agent_mode="plan"))
    world.settle()
    send(world)
    world.settle()
    actor.feed(ask_plan("p"))
    world.settle()
    asked = waiting(world)
    world.ask(S, lambda id: inputs.Reply(id, asked, Answer((("approve",),))))
    world.settle()
    assert actor.end.view is not None
    settings = actor.end.view.record.settings
    assert (settings.permission_mode, settings.agent_mode) == ("default", "build")


def test_answers_that_do_not_match_the_questions_are_refused() -> None:
    world, actor = running()
    actor.feed(ask_plan("p"))
    world.settle()
    asked = waiting(world)
    answered = world.ask(S, lambda id: inputs.Reply(id, asked, Answer((("a",), ("b",)))))
    assert status(answered) == 400
    assert waiting(world) == asked


def test_what_an_agent_asks_beyond_a_bound_is_rejected() -> None:
    world, actor = running()
    actor.feed(ask_plan("plan"))
    for number in range(4):
        actor.feed(ask_permission(f"p{number}"))
    actor.feed(ask_plan("another plan"))
    world.settle()
    assert actor.end.view is not None
    assert len(actor.end.view.pending) == 3
    rejected = [
        message
        for message in instructions(actor)
        if isinstance(message, effects.GiveDecision | effects.GiveAnswer)
    ]
    assert [message.key for message in rejected] == ["p2", "p3", "another plan"]


def test_an_unknown_request_id_is_not_found() -> None:
    world, _ = running()
    answered = world.ask(S, lambda id: inputs.Decide(id, "perm_none", allow()))
    world.answer_lookups()
    assert isinstance(answered.answer, NotFound)


def test_a_full_queue_refuses_the_next_message() -> None:
    world, _ = running()
    for _ in range(3):
        send(world)
        world.settle()
    assert status(send(world)) == 429
    assert len(world.store.queue_heads(S)) == 3


def test_the_same_key_gives_the_same_turn() -> None:
    world, _ = session()
    first = send(world, key="k", digest=b"1")
    second = send(world, key="k", digest=b"1")
    other = send(world, key="k", digest=b"2")
    for _ in range(4):
        world.answer_lookups()
        world.settle()
    assert first.answer.turn_id == second.answer.turn_id
    assert status(other) == 422


def test_the_state_changes_only_once_the_end_of_the_turn_is_readable() -> None:
    world, actor = running()
    actor.feed(say("hi"))
    actor.feed(end_turn)
    assert actor.end.view is not None
    assert actor.end.view.state == "running"
    world.settle()
    assert (actor.end.view.state, stop_reasons(world)) == ("idle", ["end_turn"])


# -- what is really used ------------------------------------------------------------------------


def shown(world: ToyWorld) -> tuple[str | None, str | None]:
    view = world.actors[S].end.view
    assert view is not None
    info = view.info(0)
    return info.model, info.title


def test_a_session_shows_the_agents_choice_by_default() -> None:
    world, actor = session()
    assert shown(world) == (None, None)
    actor.feed(lambda scribe: scribe.uses(model="m1", title="A title"))
    world.settle()
    assert shown(world) == ("m1", "A title")
    world.ask(S, lambda id: inputs.Configure(id, title="Mine", model="m2"))
    world.settle()
    assert shown(world) == ("m2", "Mine")
    actor.feed(lambda scribe: scribe.uses(model="m3"))
    world.settle()
    assert shown(world) == ("m2", "Mine")
    world.check()


def test_the_agents_choice_survives_a_restart() -> None:
    world, actor = session()
    actor.feed(lambda scribe: scribe.uses(model="m1", title="A title"))
    world.settle()
    world.kill()
    world.load(S)
    world.settle()
    assert shown(world) == ("m1", "A title")
    world.check()


def test_a_wrong_number_of_answers_is_refused() -> None:
    world, actor = running()
    actor.feed(
        lambda scribe: scribe.question("q", [AskedQuestion("A?", "", ()), AskedQuestion("B?", "", ())])
    )
    world.settle()
    asked = waiting(world)
    for count in (0, 1, 3):
        answer = Answer((("a",),) * count)
        answered = world.ask(S, partial(inputs.Reply, question=asked, answer=answer))
        world.settle()
        assert status(answered) == 400
    answered = world.ask(S, lambda id: inputs.Reply(id, asked, Answer((("a",), ("b",)))))
    world.settle()
    assert answered.answer is None


def test_a_turn_begun_while_the_process_stops_ends_with_it() -> None:
    world, actor = session()
    world.fire(S, "idle")
    actor.feed_now(lambda scribe: scribe.start_turn(source="agent"))  # it was on its way already
    world.settle()
    assert isinstance(actor.core.phase, Running)
    world.close(S)
    world.settle()
    assert isinstance(actor.core.phase, Idle)
    assert stop_reasons(world) == ["interrupted"]


# -- tools of the client ------------------------------------------------------------------------


def calling() -> tuple[ToyWorld, Actor]:
    """The agent has called a tool of the client, which waits."""
    world, actor = running()
    actor.feed(call_tool("t"))
    actor.step(inputs.ToolCalled(attempt(actor), "t", "look", {"key": "t"}))
    world.settle()
    assert actor.end.view is not None
    assert actor.end.view.state == "requires_action"
    return world, actor


def attempt(actor: Actor) -> int:
    assert actor.process is not None
    return actor.process.attempt


def results(actor: Actor) -> list[effects.GiveToolResult]:
    return [each for each in instructions(actor) if isinstance(each, effects.GiveToolResult)]


def test_of_two_answers_to_a_tool_one_wins_and_the_other_conflicts() -> None:
    world, actor = calling()
    first = world.ask(S, lambda id: inputs.ReplyTool(id, "t", ToolOutcome("one")))
    second = world.ask(S, lambda id: inputs.ReplyTool(id, "t", ToolOutcome("two")))
    assert (first.answers, results(actor)) == ([], [])
    world.settle()
    world.answer_lookups()
    assert first.answer is None
    assert isinstance(second.answer, Conflict)
    assert results(actor) == [effects.GiveToolResult("t", ToolOutcome("one"))]


def test_an_answer_to_a_tool_that_cannot_be_written_leaves_it_waiting() -> None:
    world, actor = calling()
    world.disk.is_full = True
    refused = world.ask(S, lambda id: inputs.ReplyTool(id, "t", ToolOutcome("one")))
    world.settle()
    assert (status(refused), results(actor)) == (503, [])
    world.disk.is_full = False
    world.settle()
    again = world.ask(S, lambda id: inputs.ReplyTool(id, "t", ToolOutcome("two")))
    world.settle()
    assert again.answer is None
    assert results(actor) == [effects.GiveToolResult("t", ToolOutcome("two"))]


def test_a_tool_that_is_called_before_the_agent_announces_it_gets_the_announced_id() -> None:
    world, actor = running()
    actor.step(inputs.ToolCalled(attempt(actor), "t", "look", {"key": "announced"}))
    world.settle()
    assert world.store.pending(S) == []
    actor.feed(call_tool("announced"))
    actor.step(inputs.ToolUnannounced(attempt(actor), "t"))
    world.settle()
    assert [row.id for row in world.store.pending(S)] == ["announced"]


def test_a_cancel_is_answered_when_the_agent_begins_a_turn_before_the_message_starts() -> None:
    world, actor = running()
    send(world)
    world.settle()
    actor.feed(lambda scribe: scribe.end_turn("end_turn"))
    world.settle()
    assert isinstance(actor.core.phase, Starting)
    cancels = [world.ask(S, inputs.Cancel)]
    actor.feed(lambda scribe: scribe.start_turn(source="agent"))
    cancels.append(world.ask(S, inputs.Cancel))
    world.settle()
    assert instructions(actor)[-1] == effects.Interrupt()
    actor.feed(lambda scribe: scribe.end_turn("interrupted"))
    world.settle()
    assert [len(cancel.answers) for cancel in cancels] == [1, 1]


def test_the_end_of_a_turn_answers_the_tools_that_wait() -> None:
    world, actor = calling()
    world.ask(S, inputs.Cancel)
    world.settle()
    assert [result.outcome.failed for result in results(actor)] == [True]
    late = world.ask(S, lambda id: inputs.ReplyTool(id, "t", ToolOutcome("late")))
    world.settle()
    world.answer_lookups()
    assert isinstance(late.answer, Conflict)


def test_a_tool_that_is_called_outside_a_turn_fails_at_once() -> None:
    world, actor = session()
    actor.step(inputs.ToolCalled(attempt(actor), "t", "look", {}))
    assert [result.outcome.failed for result in results(actor)] == [True]
    assert world.store.pending(S) == []


def test_a_tool_that_waits_is_gone_after_a_kill() -> None:
    world, _ = calling()
    world.kill()
    world.come_to_rest()
    assert world.store.pending(S) == []
    assert world.tool_requests(S)["t"]["decided_by"] == "daemon"
    assert stop_reasons(world) == ["outcome_unknown"]


# -- rules --------------------------------------------------------------------------------------

NO_COMMANDS = PolicyRule("deny", kind="command", reason="Not here.")


def resolved(world: ToyWorld) -> list[tuple[str, str | None, RuleReference | None]]:
    found = (event.data for event in world.events(S) if isinstance(event.data, PermissionResolved))
    return [(data.status, data.metadata.decided_by, data.metadata.rule) for data in found]


def modes_sent(actor: Actor) -> list[str]:
    switches = (each for each in instructions(actor) if isinstance(each, effects.Switch))
    return [switch.settings.permission_mode for switch in switches]


def test_a_rule_denies_with_its_reason_and_says_which_it_is() -> None:
    world, actor = running()
    world.operator = (PolicyRule("allow", kind="edit"), NO_COMMANDS)
    actor.feed(ask_permission("k"))
    actor.feed(ask_permission("e", "edit"))
    world.settle()
    assert instructions(actor)[1:] == [
        effects.GiveDecision("k", Decision("reject", "Not here.")),
        effects.GiveDecision("e", Decision("once")),
    ]
    assert resolved(world) == [
        ("reject", "rule", RuleReference("operator", 1, "Not here.")),
        ("accept", "rule", RuleReference("operator", 0)),
    ]


def test_in_bypass_under_a_deny_the_daemon_answers_instead_of_the_agent() -> None:
    world, actor = session()
    world.ask(S, lambda id: inputs.Configure(id, permission_mode="bypass"))
    world.settle()
    world.ask(S, lambda id: inputs.Configure(id, policy=(NO_COMMANDS,)))
    send(world)
    world.settle()
    actor.feed(ask_permission("k"))
    actor.feed(ask_permission("e", "edit"))
    world.settle()
    assert resolved(world) == [
        ("reject", "rule", RuleReference("session", 0, "Not here.")),
        ("accept", "daemon", None),
    ]
    world.ask(S, lambda id: inputs.Configure(id, policy=()))
    world.settle()
    assert modes_sent(actor) == ["bypass", "default", "bypass"]
    assert actor.end.view is not None
    assert actor.end.view.record.settings.permission_mode == "bypass"


def test_a_process_with_a_deny_rule_does_not_start_in_bypass() -> None:
    world, actor = session()
    world.operator = (NO_COMMANDS,)
    world.ask(S, lambda id: inputs.Configure(id, permission_mode="bypass", policy=(NO_COMMANDS,)))
    world.settle()
    world.exit(S)
    send(world)
    world.settle()
    world.answer_lookups()
    world.settle()
    world.open(S)
    world.settle()
    assert isinstance(actor.core.link, Open)
    assert (actor.core.link.settings.permission_mode, actor.core.link.stale) == ("default", False)


def test_a_client_cannot_allow_what_a_rule_denies_by_now() -> None:
    world, actor = running()
    actor.feed(ask_permission("k"))
    world.settle()
    asked = waiting(world)
    world.operator = (NO_COMMANDS,)
    allowed = world.ask(S, lambda id: inputs.Decide(id, asked, allow()))
    world.settle()
    assert status(allowed) == 403
    assert waiting(world) == asked
    rejected = world.ask(S, lambda id: inputs.Decide(id, asked, Decision("reject")))
    world.settle()
    assert rejected.answer is None


def test_a_sessions_rules_survive_a_kill() -> None:
    world, _ = session()
    world.ask(S, lambda id: inputs.Configure(id, policy=(NO_COMMANDS,)))
    world.settle()
    world.kill()
    record = world.store.session(S)
    assert record is not None
    assert record.policy == (NO_COMMANDS,)


# -- cancels ------------------------------------------------------------------------------------


def starting() -> tuple[ToyWorld, Actor]:
    """A session whose queued message is about to start: its body is being read."""
    world, actor = running()
    send(world, "next")
    world.settle()
    actor.feed(end_turn)
    world.settle()
    assert isinstance(actor.core.phase, Starting)
    return world, actor


def test_a_cancel_does_not_wait_for_a_full_disk() -> None:
    world, actor = starting()
    world.disk.is_full = True
    world.answer_lookups()
    assert isinstance(actor.core.phase, Handing)
    world.settle()
    cancelled = world.ask(S, inputs.Cancel)
    world.settle()
    assert status(cancelled) == 503
    world.disk.is_full = False
    world.settle()
    assert stop_reasons(world) == ["end_turn", "interrupted"]
    assert len(instructions(actor)) == 1


def test_a_cancel_still_counts_when_a_withdrawal_is_refused() -> None:
    world, actor = starting()
    cancelled = world.ask(S, inputs.Cancel)
    world.disk.is_full = True
    withdrawn = world.ask(S, partial(inputs.Withdraw, turn=actor.core.queue[0].turn_id))
    world.settle()
    assert (status(withdrawn), cancelled.answers) == (503, [])
    world.disk.is_full = False
    world.settle()
    world.answer_lookups()
    world.settle()
    assert status(cancelled) == 200
    assert stop_reasons(world) == ["end_turn", "interrupted"]


def test_a_cancel_is_answered_when_the_message_is_withdrawn() -> None:
    world, actor = starting()
    cancelled = world.ask(S, inputs.Cancel)
    world.ask(S, partial(inputs.Withdraw, turn=actor.core.queue[0].turn_id))
    assert cancelled.answers == []
    world.settle()
    assert status(cancelled) == 200


def test_a_cancel_that_names_a_turn_ends_that_turn() -> None:
    world, actor = running()
    send(world, "next")
    world.settle()
    cancelled = world.ask(S, partial(inputs.Cancel, turn=current_turn(actor.core.phase)))
    world.settle()
    assert instructions(actor)[-1] == effects.Interrupt()
    actor.feed(lambda scribe: scribe.end_turn("interrupted"))
    world.settle()
    assert status(cancelled) == 200
    assert isinstance(actor.core.phase, Starting)


def test_a_late_cancel_that_names_a_turn_does_not_end_the_next_one() -> None:
    world, actor = running()
    first = current_turn(actor.core.phase)
    send(world, "next")
    world.settle()
    actor.feed(end_turn)
    world.settle()
    world.answer_lookups()
    world.settle()
    assert isinstance(actor.core.phase, Running)
    cancelled = world.ask(S, partial(inputs.Cancel, turn=first))
    world.settle()
    assert status(cancelled) == 200
    assert isinstance(actor.core.phase, Running)
    assert effects.Interrupt() not in instructions(actor)


def test_a_cancel_that_names_a_queued_turn_withdraws_it() -> None:
    world, actor = running()
    send(world, "next")
    world.settle()
    cancelled = world.ask(S, partial(inputs.Cancel, turn=actor.core.queue[0].turn_id))
    world.settle()
    assert status(cancelled) == 200
    assert world.store.queue_heads(S) == []
    assert isinstance(actor.core.phase, Running)


def test_a_cancel_of_a_message_about_to_start_spares_the_turn_that_the_agent_begins_first() -> None:
    world, actor = starting()
    cancelled = world.ask(S, partial(inputs.Cancel, turn=actor.core.queue[0].turn_id))
    actor.feed(lambda scribe: scribe.start_turn(source="agent"))
    world.settle()
    assert status(cancelled) == 200
    assert world.store.queue_heads(S) == []
    assert isinstance(actor.core.phase, Running)
    assert effects.Interrupt() not in instructions(actor)


def test_a_cancel_of_another_turn_waits_while_a_turn_is_being_written() -> None:
    """Withdrawing is an offer, and there may be only one."""
    world, actor = session()
    send(world)
    assert isinstance(actor.core.phase, Handing)
    cancelled = world.ask(S, partial(inputs.Cancel, turn="turn_unknown"))
    assert cancelled.answers == []
    world.settle()
    assert status(cancelled) == 200
    assert isinstance(actor.core.phase, Running)


def test_what_a_new_conversation_was_told_is_resumed_after_a_kill() -> None:
    """The process exits while the prompt is written, and the next one lacks the conversation."""
    world, actor = session()
    send(world)
    world.exit(S)
    world.settle()
    world.fail_open(S, gone=True)
    world.open(S)
    world.settle()
    assert isinstance(actor.core.phase, Running)
    assert len(instructions(actor)) == 1
    stored = world.store.session(S)
    assert stored is not None
    assert stored.prompted


def test_a_session_that_was_not_created_stays_so() -> None:
    world = ToyWorld()
    world.disk.is_full = True
    created = world.create(S)
    actor = world.actors[S]
    world.open(S)
    actor.step(inputs.Broken("the output could not be processed"))
    world.settle()
    assert status(created) == 503
    assert isinstance(actor.core.phase, Gone)
    world.disk.is_full = False
    world.settle()
    assert world.store.session(S) is None


def test_what_a_sub_agent_leaves_open_between_turns_is_closed_after_a_kill() -> None:
    world, actor = running()
    actor.feed(end_turn)
    actor.feed(lambda scribe: scribe.text("sub", "half", outlives_turn=True))
    actor.feed(lambda scribe: scribe.text("sub", " a word", outlives_turn=True))
    world.settle()
    world.kill()
    world.settle()
    last = world.events(S)[-1].data
    assert isinstance(last, ItemCompleted)
    assert (last.item.status, last.item.content) == ("failed", (Text("half a word"),))
