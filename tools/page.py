"""A page of the documentation that a tool writes its own figures or tables into, between two marks."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def fill(page: Path, name: str, figures: str) -> None:
    """Replace what stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->`."""
    page.write_text(filled(page.read_text(), name, figures))


def filled(text: str, name: str, figures: str) -> str:
    """A page's text as `fill` would leave it."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no place for the figures ({begin} and {end})")
    return f"{before}{begin}\n{figures}\n{end}{after}"


def machine() -> str:
    """What the figures were measured on, and how busy it was when the run ended."""
    load = " ".join(f"{average:.1f}" for average in os.getloadavg())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return (
        f"{os.cpu_count()} CPUs, {memory:.0f} GiB, {platform.machine()}, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}; load {load} over 1, 5 and 15 minutes"
    )
