"""One page for each agent, from its adapter and the coverage matrix."""

from __future__ import annotations

import msgspec

from sandbox_agent.agents import AGENTS

from .mdx import page, prose

WRITTEN_BY_HAND = {"mock"}
"""Agents with a page of their own, which `facts` is a part of."""


def render(name: str) -> str:
    agent = AGENTS[name]
    notes = "".join(f"- {prose(note)}\n" for note in agent.notes)
    body = f"{facts(name)}\n" + (f"\n## Good to know\n\n{notes}" if notes else "")
    return page(agent.title, f"{agent.title} through the daemon: modes, variables and capabilities.", body)


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
            f"| Modes | {', '.join(f'`{mode.id}`' for mode in agent.modes)} |",
            f"| Variables it sees in addition to the safe base | {families or 'none'} |",
            f"| Capabilities | {', '.join(able)} |",
        ]
    )
