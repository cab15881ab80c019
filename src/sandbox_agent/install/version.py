"""Versions: their syntax, and how to read the version of a program."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ..errors import InvalidRequest

LATEST = "latest"
"""The newest available version."""
ARGUMENTS = ("--version", "version", "-V")
"""Tried in order until one works."""
SECONDS = 20.0


def is_version(text: str) -> bool:
    """A version becomes part of paths and URLs, so it must not contain separators."""
    return re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,79}", text) is not None


def check_version(version: str | None) -> None:
    if version is not None and not is_version(version):
        raise InvalidRequest(f"{version!r} is not a version", field="agentVersion")


def ask_version(program: Path, environ: Mapping[str, str]) -> str | None:
    """The version that a program reports; None if it does not."""
    for argument in ARGUMENTS:
        try:
            answer = subprocess.run(
                [program, argument],
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired):
            # It does not run, or it does something else: other arguments will not help.
            return None
        if answer.returncode == 0 and (found := re.search(rb"\d+\.\d+\.\d+[\w.+-]*", answer.stdout)):
            return found.group().decode()
    return None
