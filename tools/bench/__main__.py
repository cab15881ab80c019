"""`python -m tools.bench`: runs the measurements and prints the table."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from . import commits, comparison
from . import downloads as downloads  # its measure is in the table, like the next ones
from . import screenshots as screenshots
from . import terminals as terminals
from .daemons import Daemon, Ledger, Ours, Peer, Side, Unusable
from .fetch import peer_program
from .generator import CHECKOUT
from .measures import MEASURES, Bench
from .processes import adopt_orphans, allow_many_files, descendants, end
from .report import Metric, footnote, report, table, write_docs, write_json
from .turns import AGENTS

CACHE = CHECKOUT / ".cache" / "bench"
PAGE = CHECKOUT / "docs" / "contributing" / "benchmarks.mdx"


def main() -> int:
    parser = _parser()
    options = parser.parse_args()
    partial = options.quick or options.only or options.side or options.agent or options.against
    if options.write_docs and partial:
        parser.error("--write-docs wants the whole run: no --quick, --only, --side, --agent or --against")
    if options.against and options.side:
        parser.error("--against runs two commits of ours: there is no --side")
    signal.signal(signal.SIGTERM, _interrupted)
    signal.signal(signal.SIGALRM, _interrupted)
    signal.alarm(options.limit)
    adopt_orphans()
    allow_many_files()
    CACHE.mkdir(parents=True, exist_ok=True)
    # Not in /tmp, which may be in memory: writing to disk is part of the measurement.
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=CACHE.resolve()))
    try:
        return _against_commit(options, folder) if options.against else _against_peer(options, folder)
    except Unusable as error:
        sys.exit(f"bench: {error}")
    finally:
        end(descendants(os.getpid()))
        shutil.rmtree(folder, ignore_errors=True)


def _against_peer(options: argparse.Namespace, folder: Path) -> int:
    measures = _measures(options)
    daemons: list[Daemon] = []
    if options.side != "peer":
        daemons.append(Ours([options.ours]))
    if options.side != "ours" and set(measures) != {"turn"}:  # which runs without the peer
        daemons.append(Peer(options.peer or peer_program(CACHE), quiet=options.peer_quiet))
    bench = _bench(options, daemons, folder)
    began = time.monotonic()
    metrics = _run(bench, measures)
    result = report(metrics, _counts(bench), bench.rounds, time.monotonic() - began, bench.notes)
    print(table(result))
    print(f"\n{footnote(result)}")
    if options.json:
        write_json(result, options.json)
    if options.write_docs:
        write_docs(result, PAGE)
    return 0


def _against_commit(options: argparse.Namespace, folder: Path) -> int:
    """Exit code 1 if something is worse."""
    commit = commits.full_name(options.against)
    with commits.old_and_new(commit, folder, CACHE.resolve()) as daemons:
        bench = _bench(options, daemons, folder)
        began = time.monotonic()
        metrics = _run(bench, _measures(options))
    result = comparison.compare(commit, metrics, _counts(bench), bench.rounds, time.monotonic() - began)
    print(comparison.table(result))
    print(f"\n{comparison.footnote(result)}")
    if options.json:
        write_json(result, options.json)
    return 1 if result.worse() else 0


def _bench(options: argparse.Namespace, daemons: Sequence[Daemon], folder: Path) -> Bench:
    rounds = options.rounds or (2 if options.quick else 5)
    return Bench(daemons, folder, rounds, options.quick, options.agent or ())


def _measures(options: argparse.Namespace) -> list[str]:
    return [name for names in options.only or () for name in names] or list(MEASURES)


def _counts(bench: Bench) -> dict[Side, Ledger]:
    return {daemon.side: daemon.ledger for daemon in bench.daemons}


def _run(bench: Bench, names: Sequence[str]) -> list[Metric]:
    metrics: list[Metric] = []
    for number, name in enumerate(names, 1):
        print(f"measuring {name} ({number} of {len(names)}) ...", file=sys.stderr, flush=True)
        metrics += MEASURES[name](bench)
    return metrics


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench", description=sys.modules[__package__ or ""].__doc__
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="small loads and two rounds, to check that everything works")
    add("--rounds", type=int, help="rounds of each measurement (default 5)")
    add(
        "--only",
        action="append",
        type=_names,
        metavar="MEASURE,...",
        help=f"only these: {', '.join(MEASURES)}",
    )
    add("--agent", action="append", choices=AGENTS, help="measure the turns of this agent; repeatable")
    add("--against", metavar="COMMIT", help="compare with another commit instead of the peer")
    add("--side", choices=["ours", "peer"], help="run only one side, without ratios")
    add("--json", type=Path, metavar="FILE", help="write all values to this file")
    add("--write-docs", action="store_true", help=f"write the table into {PAGE.relative_to(CHECKOUT)}")
    add("--peer-quiet", action="store_true", help="turn off the peer's request log, which is on by default")
    add("--ours", type=Path, default=Path(sys.executable).parent / "sandbox-agent", help="our program")
    add("--peer", type=Path, help="the peer's program (default: installed with npm)")
    add("--limit", type=int, default=900, help="stop after this many seconds (default 900)")
    return parser


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in MEASURES]:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; choose from {', '.join(MEASURES)}")
    return names


def _interrupted(number: int, frame: FrameType | None) -> None:
    sys.exit(f"bench: ended by {signal.Signals(number).name}")


if __name__ == "__main__":
    sys.exit(main())
