"""The programs that started this one, as far as the system shows them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

MAX_DEPTH = 100


def variable_around(name: str) -> str | None:
    """A variable of this program, or of the nearest program above it that has it: agents start servers without their variables."""
    if (value := os.environ.get(name)) is not None:
        return value
    wanted = f"{name}=".encode()
    for process in _above(os.getpid()):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # another user's
        for variable in variables:
            if variable.startswith(wanted):
                return variable.removeprefix(wanted).decode(errors="replace")
    return None


def _above(pid: int) -> Iterator[Path]:
    for _ in range(MAX_DEPTH):
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return  # not Linux, or it has exited
        # The name before it is in parentheses and may contain anything.
        pid = int(status.rpartition(")")[2].split()[1])
        if pid == 0:
            return
        yield Path(f"/proc/{pid}")
