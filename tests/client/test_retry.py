"""When a client retries, and how long it waits."""

from __future__ import annotations

import pytest

from sandbox_agent import (
    DaemonUnreachable,
    RateLimited,
    Retry,
    SandboxAgentError,
    SessionNotFound,
    Unavailable,
)
from sandbox_agent.client.retry import Patience

LOST = DaemonUnreachable("lost", sent=True)
REFUSED = DaemonUnreachable("refused", sent=False)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def patience(clock: Clock, draw: float = 1.0, seconds: float = 60.0) -> Patience:
    return Patience(Retry(seconds), clock, lambda: draw)


def test_delays_double_up_to_a_bound() -> None:
    attempts = patience(Clock())
    delays = [attempts.delay_after(LOST, repeatable=True) for _ in range(8)]
    assert delays == [0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 3.0, 3.0]


def test_a_delay_is_jittered_down_to_its_half() -> None:
    assert patience(Clock(), draw=0.0).delay_after(LOST, repeatable=True) == 0.05


@pytest.mark.parametrize(
    "error", [RateLimited("busy", retryAfter=7), Unavailable("the disk is full", retryAfter=7)]
)
def test_what_the_daemon_asks_for_is_waited(error: SandboxAgentError) -> None:
    assert patience(Clock()).delay_after(error, repeatable=False) == 7.0


def test_a_wait_that_is_longer_than_the_patience_is_not_begun() -> None:
    with pytest.raises(RateLimited):
        patience(Clock()).delay_after(RateLimited("too many wrong tokens", retryAfter=61), repeatable=True)


def test_retries_end_some_time_after_the_first_failure_and_reset_after_a_success() -> None:
    clock = Clock()
    attempts = patience(clock)
    clock.now = 1000.0  # a stream was quiet for long: that is no failure
    attempts.delay_after(LOST, repeatable=True)
    clock.now = 1059.0
    attempts.delay_after(LOST, repeatable=True)
    clock.now = 1061.0
    with pytest.raises(DaemonUnreachable):
        attempts.delay_after(LOST, repeatable=True)
    attempts.renew()
    assert attempts.delay_after(LOST, repeatable=True) == 0.1


def test_a_connection_that_holds_nothing_does_not_make_delays_short_again() -> None:
    attempts = patience(Clock())
    attempts.delay_after(LOST, repeatable=True)
    attempts.connected()
    assert attempts.delay_after(LOST, repeatable=True) == 0.2


def test_what_must_not_happen_twice_is_repeated_only_when_it_was_not_sent() -> None:
    assert patience(Clock()).delay_after(REFUSED, repeatable=False) == 0.1
    with pytest.raises(DaemonUnreachable):
        patience(Clock()).delay_after(LOST, repeatable=False)


def test_a_problem_is_not_tried_again() -> None:
    with pytest.raises(SessionNotFound):
        patience(Clock()).delay_after(SessionNotFound("no session x"), repeatable=True)


def test_without_patience_nothing_is_tried_again() -> None:
    with pytest.raises(DaemonUnreachable):
        patience(Clock(), seconds=0).delay_after(LOST, repeatable=True)
