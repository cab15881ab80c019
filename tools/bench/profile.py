"""`python -m tools.bench.profile MEASURE`: where the daemon's CPU time goes while it is measured.

Rounds alternate: in one the kernel counts what each thread uses, in the next a sampling profiler looks at all of them. It
slows the daemon down, so only its shares are used. What is not measured is not looked at: the start, and opening sessions.
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
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .daemons import Ours, Unusable
from .fetch import PROFILER, profiler_program
from .generator import CHECKOUT
from .measures import MEASURES, Bench
from .processes import ThreadUse, adopt_orphans, allow_many_files, descendants, end, threads
from .report import table_of

CACHE = CHECKOUT / ".cache" / "bench"
MEASURED = ("health", "first-event", "events", "pace-20", "pace-1")
"""Those that say which part of them counts."""
SAMPLES_A_SECOND = 500
STOP_SECONDS = 30.0

Stack = tuple[str, ...]
"""A thread, then its functions from the outermost to the one that runs."""

THREAD = re.compile(r"thread \((\d+)\): (.*)")


class Profiled(Ours):
    """Ours, looked at while it is measured."""

    def __init__(self, program: Path, profiler: Path, *, native: bool) -> None:
        super().__init__([program])
        self._record = [str(profiler), "record", "--format", "raw", "--threads", "--function"]
        self._record += ["--rate", str(SAMPLES_A_SECOND), *(["--native"] if native else [])]
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
            said = profiler.stdout.readline()
            if "Sampling process" not in said:
                raise Unusable(f"{PROFILER}: {said}{profiler.communicate()[0]}")
            yield
            profiler.send_signal(signal.SIGINT)
            profiler.communicate(timeout=STOP_SECONDS)
            self.samples += stacks(found)


def stacks(lines: Iterable[str]) -> Counter[Stack]:
    """What the profiler wrote: functions between semicolons, then how often they were seen."""
    found: Counter[Stack] = Counter()
    for line in lines:
        stack, _, count = line.rpartition(" ")
        found[tuple(stack.split(";"))] += int(count)
    return found


def own_and_total(samples: Counter[Stack]) -> list[tuple[str, int, int]]:
    """For each function the samples in which it ran, and those in which it or what it called did; the first ones first."""
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for (_, *functions), count in samples.items():
        own[functions[-1]] += count
        for function in set(functions):
            total[function] += count
    ordered = sorted(total, key=lambda function: (own[function], total[function]), reverse=True)
    return [(function, own[function], total[function]) for function in ordered]


def show(daemon: Profiled, top: int) -> str:
    """With events, figures are microseconds for each of them; without, milliseconds in all."""
    events = daemon.counted_events
    unit, scale = ("us per event", 1e6 / events) if events else ("ms", 1e3)
    names = {
        int(found[1]): found[2]
        for stack in daemon.samples
        if (found := THREAD.fullmatch(stack[0])) is not None
    }
    busy = {thread: use for thread, use in daemon.uses.items() if use.user + use.system > 0}
    cpu = sum(use.user + use.system for use in busy.values()) * scale
    per = events or 1
    thread_rows = [
        (
            names.get(thread, f"thread {thread}"),
            f"{use.user * scale:.1f}",
            f"{use.system * scale:.1f}",
            f"{use.sleeps / per:.2f}",
            f"{use.preemptions / per:.2f}",
        )
        for thread, use in sorted(busy.items())
    ]
    seen = daemon.samples.total() or 1
    function_rows = [
        (f"{own * cpu / seen:.1f}", f"{own / seen:.1%}", f"{total / seen:.1%}", function)
        for function, own, total in own_and_total(daemon.samples)[:top]
    ]
    switches = "per event" if events else "in all"
    return "\n".join(
        [
            f"{cpu:.0f} {unit}, {events} events counted, {daemon.samples.total()} samples.\n",
            table_of(("thread", f"user, {unit}", "system", f"sleeps {switches}", "preempted"), thread_rows),
            "",
            table_of((f"own, {unit}", "own", "with callees", "function"), function_rows),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.profile", description=__doc__)
    add = parser.add_argument
    add("measure", choices=MEASURED)
    add("--rounds", type=int, default=6, help="half of them are sampled (6)")
    add("--top", type=int, default=40, help="so many functions (40)")
    add("--native", action="store_true", help="functions of libraries in C, too; much slower")
    add("--stacks", type=Path, metavar="FILE", help="write whole stacks, as flame graphs are made from")
    add("--ours", type=Path, default=Path(sys.executable).parent / "sandbox-agent", help="our program")
    options = parser.parse_args()
    adopt_orphans()
    allow_many_files()
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=CACHE))
    try:
        daemon = Profiled(options.ours, profiler_program(CACHE), native=options.native)
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
