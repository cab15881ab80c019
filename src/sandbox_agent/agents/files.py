"""Files that go with a prompt."""

from __future__ import annotations

from collections.abc import Callable


def read_if_there(read_file: Callable[[str], bytes], path: str) -> bytes | None:
    """None when it is gone since: the prompt still names it, and the agent can say that it cannot open it."""
    try:
        return read_file(path)
    except OSError:
        return None
