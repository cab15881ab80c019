"""A whole turn of a real agent: through our daemon, against the same turn of the same program driven natively.

Both sides have one warm process of their own and talk to the same scripted model. Turns alternate, native, ours, native, ours,
so that a noisy machine disturbs both.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sandbox_agent.testing import agent_cache

from . import processes
from .daemons import Daemon, Driving, Running, Unusable, running
from .generator import CHECKOUT, Driver
from .load import Outcome
from .measures import Bench, attach, carry_out, measure
from .native import NATIVE, Plan, Say
from .report import Metric

AGENTS = tuple(NATIVE)
PROMPTS = {
    "at once": "SCENARIO:text say hello",
    # Still faster than models are: a quarter of a second, a hundred pieces a second.
    "paced": 'SCRIPT:[{"type":"text","text":"' + "word " * 25 + '","chunk":5,"delay":0.01}]',
}
SECONDS = 30.0
WARM_UP = 12
"""Turns that do not count: an agent compiles what it often runs."""
TOGETHER = 10
PAUSE = 0.05
"""Seconds before each turn: an agent works on for a moment after it has ended its turn, and would disturb the other."""


@measure("turn")
def turn(bench: Bench) -> list[Metric]:
    """From handing over a prompt to the end of its turn; ours from posting it to `turn.ended` on an open event stream."""
    ours = next((daemon for daemon in bench.daemons if daemon.side == "ours"), None)
    if ours is None:
        return []
    with _scripted_model() as model_url:
        return [
            metric for agent in bench.agents or AGENTS for metric in _of_agent(bench, ours, agent, model_url)
        ]


def _of_agent(bench: Bench, ours: Daemon, agent: str, model_url: str) -> list[Metric]:
    together, warm_up = (TOGETHER // 2, 3) if bench.quick else (TOGETHER, WARM_UP)
    metrics = [
        Metric(
            f"turn_{agent}_{model}",
            f"turn of {agent}, model {model} (peer: native)",
            "ms",
            1.1,
            together=together,
        )
        for model in PROMPTS
    ]
    program = _installed(agent)
    home = bench.folder / f"native-{agent}"
    plan = Plan(agent, str(program), str(home), model_url)
    daemon = Driving(ours, agent, program, model_url)
    with (
        _natively(plan) as native,
        running(daemon, bench.folder) as through_us,
        through_us.session() as session,
    ):
        attach(through_us, session, 1)

        def pair(prompt: str) -> tuple[float | None, float | None]:
            time.sleep(PAUSE)
            natively = native.order(Say(prompt=prompt, seconds=SECONDS))
            time.sleep(PAUSE)
            ours = carry_out(through_us, daemon.turn(session, prompt, SECONDS))
            return _milliseconds(natively, f"{agent} natively"), _milliseconds(ours, f"{agent} through us")

        for prompt in [*PROMPTS.values()] * (warm_up // 2):
            pair(prompt)
        at_work = _agents_of(native, through_us)
        for metric, prompt in zip(metrics, PROMPTS.values(), strict=True):
            for _ in range(bench.rounds * together):
                natively, through = pair(prompt)
                metric.values["peer"].append(natively)
                metric.values["ours"].append(through)
                if (now := _agents_of(native, through_us)) != at_work:
                    raise Unusable(f"{agent}: a turn started a new process: {at_work} became {now}")
        turns = len(PROMPTS) * (warm_up // 2 + bench.rounds * together)
        bench.notes.append(
            f"{turns} turns each of {agent}: native by process {at_work[0]}, ours by {at_work[1]}"
        )
    return metrics


def _milliseconds(outcome: Outcome, what: str) -> float | None:
    if outcome.turn is None:
        return None
    if not any(outcome.delivered):
        raise Unusable(f"{what}: a turn without an answer")
    return outcome.turn * 1e3


def _agents_of(native: Driver, through_us: Running) -> tuple[list[int], list[int]]:
    """The processes of the agent on both sides; ours is the one child of its guardian."""
    below = processes.descendants(through_us.process.pid)
    guardians = [pid for pid in below if processes.runs_script(pid, "guardian.py")]
    return processes.children(native.pid), [
        pid for guardian in guardians for pid in processes.children(guardian)
    ]


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
    """In a process of its own, as a model is: its work is not counted as ours or the agent's."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sandbox_agent.testing.scripted_model"], cwd=CHECKOUT, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout
        yield process.stdout.readline().decode().strip()
    finally:
        process.kill()
        process.communicate()
