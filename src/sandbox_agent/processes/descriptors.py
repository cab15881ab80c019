"""How many descriptors may be open: the daemon takes what the system allows, agents get what the daemon was given.

A connection is one descriptor and an agent's process four, so the usual 1,024 end at about 240 sessions. Programs that walk
through all numbers they may use are slow under a high limit: that is why agents keep the old one.
"""

from __future__ import annotations

import contextlib
import resource

MOST = 1 << 16
GIVEN = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
"""The soft limit that this process was started with."""


def raise_limit() -> None:
    """Raise the soft limit as far as the hard one allows, and no further than is of use."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(MOST, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    with contextlib.suppress(ValueError, OSError):  # some systems allow less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
