"""A key typed into a terminal of the daemon, compared with one typed into a terminal of this machine.

Two of our commits are compared with each other.
"""

from __future__ import annotations

import os
import pty
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from sandbox_agent.client import SandboxAgent

from .daemons import Ours, Running, Side, running
from .measures import Bench, measure
from .report import Metric

ALLOWED_MS = 5.0
"""How much later a key may appear than on this machine."""

Press = Callable[[], None]
"""Types a key and waits until it is shown."""


@measure("terminal")
def terminal(bench: Bench) -> list[Metric]:
    """From a key to its echo, at the pace of a person who types."""
    ours = [daemon for daemon in bench.daemons if isinstance(daemon, Ours)]
    if not ours:
        return []
    rival = f" (peer: a local terminal, plus {ALLOWED_MS:g} ms)" if len(ours) == 1 else ""
    metric = Metric("terminal_echo", f"key to echo in a terminal{rival}", "ms", 1.0)
    keys = 10 if bench.quick else 50
    with ExitStack() as stack:
        sides: dict[Side, tuple[Press, float]] = {}
        if len(ours) == 1:
            sides["peer"] = (stack.enter_context(_local_terminal()), ALLOWED_MS)
        for daemon in ours:
            target = stack.enter_context(running(daemon, bench.folder))
            sides[daemon.side] = (stack.enter_context(_remote_terminal(target)), 0.0)
        for _ in range(bench.rounds):
            for side, (press, allowed) in sides.items():
                metric.values[side].append(_median_ms(press, keys) + allowed)
    return [metric]


def _median_ms(press: Press, keys: int) -> float:
    taken = []
    for _ in range(keys):
        time.sleep(0.02)
        began = time.perf_counter()
        press()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1e3


@contextmanager
def _local_terminal() -> Iterator[Press]:
    ours, theirs = pty.openpty()
    program = subprocess.Popen(["cat"], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)

    def press() -> None:
        os.write(ours, b"x")
        os.read(ours, 1)

    try:
        yield press
    finally:
        program.kill()
        program.wait()
        os.close(ours)


@contextmanager
def _remote_terminal(target: Running) -> Iterator[Press]:
    with SandboxAgent.connect(f"http://127.0.0.1:{target.port}") as client:
        process = client.processes.create("cat", tty=True)
        with client.processes.terminal(process.id) as shown:

            def press() -> None:
                shown.write("x")
                next(shown)

            yield press
