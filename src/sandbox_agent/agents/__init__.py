"""The registry: every agent, one line each. Everything else reads it."""

from __future__ import annotations

from .base import Agent
from .mock import Mock

AGENTS: dict[str, Agent] = {agent.name: agent for agent in (Mock(),)}
