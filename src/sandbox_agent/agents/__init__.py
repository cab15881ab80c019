"""The registry: every agent, one line each. Everything else reads it."""

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
"""Whose recordings can be read: also those of ACP agents, which only the operator's own names make agents."""
