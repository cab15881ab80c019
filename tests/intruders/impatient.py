"""Runs the given command, `python -m sandbox_agent ...`, in this process with short timeouts."""

from __future__ import annotations

import sys

from sandbox_agent.__main__ import main
from sandbox_agent.http import patience

HEAD_SECONDS = 1.0
BODY_SECONDS = 0.6

if __name__ == "__main__":
    patience.HEAD_SECONDS = HEAD_SECONDS
    patience.BODY_SECONDS = BODY_SECONDS
    patience.LOOK_SECONDS = 0.05
    sys.argv = sys.argv[3:]  # without `python -m`
    sys.exit(main())
