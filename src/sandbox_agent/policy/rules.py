"""Rules, and the requests that they are about. How a request is judged is in `judging.py`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from msgspec import Struct

from ..agents.scribe import Ask
from ..schema.items import ToolKind
from ..schema.policy import Effect, PolicyRule, RuleReference
from .wildcards import matches

Resolve = Callable[[str], str]


class Request(Struct, frozen=True, dict=True):
    """A permission request, and where it is made."""

    agent: str
    ask: Ask
    directory: str
    resolve: Resolve

    @property
    def kind(self) -> ToolKind:
        return self.ask.tool_kind or self.ask.kind

    @cached_property
    def root(self) -> str:
        return self.resolve(self.directory)


class Rules(Struct, frozen=True):
    """The rules in force: the operator's come first, and a session's can only tighten them."""

    operator: tuple[PolicyRule, ...] = ()
    session: tuple[PolicyRule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.operator or self.session)

    def at(self, now: Callable[[], str]) -> Rules:
        """Without the rules that have expired. Positions stay what they are."""
        if not any(rule.expires for rule in (*self.operator, *self.session)):
            return self
        moment = now()
        return Rules(_current(self.operator, moment), _current(self.session, moment))

    def restrict(self, agent: str) -> bool:
        """Whether a rule may deny this agent something, or make it ask."""
        return any(
            rule.effect != "allow" and rule is not NEVER and concerns(rule, agent)
            for rule in (*self.operator, *self.session)
        )


NEVER = PolicyRule("allow", agent="-")
"""Replaces a rule that has expired: no agent is called `-`."""


def _current(rules: tuple[PolicyRule, ...], now: str) -> tuple[PolicyRule, ...]:
    return tuple(NEVER if rule.is_over(now) else rule for rule in rules)


class Judged(Struct, frozen=True):
    """The answer of the rules to a part, or to a whole request."""

    effect: Effect | None = None
    """None if no rule matches."""
    rule: RuleReference | None = None
    why: str = ""
    """Why it is not certain that the rule matches."""


def concerns(rule: PolicyRule, agent: str) -> bool:
    return rule.agent is None or matches(agent, rule.agent)
