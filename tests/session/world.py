"""A controllable runtime for session machines: a log whose writes are released one at a time, and scripted processes.

The log, its store and the machines are the real ones. Everything that would take time waits until a test lets it happen, and after
every step the promises that must hold at any moment are looked at (`check`).
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import msgspec

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.failures import Failure
from sandbox_agent.agents.scribe import Ask, Frame, Rule, Scribe
from sandbox_agent.errors import AgentProcessExited, Conflict, SandboxAgentError
from sandbox_agent.runtime.group import Group, Written
from sandbox_agent.runtime.log import End, Log
from sandbox_agent.schema.events import (
    AnyData,
    Event,
    ItemCompleted,
    ItemStarted,
    PermissionResolved,
    QuestionResolved,
    SessionEnded,
    TurnEnded,
    TurnStarted,
    Usage,
    decode_event,
)
from sandbox_agent.schema.inputs import Decision, Prompt, Settings
from sandbox_agent.schema.items import Item, StatusPart
from sandbox_agent.schema.limits import SessionLimits
from sandbox_agent.schema.policy import PolicyRule
from sandbox_agent.schema.tools import TOOL_REQUEST
from sandbox_agent.schema.world import World as Given
from sandbox_agent.schema.world import counted
from sandbox_agent.session import effects, inputs
from sandbox_agent.session.admission import Accepted
from sandbox_agent.session.core import Limits
from sandbox_agent.session.inputs import OUTPUT_READY, Input, TimerKind
from sandbox_agent.session.limits import exceeded_limit, reached_limit
from sandbox_agent.session.machine import Machine
from sandbox_agent.session.phases import (
    WITH_TURN,
    Absent,
    Ended,
    Gone,
    Handing,
    New,
    Open,
    Opening,
    Running,
)
from sandbox_agent.session.view import requested, view_of
from sandbox_agent.store.base import ImpossibleChange, Secrets, SessionRecord
from sandbox_agent.store.memory import MemoryStore
from sandbox_agent.testing.rules import Checker

LIMITS = Limits(queued_messages=3, queued_bytes=2_000, pending=3)
DIRECTORY = "/ws"
UNLIMITED = SessionLimits()


class Loop:
    """As much of an event loop as the log uses; nothing runs by itself."""

    def __init__(self) -> None:
        self.now = 0.0
        self.soon: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        self.soon.append((callback, args))

    def call_later(self, seconds: float, callback: Callable[..., object], *args: Any) -> Loop:
        self.call_soon(callback, *args)
        return self

    def cancel(self) -> None: ...

    def time(self) -> float:
        self.now += 1.0
        return self.now

    def run(self) -> None:
        """Run what is scheduled now, but not what that schedules."""
        for _ in range(len(self.soon)):
            callback, args = self.soon.popleft()
            callback(*args)


class Disk:
    """Where groups wait until they are written or refused."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._waiting: tuple[Group, Written] | None = None
        self.is_full = False
        self.poisoned: str | None = None
        """A session whose appends cannot be written, by an internal error."""

    def write(self, group: Group, written: Written) -> None:
        self._waiting = (group, written)

    def close(self) -> None: ...

    @property
    def is_busy(self) -> bool:
        return self._waiting is not None

    def finish(self) -> None:
        """The group that is being written is written, or the disk refuses it."""
        assert self._waiting is not None
        (group, written), self._waiting = self._waiting, None
        changes = group.changes()
        outcome: int | Exception
        if self.is_full:
            outcome = OSError("no space left on device")
        elif self.poisoned is not None and any(end.session_id == self.poisoned for end in group.ends()):
            outcome = ImpossibleChange("poisoned")
            if len(group.ends()) == 1:
                self.poisoned = None
        else:
            outcome = self._store.write(changes)
        written(outcome)


class Process:
    """A process that a session started: what it received, and whether it lives."""

    def __init__(self, attempt: int) -> None:
        self.attempt = attempt
        self.is_open = False
        self.is_dead = False
        self.ignores_input = False
        """It was found ending: what is said to it is not written."""
        self.instructions: list[effects.Instruction] = []


class Command:
    def __init__(self, input: inputs.Command, before: Any) -> None:
        self.input = input
        self.before = before
        self.answers: list[Any] = []

    @property
    def answer(self) -> Any:
        assert len(self.answers) == 1, self.answers
        return self.answers[0]


class Actor:
    """A session in memory, as the runtime would keep it."""

    def __init__(self, world: ToyWorld, machine: Machine, end: End) -> None:
        self.world = world
        self.machine = machine
        self.end = end
        self.process: Process | None = None
        self.timers: dict[TimerKind, effects.Arm] = {}
        self.old_timers: list[effects.Arm] = []
        """Timers that were disarmed or re-armed: one may have been about to fire."""
        self.lookups: list[Callable[[], Input]] = []
        self.is_dropped = False
        self._inputs: deque[Input] = deque()
        self._busy = False
        self._offer_before: Any = None
        end.listener = self

    @property
    def id(self) -> str:
        return self.end.session_id

    @property
    def core(self) -> Any:
        return self.machine.core

    @property
    def scribe(self) -> Scribe:
        return self.machine.core.scribe

    # the log's listener

    def committed(self, number: int) -> None:
        self.step(inputs.Committed(number))

    def refused(self, number: int, problem: SandboxAgentError) -> None:
        self.step(inputs.Refused(number, problem))

    def stalled(self, problem: SandboxAgentError) -> None:
        self.step(inputs.Stalled(problem))

    def lost(self, error: Exception) -> None:
        self.world.lose(self)

    # steps

    def begin(self) -> None:
        self._carry_out(self.machine.begin())

    def step(self, input: Input) -> None:
        if self.is_dropped:
            return
        self._inputs.append(input)
        if self._busy:
            return
        self._busy = True
        while self._inputs and not self.is_dropped:
            self._take(self._inputs.popleft())
        self._busy = False
        if not self.is_dropped:
            self.world.settle_holds()

    def _take(self, input: Input) -> None:
        refused = isinstance(input, inputs.Refused) and self.core.offer is not None
        quiet = not self.core.inbox and not self.core.sends and not self.core.cancels
        before = self.state()
        had_offer = self.core.offer
        found = self.machine.step(input)
        if refused and quiet and self._offer_before is not None and not self._created_nothing():
            # A refused command left the machine as it was.
            assert self.state() == self._offer_before, (input, self.state(), self._offer_before)
        if self.core.offer is not had_offer and self.core.offer is not None:
            direct = isinstance(input, inputs.Send | inputs.Decide | inputs.Reply | inputs.Configure)
            self._offer_before = before if direct and had_offer is None else None
        self._carry_out(found)

    def _created_nothing(self) -> bool:
        return isinstance(self.core.phase, Gone | New)

    def state(self) -> Any:
        """What an offer may change, but for the link."""
        core, scribe = self.core, self.scribe
        turn = scribe.turn.id if scribe.turn else None
        record = msgspec.structs.replace(core.record, event_count=0)
        return (record, core.queue, core.phase, core.count, turn, tuple(scribe.pending), core.last)

    def _carry_out(self, found: list[effects.Effect]) -> None:
        for effect in found:
            if not self.is_dropped:
                self._do(effect)

    def _do(self, effect: effects.Effect) -> None:
        world = self.world
        match effect:
            case effects.Append():
                world.check_rules(draft.data for draft in effect.drafts)
                world.log.append(self.end, effect)
            case effects.Answer(command, result):
                world.answered(self, command, result)
            case effects.Connect(attempt, settings):
                world.check_settings(settings)
                assert self.process is None or self.process.is_dead, "two processes at once"
                self.process = Process(attempt)
            case effects.Instruct(attempt, instruction):
                self._instruct(attempt, instruction)
            case effects.Stop(attempt):
                assert self.process is not None
                assert self.process.attempt == attempt, "an effect names an old attempt"
                self.process.is_open = False
            case effects.Arm(kind):
                self._disarm(kind)
                self.timers[kind] = effect
            case effects.Disarm(kind):
                self._disarm(kind)
            case effects.LookUpKey(send, key):
                self.lookups.append(lambda: inputs.KeyFound(send, world.store.key(self.id, key)))
            case effects.LookUpAsked(command, id):
                known = world.store.was_asked
                self.lookups.append(lambda: inputs.AskedBefore(command, id, known(self.id, id)))
            case effects.Load(turn):
                self.lookups.append(lambda: inputs.Loaded(turn, world.store.queued(self.id, turn)))

    def _disarm(self, kind: TimerKind) -> None:
        if armed := self.timers.pop(kind, None):
            self.old_timers.append(armed)

    def _instruct(self, attempt: int, instruction: effects.Instruction) -> None:
        process = self.process
        assert process is not None
        assert (process.attempt, process.is_dead) == (attempt, False), "said to a process that is gone"
        if process.ignores_input:
            if isinstance(instruction, effects.GivePrompt):
                self._inputs.append(inputs.Undelivered(attempt))
            return
        process.instructions.append(instruction)
        self.world.instructed(self, instruction)

    # what the agent does

    def feed(self, what: Callable[[Scribe], object]) -> None:
        """The agent produces output: processed now, or once the host is not held."""
        self.world.queue_output(self, what)

    def feed_now(self, what: Callable[[Scribe], object]) -> None:
        scribe = self.scribe
        scribe.frame = Frame()
        try:
            what(scribe)
        except RecursionError:
            scribe.unparsed("too deep", "toy")
        if not scribe.drafts and not scribe.frame.touched:
            return
        pieces = self.machine.core.take_pieces()
        if pieces is None:
            self.step(OUTPUT_READY)
        else:
            self.world.log.append_pieces(self.end, pieces)


class ToyWorld:
    def __init__(self) -> None:
        self.store = MemoryStore()
        self.agent = AGENTS["mock"]
        self.commands: dict[int, Command] = {}
        self.accepted: dict[str, set[str]] = {}
        """Turns that were promised, by session."""
        self.prompts: dict[str, int] = {}
        """How often an agent got the prompt of each turn."""
        self.prompts_of_dead: set[str] = set()
        self.actors: dict[str, Actor] = {}
        self.checkers: dict[str, tuple[Checker, int]] = {}
        self.startable = True
        self.operator: tuple[PolicyRule, ...] = ()
        """The operator's rules, which may change at any time."""
        self._numbers = itertools.count(1)
        self._clock = itertools.count(1)
        self._given = self._give()
        self._new_life()

    def _give(self) -> Given:
        given = counted(lambda: float(next(self._clock)), lambda: moment(next(self._clock)))
        return msgspec.structs.replace(given, operator_rules=lambda: self.operator)

    def _new_life(self) -> None:
        self.loop = Loop()
        self.disk = Disk(self.store)
        self.log = Log(self.store, loop=cast(Any, self.loop), writer=self.disk)
        self.actors = {}
        self._held: list[tuple[Actor, Callable[[Scribe], object]]] = []
        self._exits: list[tuple[Actor, Process]] = []
        self._feeding = False

    # -- sessions -----------------------------------------------------------------------------

    def create(self, id: str, limits: SessionLimits = UNLIMITED) -> Command:
        settings = Settings(DIRECTORY)
        began = moment(next(self._clock))
        record = SessionRecord(
            id, "mock", settings, began, began, native_id=f"native-{id}", turn_timeout_ms=1, limits=limits
        )
        end = End(id, id, 0, None)
        create = inputs.Create(next(self._numbers), Secrets())
        command = self.commands[create.id] = Command(create, None)
        machine = Machine.create(self.agent, record, create, self._given, LIMITS)
        actor = self.actors[id] = command.before = Actor(self, machine, end)
        self.checkers[id] = (Checker(), 0)
        self.accepted[id] = set()
        actor.begin()
        return command

    def load(self, id: str) -> Actor:
        record = self.store.session(id)
        assert record is not None
        view = self._stored_view(id)
        end = End(id, id, record.event_count, view)
        end.announced = view.news
        machine = Machine.load(self.agent, record, self.store.call_ids(id), self._given, LIMITS)
        actor = self.actors[id] = Actor(self, machine, end)
        if record.open_since is not None:
            rows = self.store.read(id, record.open_since - 1, 10_000, 1 << 30)
            actor.step(inputs.Replay([decode_event(row.body) for row in rows]))
        pending = tuple(row.id for row in self.store.pending(id))
        heads = tuple(self.store.queue_heads(id))
        actor.step(inputs.Restored(pending, heads, self.startable))
        return actor

    def unload(self, id: str) -> None:
        actor = self.actors.pop(id)
        actor.is_dropped = True
        actor.end.listener = None

    def lose(self, actor: Actor) -> None:
        """An internal error: waiting callers get a 500, and the session is loaded again."""
        for command in self.commands.values():
            if not command.answers and command.before is actor:
                command.answers.append("lost")
        self.unload(actor.id)
        self._held = [held for held in self._held if held[0] is not actor]
        if self.store.session(actor.id) is not None:
            self.loop.call_soon(self._reload, actor.id)

    def _reload(self, id: str) -> None:
        if id not in self.actors and self.store.session(id) is not None:
            self.load(id)

    def pass_seconds(self, seconds: int) -> None:
        self._clock = itertools.count(next(self._clock) + seconds)

    def kill(self) -> None:
        """`kill -9`: only the store is left."""
        for command in self.commands.values():
            if not command.answers:
                command.answers.append("killed")
        self.prompts_of_dead |= set(self.prompts)
        self._new_life()
        self.startable = True
        for id in self.store.active_sessions():
            self.load(id)

    def ask(self, id: str, make: Callable[[int], inputs.Command]) -> Command:
        actor = self.actors.get(id) or self.load(id)
        number = next(self._numbers)
        command = self.commands[number] = Command(make(number), actor)
        actor.step(command.input)
        return command

    # -- what happens -------------------------------------------------------------------------

    def settle(self) -> None:
        """Let the log do what it can: everything that is appended is written, unless the disk refuses."""
        for _ in range(50):
            self.loop.run()
            if self.disk.is_busy:
                self.disk.finish()
            elif not self.loop.soon:
                return
            if self.disk.is_full and self.log.failure is not None:
                return

    def answer_lookups(self) -> None:
        for actor in list(self.actors.values()):
            lookups, actor.lookups = actor.lookups, []
            for question in lookups:
                actor.step(question())

    def open(self, id: str) -> None:
        actor = self.actors[id]
        process = actor.process
        assert process is not None
        process.is_open = True
        actor.step(inputs.Ready(process.attempt))

    def fail_open(self, id: str, *, exited: bool = False, gone: bool = False) -> None:
        actor = self.actors[id]
        assert actor.process is not None
        actor.process.is_dead = True
        problem = (
            AgentProcessExited("it exited", exitCode=1, agent="mock")
            if exited
            else Conflict("it cannot", agent="mock")
        )
        actor.step(inputs.OpenFailed(actor.process.attempt, problem, exited, gone))

    def close(self, id: str) -> None:
        """The process that was stopped is gone."""
        actor = self.actors[id]
        assert actor.process is not None
        actor.process.is_dead = True
        actor.step(inputs.Closed(actor.process.attempt))

    def exit(self, id: str) -> None:
        """The process ends by itself; its exit counts once all its output is processed."""
        actor = self.actors[id]
        process = actor.process
        assert process is not None
        process.is_dead, process.is_open = True, False
        actor.step(inputs.Dying(process.attempt))
        self._exits.append((actor, process))
        self.settle_holds()

    def leave(self, id: str, *, unread: bool) -> None:
        actor = self.actors[id]
        assert actor.process is not None
        failure = Failure("it was broken before", "agent_error", {}) if unread else None
        actor.process.ignores_input = True
        actor.step(inputs.Leaving(actor.process.attempt, failure))

    def fire(self, id: str, kind: TimerKind) -> None:
        actor = self.actors[id]
        armed = actor.timers.pop(kind)
        tag = "resumable" if kind == "idle" else armed.tag
        actor.step(inputs.Timer(kind, tag))

    def fire_late(self, id: str) -> None:
        """A timer fires that was disarmed at the same moment: it must have no effect."""
        actor = self.actors[id]
        old = actor.old_timers.pop()
        armed = actor.timers.get(old.kind)
        if armed is None or armed.tag != old.tag:
            before = actor.state()
            actor.step(inputs.Timer(old.kind, old.tag))
            assert actor.state() == before, f"an old timer had an effect: {old}"

    # -- the host: while it is held, output waits ----------------------------------------------------

    @property
    def is_holding(self) -> bool:
        return any(actor.machine.holding for actor in self.actors.values())

    def queue_output(self, actor: Actor, what: Callable[[Scribe], object]) -> None:
        self._held.append((actor, what))
        self.settle_holds()

    def settle_holds(self) -> None:
        if self._feeding:
            return
        self._feeding = True
        while (self._held or self._exits) and not self.is_holding:
            if self._held:
                actor, what = self._held.pop(0)
                if (
                    (not actor.is_dropped and isinstance(actor.core.link, Open))
                    or actor.process is None
                    or (
                        not actor.is_dropped
                        and actor.process is not None
                        and (actor, actor.process) in self._exits
                    )
                ):
                    actor.feed_now(what)
            else:
                actor, process = self._exits.pop(0)
                actor.step(inputs.Exited(process.attempt, 1, None, None, "it exited"))
        self._feeding = False

    # -- what clients and agents receive: only what is in the store -----------------------------------

    def answered(self, actor: Actor, id: int, result: Any) -> None:
        command = self.commands[id]
        command.answers.append(result)
        assert len(command.answers) == 1, f"answered twice: {command.input} {command.answers}"
        if not isinstance(result, SandboxAgentError):
            self._require_backed(actor, command.input, result)

    def _require_backed(self, actor: Actor, command: Any, result: Any) -> None:
        """A success is backed by the store at this very moment."""
        store, id = self.store, actor.id
        record = store.session(id)
        match command:
            case inputs.Create():
                assert record is not None
            case inputs.Send():
                assert isinstance(result, Accepted)
                self.accepted[id].add(result.turn_id)
                # A retry gets the answer of the first, whatever has become of the message since.
                turns = self._turns_of(id)
                known = {*turns, *self._withdrawn(id)}
                if not result.repeated:
                    assert record is not None
                    self._require_room(record, began=result.turn_id in turns)
                assert result.turn_id in known or store.queued(id, result.turn_id)
            case inputs.Withdraw(_, turn):
                assert store.queued(id, turn) is None
            case inputs.Decide(_, asked, decision):
                resolved = [
                    resolution
                    for resolution in self._data_of(id, PermissionResolved)
                    if resolution.permission_id == asked
                ]
                assert [resolution.status != "reject" for resolution in resolved] == [
                    decision.reply != "reject"
                ]
                assert asked not in {row.id for row in store.pending(id)}
            case inputs.Reply(_, asked):
                assert any(
                    resolution.question_id == asked for resolution in self._data_of(id, QuestionResolved)
                )
            case inputs.ReplyTool(_, call_id):
                assert self.tool_requests(id)[call_id].get("decided_by") == "client"
                assert call_id not in {row.id for row in store.pending(id)}
            case inputs.Configure() as wanted:
                assert record is not None
                for name in ("model", "permission_mode"):
                    value = getattr(wanted, name)
                    assert value is None or value in self._settings_seen(id, name)
            case inputs.Terminate():
                assert record is not None
                assert record.ended
                assert any(True for _ in self._data_of(id, SessionEnded))
                assert isinstance(actor.core.link, Absent)
                assert actor.process is None or actor.process.is_dead
            case inputs.Delete():
                assert record is None
            case inputs.Cancel():
                pass

    def _require_room(self, record: SessionRecord, *, began: bool) -> None:
        """A message is accepted only while no limit is reached."""
        before = msgspec.structs.replace(
            record,
            turns=record.turns - began,
            limits=msgspec.structs.replace(record.limits, max_session_seconds=None),
        )
        assert reached_limit(before, self._given.now) is None, "accepted although a limit was reached"

    def _settings_seen(self, id: str, name: str) -> set[Any]:
        # Another PATCH may have followed in the same commit.
        record = self.store.session(id)
        assert record is not None
        return {
            getattr(record.settings, name),
            *(getattr(settings, name) for settings in self.settings_written),
        }

    settings_written: list[Settings] = []

    def instructed(self, actor: Actor, instruction: effects.Instruction) -> None:
        """The agent gets nothing that is not written."""
        match instruction:
            case effects.GivePrompt(turn):
                assert turn in self._turns_of(actor.id), "prompted before the turn was written"
                assert turn not in self.prompts_of_dead, "prompted again after a kill"
                self.prompts[turn] = self.prompts.get(turn, 0) + 1
                assert self.prompts[turn] <= 3
            case effects.Switch(settings):
                self.check_settings(settings)
            case effects.GiveDecision(key):
                assert f"perm:{key}" in self._resolved_keys(actor), "decided before it was written"
            case effects.GiveToolResult(key):
                requests = self.tool_requests(actor.id).values()
                open_keys = {each["arguments"]["key"] for each in requests if "decided_by" not in each}
                assert key not in open_keys, "a tool's result was given before it was written"
            case _:
                pass

    def check_rules(self, written: Iterable[AnyData]) -> None:
        """Nothing that the operator denies is accepted, whoever answers."""
        for data in written:
            if isinstance(data, PermissionResolved) and data.status != "reject":
                denied = {rule.kind for rule in self.operator if rule.effect == "deny"}
                assert data.metadata.kind not in denied, "accepted against a rule"

    def check_settings(self, settings: Settings) -> None:
        """An agent under a rule that denies or asks is not in its own bypass."""
        bound = any(rule.effect != "allow" for rule in self.operator)
        assert not (bound and settings.permission_mode == "bypass"), "in bypass against a rule"

    def _resolved_keys(self, actor: Actor) -> set[str]:
        return {
            f"perm:{resolution.metadata.input['key']}"
            for resolution in self._data_of(actor.id, PermissionResolved)
            if resolution.metadata is not None
        }

    def tool_requests(self, id: str) -> dict[str, dict[str, Any]]:
        """The latest payload of each call of a client's tool, by its id."""
        items = [data.item for data in self._data_of(id, ItemStarted | ItemCompleted)]
        payloads = [item.content[1].json for item in items if _is_tool_request(item)]
        return {payload["call_id"]: payload for payload in payloads}

    def events(self, id: str) -> list[Event]:
        return [decode_event(row.body) for row in self.store.read(id, 0, 100_000, 1 << 30)]

    def _data_of(self, id: str, kind: Any) -> list[Any]:
        return [event.data for event in self.events(id) if isinstance(event.data, kind)]

    def _turns_of(self, id: str) -> list[str]:
        return [data.turn_id for data in self._data_of(id, TurnStarted)]

    # -- what must hold at any moment -------------------------------------------------------------

    def check(self) -> None:
        for id in list(self.checkers):
            if self.store.session(id) is not None:
                self._check_session(id)

    def _check_session(self, id: str) -> None:
        record = self.store.session(id)
        assert record is not None
        checker, seen = self.checkers[id]
        rows = self.store.read(id, seen, 100_000, 1 << 30)
        assert [row.sequence for row in rows] == list(range(seen + 1, seen + 1 + len(rows)))
        for row in rows:
            checker.check(decode_event(row.body))
        # The toy writes malformed output on purpose; reporting that is correct.
        assert [violation for violation in checker.violations if "unparsed" not in violation] == []
        self.checkers[id] = (checker, seen + len(rows))
        turns = self._turns_of(id)
        assert len(turns) == len(set(turns))
        assert record.turns == len(turns)
        self._check_ledger(id, record)
        waiting = {head.turn_id for head in self.store.queue_heads(id)}
        assert self.accepted[id] <= {*turns, *waiting, *self._withdrawn(id)}, "a promised message is lost"
        actor = self.actors.get(id)
        if actor is not None and not actor.is_dropped:
            self._check_actor(actor, record)

    def _check_ledger(self, id: str, record: SessionRecord) -> None:
        """Every turn that ended is booked once, with what it spent."""
        ended = self._data_of(id, TurnEnded)
        booked = {row.turn_id: row for row in self.store.ledger if row.session_id == id}
        assert [(turn.turn_id, turn.metadata.usage) for turn in ended] == [
            (turn.turn_id, booked[turn.turn_id].usage) for turn in ended
        ]
        spent = [turn.metadata.usage for turn in ended if turn.metadata.usage is not None]
        assert record.usage == (sum(spent, Usage()) if spent else None)
        assert (record.turn_usage is None) or record.turn_id is not None

    def _withdrawn(self, id: str) -> set[str]:
        bodies = (row.body for row in self.store.read(id, 0, 100_000, 1 << 30))
        found = set()
        for body in bodies:
            if b'"state":"withdrawn"' in body:
                found.add(msgspec.json.decode(body)["data"]["item"]["content"][1]["json"]["turn_id"])
        return found

    def _check_actor(self, actor: Actor, record: SessionRecord) -> None:
        end, core = actor.end, actor.core
        assert end.committed == record.event_count
        assert _bytes(end.view) == _bytes(self._stored_view(actor.id)), (
            end.view,
            self._stored_view(actor.id),
        )
        assert (core.scribe.turn is not None) == isinstance(core.phase, WITH_TURN), core.phase
        assert actor.machine.holding == (core.offer is not None or isinstance(core.phase, Handing))
        if isinstance(core.phase, Ended):
            assert isinstance(core.link, Absent)
        if isinstance(core.phase, Running) and core.offer is None:
            unlimited = msgspec.structs.replace(core.record.limits, max_session_seconds=None)
            checked = msgspec.structs.replace(core.record, limits=unlimited)
            assert exceeded_limit(checked, self._given.now) is None, "a turn runs beyond a limit"
        news = [msgspec.json.decode(body) for _, body in self.store.news(0, 1_000)]
        announced = [info for info in news if info["sessionId"] == actor.id and not info.get("deleted")]
        assert [info["state"] for info in announced] == [end.view.state] if end.view else True

    def _stored_view(self, id: str) -> Any:
        record = self.store.session(id)
        assert record is not None
        pending = [requested(row) for row in self.store.pending(id)]
        view = view_of(record, cast(Any, pending))
        actor = self.actors.get(id)
        # `event_count` is read from the log, never from the record.
        count = actor.end.view.record.event_count if actor and actor.end.view else record.event_count
        return view_of(msgspec.structs.replace(view.record, event_count=count), view.pending)

    # -- coming to rest -----------------------------------------------------------------------

    def come_to_rest(self) -> None:
        """The disk is free, processes answer, the agent finishes its turn: then nothing is open and no one waits."""
        self.disk.is_full = False
        for _ in range(300):
            self.settle()
            self.answer_lookups()
            moved = False
            for id, actor in list(self.actors.items()):
                if actor.is_dropped:
                    continue
                link, process = actor.core.link, actor.process
                if isinstance(link, Opening) and process is not None and not process.is_dead:
                    self.open(id)
                    moved = True
                elif (
                    process is not None
                    and not process.is_open
                    and not process.is_dead
                    and not isinstance(link, Opening)
                ):
                    self.close(id)
                    moved = True
                elif actor.scribe.turn is not None and isinstance(link, Open) and not self.is_holding:
                    actor.feed(lambda scribe: scribe.end_turn("end_turn"))
                    moved = True
                elif "cancel" in actor.timers:
                    self.fire(id, "cancel")
                    moved = True
            if (
                not moved
                and not self.disk.is_busy
                and not self.loop.soon
                and not any(actor.lookups for actor in self.actors.values())
            ):
                break
        self.check()
        for command in self.commands.values():
            assert command.answers, f"nobody answered {command.input}"
        for id, (checker, _) in self.checkers.items():
            loaded = self.actors.get(id)
            if self.store.session(id) is not None and (loaded is None or loaded.scribe.nothing_open()):
                checker.finish()
                assert [violation for violation in checker.violations if "unparsed" not in violation] == []


def moment(seconds: float) -> str:
    time = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return time.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def _bytes(view: Any) -> bytes:
    return msgspec.json.encode(view)


# -- what an agent may do -----------------------------------------------------------------------


def say(text: str) -> Callable[[Scribe], object]:
    return lambda scribe: scribe.text(f"text-{scribe.turn.id}", text) if scribe.turn else None


def ask_permission(key: str, kind: Any = "command") -> Callable[[Scribe], object]:
    rule = Rule("bash", key)
    return lambda scribe: (
        scribe.ask(key, Ask("bash", {"key": key}, kind, needs=(rule,))) if scribe.turn else None
    )


def ask_plan(key: str) -> Callable[[Scribe], object]:
    return lambda scribe: scribe.plan(key, "1. think") if scribe.turn else None


def too_deep(scribe: Scribe) -> None:
    value: Any = "x"
    for _ in range(3_000):
        value = [value]
    scribe.status("deep", value)


def spend(dollars: float) -> Callable[[Scribe], object]:
    """One more model call, which costs this much."""
    return lambda scribe: scribe.spend((scribe.spent or Usage()) + Usage(cost_usd=dollars))


def end_turn(scribe: Scribe) -> None:
    scribe.end_turn("end_turn")


def prompt(text: str = "hello") -> Prompt:
    return Prompt(text)


def allow() -> Decision:
    return Decision("once")


def _is_tool_request(item: Item) -> bool:
    match item.content:
        case (StatusPart(label), *_):
            return label == TOOL_REQUEST
    return False


def call_tool(key: str) -> Callable[[Scribe], object]:
    """The agent announces a call of the client's tool."""
    arguments = f'{{"key":"{key}"}}'
    return lambda scribe: (
        scribe.end_call(key, "mcp__client_tools__look", arguments, kind="mcp") if scribe.turn else None
    )
