"""Starts a daemon as a process of its own and waits until it is ready."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..config import PREFIX
from .failures import CommandFailed, ProblemAnswered
from .remote import Address, Call, Remote

START_SECONDS = 60.0
POLL_SECONDS = 0.02
TOLD_LINES = 15


class Started(NamedTuple):
    process: subprocess.Popen[bytes]
    address: Address


def start(flags: Sequence[str], token: str | None, log: Path, *, dies_with_us: bool = False) -> Started:
    """Run `server` with these flags. The token travels in the environment, which only its owner can read."""
    environ = {
        name: value
        for name, value in os.environ.items()
        if name not in (f"{PREFIX}TOKEN_FILE", f"{PREFIX}NO_TOKEN", f"{PREFIX}TOKEN")
    }
    environ |= {f"{PREFIX}TOKEN": token} if token is not None else {f"{PREFIX}NO_TOKEN": "true"}
    # -P: what lies in the current folder must not be imported in place of our own.
    argv = [sys.executable, "-P", "-m", "sandbox_agent", "server", *flags]
    with open(os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as output:
        process = subprocess.Popen(
            argv,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C here is not meant for it
            preexec_fn=_die_with_parent() if dies_with_us else None,
        )
    try:
        return Started(process, Address(_wait_until_ready(process, log, token), token))
    except BaseException:
        stop(process)
        raise


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, and wait for that."""
    if process.poll() is None:
        process.terminate()
    process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], log: Path, token: str | None) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        ended = process.poll() is not None
        said = log.read_text(errors="replace")
        if found := re.search(r"^listening on (\S+)$", said, re.MULTILINE):
            endpoint = _reachable(found.group(1))
            if _is_ready(Address(endpoint, token)):
                return endpoint
        if ended:
            told = "\n".join(said.strip().splitlines()[-TOLD_LINES:])
            raise CommandFailed(f"the daemon did not start:\n{told}")
        time.sleep(POLL_SECONDS)
    raise CommandFailed(f"the daemon was not ready within {START_SECONDS:.0f} seconds; its log is {log}")


def _reachable(endpoint: str) -> str:
    """An address that listens everywhere is reached on this machine."""
    return endpoint.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def _is_ready(address: Address) -> bool:
    try:
        with Remote(address) as remote:
            remote.send(Call("GET", "/v1/ready"))
    except ProblemAnswered:
        return False
    return True


def _die_with_parent() -> Callable[[], None] | None:
    """On Linux the kernel ends the daemon when we are killed; elsewhere nothing does."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    pr_set_pdeathsig = 1

    def ask_kernel() -> None:
        prctl(pr_set_pdeathsig, signal.SIGTERM)

    return ask_kernel
