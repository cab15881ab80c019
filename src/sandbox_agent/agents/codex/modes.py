"""What Codex can be asked to do. Apart from the wire, so that facts load without it."""

from __future__ import annotations

from ...schema.features import Mode

MODES = (
    Mode("build", "Build", "Writes code and runs commands."),
    Mode("plan", "Plan", "Talks its way to a plan before it changes anything."),
)
