"""Versions: their syntax, and how to read the version of a program."""

from __future__ import annotations

import errno
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from ..errors import InvalidRequest

LATEST = "latest"
"""The newest available version."""
ARGUMENTS = ("--version", "version", "-V")
"""Tried in order until one works."""
SECONDS = 20.0
BUSY_SECONDS, PAUSE_SECONDS = 5.0, 0.02


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
            answer = _run([program, argument], environ)
        except (OSError, subprocess.TimeoutExpired):
            # It does not run, or it does something else: other arguments will not help.
            return None
        if answer.returncode == 0 and (found := re.search(rb"\d+\.\d+\.\d+[\w.+-]*", answer.stdout)):
            return found.group().decode()
    return None


def _run(command: list[str | Path], environ: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return subprocess.run(
                command,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
            )
        except OSError as error:
            # A process that another thread has just forked holds the new file open for writing until it executes its own program.
            if error.errno != errno.ETXTBSY or time.monotonic() > deadline:
                raise
        time.sleep(PAUSE_SECONDS)
