"""Scales time limits to the load of the machine."""

from __future__ import annotations

import os


def busy(seconds: float) -> float:
    """A limit in seconds holds on an idle machine; on a busy one, everything takes longer in proportion to the run queue."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
