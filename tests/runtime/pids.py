"""Processes of a test, watched by pidfd: a pid may be reused, a descriptor stays with its process."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable

# Four ways out of a process's reach: a group, a session, a double fork, and an empty environment with all of them.
FAMILY = """
sleep 1000 & echo $!
setsid sleep 1000 & echo $!
(setsid sleep 1000 & echo $!)
(env -i setsid sleep 1000 & echo $!)
"""
FAMILY_SIZE = 4


class Pids:
    """Opened while the processes live."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._open = {pid: os.pidfd_open(pid) for pid in pids}

    def __enter__(self) -> Pids:
        return self

    def __exit__(self, *error: object) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)

    def alive(self, seconds: float = 0.0) -> list[int]:
        """The processes still alive after waiting this long for them to end."""
        deadline = time.monotonic() + seconds
        living = []
        for pid, descriptor in self._open.items():
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                living.append(pid)
        return living
