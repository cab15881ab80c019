"""Writes figures or tables into a page of the documentation, between two markers."""

from __future__ import annotations

import os
import platform
import textwrap
from pathlib import Path

WIDTH = 120


def fill(page: Path, name: str, figures: str) -> None:
    """Replace the text between `{/* NAME:begin */}` and `{/* NAME:end */}`."""
    page.write_text(filled(page.read_text(), name, figures))


def filled(text: str, name: str, figures: str) -> str:
    """The text of a page after `fill`."""
    begin, end = f"{{/* {name}:begin */}}", f"{{/* {name}:end */}}"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no place for the figures ({begin} and {end})")
    return f"{before}{begin}\n{figures}\n{end}{after}"


def wrapped(text: str) -> str:
    """Wrap long lines of prose. Tables, headings and code blocks are kept."""
    lines: list[str] = []
    in_code = False
    for line in text.split("\n"):
        in_code ^= line.startswith("```")
        if in_code or len(line) <= WIDTH or line.startswith(("|", "#", "<", "{")):
            lines.append(line)
            continue
        indent = "  " if line.startswith("- ") else ""
        lines += textwrap.wrap(
            line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines)


def machine() -> str:
    """The machine, and its load at the end of the run."""
    load = " ".join(f"{average:.1f}" for average in os.getloadavg())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return (
        f"{os.cpu_count()} CPUs, {memory:.0f} GiB, {platform.machine()}, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}; load {load} over 1, 5 and 15 minutes"
    )
