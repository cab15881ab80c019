"""The registry of agents, one line each. Everything else reads it."""

from __future__ import annotations

from .acp import Acp
from .amp import Amp
from .base import Agent
from .claude import Claude
from .codex import Codex
from .mock import Mock
from .opencode import OpenCode
from .pi import Pi

AGENTS: dict[str, Agent] = {
    agent.name: agent for agent in (Amp(), Claude(), Codex(), Mock(), OpenCode(), Pi())
}

TRANSLATORS: dict[str, Agent] = {**AGENTS, "acp": Acp("acp", ["acp"])}
"""Agents whose recordings can be read. This includes ACP, which has no entry in `AGENTS` until the operator
names a program.
"""
