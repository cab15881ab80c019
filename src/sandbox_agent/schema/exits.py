"""How a process ended."""

from __future__ import annotations

import signal as signals


def exit_facts(returncode: int | None) -> tuple[int | None, str | None]:
    """A return code as (exit code, name of the signal): one of them, or neither when it is not known."""
    if returncode is None or returncode >= 0:
        return returncode, None
    try:
        return None, signals.Signals(-returncode).name
    except ValueError:
        return None, str(-returncode)
