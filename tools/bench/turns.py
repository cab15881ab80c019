"""A whole turn of a real agent through our daemon, compared with the same turn through its native protocol.

Each side has one warm process and uses the same scripted model. Turns alternate between the sides, so that noise affects
both. Two of our commits are compared in the same way.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from sandbox_agent.testing import agent_cache

from . import processes
from .daemons import Driving, Ours, Running, Side, Unusable, running
from .generator import CHECKOUT, Driver
from .load import Outcome
from .measures import Bench, attach, carry_out, measure
from .native import NATIVE, Plan, Say
from .report import Metric

AGENTS = tuple(NATIVE)
PROMPTS = {
    "at once": "SCENARIO:text say hello",
    # Still faster than real models: a hundred pieces per second for a quarter of a second.
    "paced": 'SCRIPT:[{"type":"text","text":"' + "word " * 25 + '","chunk":5,"delay":0.01}]',
}
SECONDS = 30.0
WARM_UP = 12
"""Warm-up turns: an agent compiles code that runs often."""
TOGETHER = 10
PAUSE = 0.05
"""Seconds before each turn: an agent works for a moment after its turn has ended, which would disturb the other."""


class Player(NamedTuple):
    """One side."""

    name: str
    say: Callable[[str], Outcome]
    agents: Callable[[], list[int]]
    """The processes of its agent."""


@measure("turn")
def turn(bench: Bench) -> list[Metric]:
    """From sending a prompt to the end of its turn; ours from posting it to `turn.ended` on an open event stream."""
    ours = [daemon for daemon in bench.daemons if isinstance(daemon, Ours)]
    if not ours:
        return []
    with _scripted_model() as model_url:
        return [
            metric for agent in bench.agents or AGENTS for metric in _of_agent(bench, ours, agent, model_url)
        ]


def _of_agent(bench: Bench, ours: Sequence[Ours], agent: str, model_url: str) -> list[Metric]:
    together, warm_up = (TOGETHER // 2, 3) if bench.quick else (TOGETHER, WARM_UP)
    rival = " (peer: native)" if len(ours) == 1 else ""
    metrics = {
        prompt: Metric(
            f"turn_{agent}_{model}", f"turn of {agent}, model {model}{rival}", "ms", 1.1, together=together
        )
        for model, prompt in PROMPTS.items()
    }
    with ExitStack() as stack:
        players = _players(stack, bench, ours, agent, model_url)
        for prompt in [*PROMPTS.values()] * (warm_up // 2):
            _play(players, prompt, agent)
        at_work = {player.name: player.agents() for player in players.values()}
        for prompt, metric in metrics.items():
            for _ in range(bench.rounds * together):
                for side, value in _play(players, prompt, agent).items():
                    metric.values[side].append(value)
                if (now := {player.name: player.agents() for player in players.values()}) != at_work:
                    raise Unusable(f"{agent}: a turn started a new process: {at_work} became {now}")
    turns = len(PROMPTS) * (warm_up // 2 + bench.rounds * together)
    workers = ", ".join(f"{name} by process {pids}" for name, pids in at_work.items())
    bench.notes.append(f"{turns} turns each of {agent}: {workers}")
    return [*metrics.values()]


def _players(
    stack: ExitStack, bench: Bench, ours: Sequence[Ours], agent: str, model_url: str
) -> dict[Side, Player]:
    """The two sides: two of our commits, or ours and the agent itself."""
    program = _installed(agent)
    players: dict[Side, Player] = {}
    if len(ours) == 1:
        plan = Plan(agent, str(program), str(bench.folder / f"native-{agent}"), model_url)
        players["peer"] = _native_player(stack.enter_context(_natively(plan)))
    for daemon in ours:
        through = stack.enter_context(running(Driving(daemon, agent, program, model_url), bench.folder))
        session = stack.enter_context(through.session())
        attach(through, session, 1)
        players[daemon.side] = _player_through(through, session)
    return players


def _native_player(native: Driver) -> Player:
    return Player(
        "native",
        lambda prompt: native.order(Say(prompt=prompt, seconds=SECONDS)),
        lambda: processes.children(native.pid),
    )


def _player_through(through: Running, session: str) -> Player:
    return Player(
        through.daemon.side,
        lambda prompt: carry_out(through, through.daemon.turn(session, prompt, SECONDS)),
        lambda: _agents_of(through),
    )


def _play(players: Mapping[Side, Player], prompt: str, agent: str) -> dict[Side, float | None]:
    taken = {}
    for side, player in players.items():
        time.sleep(PAUSE)
        taken[side] = _milliseconds(player.say(prompt), f"{agent}, {player.name}")
    return taken


def _milliseconds(outcome: Outcome, what: str) -> float | None:
    if outcome.turn is None:
        return None
    if not any(outcome.delivered):
        raise Unusable(f"{what}: a turn without an answer")
    return outcome.turn * 1e3


def _agents_of(through: Running) -> list[int]:
    """The agent is the only child of its guardian."""
    below = processes.descendants(through.process.pid)
    guardians = [pid for pid in below if processes.runs_script(pid, "guardian.py")]
    return [pid for guardian in guardians for pid in processes.children(guardian)]


def _installed(agent: str) -> Path:
    try:
        return agent_cache.install(agent)
    except agent_cache.CannotInstall as error:
        raise Unusable(f"{agent}: {error}") from error


@contextmanager
def _natively(plan: Plan) -> Iterator[Driver]:
    driver = Driver("native", msgspec.json.encode(plan).decode())
    try:
        yield driver
    finally:
        family = processes.descendants(driver.pid)
        driver.close()
        processes.end(family)


@contextmanager
def _scripted_model() -> Iterator[str]:
    """Runs in a separate process, so that its CPU time counts for neither side."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sandbox_agent.testing.scripted_model"], cwd=CHECKOUT, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout
        yield process.stdout.readline().decode().strip()
    finally:
        process.kill()
        process.communicate()
