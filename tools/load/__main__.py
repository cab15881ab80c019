"""`python -m tools.load`: 100 sessions, 1,000 readers, two minutes. Prints a table; exit code 1 if anything was lost."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import uvloop

from tools.bench.processes import allow_many_files
from tools.page import fill, machine

from .run import KINDS, Outcome, Run

CHECKOUT = Path(__file__).parents[2]
PAGE = CHECKOUT / "docs" / "contributing" / "reliability.mdx"
CACHE = CHECKOUT / ".cache" / "load"
MIB = 1 << 20
MEMORY_LIMIT = 192 * MIB
"""Memory that the work may add regardless of its volume: a session with readers buffers up to a megabyte."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.load", description=sys.modules[__package__ or ""].__doc__
    )
    add = parser.add_argument
    add("--sessions", type=int, default=100)
    add("--readers", type=int, default=1000)
    add("--seconds", type=float, default=120.0, help="how long to send new work (default 120)")
    add("--write-docs", action="store_true", help=f"write the figures into {PAGE.relative_to(CHECKOUT)}")
    options = parser.parse_args()
    allow_many_files()
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=CACHE))
    print(f"load: {options.sessions} sessions, {options.readers} readers ...", file=sys.stderr, flush=True)
    try:
        outcome = uvloop.run(Run(folder, options.sessions, options.readers, options.seconds).run())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = _table(outcome)
    print(text)
    print(*(f"WRONG: {problem}" for problem in outcome.wrong[:20]), sep="\n", end="")
    if outcome.failed or _added(outcome) > MEMORY_LIMIT:
        return 1
    if options.write_docs:
        fill(PAGE, "load", text)
    return 0


def _added(outcome: Outcome) -> int:
    return max(outcome.memory) - outcome.memory_attached


def _table(outcome: Outcome) -> str:
    slow, returning = (KINDS.count(kind) for kind in ("slow", "returning"))
    half = outcome.memory[len(outcome.memory) // 2]
    rows = {
        f"sessions / readers ({slow} of {len(KINDS)} slow, {returning} of {len(KINDS)} reconnecting)": (
            f"{outcome.sessions} / {outcome.readers}"
        ),
        "turns / events": f"{outcome.turns} / {outcome.events}",
        "events delivered / connections made": f"{outcome.delivered} / {outcome.connections}",
        "**events lost, duplicated or out of order**": f"**{outcome.lost + len(outcome.wrong)}**",
        "agent's write to reader, p50 / p99 / worst": (
            f"{outcome.late_ms(0.5):.1f} / {outcome.late_ms(0.99):.1f} / {outcome.late_ms(1.0):.0f} ms"
        ),
        "memory: idle / all attached": f"{outcome.memory_idle // MIB} / {outcome.memory_attached // MIB} MiB",
        "memory under load: halfway / maximum": f"{half // MIB} / {max(outcome.memory) // MIB} MiB",
        "the daemon's share of one CPU": f"{outcome.cpu / outcome.seconds:.0%}",
        "processes left": f"{outcome.left}",
    }
    table = "\n".join(["| | |", "|---|---:|", *(f"| {name} | {value} |" for name, value in rows.items())])
    return f"{table}\n\n{outcome.seconds:.0f} s of work on {machine()}."


if __name__ == "__main__":
    sys.exit(main())
