"""Rules: show those of a session, and try them out."""

from __future__ import annotations

import os
from typing import Annotated, Any

from msgspec import Meta, Struct

from ..agents.base import Agent
from ..agents.plain_asks import plain_ask
from ..agents.scribe import Ask
from ..errors import InvalidRequest, SessionNotFound, UnsupportedAgent
from ..policy.rules import NEVER, Request, Rules
from ..policy.verdicts import answer
from ..runtime.choices import check_directory
from ..runtime.daemon import Daemon
from ..schema.inputs import PermissionMode, Settings
from ..schema.items import ToolKind
from ..schema.policy import (
    MAX_RULES,
    Effect,
    JudgedPart,
    ListedRule,
    PolicyList,
    PolicyRule,
    PolicyVerdict,
    RuleList,
)
from .operation import operation
from .sessions import WHEN_IT_ASKS, Name, OneSession


class TestPolicy(Struct, frozen=True, rename="camel", kw_only=True):
    agent: Annotated[str, Meta(description="Agent that would make the request, e.g. `claude`.")]
    input: Annotated[
        Any,
        Meta(description="Input of the tool as JSON, or just its command, file or URL as text."),
    ]
    tool: Annotated[Name | None, Meta(description="The agent's name for the tool, e.g. `Bash`.")] = None
    kind: Annotated[ToolKind | None, Meta(description="What the tool does, if `tool` is not given.")] = None
    directory: Annotated[
        str | None, Meta(description="Directory of the session (default: the daemon's).")
    ] = None
    permission_mode: Annotated[PermissionMode, Meta(description=WHEN_IT_ASKS)] = "default"
    policy: Annotated[
        tuple[PolicyRule, ...],
        Meta(max_length=MAX_RULES, description="Rules of the session, after the operator's."),
    ] = ()


@operation("GET", "/v1/sessions/{session_id}/policy", SessionNotFound, name="policy.show")
async def show(daemon: Daemon, request: OneSession) -> PolicyList:
    """Show the rules of a session: the operator's, then its own."""
    record = (await daemon.sessions.show(request.session_id)).view.record
    rules = daemon.rules(record.policy)
    current = rules.at(daemon.world.now)
    return PolicyList(
        [
            *_listed("operator", rules.operator, current.operator),
            *_listed("session", rules.session, current.session),
        ]
    )


def _listed(
    name: RuleList, rules: tuple[PolicyRule, ...], current: tuple[PolicyRule, ...]
) -> list[ListedRule]:
    return [
        ListedRule(name, index, rule, now is NEVER)
        for index, (rule, now) in enumerate(zip(rules, current, strict=True))
    ]


@operation(
    "POST",
    "/v1/policy/test",
    InvalidRequest,
    UnsupportedAgent,
    name="policy.test",
    examples=(
        "sandbox-agent policy test --agent claude --tool Bash --input 'git status && rm -rf build'",
        "sandbox-agent policy test --agent codex --kind edit --input /etc/hosts --permission-mode bypass",
    ),
)
async def test(daemon: Daemon, request: TestPolicy) -> PolicyVerdict:
    """Show what would happen to an agent's request, and which rule decides. Nothing is run.

    Rules do not stop an agent that does not ask: docs/permissions.mdx says what each agent asks for.
    """
    agent = daemon.agent(request.agent)
    directory = request.directory or os.getcwd()
    check_directory(directory)
    asked = Request(agent.name, _ask(agent, request), directory, daemon.world.resolve)
    settings = Settings(directory, permission_mode=request.permission_mode)
    return _verdict(asked, settings, daemon.rules(request.policy).at(daemon.world.now))


def _ask(agent: Agent, request: TestPolicy) -> Ask:
    input = request.input
    if isinstance(input, str):
        input = dict.fromkeys(_SUBJECTS, input)
    if request.tool is not None:
        return agent.ask_about(request.tool, input)
    if request.kind is None:
        raise InvalidRequest("name a `tool`, or its `kind`", field="tool")
    return plain_ask(request.kind, request.kind, input)


_SUBJECTS = ("command", "path", "url")
"""Names under which every agent finds what a tool is about."""


def _verdict(request: Request, settings: Settings, rules: Rules) -> PolicyVerdict:
    from ..policy.judging import judge_parts, strictest  # most daemons have no rules

    parts = list(judge_parts(rules, request))
    judged = strictest(judged for _, judged in parts)
    decided = answer(request, settings, judged, ())
    outcome: Effect = "ask" if decided is None else "deny" if decided.decision.reply == "reject" else "allow"
    by_rule = judged.effect is not None and judged.effect == outcome
    return PolicyVerdict(
        outcome,
        "rule" if by_rule else "permissionMode",
        [JudgedPart(part.kind, part.text, each.effect, each.rule, each.why or None) for part, each in parts],
        judged.rule if by_rule else None,
        decided.decision.message if decided is not None else None,
    )
