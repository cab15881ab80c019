"""`python -m tools.torture`: runs a campaign, shows its progress, and reports whether every promise was kept."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tools.page import fill, machine, wrapped

from .campaign import Campaign, Figures

CHECKOUT = Path(__file__).parents[2]
PAGE = CHECKOUT / "docs" / "contributing" / "reliability.mdx"
CACHE = CHECKOUT / ".cache" / "torture"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.torture", description=sys.modules[__package__ or ""].__doc__
    )
    add = parser.add_argument
    add("-n", "--rounds", type=int, default=200, help="how often to kill the daemon (default 200)")
    add("--users", type=int, default=6, help="concurrent users (default 6), each with two readers")
    add("--seed", type=int, help="repeat the choices of an earlier run; timing still varies")
    add("--write-docs", action="store_true", help=f"write the figures into {PAGE.relative_to(CHECKOUT)}")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else secrets.randbelow(1 << 31)
    print(f"torture: {options.rounds} rounds, {options.users} users, seed {seed}", file=sys.stderr)
    CACHE.mkdir(parents=True, exist_ok=True)
    # Not in /tmp, which may be in memory.
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=CACHE))
    began = time.monotonic()
    figures = asyncio.run(_run(Campaign(folder, seed, options.users), options.rounds))
    print(file=sys.stderr)
    text = _summary(figures, seed, time.monotonic() - began)
    print(text)
    if figures.broken:
        print(*(f"BROKEN: {promise}" for promise in figures.broken[:40]), sep="\n")
        print(f"The data directory was kept: {folder}")
        return 1
    shutil.rmtree(folder)
    if options.write_docs:
        fill(PAGE, "torture", text)
    return 0


async def _run(campaign: Campaign, rounds: int) -> Figures:
    try:
        return await campaign.run(rounds, lambda figures: _tell(figures, rounds))
    finally:
        await campaign.abandon()


def _tell(figures: Figures, rounds: int) -> None:
    width = 30
    done = figures.rounds * width // rounds
    line = (
        f"[{'#' * done}{'.' * (width - done)}] {figures.rounds}/{rounds} kills, {figures.messages} messages"
    )
    if sys.stderr.isatty():
        print(f"\r{line}", end="", file=sys.stderr, flush=True)
    elif figures.rounds % max(1, rounds // 10) == 0:
        print(line, file=sys.stderr, flush=True)


def _summary(figures: Figures, seed: int, seconds: float) -> str:
    typical, worst = figures.restart_ms()
    rows = {
        "`kill -9` under load": f"{figures.kills}",
        "of which killed again while starting": f"{figures.kills_while_starting}",
        "messages acknowledged": f"{figures.messages}",
        "answers acknowledged": f"{figures.answers}",
        "sessions": f"{figures.sessions}",
        "events in their logs": f"{figures.events}",
        "processes alive at the kills": f"{figures.processes}",
        "**broken promises** (lost, duplicated or changed events, gaps, broken rules, leftover processes)": f"**{len(figures.broken)}**",
        "restart until the first response, median / worst": f"{typical:.0f} / {worst:.0f} ms",
        "until all processes had ended, median / worst": _gone(figures.gone),
    }
    table = "\n".join(["| | |", "|---|---:|", *(f"| {name} | {value} |" for name, value in rows.items())])
    return wrapped(f"{table}\n\nSeed {seed}, {seconds:.0f} s on {machine()}.")


def _gone(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.0f} / {max(seconds) * 1000:.0f} ms" if seconds else "-"


if __name__ == "__main__":
    sys.exit(main())
