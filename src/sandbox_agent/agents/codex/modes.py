"""Codex's modes. Separate from the wire, so that facts load without it."""

from __future__ import annotations

from ...schema.features import Mode

MODES = (
    Mode("build", "Build", "Writes code and runs commands."),
    Mode("plan", "Plan", "Discusses a plan before it changes anything."),
)
