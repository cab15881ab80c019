"""The agents of the live suite: those of the registry, and programs that only speak ACP, as an operator names
them.

An adapter declares what its agent cannot do. One adapter serves all ACP programs, so their gaps are declared
here.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.acp import parse_acp_agents
from sandbox_agent.agents.base import Agent
from sandbox_agent.agents.scripted import Scripted, scripted
from sandbox_agent.install.publishers import RECIPES
from sandbox_agent.testing import agent_cache

from .features import FEATURES

REGISTERED = sorted(RECIPES, key=lambda name: (AGENTS[name].stability != "stable", name))
"""The installable agents, stable ones first."""


class AcpProgram(Struct, frozen=True):
    """One program behind `--acp-agent`."""

    command: str
    installs: tuple[str, ...]
    """The packages it needs from the agents' cache."""
    env: tuple[str, ...]
    """The daemon's variables that it is given."""
    gaps: dict[str, str]
    behaviour: Scripted
    sample: frozenset[str]
    """The features tested unless `--agent` names it. Each session is a process that costs up to five seconds
    of a core, so `make test` only checks that the adapter still fits, and `make live` takes the minutes for
    everything.
    """


SAMPLE = frozenset({"text", "file_change", "permission_once"})
NO_QUESTIONS = "it offers its model no tool for questions over ACP"
NO_PLANS = "it offers its model no tool to leave plan mode: the plan is a message"
LATE_USAGE = "it reports what it has spent when the turn is over: the next message is refused"
NO_SKILLS = "the protocol has none: the first message of a session tells the agent about them"
RETRIES = (
    "it reports the failure after five more tries without any message, which take over a minute; "
    "a cancel or `turnTimeoutMs` ends such a turn earlier"
)

ACP_PROGRAMS = {
    "claude-acp": AcpProgram(
        "claude-agent-acp",
        ("claude", "claude-agent-acp"),
        ("ANTHROPIC_*", "CLAUDE_*"),
        {
            "rule_read": "it reads files in its directory without asking",
            "budget": LATE_USAGE,
            "skills": NO_SKILLS,
        },
        msgspec.structs.replace(
            scripted(AGENTS["claude"]),
            other_model=("haiku", "claude-haiku-5-5"),
            reports_mcp=False,
            reports_exit_codes=False,  # only in the text that reports a failed command
            tells_reasons=False,  # the protocol has no text for a rejected request
        ),
        SAMPLE | {"question_answered", "cancel_stream", "daemon_killed"},
    ),
    "opencode-acp": AcpProgram(
        # Without this it asks for no permission.
        """'OPENCODE_PERMISSION={"edit":"ask","bash":"ask","desktop_*":"ask"}' opencode acp""",
        ("opencode",),
        ("OPENCODE_*", "ANTHROPIC_*", "OPENAI_*"),
        {
            "compact": "it offers no such command over ACP",
            "skills": NO_SKILLS,
            "rule_read": "it reads files in its directory without asking",
            "question_answered": NO_QUESTIONS,
            "question_multi_select": NO_QUESTIONS,
            "question_rejected": NO_QUESTIONS,
            "plan_approved": NO_PLANS,
            "plan_rejected": NO_PLANS,
            "subagent": "it does not show a sub-agent's work and does not pass on its requests: the turn waits until it is cancelled",
            "error_cut": RETRIES,
            "budget": LATE_USAGE,
        },
        msgspec.structs.replace(
            scripted(AGENTS["opencode"]), reports_arguments=False, reports_mcp=False, tells_reasons=False
        ),
        frozenset({"permission_once"}),
    ),
}

ACP_AGENTS = tuple(f"{name}={program.command}" for name, program in ACP_PROGRAMS.items())
"""The values of `--acp-agent`."""
ACP_ENV = tuple(f"{name}={variable}" for name, program in ACP_PROGRAMS.items() for variable in program.env)
"""The values of `--acp-env`."""
ACP_FLAGS = (
    *(f"--acp-agent={agent}" for agent in ACP_AGENTS),
    *(f"--acp-env={variable}" for variable in ACP_ENV),
)


def _acp_agents() -> dict[str, Agent]:
    agents = parse_acp_agents(ACP_AGENTS, AGENTS, ACP_ENV)
    for name, agent in agents.items():
        agent.gaps = ACP_PROGRAMS[name].gaps
    return agents


TRIED: dict[str, Agent] = {**{name: AGENTS[name] for name in REGISTERED}, **_acp_agents()}
"""By name, in the order of the tests."""

CHOICES = {**{name: (name,) for name in TRIED}, "acp": tuple(ACP_PROGRAMS), "all": tuple(TRIED)}
"""The values that `--agent` accepts."""

ON_EVERY_AGENT = frozenset({"text", "permission_once", "question_answered", "cancel_stream"})
"""The features that `make test` tests on all registered agents. It tests every other on one that has it."""
ON_QUICK_AGENTS = frozenset({"daemon_killed", "terminate"})
"""The features that need processes of their own, which `make test` tests on the agents that start quickly."""
SLOW_TO_START = frozenset({"amp", "opencode"})
"""Starting one of these takes seconds of a core."""


def chosen(choices: Iterable[str] | None, feature: str, on_quick_agents: bool = False) -> list[str]:
    """The agents to test a feature on: those that `--agent` names, else a sample, or all that start quickly."""
    if choices is None:
        return [
            name for name in TRIED if (_is_quick(name) if on_quick_agents else _is_sampled(name, feature))
        ]
    named = {name for choice in choices for name in CHOICES[choice]}
    return [name for name in TRIED if name in named]


def representatives(choices: Iterable[str] | None, names: Sequence[str]) -> list[str]:
    """The agents to test something on that is our own work: those that `--agent` names, else the first."""
    return list(names[:1]) if choices is None else [name for name in names if name in chosen(choices, "text")]


def _is_sampled(name: str, feature: str) -> bool:
    if name in ACP_PROGRAMS:
        return feature in ACP_PROGRAMS[name].sample
    if feature in ON_QUICK_AGENTS:
        return _is_quick(name)
    if feature in ON_EVERY_AGENT:
        return True
    # A different one for each feature, so that all that start quickly are tested for some of them.
    able = [each for each in REGISTERED if feature not in AGENTS[each].gaps] or REGISTERED
    able = [each for each in able if _is_quick(each)] or able
    return name == able[list(FEATURES).index(feature) % len(able)]


def _is_quick(name: str) -> bool:
    return name not in ACP_PROGRAMS and name not in SLOW_TO_START


def installs(name: str) -> tuple[str, ...]:
    """The packages an agent needs from the agents' cache."""
    return ACP_PROGRAMS[name].installs if name in ACP_PROGRAMS else (name,)


def behaviour(name: str) -> Scripted:
    """An agent's peculiarities."""
    return ACP_PROGRAMS[name].behaviour if name in ACP_PROGRAMS else scripted(AGENTS[name])


@functools.cache
def cannot_run(name: str) -> str | None:
    """Why an agent cannot be tested on this machine; installs it into the cache if possible."""
    for program in installs(name):
        try:
            agent_cache.install(program)
        except agent_cache.CannotInstall as error:
            # On a developer's machine, an installed agent of another version is better than none.
            if os.environ.get("CI") or shutil.which(program) is None:
                # Strip the agent's name, so that a shared reason is reported once for all agents.
                return str(error).partition("could not be installed. ")[2] or str(error)
    return None
