"""What people read about a retry: only what the agent has said of it."""

from __future__ import annotations

import pytest

from sandbox_agent.agents.retries import retry_detail


@pytest.mark.parametrize(
    ("attempt", "attempts", "reason", "detail"),
    [
        (1, 3, "overloaded", "attempt 1 of 3: overloaded"),
        (1, None, "overloaded", "attempt 1: overloaded"),
        (2, 3, None, "attempt 2 of 3"),
        (None, 3, "overloaded", "another attempt: overloaded"),
        (None, None, None, "another attempt"),
    ],
)
def test_a_retry_is_described_without_what_is_unknown(
    attempt: int | None, attempts: int | None, reason: str | None, detail: str
) -> None:
    assert retry_detail(attempt, attempts, reason) == detail
