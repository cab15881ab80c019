"""Limits on open descriptors: the daemon raises its own to what the system allows, agents get the original limit.

A connection takes one descriptor and an agent's process four, so the usual 1,024 last for about 240 sessions. Agents keep the
original limit because programs that loop over all possible descriptors are slow under a high one.
"""

from __future__ import annotations

import contextlib
import resource

MAX_DESCRIPTORS = 1 << 16
GIVEN = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
"""The soft limit that this process was started with."""


def raise_limit() -> None:
    """Raise the soft limit to the hard one, but not higher than useful."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(MAX_DESCRIPTORS, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    with contextlib.suppress(ValueError, OSError):  # some systems allow less than they report
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
