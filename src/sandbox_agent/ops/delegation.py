"""Work that the agent of one session gives to another session, which it starts.

Such a session is below its caller. It may do no more than the caller's permission mode, rules, remaining limits and directory
allow, even after any of them has changed, and it is at most three levels below the session of a client. Its caller may use it; no
other agent may.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterable

import msgspec
from msgspec import Struct

from ..errors import Conflict, PermissionDenied, RateLimited, SessionNotFound
from ..policy.paths import absolute_pattern
from ..policy.rules import concerns
from ..runtime.daemon import Daemon
from ..runtime.mcp import is_own_server
from ..runtime.session_door import Lines
from ..runtime.sessions import Shown
from ..schema.answers import CreatedSession
from ..schema.inputs import PermissionMode
from ..schema.limits import Limits, SessionLimits
from ..schema.policy import MAX_PATTERN, PolicyRule
from ..session.admission import Accepted
from ..session.inputs import Configure
from ..session.limits import age_of, spent_by
from ..store.base import SessionRecord
from .sessions import SendMessage, SessionSettings, accept, create_session

MAX_LEVELS = 3
MAX_RUNNING = 10
"""Sessions below one that may work at the same time."""
PAGE = 200
STRICTEST_FIRST: tuple[PermissionMode, ...] = ("plan", "default", "acceptEdits", "bypass")
BUDGETS = ("max_turns", "max_cost_usd", "max_tokens")
"""The limits that sessions use up."""


__all__ = ["Lines", "Order", "find_below", "list_below", "send_below", "start_below"]


class Order(Struct, frozen=True):
    """The session that a caller wants; what is absent is the caller's own."""

    session_id: str
    prompt: str
    agent: str | None = None
    directory: str | None = None
    model: str | None = None
    permission_mode: PermissionMode | None = None


async def start_below(daemon: Daemon, caller_id: str, order: Order) -> tuple[CreatedSession, Accepted | None]:
    """Create a session below the caller's and send its first message, unless its agent did not start."""
    caller = await _caller(daemon, caller_id)
    if len(caller.callers) >= MAX_LEVELS:
        raise PermissionDenied(
            f"this session is {MAX_LEVELS} levels below the session of a client: it cannot start another one"
        )
    async with _order(daemon, caller):
        await _check_running(daemon, caller)
        settings = await _settings(daemon, caller, order)
        callers = (*caller.callers, caller.folder)
        created = await create_session(daemon, order.session_id, settings, callers)
        if not created.healthy:
            return created, None
        return created, await accept(daemon, SendMessage(order.session_id, order.prompt))


async def send_below(daemon: Daemon, caller_id: str, request: SendMessage) -> Accepted:
    """Send a message to a session that the caller has started."""
    caller = await _caller(daemon, caller_id)
    async with _order(daemon, caller):
        record = (await find_below(daemon, caller_id, request.session_id)).view.record
        await _tighten(daemon, caller, record)
        return await accept(daemon, request)


async def find_below(daemon: Daemon, caller_id: str, session_id: str) -> Shown:
    """A session that the caller has started. The caller must not learn whether any other session exists."""
    caller = await _caller(daemon, caller_id)
    with contextlib.suppress(SessionNotFound):
        shown = await daemon.sessions.show(session_id)
        if shown.view.record.callers[-1:] == (caller.folder,):
            return shown
    raise SessionNotFound(f"this session has started no session {session_id}", sessionId=session_id)


async def list_below(daemon: Daemon, caller_id: str) -> AsyncGenerator[Shown, None]:
    """The sessions that the caller has started, newest first."""
    caller = await _caller(daemon, caller_id)
    async for shown in _descendants(daemon, caller):
        if shown.view.record.callers[-1] == caller.folder:
            yield shown


async def _caller(daemon: Daemon, caller_id: str) -> SessionRecord:
    record = (await daemon.sessions.show(caller_id)).view.record
    if record.ended:
        raise Conflict("this session has ended", sessionId=caller_id)
    return record


async def _descendants(daemon: Daemon, caller: SessionRecord) -> AsyncGenerator[Shown, None]:
    """Everything below a session. It is newer than the session itself, so older ones are not read."""
    before: int | None = None
    while page := await daemon.sessions.page(before, PAGE):
        before = page[-1][0]
        for _, shown in page:
            if shown.view.record.folder == caller.folder:
                return
            if caller.folder in shown.view.record.callers:
                yield shown


# -- what a session below may be --------------------------------------------------------------


async def _settings(daemon: Daemon, caller: SessionRecord, order: Order) -> SessionSettings:
    agent = order.agent or caller.agent
    secrets = await daemon.sessions.secrets(caller.session_id)
    may_delegate = len(caller.callers) + 1 < MAX_LEVELS
    return SessionSettings(
        agent=agent,
        directory=directory_below(caller.settings.directory, order.directory),
        model=order.model,
        permission_mode=_mode_below(caller.settings.permission_mode, order.permission_mode),
        # The caller's keys, not the daemon's: its user pays.
        env=secrets.env,
        mcp={name: server for name, server in secrets.mcp.items() if may_delegate and is_own_server(server)},
        policy=rules_below(caller, agent),
        limits=_as_limits(await _limits_below(daemon, caller, None)),
        turn_timeout_ms=caller.turn_timeout_ms,
    )


async def _tighten(daemon: Daemon, caller: SessionRecord, record: SessionRecord) -> None:
    """A caller may have less by now than when it started the session, and the session more."""
    mode, highest = record.settings.permission_mode, caller.settings.permission_mode
    if STRICTEST_FIRST.index(mode) > STRICTEST_FIRST.index(highest):
        raise PermissionDenied(
            f"session {record.session_id} has the permission mode {mode}, this one only {highest}",
            sessionId=record.session_id,
        )
    directory_below(caller.settings.directory, record.settings.directory)
    policy = _merged(rules_below(caller, record.agent), record.policy)
    limits = await _limits_below(daemon, caller, record)
    if policy != record.policy or limits != record.limits:
        await daemon.sessions.ask(
            record.session_id, lambda id: Configure(id, policy=policy, limits=_as_limits(limits))
        )


def _mode_below(highest: PermissionMode, wanted: PermissionMode | None) -> PermissionMode:
    if wanted is None:
        return min("default", highest, key=STRICTEST_FIRST.index)
    if STRICTEST_FIRST.index(wanted) > STRICTEST_FIRST.index(highest):
        raise PermissionDenied(
            f"this session has the permission mode {highest}, so it cannot start one with {wanted}",
            field="permission_mode",
        )
    return wanted


def directory_below(root: str, wanted: str | None) -> str:
    """A directory inside another one, with links resolved."""
    if "\0" in (wanted or ""):
        raise PermissionDenied("the directory has a NUL character", field="directory")
    real = os.path.realpath(root)
    path = os.path.realpath(os.path.join(root, wanted or "."))
    if path != real and not path.startswith(real.rstrip("/") + "/"):
        raise PermissionDenied(f"{wanted} is outside of this session's directory", field="directory")
    return path


# -- rules ------------------------------------------------------------------------------------


def rules_below(caller: SessionRecord, agent: str) -> tuple[PolicyRule, ...]:
    """The caller's rules, as they must read for another agent in another directory to have the same effect."""
    return tuple(rule for given in caller.policy if (rule := _rule_below(caller, given, agent)) is not None)


def _rule_below(caller: SessionRecord, rule: PolicyRule, agent: str) -> PolicyRule | None:
    if not concerns(rule, caller.agent):
        return rule if rule.effect != "allow" else None
    if rule.tool is not None and agent != caller.agent:
        if rule.effect == "allow":
            return None
        raise PermissionDenied(
            f"a rule of this session is about {caller.agent}'s tool `{rule.tool}`, which other agents do not have: "
            f"it can start {caller.agent} only",
            field="agent",
        )
    # A relative path begins in the directory of the session that has the rule.
    path = rule.path and absolute_pattern(rule.path, os.path.realpath(caller.settings.directory))
    if path is not None and len(path) > MAX_PATTERN:
        raise PermissionDenied(f"the rule about {rule.path} is too long to apply to another session")
    return msgspec.structs.replace(rule, agent=None, path=path)


def _merged(callers: tuple[PolicyRule, ...], own: tuple[PolicyRule, ...]) -> tuple[PolicyRule, ...]:
    """Rules that allow no more than either list: the first rule that matches counts."""
    if callers == own:
        return own
    strict = [rule for rule in (*own, *callers) if rule.effect != "allow"]
    return tuple(dict.fromkeys([*strict, *(rule for rule in own if rule in callers)]))


# -- limits -----------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def _order(daemon: Daemon, caller: SessionRecord) -> AsyncIterator[None]:
    """One after the other, from reading what is left until the turn that may use it has begun."""
    async with daemon.families.hold((*caller.callers, caller.folder)[0]):
        yield


async def _check_running(daemon: Daemon, caller: SessionRecord) -> None:
    at_work = [shown async for shown in _descendants(daemon, caller) if _is_at_work(shown)]
    if len(at_work) >= MAX_RUNNING:
        raise RateLimited(f"{MAX_RUNNING} sessions below this one are running: wait for one of them")


def _is_at_work(shown: Shown) -> bool:
    return shown.view.state in ("running", "requires_action") or shown.view.record.queued > 0


async def _limits_below(daemon: Daemon, caller: SessionRecord, own: SessionRecord | None) -> SessionLimits:
    """What is left of the caller's limits. A running session below counts with all that it may still use.

    - `own`: A session that exists already. Its limits count too, and what it has used stays used.
    """
    now = daemon.world.now
    given = own.limits if own else daemon.config.limits
    limits = {name: getattr(given, name) for name in given.__struct_fields__}
    budgets = {name: value for name in BUDGETS if (value := getattr(caller.limits, name)) is not None}
    if budgets:
        others = [shown async for shown in _descendants(daemon, caller)]
        others = [shown for shown in others if own is None or shown.view.record.folder != own.folder]
        for name, value in budgets.items():
            left = value - _used(caller, name) - sum(_claimed(shown, name) for shown in others)
            if left <= 0:
                raise PermissionDenied(_exhausted(name, others), limit=name)
            limits[name] = _least((limits[name], left + (_used(own, name) if own else 0)))
    if caller.limits.max_session_seconds is not None:
        left = caller.limits.max_session_seconds - age_of(caller, now)
        if left <= 0:
            raise PermissionDenied("the time of this session is over", limit="max_session_seconds")
        limits["max_session_seconds"] = _least(
            (limits["max_session_seconds"], left + (age_of(own, now) if own else 0))
        )
    limits["max_turn_seconds"] = _least((limits["max_turn_seconds"], caller.limits.max_turn_seconds))
    return SessionLimits(**limits)


def _used(record: SessionRecord, name: str) -> float:
    spent = spent_by(record)
    match name:
        case "max_turns":
            return record.turns
        case "max_cost_usd":
            return spent.cost_usd or 0.0
    return (spent.input_tokens or 0) + (spent.output_tokens or 0)


def _claimed(shown: Shown, name: str) -> float:
    record = shown.view.record
    limit: float | None = getattr(record.limits, name)
    return limit if _is_at_work(shown) and limit is not None else _used(record, name)


def _exhausted(name: str, others: Iterable[Shown]) -> str:
    at_work = [shown.view.record.session_id for shown in others if _is_at_work(shown)]
    rest = f": session {at_work[0]} may still use it; wait until it is idle" if at_work else ""
    return f"nothing is left of this session's limit {name}{rest}"


def _least(values: tuple[float | None, float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _as_limits(limits: SessionLimits) -> Limits:
    return Limits(**{name: getattr(limits, name) for name in limits.__struct_fields__})
