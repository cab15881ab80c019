"""Compares two commits, and says which figures of the newer one are worse.

Figures on a shared machine vary. One counts as worse only if it is worse by more than five per cent and by more than the
spread between the best and the worst round of the old commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from .daemons import Ledger, Side
from .report import Metric, load, machine, table_of, with_unit

TOLERANCE = 0.05
FAULTS = {
    "lost": "events lost",
    "doubled": "events duplicated",
    "hung": "requests hung",
    "wrong": "requests refused",
    "leaked": "processes leaked",
}

Verdict = Literal["worse", "better", ""]


class Compared(Struct):
    """One figure; lower is better."""

    name: str
    title: str
    unit: str
    old: float | None
    new: float | None
    ratio: float | None
    """New / old."""
    spread: float
    """From the best to the worst round of the old commit, in the same unit."""
    verdict: Verdict
    rounds: dict[Side, list[float | None]]


class Comparison(Struct):
    commit: str
    """The old commit."""
    machine: str
    load: str
    rounds: int
    seconds: float
    metrics: list[Compared]
    counts: dict[Side, Ledger]

    def worse(self) -> list[str]:
        """The titles of the figures that are worse."""
        figures = [figure.title for figure in self.metrics if figure.verdict == "worse"]
        return [*figures, *(title for title, old, new in self.faults() if new > old)]

    def faults(self) -> list[tuple[str, int, int]]:
        old, new = self.counts["old"], self.counts["new"]
        return [(title, getattr(old, name), getattr(new, name)) for name, title in FAULTS.items()]


def compare(
    commit: str, metrics: Iterable[Metric], counts: dict[Side, Ledger], rounds: int, seconds: float
) -> Comparison:
    compared = [_compared(metric) for metric in metrics]
    return Comparison(commit, machine(), load(), rounds, round(seconds, 1), compared, counts)


def _compared(metric: Metric) -> Compared:
    old, new = metric.median("old"), metric.median("new")
    known = [value for value in metric.rounds("old") if value is not None]
    spread = max(known) - min(known) if known else 0.0
    return Compared(
        name=metric.name,
        title=metric.title,
        unit=metric.unit,
        old=old,
        new=new,
        ratio=new / old if new is not None and old else None,
        spread=spread,
        verdict=_verdict(old, new, spread),
        rounds={side: metric.rounds(side) for side in ("old", "new")},
    )


def _verdict(old: float | None, new: float | None, spread: float) -> Verdict:
    if new is None or old is None:  # every round hung
        return "" if new is old else "worse" if new is None else "better"
    margin = max(abs(old) * TOLERANCE, spread)
    return "worse" if new - old > margin else "better" if old - new > margin else ""


def table(result: Comparison) -> str:
    head = ("metric", "old", "new", "new / old", "spread of old", "")
    rows = [_row(figure) for figure in result.metrics]
    for title, old, new in result.faults():
        rows.append((title, str(old), str(new), "", "", "worse" if new > old else ""))
    return table_of(head, rows)


def _row(figure: Compared) -> Sequence[str]:
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    spread = f"{figure.spread / figure.old:.0%}" if figure.old else ""
    return (
        figure.title,
        with_unit(figure.old, figure.unit),
        with_unit(figure.new, figure.unit),
        ratio,
        spread,
        figure.verdict,
    )


def footnote(result: Comparison) -> str:
    where = f"{result.rounds} rounds in {result.seconds:.0f} s on {result.machine}, load {result.load}"
    return f"{where}; old is {result.commit}."
