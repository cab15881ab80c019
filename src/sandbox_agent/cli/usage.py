"""Shows what turns have spent: a table, with bars on a terminal."""

from __future__ import annotations

import sys

import msgspec

from ..schema.usage import UsageReport, UsageSum
from .output import cell, print_table, say

BAR_WIDTH = 24


def print_usage(answer: bytes) -> None:
    from rich.table import Table

    report = msgspec.json.decode(answer, type=UsageReport)
    if not report.rows:
        say("no turns")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(report.by, no_wrap=True)
    for name in ("turns", "input tokens", "output tokens", "cost"):
        table.add_column(name, justify="right")
    draws = sys.stdout.isatty()
    if draws:
        table.add_column("", no_wrap=True)
    most = max(_weight(row, report) for row in report.rows)
    for row in report.rows:
        bar = _bar(_weight(row, report), most)
        table.add_row(cell(row.key or "unknown"), *_numbers(row), *((bar,) if draws else ()))
    table.add_row("total", *_numbers(report.total), style="bold")
    print_table(table)
    if report.truncated:
        say(f"only {len(report.rows)} rows are shown; the total includes all of them")


def _numbers(row: UsageSum) -> tuple[str, str, str, str]:
    return (f"{row.turns:,}", _count(row.input_tokens), _count(row.output_tokens), _cost(row))


def _count(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


def _cost(row: UsageSum) -> str:
    """Unknown costs are named, because a sum that leaves them out is not the whole cost."""
    if row.cost_usd is None:
        return "unknown"
    missing = f" + {row.turns_without_cost:,} unknown" if row.turns_without_cost else ""
    return f"${row.cost_usd:,.4f}{missing}"


def _weight(row: UsageSum, report: UsageReport) -> float:
    """What a bar shows: the cost, or the tokens if no cost is known at all."""
    if report.total.cost_usd is not None:
        return row.cost_usd or 0.0
    return (row.input_tokens or 0) + (row.output_tokens or 0)


def _bar(weight: float, most: float) -> str:
    """Eighths of a block make short bars comparable."""
    eighths = round(weight / most * BAR_WIDTH * 8) if most else 0
    part = " ▏▎▍▌▋▊▉"[eighths % 8].strip()
    return "█" * (eighths // 8) + part
