"""`python -m tools.cluster_torture`: runs a campaign and reports whether every promise was kept."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import shutil
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
        prog="python -m tools.cluster_torture", description=sys.modules[__package__ or ""].__doc__
    )
    add = parser.add_argument
    add("-n", "--rounds", type=int, default=200, help="how many faults (default 200)")
    add("--users", type=int, default=6, help="concurrent users (default 6), each with two readers")
    add("--seed", type=int, help="repeat the choices of an earlier run; timing still varies")
    add("--write-docs", action="store_true", help=f"write the figures into {PAGE.relative_to(CHECKOUT)}")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else secrets.randbelow(1 << 31)
    print(f"torture: {options.rounds} faults, {options.users} users, seed {seed}", file=sys.stderr)
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="cluster-", dir=CACHE))
    began = time.monotonic()
    figures = asyncio.run(_run(folder, seed, options.users, options.rounds))
    text = _summary(figures, seed, time.monotonic() - began)
    print(text)
    if figures.broken:
        print(*(f"BROKEN: {promise}" for promise in figures.broken[:40]), sep="\n")
        print(f"The data directories were kept: {folder}")
        return 1
    shutil.rmtree(folder)
    if options.write_docs:
        fill(PAGE, "cluster", text)
    return 0


async def _run(folder: Path, seed: int, users: int, rounds: int) -> Figures:
    campaign = Campaign(folder, seed, users)
    try:
        return await campaign.run(rounds, lambda figures: _tell(figures, rounds))
    finally:
        await campaign.abandon()


def _tell(figures: Figures, rounds: int) -> None:
    if figures.rounds % max(1, rounds // 20) == 0:
        line = f"{figures.rounds}/{rounds} faults, {figures.messages} messages"
        print(line, file=sys.stderr, flush=True)


def _summary(figures: Figures, seed: int, seconds: float) -> str:
    rows = {
        **{name: f"{times}" for name, times in sorted(figures.faults.items())},
        "messages acknowledged": f"{figures.messages}",
        "answers acknowledged": f"{figures.answers}",
        "sessions": f"{figures.sessions}",
        "events in their logs": f"{figures.events}",
        "**broken promises** (lost, duplicated or changed events, gaps, broken rules, leftover processes)": f"**{len(figures.broken)}**",
    }
    table = "\n".join(["| | |", "|---|---:|", *(f"| {name} | {value} |" for name, value in rows.items())])
    return wrapped(f"{table}\n\nSeed {seed}, {seconds:.0f} s on {machine()}.")


if __name__ == "__main__":
    sys.exit(main())
