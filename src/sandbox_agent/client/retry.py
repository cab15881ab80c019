"""When to retry, and how long to wait first. Does no waiting itself: the caller waits."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from msgspec import Struct

from ..errors import SandboxAgentError
from .failures import DaemonUnreachable, is_refused_for_now


class Retry(Struct, frozen=True):
    """How long a client retries. `Retry(seconds=0)` disables retries."""

    seconds: float = 60.0
    """How long to keep retrying after a failure."""
    first_delay: float = 0.1
    max_delay: float = 3.0


class Patience:
    """One series of attempts. Delays double and are jittered, so that many clients do not reconnect at once."""

    def __init__(
        self,
        retry: Retry,
        clock: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._retry = retry
        self._clock = clock
        self._draw = draw
        self._tries = 0
        self._until: float | None = None

    def connected(self) -> None:
        """The daemon responds, but has not yet succeeded, so delays do not start over."""
        self._until = None

    def renew(self) -> None:
        """It worked: start over."""
        self._tries = 0
        self._until = None

    def delay_after(self, error: SandboxAgentError, *, repeatable: bool) -> float:
        """Seconds to wait before the next attempt; raises the error if there is none."""
        if isinstance(error, DaemonUnreachable):
            may_repeat = repeatable or not error.sent
        else:
            may_repeat = is_refused_for_now(error)
        delay = self._delay(error)
        if self._until is None:
            self._until = self._clock() + self._retry.seconds
        if not may_repeat or self._clock() + delay > self._until:
            raise error
        self._tries += 1
        return delay

    def _delay(self, error: SandboxAgentError) -> float:
        """The delay that the daemon asked for, or else a random share, at least half, of the doubling delay."""
        backoff: float = min(self._retry.max_delay, self._retry.first_delay * 2 ** min(self._tries, 16))
        return max(float(error.retry_after or 0), backoff * (0.5 + self._draw() / 2))
