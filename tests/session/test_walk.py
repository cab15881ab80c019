"""A random walk over the session machine: the invariants hold after every step, in any order of events.

Two sessions share a host and a log. Commands, the agent, its process, the disk and the clock move at random; `kill -9` leaves only
the store. `STEPS` is how many steps `make test` takes altogether; the seed of a failure is printed with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.session.world import (
    Actor,
    ToyWorld,
    ask_permission,
    ask_plan,
    call_tool,
    end_turn,
    prompt,
    say,
    spend,
    too_deep,
)

from sandbox_agent.schema.inputs import Answer, Decision
from sandbox_agent.schema.limits import Limits
from sandbox_agent.schema.policy import PolicyRule
from sandbox_agent.schema.tools import ToolOutcome
from sandbox_agent.session import inputs
from sandbox_agent.session.phases import Gone, Open, Opening, Resting, current_turn

STEPS = 10_000
STEPS_OF_A_WALK = 50

NAMES = st.sampled_from(["a", "b"])
MODES = st.sampled_from([None, "default", "plan", "bypass", "acceptEdits"])
RULES = st.sampled_from(
    [
        (),
        (PolicyRule("deny", kind="command"),),
        (PolicyRule("allow", kind="edit"), PolicyRule("ask", kind="command")),
        (PolicyRule("deny", kind="edit", agent="mock"), PolicyRule("allow")),
    ]
)
KEYS = st.sampled_from([None, None, "k1", "k2"])


class Walk(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = ToyWorld()
        self._asked = 0

    @initialize()
    def both_exist(self) -> None:
        for name in "ab":
            self.world.create(name)
            self.world.open(name)
        self.world.settle()

    def _actor(self, name: str) -> Actor | None:
        actor = self.world.actors.get(name)
        return None if actor is None or actor.is_dropped else actor

    def _exists(self, name: str) -> bool:
        return name in self.world.actors or self.world.store.session(name) is not None

    def _ask(self, name: str, make: Callable[[int], inputs.Command]) -> None:
        actor = self._actor(name)
        if actor is not None and actor.end.view is None:
            return  # it is being created, so no client can see it
        if actor is not None and isinstance(actor.core.phase, Gone | Resting):
            return
        if actor is None and self.world.store.session(name) is None:
            return
        self.world.ask(name, make)

    # -- commands -----------------------------------------------------------------------------

    @rule(name=NAMES)
    def create(self, name: str) -> None:
        if not self._exists(name):
            self.world.create(name)

    @rule(name=NAMES, key=KEYS, digest=st.sampled_from([b"1", b"2"]), fresh=st.booleans())
    def send(self, name: str, key: str | None, digest: bytes, fresh: bool) -> None:
        self._ask(name, lambda id: inputs.Send(id, prompt(), fresh, key, digest))

    @rule(name=NAMES, known=st.booleans())
    def withdraw(self, name: str, known: bool) -> None:
        heads = self.world.store.queue_heads(name)
        turn = heads[-1].turn_id if known and heads else "turn_unknown"
        self._ask(name, lambda id: inputs.Withdraw(id, turn))

    @rule(name=NAMES, named=st.sampled_from([None, "current", "queued", "unknown"]))
    def cancel(self, name: str, named: str | None) -> None:
        actor = self.world.actors.get(name)
        turns = {
            "current": current_turn(actor.core.phase) if actor else None,
            "queued": next((head.turn_id for head in reversed(self.world.store.queue_heads(name))), None),
            "unknown": "turn_unknown",
        }
        turn = turns[named] if named else None
        self._ask(name, lambda id: inputs.Cancel(id, turn))

    def _pending(self, name: str) -> list[str]:
        return [row.id for row in self.world.store.pending(name)]

    @rule(name=NAMES, reply=st.sampled_from(["once", "always", "reject"]), twice=st.booleans())
    def decide(self, name: str, reply: Any, twice: bool) -> None:
        ids = [id for id in self._pending(name) if id.startswith("perm")] or ["perm_unknown"]
        for _ in range(1 + twice):
            self._ask(name, lambda id: inputs.Decide(id, ids[0], Decision(reply)))

    @rule(name=NAMES, answer=st.sampled_from([(("approve",),), (("no",),), None, (("a",), ("b",))]))
    def reply(self, name: str, answer: Any) -> None:
        ids = [id for id in self._pending(name) if id.startswith("q")] or ["q_unknown"]
        self._ask(name, lambda id: inputs.Reply(id, ids[0], Answer(answer)))

    @rule(
        name=NAMES, mode=MODES, title=st.sampled_from([None, "t1", "t2"]), model=st.sampled_from([None, "m"])
    )
    def configure(self, name: str, mode: Any, title: str | None, model: str | None) -> None:
        self._ask(name, lambda id: inputs.Configure(id, title, model, permission_mode=mode))

    @rule(name=NAMES, rules=RULES)
    def configure_rules(self, name: str, rules: tuple[PolicyRule, ...]) -> None:
        self._ask(name, lambda id: inputs.Configure(id, policy=rules))

    @rule(rules=RULES)
    def the_operator_changes_the_rules(self, rules: tuple[PolicyRule, ...]) -> None:
        self.world.operator = rules

    @rule(
        name=NAMES,
        turns=st.sampled_from([None, 1, 3]),
        cost=st.sampled_from([None, 0.02, 1.0]),
        seconds=st.sampled_from([None, 500.0]),
    )
    def limit(self, name: str, turns: int | None, cost: float | None, seconds: float | None) -> None:
        limits = Limits(max_turns=turns, max_cost_usd=cost, max_session_seconds=seconds)
        self._ask(name, lambda id: inputs.Configure(id, limits=limits))

    @rule(name=NAMES)
    def lift_the_limits(self, name: str) -> None:
        self.limit(name, None, None, None)
        self.world.settle()

    @rule(name=NAMES)
    def spends(self, name: str) -> None:
        self._speak(name, lambda scribe: spend(0.01)(scribe) if scribe.turn else None)

    @rule(name=NAMES)
    def terminate(self, name: str) -> None:
        self._ask(name, inputs.Terminate)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self._ask(name, inputs.Delete)

    # -- the agent ----------------------------------------------------------------------------

    def _speak(self, name: str, what: Callable[[Any], object]) -> None:
        actor = self._actor(name)
        if actor is not None and actor.process is not None and actor.process.is_open:
            actor.feed(what)

    @rule(name=NAMES)
    def streams(self, name: str) -> None:
        self._speak(name, say("x"))

    @rule(name=NAMES, kind=st.sampled_from(["command", "edit", "read"]))
    def asks(self, name: str, kind: str) -> None:
        self._asked += 1
        self._speak(name, ask_permission(f"k{self._asked}", kind))

    # Sequences that a random walk rarely takes by itself, to reach states in which more can go wrong.

    @rule(name=NAMES)
    def a_turn_runs(self, name: str) -> None:
        self._ask(name, lambda id: inputs.Send(id, prompt()))
        self.world.settle()

    @rule(name=NAMES, kind=st.sampled_from(["command", "edit"]))
    def a_permission_waits(self, name: str, kind: str) -> None:
        self.a_turn_runs(name)
        self.asks(name, kind)
        self.world.settle()

    @rule(name=NAMES)
    def a_plan_waits(self, name: str) -> None:
        self.a_turn_runs(name)
        self.plans(name)
        self.world.settle()

    @rule(name=NAMES)
    def the_process_is_there_again(self, name: str) -> None:
        self._finish_stop(name)
        self.world.answer_lookups()
        self.gets_ready(name)
        self.world.settle()

    @rule(name=NAMES)
    def plans(self, name: str) -> None:
        self._asked += 1
        self._speak(name, ask_plan(f"p{self._asked}"))

    @rule(name=NAMES, announced=st.sampled_from(["before", "after", "never"]))
    def calls_a_tool_of_the_client(self, name: str, announced: str) -> None:
        actor = self._actor(name)
        if actor is None or actor.process is None or not actor.process.is_open:
            return
        self._asked += 1
        key, attempt = f"t{self._asked}", actor.process.attempt
        if announced == "before":
            actor.feed(call_tool(key))
        actor.step(inputs.ToolCalled(attempt, key, "look", {"key": key}))
        if announced == "after":
            actor.feed(call_tool(key))
        elif announced == "never":
            actor.step(inputs.ToolUnannounced(attempt, key))

    @rule(name=NAMES)
    def gives_up_on_a_tool(self, name: str) -> None:
        actor = self._actor(name)
        if actor is not None and actor.process is not None:
            actor.step(inputs.ToolGivenUp(actor.process.attempt, f"t{self._asked}", "too late"))

    @rule(name=NAMES, twice=st.booleans())
    def answers_a_tool(self, name: str, twice: bool) -> None:
        ids = [row.id for row in self.world.store.pending(name) if row.kind == "tool"] or ["call_unknown"]
        for _ in range(1 + twice):
            self._ask(name, lambda id: inputs.ReplyTool(id, ids[0], ToolOutcome("seen")))

    @rule(name=NAMES)
    def a_tool_of_the_client_waits(self, name: str) -> None:
        self.a_turn_runs(name)
        self.calls_a_tool_of_the_client(name, "before")
        self.world.settle()

    @rule(name=NAMES)
    def takes_back(self, name: str) -> None:
        def withdraw(scribe: Any) -> None:
            for key in list(scribe.pending)[:1]:
                scribe.withdraw(key, "agent", "never mind", source="agent")

        self._speak(name, withdraw)

    @rule(name=NAMES)
    def ends_its_turn(self, name: str) -> None:
        self._speak(name, end_turn)

    @rule(name=NAMES)
    def begins_a_turn(self, name: str) -> None:
        self._speak(name, lambda scribe: scribe.start_turn(source="agent"))

    @rule(name=NAMES)
    def ends_and_begins_in_one_breath(self, name: str) -> None:
        def both(scribe: Any) -> None:
            scribe.end_turn("end_turn")
            scribe.start_turn(source="agent")

        self._speak(name, both)

    @rule(name=NAMES)
    def leaves_for_good(self, name: str) -> None:
        self._speak(name, lambda scribe: scribe.agent_left("completed"))

    @rule(name=NAMES)
    def talks_nonsense(self, name: str) -> None:
        self._speak(name, too_deep)

    # -- its process --------------------------------------------------------------------------

    def _is(self, name: str, kind: Any) -> bool:
        actor = self._actor(name)
        return actor is not None and isinstance(actor.core.link, kind)

    @rule(name=NAMES)
    def gets_ready(self, name: str) -> None:
        if self._is(name, Opening):
            self.world.open(name)

    @rule(name=NAMES, exited=st.booleans(), gone=st.booleans())
    def cannot_start(self, name: str, exited: bool, gone: bool) -> None:
        if self._is(name, Opening):
            self.world.fail_open(name, exited=exited, gone=gone)

    @rule(name=NAMES, unread=st.booleans())
    def is_about_to_go(self, name: str, unread: bool) -> None:
        if self._is(name, Open):
            self.world.leave(name, unread=unread)

    @rule(name=NAMES)
    def stops_reading_input(self, name: str) -> None:
        actor = self._actor(name)
        if actor is not None and actor.process is not None:
            actor.process.ignores_input = True

    @rule(name=NAMES)
    def exits(self, name: str) -> None:
        actor = self._actor(name)
        if actor is not None and actor.process is not None and actor.process.is_open:
            self.world.exit(name)

    @rule(name=NAMES)
    def exits_late(self, name: str) -> None:
        """News of an attempt that is over."""
        actor = self._actor(name)
        if actor is not None and actor.process is not None:
            actor.step(inputs.Exited(actor.process.attempt - 1, 1))

    @rule(name=NAMES)
    def is_gone(self, name: str) -> None:
        self._finish_stop(name)

    # -- the disk, the store, the clock ------------------------------------------------------------

    @rule()
    def the_loop_turns(self) -> None:
        self.world.loop.run()

    @precondition(lambda self: self.world.disk.is_busy)
    @rule()
    def a_group_is_written(self) -> None:
        self.world.disk.finish()

    @rule(full=st.booleans())
    def the_disk_fills_or_empties(self, full: bool) -> None:
        self.world.disk.is_full = full

    @rule()
    def everything_is_written(self) -> None:
        self.world.settle()

    @rule(name=NAMES)
    def a_prompt_is_refused_and_the_next_one_is_not(self, name: str) -> None:
        for full in (False, True, False):
            self.world.settle()
            self.world.disk.is_full = full
            self.send(name, None, b"1", False)
        self.world.settle()

    @rule(name=NAMES)
    def a_fault_of_ours_spoils_a_write(self, name: str) -> None:
        if self._actor(name) is not None and not self.world.disk.is_full:
            self.world.disk.poisoned = name
            self.world.settle()
            self.world.disk.poisoned = None

    @rule()
    def the_store_answers(self) -> None:
        self.world.answer_lookups()

    @rule(name=NAMES, kind=st.sampled_from(["turn", "session", "cancel", "patience", "idle"]))
    def a_timer_fires(self, name: str, kind: Any) -> None:
        actor = self._actor(name)
        if actor is not None and kind in actor.timers:
            self.world.fire(name, kind)

    @rule(name=NAMES)
    def old_timers_fire(self, name: str) -> None:
        actor = self._actor(name)
        while actor is not None and actor.old_timers:
            self.world.fire_late(name)

    @rule(name=NAMES)
    def old_timers_fire_in_the_next_turn(self, name: str) -> None:
        self.a_turn_runs(name)
        self.ends_its_turn(name)
        self.a_turn_runs(name)
        self.old_timers_fire(name)

    # -- the daemon ---------------------------------------------------------------------------

    @rule()
    def the_daemon_is_killed(self) -> None:
        self.world.kill()

    @rule(name=NAMES)
    def a_session_at_rest_is_let_go(self, name: str) -> None:
        actor = self._actor(name)
        if actor is not None and actor.machine.at_rest and not actor.lookups:
            self.world.unload(name)
            if not isinstance(actor.core.phase, Gone):
                again = self.world.load(name)
                assert again.machine.at_rest
                assert again.state()[:3] == actor.state()[:3]

    @rule()
    def the_daemon_stops(self) -> None:
        for name in list(self.world.actors):
            actor = self.world.actors[name]
            if not isinstance(actor.core.phase, Resting | Gone) and not actor.is_dropped:
                self.world.ask(name, inputs.Rest)
        self.world.disk.is_full = False
        for _ in range(5):
            self.world.settle()
            for name in list(self.world.actors):
                self._finish_stop(name)
        self.world.kill()

    def _finish_stop(self, name: str) -> None:
        actor = self._actor(name)
        process = actor.process if actor is not None else None
        if (
            process is not None
            and not process.is_dead
            and not process.is_open
            and not self._is(name, Opening)
        ):
            self.world.close(name)

    # -- what must hold -----------------------------------------------------------------------

    @invariant()
    def the_promises_hold(self) -> None:
        self.world.check()

    def teardown(self) -> None:
        self.world.come_to_rest()


def test_the_invariants_hold_after_every_step() -> None:
    run_state_machine_as_test(
        Walk,
        settings=settings(
            max_examples=STEPS // STEPS_OF_A_WALK,
            stateful_step_count=STEPS_OF_A_WALK,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
