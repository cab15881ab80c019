"""One page for each agent, from its adapter and the coverage matrix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
from tests.live import coverage
from tests.live.features import FEATURES

from sandbox_agent.agents import AGENTS

from ..agent_tables import key_variables
from .mdx import page, prose

DOCS = Path(__file__).parents[2] / "docs"
MATRIX = DOCS / "compatibility.mdx"
NAVIGATION = DOCS / "docs.json"
WRITTEN_BY_HAND = {"mock"}
"""Agents with a page of their own, which `facts` is a part of."""


def render(name: str) -> str:
    agent = AGENTS[name]
    sections = [
        f'```console\n$ sandbox-agent run {name} "Explain this folder"\n```',
        facts(name),
        _section("Good to know", agent.notes),
        _section("What it does without asking", [agent.unasked] if agent.unasked else []),
        _section(
            "What it reads from the workspace",
            [agent.reads_from_workspace] if agent.reads_from_workspace else [],
        ),
        _section("What it cannot do", gaps(name)),
    ]
    return page(
        agent.title,
        f"{agent.title} through the daemon: modes, keys, and what works.",
        "\n\n".join(section for section in sections if section),
    )


def navigation() -> str:
    """`docs.json` with every agent's page: those already listed keep their order, new ones follow."""
    text = NAVIGATION.read_text()
    listed = re.findall(r'^ +"agents/(.+)",$', text, re.MULTILINE)
    names = [*(name for name in listed if name in AGENTS), *(name for name in AGENTS if name not in listed)]
    lines = "".join(f'          "agents/{name}",\n' for name in names)
    return re.sub(r'(?:^ +"agents/.+",\n)+', lines, text, flags=re.MULTILINE)


def _section(title: str, lines: Sequence[str]) -> str:
    """Sentences, one per line of a list unless there is only one."""
    texts = [prose(f"{line[:1].upper()}{line[1:]}".rstrip(".") + ".") for line in lines]
    if not texts:
        return ""
    return f"## {title}\n\n" + (texts[0] if len(texts) == 1 else "\n".join(f"- {text}" for text in texts))


def gaps(name: str) -> list[str]:
    """What the coverage matrix says the agent lacks, features with the same reason together."""
    column = coverage.read(MATRIX.read_text()).get(name)
    if column is None:
        return []
    reasons: dict[str, list[str]] = {}
    for feature, outcome in column.cells.items():
        if outcome != "yes":
            reason = AGENTS[name].gaps.get(feature, "the tests fail")
            reasons.setdefault(reason, []).append(FEATURES[feature].title)
    return [f"**{'; '.join(features)}**: {reason}" for reason, features in reasons.items()]


def checklist() -> str:
    """The features of the matrix: those that every agent has, and the others with who has them."""
    matrix = coverage.read(MATRIX.read_text())
    having = {
        name: [agent for agent, column in matrix.items() if column.cells.get(name) == "yes"]
        for name in FEATURES
    }
    required = [FEATURES[name].title for name, agents in having.items() if len(agents) == len(matrix)]
    optional = [
        f"| {FEATURES[name].title} | {', '.join(f'`{agent}`' for agent in agents) or 'no agent'} |"
        for name, agents in having.items()
        if len(agents) < len(matrix)
    ]
    body = (
        "Some features are required of every agent; others are optional. Your program should work without the optional "
        "ones, or check `capabilities` in `GET /v1/agents` first. Both lists come from the "
        "[compatibility matrix](/compatibility), so every line has been tested.\n\n"
        "## Required\n\nEvery agent has these features.\n\n"
        + "\n".join(f"- {title}" for title in required)
        + "\n\n## Optional\n\n| feature | agents that have it |\n|---|---|\n"
        + "\n".join(optional)
        + "\n\n## For your own agent\n\nIf you write an agent that speaks ACP, aim for the required list; "
        "[ACP agents](/acp-agents) explains how each feature maps to the protocol. To test your agent with the same "
        "suite, add it to `tests/live/tried.py` and run `make live`.\n"
    )
    return page("Feature checklist", "What every agent can do, and what is optional.", body)


def facts(name: str) -> str:
    """What every agent has."""
    agent = AGENTS[name]
    able = [capability for capability, can in msgspec.to_builtins(agent.capabilities).items() if can]
    families = ", ".join(f"`{name}{'*' if name.endswith('_') else ''}`" for name in agent.env_families)
    return "\n".join(
        [
            "| | |",
            "|---|---|",
            f"| Name | `{agent.name}` |",
            f"| Stability | {agent.stability} |",
            *([f"| Tested version | {agent.tested_version} |"] if agent.tested_version else []),
            *([f"| Keys | {_keys(name)} |"] if agent.credentials else []),
            f"| Modes | {', '.join(f'`{mode.id}`' for mode in agent.modes)} |",
            f"| Variables it sees | {families or 'none of its own'} ([what every agent sees](/security)) |",
            f"| Capabilities | {', '.join(able)} |",
        ]
    )


def _keys(name: str) -> str:
    """Where its keys come from; the page about credentials has the files, too."""
    sources = AGENTS[name].credentials
    variables = key_variables(sources) if sources else []
    return ", ".join([*variables, "its own login"]) + " ([where they are found](/credentials))"
