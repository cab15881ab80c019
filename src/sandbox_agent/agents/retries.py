"""One line about a request to the model that an agent repeats, from what the agent says of it."""

from __future__ import annotations


def retry_detail(attempt: int | None, attempts: int | None = None, reason: str | None = None) -> str:
    """`attempt 1 of 3: overloaded`, without what is not known."""
    which = "another attempt" if attempt is None else f"attempt {attempt}"
    most = f" of {attempts}" if attempt is not None and attempts is not None else ""
    return f"{which}{most}: {reason}" if reason else f"{which}{most}"
