"""Versions: what may be one, and how a program is asked for its own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ..errors import InvalidRequest

LATEST = "latest"
"""Stands for the newest that there is."""
ARGUMENTS = ("--version", "version", "-V")
"""One after the other, until one gets an answer."""
SECONDS = 20.0


def is_version(text: str) -> bool:
    """A version becomes a part of paths and addresses: it must not lead anywhere."""
    return re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,79}", text) is not None


def check_version(version: str | None) -> None:
    if version is not None and not is_version(version):
        raise InvalidRequest(f"{version!r} is not a version", field="agentVersion")


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
