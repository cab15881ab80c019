"""Which sessions are pruned."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sandbox_agent.cli.archive import age, beyond_size, byte_count, older_than
from sandbox_agent.cli.failures import WrongUsage
from sandbox_agent.schema.sessions import SessionInfo, SessionState, SessionUsage


def session(name: str, day: int, events: int, state: SessionState = "idle") -> SessionInfo:
    time = f"2026-01-{day:02}T00:00:00.000Z"
    return SessionInfo(
        name,
        "mock",
        "build",
        "default",
        None,
        None,
        None,
        "/",
        None,
        state,
        False,
        events,
        time,
        time,
        SessionUsage(),
    )


SESSIONS = [
    session("new", 9, 50),
    session("busy", 1, 10, "running"),
    session("asking", 1, 10, "requires_action"),
    session("ended", 2, 10, "ended"),
    session("old", 3, 20),
]


def names(sessions: list[SessionInfo]) -> list[str]:
    return [session.session_id for session in sessions]


def test_those_at_rest_go_by_age_oldest_first() -> None:
    assert names(older_than(SESSIONS, datetime(2026, 1, 5, tzinfo=UTC))) == ["ended", "old"]


@pytest.mark.parametrize(
    ("wanted", "doomed"),
    [(1000, []), (999, ["ended"]), (900, ["ended"]), (899, ["ended", "old"]), (0, ["ended", "old", "new"])],
)
def test_the_oldest_go_until_the_log_is_small_enough(wanted: int, doomed: list[str]) -> None:
    assert names(beyond_size(SESSIONS, 1000, wanted)) == doomed


def test_ages_and_sizes_have_units() -> None:
    assert [age(text) for text in ("5m", "12h", "30d", "8w")] == [
        timedelta(minutes=5),
        timedelta(hours=12),
        timedelta(days=30),
        timedelta(weeks=8),
    ]
    assert [byte_count(text) for text in ("7", "2k", "500M", "1GiB")] == [7, 2048, 500 << 20, 1 << 30]


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1y"])
def test_a_bad_age_is_wrong_usage(text: str) -> None:
    with pytest.raises(WrongUsage):
        age(text)
