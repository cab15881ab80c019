"""Which limit a session has reached, computed only from its record, so that a restart changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from ..schema.events import Usage
from ..schema.limits import LimitName, ReachedLimit
from ..store.base import SessionRecord

Now = Callable[[], str]


class TimeLimits(NamedTuple):
    """The time limits of a running turn, in seconds."""

    turn: str
    turn_seconds: float | None
    session_seconds: float | None


def reached_limit(record: SessionRecord, now: Now) -> ReachedLimit | None:
    """The limit that keeps further turns from starting."""
    limits = record.limits
    spent = _spent_limit(record, now)
    if spent is None and limits.max_turns is not None and record.turns >= limits.max_turns:
        return ReachedLimit("maxTurns", limits.max_turns, record.turns)
    return spent


def exceeded_limit(record: SessionRecord, now: Now) -> ReachedLimit | None:
    """The limit that ends the running turn. The last turn that `maxTurns` allows may run to its end."""
    limits = record.limits
    spent = _spent_limit(record, now)
    if spent is None and limits.max_turns is not None and record.turns > limits.max_turns:
        return ReachedLimit("maxTurns", limits.max_turns, record.turns)
    return spent


def _spent_limit(record: SessionRecord, now: Now) -> ReachedLimit | None:
    limits = record.limits
    if limits.max_cost_usd is None and limits.max_tokens is None and limits.max_session_seconds is None:
        return None
    spent = spent_by(record)
    used: tuple[tuple[LimitName, float | None, float], ...] = (
        ("maxCostUsd", limits.max_cost_usd, spent.cost_usd or 0.0),
        ("maxTokens", limits.max_tokens, (spent.input_tokens or 0) + (spent.output_tokens or 0)),
    )
    for name, value, amount in used:
        if value is not None and amount >= value:
            return ReachedLimit(name, value, amount)
    if limits.max_session_seconds is not None:
        age = age_of(record, now)
        if age >= limits.max_session_seconds:
            return ReachedLimit("maxSessionSeconds", limits.max_session_seconds, age)
    return None


def spent_by(record: SessionRecord) -> Usage:
    """What the session has spent, including the running turn."""
    return (record.usage or Usage()) + (record.turn_usage or Usage())


def age_of(record: SessionRecord, now: Now) -> float:
    """Seconds since the session was created."""
    return (datetime.fromisoformat(now()) - datetime.fromisoformat(record.created_at)).total_seconds()


def time_limits(record: SessionRecord, turn: str) -> TimeLimits:
    """`turnTimeoutMs` and `maxTurnSeconds` are one limit: the shorter one counts."""
    timeout = record.turn_timeout_ms / 1000 if record.turn_timeout_ms is not None else None
    given = [seconds for seconds in (timeout, record.limits.max_turn_seconds) if seconds is not None]
    return TimeLimits(turn, min(given, default=None), record.limits.max_session_seconds)
