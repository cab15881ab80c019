"""The automatic answer to a permission request, and why."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ..schema.events import DecidedBy
from ..schema.inputs import Decision, Rule, Settings
from ..schema.policy import RuleReference
from . import modes
from .rules import Judged, Request, Rules

DENIED = "a rule does not allow this"
READ_ONLY = "plan mode is read-only"


class Verdict(NamedTuple):
    decision: Decision
    by: DecidedBy
    rule: RuleReference | None = None
    """The rule that decided; None for an earlier "always"."""


def verdict(
    request: Request,
    settings: Settings,
    rules: Rules,
    remembered: tuple[Rule, ...],
    *,
    trusted: bool = False,
) -> Verdict | None:
    """None if the client must be asked. `trusted`: nobody needs to be asked unless a rule says so."""
    return answer(request, settings, _judged(rules, request), remembered, trusted=trusted)


def answer(
    request: Request,
    settings: Settings,
    judged: Judged,
    remembered: tuple[Rule, ...],
    *,
    trusted: bool = False,
) -> Verdict | None:
    """What the rules' answer means in this mode."""
    ask = request.ask
    if judged.effect == "deny":
        return _denied(judged)
    if modes.refuses(ask, settings):
        return Verdict(Decision("reject", READ_ONLY), "daemon")
    if judged.effect == "ask":
        return None
    if judged.effect == "allow":
        return Verdict(Decision("once"), "rule", judged.rule)
    if modes.allows(ask, settings, request.resolve):
        return Verdict(Decision("once"), "daemon")
    if modes.remembers(ask, remembered):
        return Verdict(Decision("once"), "rule")
    return Verdict(Decision("once"), "daemon") if trusted else None


def denial(request: Request, rules: Rules) -> Verdict | None:
    """The verdict of a rule that denies this, whatever a client answers."""
    judged = _judged(rules, request)
    return _denied(judged) if judged.effect == "deny" else None


def _judged(rules: Rules, request: Request) -> Judged:
    if not rules:
        return Judged()
    from .judging import judge  # most daemons have no rules

    return judge(rules, request)


def _denied(judged: Judged) -> Verdict:
    reason = judged.rule.reason if judged.rule is not None else None
    return Verdict(Decision("reject", reason or DENIED), "rule", judged.rule)


def settings_for_agent(settings: Settings, rules: Rules, agent: str) -> Settings:
    """The reason that the agent gets. In its own bypass it would not ask, so no rule could deny anything: the daemon answers instead."""
    if settings.permission_mode == "bypass" and rules.restrict(agent):
        return msgspec.structs.replace(settings, permission_mode="default")
    return settings
