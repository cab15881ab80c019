"""Asks a program for its version."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

ARGUMENTS = ("--version", "version", "-V")
"""One after the other, until one gets an answer."""
SECONDS = 20.0


def ask_version(program: Path, environ: Mapping[str, str]) -> str | None:
    """What a program calls itself; None when it does not say."""
    for argument in ARGUMENTS:
        try:
            said = subprocess.run(
                [program, argument],
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired):
            # It cannot be run, or it does something else than to answer: other words will not help.
            return None
        if said.returncode == 0 and (found := re.search(rb"\d+\.\d+\.\d+[\w.+-]*", said.stdout)):
            return found.group().decode()
    return None
