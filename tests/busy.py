"""How long a machine may take that has more to do than it can."""

from __future__ import annotations

import os


def busy(seconds: float) -> float:
    """A promise in seconds holds on an idle machine; on a busy one everything takes as much longer as there are programs in line."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
