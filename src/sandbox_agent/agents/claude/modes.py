"""Claude Code's modes. Separate from the wire, so that facts load without it."""

from __future__ import annotations

from ...schema.features import Mode

MODES = (
    Mode("build", "Build", "Write code and run commands."),
    Mode("plan", "Plan", "Look around, then propose a plan for approval."),
)
