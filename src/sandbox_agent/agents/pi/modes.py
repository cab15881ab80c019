"""Pi's one mode. Separate from the wire, so that facts load without it."""

from __future__ import annotations

from ...schema.features import Mode

MODES = (Mode("default", "Default", "Write code and run commands."),)
