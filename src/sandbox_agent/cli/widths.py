"""Which columns of a table a terminal has room for, and how wide each is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

GAP = 2
WORD_WIDTH = 12
"""Longer words may be broken."""


class Need(NamedTuple):
    """The least width at which a column can be read, and the most it can use."""

    least: int
    most: int


def need(texts: Sequence[str], *, least: int | None = None) -> Need:
    """What a column with these texts needs. Without a least width, its words should be whole."""
    from rich.cells import cell_len

    most = max(map(cell_len, texts))
    if least is None:
        longest = max((cell_len(word) for text in texts for word in text.split()), default=0)
        least = min(longest, WORD_WIDTH)
    return Need(min(least, most), most)


def fit(needs: Sequence[Need], width: int) -> list[int]:
    """The widths of as many columns as fit, from the left. The first one is always shown."""
    shown = list(needs)
    while len(shown) > 1 and _total(shown) > width:
        shown.pop()
    spare = max(0, width - _total(shown))
    widths = []
    for column in shown:
        more = min(spare, column.most - column.least)
        widths.append(min(column.least + more, width))
        spare -= more
    return widths


def _total(needs: Sequence[Need]) -> int:
    return sum(column.least for column in needs) + GAP * (len(needs) - 1)
