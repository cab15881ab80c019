"""Writes the results as a table, as JSON, and into the documentation."""

from __future__ import annotations

import os
import platform
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, field

from tools.page import fill

from .daemons import Ledger, Side


class Metric(Struct):
    """One figure of both sides, with a value per round; round i of one side belongs to round i of the other."""

    name: str
    title: str
    unit: str
    aim: float | None = None
    """The highest acceptable ratio ours / theirs."""
    values: dict[Side, list[float | None]] = field(default_factory=lambda: defaultdict(list))
    """None for a round that hung: it is left out of the ratios."""
    together: int = 1
    """Number of consecutive values whose median is one round: a single turn says little on a noisy machine."""

    def median(self, side: Side) -> float | None:
        return _median(self.values[side])

    def ratio(self) -> float | None:
        """The median of the ratios; for grouped values, the ratio of their medians."""
        if self.together == 1:
            return _median(self.ratios())
        return _divided(self.median("ours"), self.median("peer"))

    def ratios(self) -> list[float]:
        pairs = zip(self.rounds("ours"), self.rounds("peer"), strict=False)
        return [ratio for ours, peer in pairs if (ratio := _divided(ours, peer)) is not None]

    def rounds(self, side: Side) -> list[float | None]:
        values, size = self.values[side], self.together
        return [_median(values[start : start + size]) for start in range(0, len(values), size)]


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _divided(ours: float | None, peer: float | None) -> float | None:
    return ours / peer if ours is not None and peer else None


class Summary(Struct):
    """A metric in JSON."""

    name: str
    title: str
    unit: str
    aim: float | None
    ours: float | None
    peer: float | None
    ratio: float | None
    ratio_min: float | None
    ratio_max: float | None
    rounds: dict[Side, list[float | None]]


class Report(Struct):
    machine: str
    rounds: int
    seconds: float
    metrics: list[Summary]
    counts: dict[Side, Ledger]
    load: str = ""
    """The load of the machine at the end of the run, over 1, 5 and 15 minutes."""
    notes: list[str] = []


def report(
    metrics: Iterable[Metric],
    counts: dict[Side, Ledger],
    rounds: int,
    seconds: float,
    notes: Sequence[str] = (),
) -> Report:
    summaries = [_summary(metric) for metric in metrics]
    return Report(machine(), rounds, round(seconds, 1), summaries, counts, load(), list(notes))


def machine() -> str:
    return f"{os.cpu_count()} CPUs, {platform.machine()}, {platform.system()} {platform.release()}"


def load() -> str:
    return " ".join(f"{average:.1f}" for average in os.getloadavg())


def _summary(metric: Metric) -> Summary:
    ratios = metric.ratios()
    return Summary(
        name=metric.name,
        title=metric.title,
        unit=metric.unit,
        aim=metric.aim,
        ours=metric.median("ours"),
        peer=metric.median("peer"),
        ratio=metric.ratio(),
        ratio_min=min(ratios, default=None),
        ratio_max=max(ratios, default=None),
        rounds=metric.values,
    )


def table(result: Report) -> str:
    head = ("metric", "ours", "peer", "ratio: median [min-max]", "aim", "")
    return table_of(head, [*(_metric_row(metric) for metric in result.metrics), *_count_rows(result.counts)])


def table_of(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that is readable on a terminal."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [_line(head, widths), "|" + "|".join("-" * (width + 2) for width in widths) + "|"]
    return "\n".join([*lines, *(_line(row, widths) for row in rows)])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"


def _metric_row(metric: Summary) -> tuple[str, ...]:
    ratio = verdict = ""
    if metric.ratio is not None:
        ratio = f"{metric.ratio:.2f} [{metric.ratio_min:.2f}-{metric.ratio_max:.2f}]"
        if metric.aim is not None:
            verdict = "ok" if metric.ratio <= metric.aim else "missed"
    aim = "" if metric.aim is None else f"≤ {metric.aim:g}"
    return (
        metric.title,
        with_unit(metric.ours, metric.unit),
        with_unit(metric.peer, metric.unit),
        ratio,
        aim,
        verdict,
    )


def with_unit(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f} {unit}"


def _count_rows(counts: dict[Side, Ledger]) -> list[tuple[str, ...]]:
    def row(title: str, show: str, aim: str = "0") -> tuple[str, ...]:
        cells = {side: show.format(count=count) for side, count in counts.items()}
        ours = cells.get("ours", "-")
        verdict = "" if ours == "-" else "ok" if ours.split()[0] == "0" else "missed"
        return title, ours, cells.get("peer", "-"), "", aim, verdict

    return [
        row("events lost", "{count.lost} of {count.sent}"),
        row("events duplicated", "{count.doubled}"),
        row("requests hung", "{count.hung}"),
        row("requests refused", "{count.wrong}"),
        row("processes leaked", "{count.leaked}"),
    ]


def footnote(result: Report) -> str:
    where = f"{result.rounds} rounds in {result.seconds:.0f} s on {result.machine}, load {result.load}."
    return "\n".join([where, *(f"- {note}" for note in result.notes)])


def write_json(result: Struct, file: Path) -> None:
    file.write_bytes(msgspec.json.format(msgspec.json.encode(result)) + b"\n")


def write_docs(result: Report, page: Path) -> None:
    """Replace the text between the two markers of the page."""
    fill(page, "bench", f"{table(result)}\n\n{footnote(result)}")
