"""Rules: what agents may do without asking, must ask for, or may not do."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from .items import ToolKind

Effect = Literal["allow", "ask", "deny"]
RuleList = Literal["operator", "session"]
MAX_PATTERN = 1000
Pattern = Annotated[str, Meta(min_length=1, max_length=MAX_PATTERN)]

MAX_RULES = 100
"""The longest list of a session."""


class PolicyRule(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What to do with a request that matches every given field. An unknown field is refused: a typo must not widen a rule."""

    effect: Annotated[Effect, Meta(description="`allow`, `ask` or `deny`.")]
    agent: Annotated[Pattern | None, Meta(description="Name of the agent; `*` is a wildcard.")] = None
    kind: Annotated[ToolKind | None, Meta(description="What the tool does.")] = None
    tool: Annotated[Pattern | None, Meta(description="The agent's name for the tool; `*` is a wildcard.")] = (
        None
    )
    command: Annotated[
        Pattern | None,
        Meta(
            description="Words of a command, e.g. `git *`. `allow` must match the whole command, `deny` and `ask` match its beginning."
        ),
    ] = None
    path: Annotated[
        Pattern | None,
        Meta(
            description="File after links are resolved, e.g. `src/**`; relative to the session's directory."
        ),
    ] = None
    host: Annotated[Pattern | None, Meta(description="Host that is contacted, e.g. `*.example.com`.")] = None
    reason: Annotated[
        Annotated[str, Meta(max_length=2000)] | None,
        Meta(description="Why; sent to the agent when the rule denies a request."),
    ] = None
    expires: Annotated[str | None, Meta(description="When the rule ends, e.g. `2030-01-31T12:00:00Z`.")] = (
        None
    )

    def __post_init__(self) -> None:
        if self.expires is not None and not _has_zone(self.expires):
            raise ValueError("`expires` is not a time with a time zone, e.g. 2030-01-31T12:00:00Z")
        if self.command is not None and self.kind not in (None, "command"):
            raise ValueError(f"`command` never matches a tool of the kind {self.kind}")
        if self.command is not None and not self.command.strip():
            raise ValueError("`command` has no words")
        if self.path is not None and (self.command is not None or self.kind == "command"):
            raise ValueError("`path` never matches a command: it is about the files of other tools")
        if self.path is not None and self.host is not None:
            raise ValueError("`path` and `host` never match the same part of a request: write two rules")

    def is_over(self, now: str) -> bool:
        return self.expires is not None and _moment(self.expires) <= _moment(now)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _has_zone(text: str) -> bool:
    try:
        return _moment(text).tzinfo is not None
    except ValueError:
        return False


class RuleReference(Struct, frozen=True, omit_defaults=True):
    """The rule that decided."""

    list: RuleList
    index: int
    """Its position in the list, from 0."""
    reason: str | None = None


# -- responses --------------------------------------------------------------------------------


class ListedRule(Struct, frozen=True, omit_defaults=True):
    list: Annotated[RuleList, Meta(description="Whose rule it is.")]
    index: Annotated[int, Meta(description="Its position in that list, from 0.")]
    rule: PolicyRule
    expired: bool = False


class PolicyList(Struct, frozen=True):
    rules: Annotated[
        list[ListedRule], Meta(description="The operator's rules, then the session's, in their order.")
    ]


class JudgedPart(Struct, frozen=True, omit_defaults=True):
    """A command, file or host of a request, and what the rules say about it."""

    kind: ToolKind
    text: str
    effect: Annotated[Effect | None, Meta(description="Absent if no rule matches.")] = None
    rule: RuleReference | None = None
    why: Annotated[str | None, Meta(description="Why it is not certain that the rule matches.")] = None


class PolicyVerdict(Struct, frozen=True, omit_defaults=True, rename="camel"):
    outcome: Annotated[Effect, Meta(description="What would happen; `ask` waits for a client.")]
    decided_by: Annotated[Literal["rule", "permissionMode"], Meta(description="What decides.")]
    parts: Annotated[list[JudgedPart], Meta(description="The request in parts; the strictest answer counts.")]
    rule: Annotated[RuleReference | None, Meta(description="The rule that decides.")] = None
    message: Annotated[str | None, Meta(description="The reason that the agent gets.")] = None
