"""Checks during a turn that the daemon can write its log. If it cannot, the stream of the turn would stay silent."""

from __future__ import annotations

import signal
import threading
from types import TracebackType
from typing import Self

from .failures import CommandFailed, ProblemAnswered
from .remote import Address, Remote

POLL_SECONDS = 1.0
FAILURES = 3
"""Consecutive failures before giving up: a disk may be full only briefly."""


class LogWatch:
    """Sends SIGALRM to the main thread, which may be waiting for the stream, if the log stays unwritable."""

    def __init__(self, address: Address) -> None:
        self.failure: str | None = None
        self._address = address
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._main = threading.get_ident()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After this, no signal is sent: its handler is about to be removed.
        with self._lock:
            self._over.set()

    def _run(self) -> None:
        failures = 0
        with Remote(self._address) as remote:
            while not self._over.wait(POLL_SECONDS):
                reason = _log_failure(remote)
                failures = failures + 1 if reason else 0
                if failures == FAILURES:
                    self._tell(f"the daemon cannot write its log: {reason}")
                    return

    def _tell(self, failure: str) -> None:
        with self._lock:
            if not self._over.is_set():
                self.failure = failure
                signal.pthread_kill(self._main, signal.SIGALRM)


def _log_failure(remote: Remote) -> str | None:
    """Why the log cannot be written. Ignores a daemon that is stopping or unreachable."""
    try:
        remote.get("/v1/ready")
    except ProblemAnswered as problem:
        reason = problem.problem().get("logFailure")
        return str(reason) if reason else None
    except CommandFailed:
        pass
    return None
