"""`python -m tools.bench.profile MEASURE`: profiles the daemon's CPU time during a measurement.

Rounds alternate between the kernel's counters and a sampling profiler. The profiler slows the daemon down, so it is used
only to distribute a thread's time. The start and the opening of sessions are not profiled.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .daemons import Ours, Unusable
from .fetch import PROFILER, profiler_program
from .generator import CHECKOUT
from .measures import MEASURES, Bench
from .processes import (
    ThreadUse,
    adopt_orphans,
    allow_many_files,
    descendants,
    end,
    run_before_others,
    threads,
)
from .report import table_of

CACHE = CHECKOUT / ".cache" / "bench"
MEASURED = ("health", "first-event", "events", "pace-20", "pace-1")
"""The measurements that mark their measured part."""
SAMPLES_A_SECOND = 500
STOP_SECONDS = 30.0

Stack = tuple[str, ...]
"""A thread, then its functions from the outermost to the innermost."""

THREAD = re.compile(r"thread \((\d+)\): (.*)")
WAITS = (
    "epoll_pwait",
    "epoll_wait",
    "fdatasync",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "PyThread_acquire_lock_timed",
)
"""A thread in or just below one of these is waiting. (The profiler wakes threads and then counts them as running.)"""


class Profiled(Ours):
    """Our daemon, profiled while it is measured."""

    def __init__(self, program: Path, profiler: Path) -> None:
        super().__init__([program])
        self._record = [str(profiler), "record", "--format", "raw", "--threads", "--function", "--native"]
        self._record += ["--rate", str(SAMPLES_A_SECOND)]
        self._rounds = itertools.count()
        self.samples: Counter[Stack] = Counter()
        self.uses: dict[int, ThreadUse] = {}
        self.counted_events = 0

    @contextmanager
    def watched(self, pid: int) -> Iterator[None]:
        sampled = next(self._rounds) % 2
        with self._sampled(pid) if sampled else self._counted(pid):
            yield

    @contextmanager
    def _counted(self, pid: int) -> Iterator[None]:
        before, sent = threads(pid), self.ledger.sent
        yield
        for thread, use in threads(pid).items():
            used = use.plus(before.get(thread, ThreadUse()), -1)
            self.uses[thread] = self.uses.get(thread, ThreadUse()).plus(used)
        self.counted_events += self.ledger.sent - sent

    @contextmanager
    def _sampled(self, pid: int) -> Iterator[None]:
        with tempfile.NamedTemporaryFile("r") as found:
            profiler = subprocess.Popen(
                [*self._record, "--output", found.name, "--pid", str(pid)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert profiler.stdout
            line = profiler.stdout.readline()
            if "Sampling process" not in line:
                raise Unusable(f"{PROFILER}: {line}{profiler.communicate()[0]}")
            yield
            profiler.send_signal(signal.SIGINT)
            profiler.communicate(timeout=STOP_SECONDS)
            self.samples += stacks(found)


def stacks(lines: Iterable[str]) -> Counter[Stack]:
    """Parse the profiler's output: functions separated by semicolons, then a count."""
    found: Counter[Stack] = Counter()
    for line in lines:
        stack, _, count = line.rpartition(" ")
        found[tuple(stack.split(";"))] += int(count)
    return found


def costs(samples: Counter[Stack], uses: Mapping[int, ThreadUse]) -> dict[Stack, float]:
    """Distribute the seconds of each thread over its stacks."""
    working = {stack: count for stack, count in samples.items() if not _waits(stack)}
    seen: Counter[str] = Counter()
    for (thread, *_), count in working.items():
        seen[thread] += count
    used = {thread: use.cpu for thread in seen if (use := uses.get(_id_and_name(thread)[0]))}
    return {stack: used.get(stack[0], 0.0) * count / seen[stack[0]] for stack, count in working.items()}


def _waits(stack: Stack) -> bool:
    return any(frame.startswith(WAITS) for frame in stack[-3:])


def _id_and_name(thread: str) -> tuple[int, str]:
    found = THREAD.fullmatch(thread)
    return (int(found[1]), found[2]) if found else (0, thread)


def own_and_total(cost: Mapping[Stack, float]) -> list[tuple[str, float, float]]:
    """The cost of each function, without and with the functions it calls; most expensive first."""
    own: defaultdict[str, float] = defaultdict(float)
    total: defaultdict[str, float] = defaultdict(float)
    for (_, *functions), seconds in cost.items():
        own[functions[-1]] += seconds
        for function in set(functions):
            total[function] += seconds
    ordered = sorted(total, key=lambda function: (own[function], total[function]), reverse=True)
    return [(function, own[function], total[function]) for function in ordered]


def show(daemon: Profiled, top: int) -> str:
    """With events, figures are microseconds per event; otherwise milliseconds in total."""
    events = daemon.counted_events
    unit, scale = ("us per event", 1e6 / events) if events else ("ms", 1e3)
    cpu = sum(use.cpu for use in daemon.uses.values()) * scale
    functions = own_and_total(costs(daemon.samples, daemon.uses))
    ordered = [
        *functions[:top],
        *sorted((row for row in functions if _is_ours(row[0])), key=lambda row: -row[2])[:top],
    ]
    rows = [(f"{own * scale:.1f}", f"{total * scale:.1f}", function) for function, own, total in ordered]
    head = (f"own, {unit}", "with callees", "function")
    return "\n\n".join(
        [
            f"{cpu:.0f} {unit} ({events} events counted, {daemon.samples.total()} samples)",
            _thread_table(daemon, unit, scale),
            "By what they cost themselves:",
            table_of(head, rows[:top]),
            "Ours, by what they cost with all that they call:",
            table_of(head, rows[top:]),
        ]
    )


def _is_ours(function: str) -> bool:
    return "(sandbox_agent/" in function


def _thread_table(daemon: Profiled, unit: str, scale: float) -> str:
    names = dict(_id_and_name(stack[0]) for stack in daemon.samples)
    per = daemon.counted_events or 1
    rows = [
        (
            names.get(thread, f"thread {thread}"),
            *(f"{seconds * scale:.1f}" for seconds in (use.user, use.system)),
            *(f"{count / per:.2f}" for count in (use.sleeps, use.preemptions)),
        )
        for thread, use in sorted(daemon.uses.items())
        if use.cpu
    ]
    return table_of(("thread", f"user, {unit}", "system", "times it slept", "times it was preempted"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.profile", description=__doc__)
    add = parser.add_argument
    add("measure", choices=MEASURED)
    add("--rounds", type=int, default=6, help="rounds; half of them are sampled (default 6)")
    add("--top", type=int, default=25, help="number of functions to show (default 25)")
    add("--stacks", type=Path, metavar="FILE", help="write whole stacks, for flame graphs")
    add("--ours", type=Path, default=Path(sys.executable).parent / "sandbox-agent", help="our program")
    options = parser.parse_args()
    adopt_orphans()
    allow_many_files()
    if not run_before_others():
        print("profile: not root, so preempted threads count as running", file=sys.stderr)
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=CACHE))
    try:
        daemon = Profiled(options.ours, profiler_program(CACHE))
        MEASURES[options.measure](Bench([daemon], folder, options.rounds))
    except Unusable as error:
        sys.exit(f"profile: {error}")
    finally:
        end(descendants(os.getpid()))
        shutil.rmtree(folder, ignore_errors=True)
    print(show(daemon, options.top))
    if options.stacks:
        lines = (f"{';'.join(stack)} {count}\n" for stack, count in daemon.samples.most_common())
        options.stacks.write_text("".join(lines))


if __name__ == "__main__":
    main()
