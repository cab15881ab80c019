"""Enforces a session's limits: ends the running turn, and keeps the next one from starting."""

from __future__ import annotations

from ..errors import Conflict
from ..schema.limits import ReachedLimit
from . import turns
from .core import Core
from .effects import Arm, Disarm
from .inputs import Timer
from .limits import TimeLimits, age_of, exceeded_limit, reached_limit, time_limits
from .phases import Reopening, Running


def enforce(core: Core) -> bool:
    """End the running turn if it exceeds a limit; otherwise update its timers. Returns whether it ended."""
    phase = core.phase
    if not isinstance(phase, Reopening | Running):
        _arm(core, None)
        return False
    exceeded = exceeded_limit(core.record, core.world.now)
    if exceeded is not None:
        _end_turn(core, exceeded)
        return True
    _arm(core, time_limits(core.record, phase.turn))
    return False


def holds_back(core: Core) -> bool:
    """Whether a limit keeps the next turn from starting. Clients learn of it."""
    if reached_limit(core.record, core.world.now) is None:
        return False
    core.note_limit()
    core.fact()
    return True


def refusal(core: Core) -> Conflict:
    """The answer to a message that comes after a limit was reached."""
    reached = reached_limit(core.record, core.world.now) or core.record.limit_reached
    assert reached is not None
    id = core.record.session_id
    return Conflict(
        f"{reached.words}; raise or remove the limit with PATCH /v1/sessions/{id}, "
        f'e.g. {{"limits": {{"{reached.limit}": null}}}}',
        sessionId=id,
        limit=reached.limit,
        value=reached.value,
        used=reached.used,
    )


def _end_turn(core: Core, reached: ReachedLimit) -> None:
    """Announce the limit, and end the turn as a cancel would, with another stop reason."""
    core.tell_limit(reached)
    if reached.limit != "maxTurnSeconds":  # the next turn starts its own
        core.change(limit_reached=reached)
    assert core.scribe.turn is not None
    core.scribe.turn.stop_reason = "limit"
    turns.cancel_turn(core)


# -- time ---------------------------------------------------------------------------------------


def _arm(core: Core, wanted: TimeLimits | None) -> None:
    armed, core.time_limits = core.time_limits, wanted
    if wanted == armed:
        return
    if armed is not None and armed.turn_seconds is not None:
        core.emit(Disarm("turn"))
    if armed is not None and armed.session_seconds is not None:
        core.emit(Disarm("session"))
    if wanted is None:
        return
    assert core.scribe.turn is not None
    if wanted.turn_seconds is not None:
        elapsed = core.world.clock() - core.scribe.turn.began
        core.emit(
            Arm("turn", max(0.0, wanted.turn_seconds - elapsed), _tag(wanted.turn, wanted.turn_seconds))
        )
    if wanted.session_seconds is not None:
        left = wanted.session_seconds - age_of(core.record, core.world.now)
        core.emit(Arm("session", max(0.0, left), _tag(wanted.turn, wanted.session_seconds)))


def _tag(turn: str, seconds: float) -> str:
    """A timer of another turn, or of a limit that was changed since, is ignored."""
    return f"{turn} {seconds}"


def turn_time_ran_out(core: Core, timer: Timer) -> None:
    phase = core.phase
    if not isinstance(phase, Reopening | Running):
        return
    seconds = time_limits(core.record, phase.turn).turn_seconds
    if seconds is not None and timer.tag == _tag(phase.turn, seconds):
        _end_turn(core, ReachedLimit("maxTurnSeconds", seconds, seconds))


def session_time_ran_out(core: Core, timer: Timer) -> None:
    phase = core.phase
    if not isinstance(phase, Reopening | Running):
        return
    seconds = core.record.limits.max_session_seconds
    if seconds is not None and timer.tag == _tag(phase.turn, seconds):
        _end_turn(core, ReachedLimit("maxSessionSeconds", seconds, seconds))
