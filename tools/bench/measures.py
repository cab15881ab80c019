"""The measurements. Each alternates between the sides, so that noise affects both, and yields one or more metrics."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct, field

from .daemons import HEALTH, Daemon, Pace, Running, Unusable, running
from .load import Attach, Detach, Order, Outcome, Repeat, Together
from .report import Metric

LATE_ORDERS = 3
"""How often a side may hang before the run stops."""

FLOOD = 64

MEASURES: dict[str, Callable[[Bench], list[Metric]]] = {}


class Bench(Struct):
    daemons: Sequence[Daemon]
    folder: Path
    rounds: int
    quick: bool = False
    agents: Sequence[str] = ()
    """The real agents to measure; all if empty."""
    notes: list[str] = field(default_factory=list)
    """Notes to print below the figures."""

    def take_turns(self, sides: Sequence[Running]) -> Iterator[Running]:
        """Every side once per round; the side that starts alternates."""
        for number in range(self.rounds):
            yield from sides if number % 2 == 0 else reversed(sides)

    @contextmanager
    def all_running(self) -> Iterator[list[Running]]:
        with ExitStack() as stack:
            yield [stack.enter_context(running(daemon, self.folder)) for daemon in self.daemons]

    def restarted(self, rounds: int) -> Iterator[Running]:
        for number in range(rounds):
            for daemon in self.daemons if number % 2 == 0 else reversed(self.daemons):
                with running(daemon, self.folder) as target:
                    yield target


def measure(name: str) -> Callable[[Callable[[Bench], list[Metric]]], Callable[[Bench], list[Metric]]]:
    def register(function: Callable[[Bench], list[Metric]]) -> Callable[[Bench], list[Metric]]:
        MEASURES[name] = function
        return function

    return register


@measure("start")
def start(bench: Bench) -> list[Metric]:
    """From the start of the process to the first 200, in a new home; then its idle memory."""
    cold = Metric("cold_start", "cold start to the first health answer", "ms", 5)
    rss = Metric("idle_rss", "idle memory (RSS)", "MiB", 3)
    pss = Metric("idle_pss", "idle memory (PSS)", "MiB")
    for target in bench.restarted(bench.rounds):
        side = target.daemon.side
        cold.values[side].append(target.start_seconds * 1e3)
        time.sleep(0.2 if bench.quick else 1)
        memory = target.memory()
        rss.values[side].append(memory.rss / 2**20)
        pss.values[side].append(memory.pss / 2**20)
    return [cold, rss, pss]


@measure("health")
def health(bench: Bench) -> list[Metric]:
    metric = Metric("health", "CPU per health request", "us", 1.2)
    requests = 1600 if bench.quick else 6400
    with bench.all_running() as sides:
        for target in sides:
            carry_out(target, Repeat(path=HEALTH, requests=800, connections=16, seconds=30))
        for target in bench.take_turns(sides):
            with target.measured() as cost:
                outcome = carry_out(
                    target, Repeat(path=HEALTH, requests=requests, connections=16, seconds=30)
                )
            metric.values[target.daemon.side].append(None if outcome.hung else cost.per(requests))
    return [metric]


@measure("readers")
def readers(bench: Bench) -> list[Metric]:
    """The memory of an idle reader. Freed memory is not returned, so each round uses a new process."""
    metric = Metric("idle_reader", "memory per idle event stream reader (RSS)", "KiB", 0.05)
    count = 200 if bench.quick else 1000
    for target in bench.restarted(1 if bench.quick else min(bench.rounds, 3)):
        with target.session() as session:
            attach(target, session, 20)
            _turn(target, session, Pace(20))
            time.sleep(0.3)
            before = target.memory().rss
            attach(target, session, count)
            time.sleep(0.5)
            metric.values[target.daemon.side].append((target.memory().rss - before) / count / 1024)
            carry_out(target, Detach(seconds=5))
    return [metric]


@measure("first-event")
def first_event(bench: Bench) -> list[Metric]:
    """From posting a prompt to the first event at a reader, and to the first event of the agent."""
    first = Metric("first_event", "prompt to first event", "ms", 1.3)
    answer = Metric("first_answer", "prompt to first delta", "ms", 3)
    turns = 10 if bench.quick else 40
    with bench.all_running() as sides, ExitStack() as stack:
        sessions = {target.daemon.side: stack.enter_context(target.session()) for target in sides}
        for target in sides:
            attach(target, sessions[target.daemon.side], 1)
            _turn(target, sessions[target.daemon.side], Pace(5))
        for target in bench.take_turns(sides):
            with target.measured():
                outcomes = [_turn(target, sessions[target.daemon.side], Pace(1)) for _ in range(turns)]
            first.values[target.daemon.side].append(_median_ms(outcome.first_event for outcome in outcomes))
            answer.values[target.daemon.side].append(_median_ms(outcome.first_answer for outcome in outcomes))
    return [first, answer]


@measure("flood")
def flood(bench: Bench) -> list[Metric]:
    """From posting a prompt to what a reader sees first, beside 64 processes that write at full speed."""
    metric = Metric("flood_first_event", "prompt to first event, beside 64 processes that write", "ms", 1.3)
    for target in bench.restarted(bench.rounds):
        with target.session() as session:
            attach(target, session, 1)
            _turn(target, session, Pace(5))
            for _ in range(FLOOD):
                target.ask("POST", "/v1/processes", {"command": "yes"})
            try:
                outcomes = [_turn(target, session, Pace(1)) for _ in range(10 if bench.quick else 40)]
            finally:
                for number in range(1, FLOOD + 1):
                    target.ask("POST", f"/v1/processes/proc_{number}/kill?waitMs=0")
            values = metric.values[target.daemon.side]
            values.append(_median_ms(outcome.first_event for outcome in outcomes))
    return [metric]


def _median_ms(seconds: Iterable[float | None]) -> float | None:
    known = [value * 1e3 for value in seconds if value is not None]
    return statistics.median(known) if known else None


@measure("events")
def events(bench: Bench) -> list[Metric]:
    share = 0.25 if bench.quick else 1
    plans = [
        ("10/ms, 1 reader", 1, Pace(int(6000 * share), 1, 10), 1.0),
        ("1/ms, 1 reader", 1, Pace(int(1500 * share), 1, 1), 2.0),
        ("10/ms, 50 readers", 50, Pace(int(2000 * share), 1, 10), 0.12),
        ("1/ms, 50 readers", 50, Pace(int(1000 * share), 1, 1), 0.12),
    ]
    with bench.all_running() as sides:
        return [_cpu_per_event(bench, sides, *plan) for plan in plans]


def _cpu_per_event(
    bench: Bench, sides: Sequence[Running], title: str, readers: int, pace: Pace, aim: float
) -> Metric:
    """Per event that a reader received: lost events do not count."""
    name = "event_" + title.replace("/", "_per_").replace(", ", "_").replace(" ", "_")
    metric = Metric(name, f"CPU per event, {title}", "us", aim)
    with ExitStack() as stack:
        sessions = {target.daemon.side: stack.enter_context(target.session()) for target in sides}
        for target in sides:
            attach(target, sessions[target.daemon.side], readers)
            _turn(target, sessions[target.daemon.side], Pace(200, 1, 1))
        for target in bench.take_turns(sides):
            with target.measured() as cost:
                outcome = _turn(target, sessions[target.daemon.side], pace)
            value = None if outcome.hung else cost.per(sum(outcome.delivered))
            metric.values[target.daemon.side].append(value)
        for target in sides:
            carry_out(target, Detach(seconds=5))
    return metric


class Crowd(Struct, frozen=True):
    """Concurrent sessions at the pace of real models, out of step, with one reader each."""

    sessions: int
    pace: Pace
    aim: float

    @property
    def title(self) -> str:
        rate = 1000 * self.pace.burst // self.pace.every_ms
        many = "s" if self.sessions > 1 else ""
        return f"CPU per event, {self.sessions} session{many} at {rate}/s"


@measure("pace-20")
def pace_of_many(bench: Bench) -> list[Metric]:
    return [_at_the_pace_of_models(bench, Crowd(20, Pace(50 if bench.quick else 200, 20), 1.2))]


@measure("pace-1")
def pace_of_one(bench: Bench) -> list[Metric]:
    return [_at_the_pace_of_models(bench, Crowd(1, Pace(100 if bench.quick else 400, 10), 1.5))]


def _at_the_pace_of_models(bench: Bench, crowd: Crowd) -> Metric:
    """Few events per second and session: the cost is how often the daemon wakes up."""
    metric = Metric(f"pace_{crowd.sessions}", crowd.title, "us", crowd.aim)
    with bench.all_running() as sides, ExitStack() as stack:
        sessions = {
            target.daemon.side: stack.enter_context(target.sessions(crowd.sessions)) for target in sides
        }
        for target in sides:
            for session in sessions[target.daemon.side]:
                attach(target, session, 1)
            _turns(target, sessions[target.daemon.side], Pace(50, crowd.pace.every_ms))
        for target in bench.take_turns(sides):
            with target.measured() as cost:
                outcome = _turns(target, sessions[target.daemon.side], crowd.pace)
            value = None if outcome.hung else cost.per(sum(outcome.delivered))
            metric.values[target.daemon.side].append(value)
        for target in sides:
            carry_out(target, Detach(seconds=5))
    return metric


def attach(target: Running, session: str, readers: int) -> None:
    path = target.daemon.events_path(session)
    carry_out(target, Attach(path=path, readers=readers, marks=target.daemon.marks, seconds=20))


def _turn(target: Running, session: str, pace: Pace) -> Outcome:
    outcome = carry_out(target, target.daemon.turn(session, pace.prompt, _limit(pace)))
    _enter(target, pace, outcome)
    return outcome


def _turns(target: Running, sessions: Sequence[str], pace: Pace) -> Outcome:
    """One turn per session, started one after another within the time between two events."""
    seconds = _limit(pace)
    turns = tuple(target.daemon.turn(session, pace.prompt, seconds) for session in sessions)
    apart = pace.every_ms / 1000 / len(sessions)
    outcome = carry_out(target, Together(turns=turns, apart=apart, seconds=seconds))
    _enter(target, pace, outcome)
    return outcome


def _limit(pace: Pace) -> float:
    return 10 + 4 * pace.events * pace.every_ms / pace.burst / 1000


def _enter(target: Running, pace: Pace, outcome: Outcome) -> None:
    ledger = target.daemon.ledger
    ledger.doubled += outcome.doubled
    for count in outcome.delivered:
        ledger.sent += pace.events
        ledger.lost += max(0, pace.events - count)
        ledger.doubled += max(0, count - pace.events)  # the same event under a new id


def carry_out(target: Running, order: Order) -> Outcome:
    outcome = target.load.order(order)
    ledger = target.daemon.ledger
    ledger.hung += outcome.hung
    ledger.wrong += outcome.wrong
    ledger.late_orders += outcome.hung > 0
    if ledger.late_orders > LATE_ORDERS:
        raise Unusable(f"{target.daemon.side}: hung again and again, last in {order}")
    return outcome
