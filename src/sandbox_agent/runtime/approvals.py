"""Who answers a permission: the session's mode, a rule that an "always" left behind, or the client."""

from __future__ import annotations

from typing import NamedTuple

from ..agents.scribe import Ask
from ..schema.events import DecidedBy, PermissionStatus
from ..schema.inputs import Decision, PermissionMode, Rule

STATUS: dict[str, PermissionStatus] = {
    "once": "accept",
    "always": "accept_for_session",
    "reject": "reject",
}


class Verdict(NamedTuple):
    decision: Decision
    by: DecidedBy


def verdict(ask: Ask, mode: PermissionMode, rules: tuple[Rule, ...]) -> Verdict | None:
    """The answer that needs nobody; None when the client has to be asked."""
    if mode == "bypass":
        return Verdict(Decision("once"), "daemon")
    if mode == "plan" and ask.kind != "read":
        # Some agents ask in their plan mode instead of refusing; read-only is our promise, so we refuse.
        return Verdict(Decision("reject", "plan mode is read-only"), "daemon")
    if mode == "acceptEdits" and ask.kind == "edit":
        return Verdict(Decision("once"), "daemon")
    if ask.needs and all(any(rule.covers(need) for rule in rules) for need in ask.needs):
        return Verdict(Decision("once"), "rule")
    return None


def remember(ask: Ask, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules after an "always"."""
    new = ask.always or ask.needs or (Rule(ask.action),)
    return rules + tuple(rule for rule in new if rule not in rules)
