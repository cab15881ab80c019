"""What clients see of a session."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from .events import Usage
from .inputs import PermissionMode
from .limits import ReachedLimit, SessionLimits
from .times import Time

SessionState = Literal["idle", "running", "requires_action", "ended"]


class SessionUsage(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The sum of a session's turns, including the running one, in camelCase like all REST bodies; for the context, the latest value."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    context_tokens: int | None = None
    context_window: int | None = None

    @classmethod
    def of(cls, usage: Usage | None) -> SessionUsage:
        return cls(*msgspec.structs.astuple(usage)) if usage else cls()


class Used(Struct, frozen=True, omit_defaults=True):
    """What the agent reports to work with."""

    model: str | None = None
    title: str | None = None


class SessionInfo(Struct, frozen=True, rename="camel"):
    session_id: str
    agent: str
    agent_mode: str
    permission_mode: PermissionMode
    model: str | None
    variant: str | None
    title: str | None
    directory: str
    native_session_id: str | None
    state: SessionState
    ended: bool
    event_count: int
    created_at: Time
    updated_at: Time
    usage: SessionUsage
    turns: int = 0
    """Turns that have started."""
    limits: SessionLimits = SessionLimits()
    limit_reached: ReachedLimit | None = None
    """The limit that keeps further turns from starting."""
    node: str | None = None
    """The node whose machine has its workspace; null if the log is not shared."""
