"""`python -m tools.bench`: run the measures and print the table."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from .daemons import Daemon, Ours, Peer, Unusable
from .fetch import peer_program
from .generator import CHECKOUT
from .measures import MEASURES, Bench
from .processes import adopt_orphans, allow_many_files, descendants, end
from .report import Metric, footnote, report, table, write_docs, write_json
from .turns import AGENTS

CACHE = CHECKOUT / ".cache" / "bench"
PAGE = CHECKOUT / "docs" / "benchmarks.md"


def main() -> None:
    parser = _parser()
    options = parser.parse_args()
    if options.write_docs and (options.quick or options.only or options.side or options.agent):
        parser.error("--write-docs wants the whole run: no --quick, --only, --side or --agent")
    signal.signal(signal.SIGTERM, _interrupted)
    signal.signal(signal.SIGALRM, _interrupted)
    signal.alarm(options.limit)
    adopt_orphans()
    allow_many_files()
    measures = options.only or list(MEASURES)
    daemons = _daemons(options, measures)
    CACHE.mkdir(parents=True, exist_ok=True)
    # Beside the checkout and not in /tmp, which may be memory: writing to disk is part of what is measured.
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=CACHE))
    began = time.monotonic()
    rounds = options.rounds or (2 if options.quick else 5)
    bench = Bench(daemons, folder, rounds, options.quick, options.agent or ())
    try:
        metrics = _run(bench, measures)
    except Unusable as error:
        sys.exit(f"bench: {error}")
    finally:
        end(descendants(os.getpid()))
        shutil.rmtree(folder, ignore_errors=True)
    counts = {daemon.side: daemon.ledger for daemon in daemons}
    result = report(metrics, counts, bench.rounds, time.monotonic() - began, bench.notes)
    print(table(result))
    print(f"\n{footnote(result)}")
    if options.json:
        write_json(result, options.json)
    if options.write_docs:
        write_docs(result, PAGE)


def _run(bench: Bench, names: list[str]) -> list[Metric]:
    metrics: list[Metric] = []
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        metrics += MEASURES[name](bench)
    return metrics


def _daemons(options: argparse.Namespace, measures: list[str]) -> list[Daemon]:
    sides: list[Daemon] = []
    if options.side != "peer":
        sides.append(Ours(options.ours))
    if options.side != "ours" and set(measures) != {"turn"}:  # which runs without the peer
        sides.append(Peer(options.peer or peer_program(CACHE), quiet=options.peer_quiet))
    return sides


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench", description=sys.modules[__package__ or ""].__doc__
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="small loads and two rounds: does it work, not how fast is it")
    add("--rounds", type=int, help="rounds of each measure (5)")
    add("--only", action="append", choices=list(MEASURES), help="run this measure alone; may be repeated")
    add("--agent", action="append", choices=AGENTS, help="measure the turns of this agent; may be repeated")
    add("--side", choices=["ours", "peer"], help="run one side alone; there are no ratios then")
    add("--json", type=Path, metavar="FILE", help="write all values to this file")
    add("--write-docs", action="store_true", help=f"write the table into {PAGE.relative_to(CHECKOUT)}")
    add("--peer-quiet", action="store_true", help="switch the peer's request log off (it is on as shipped)")
    add("--ours", type=Path, default=Path(sys.executable).parent / "sandbox-agent", help="our program")
    add("--peer", type=Path, help="the peer's program (fetched with npm when not given)")
    add("--limit", type=int, default=900, help="give up after so many seconds (900)")
    return parser


def _interrupted(number: int, frame: FrameType | None) -> None:
    sys.exit(f"bench: ended by {signal.Signals(number).name}")


if __name__ == "__main__":
    main()
