"""What processes use: CPU time and memory of whole trees, from one look at all processes."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import NamedTuple


class Usage(NamedTuple):
    cpu_seconds: float
    memory_bytes: int


class _Stat(NamedTuple):
    parent: int
    own_ticks: int
    reaped_ticks: int
    """Of children that are gone."""
    pages: int


def usage_below(guardians: Collection[int]) -> dict[int, Usage]:
    """What runs below each guardian, which itself does not count. Nothing where the system has no /proc."""
    stats = _stats()
    children: dict[int, list[int]] = {}
    for pid, stat in stats.items():
        children.setdefault(stat.parent, []).append(pid)
    return {root: _below(root, stats, children) for root in guardians if root in stats}


def _below(root: int, stats: dict[int, _Stat], children: dict[int, list[int]]) -> Usage:
    ticks, pages = stats[root].reaped_ticks, 0
    queue = list(children.get(root, ()))
    while queue:
        pid = queue.pop()
        stat = stats[pid]
        ticks += stat.own_ticks + stat.reaped_ticks
        pages += stat.pages
        queue += children.get(pid, ())
    return Usage(round(ticks / os.sysconf("SC_CLK_TCK"), 2), pages * os.sysconf("SC_PAGE_SIZE"))


def _stats() -> dict[int, _Stat]:
    stats = {}
    try:
        names = os.listdir("/proc")
    except FileNotFoundError:
        return {}
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The command's name is in parentheses and may hold anything.
                    fields = file.read().rpartition(b")")[2].split()
                parent, user, system, users, systems = (int(fields[i]) for i in (1, 11, 12, 13, 14))
                stats[int(name)] = _Stat(parent, user + system, users + systems, int(fields[21]))
            except (OSError, IndexError, ValueError):
                continue
    return stats
