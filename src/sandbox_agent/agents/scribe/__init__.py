"""The scribe: enforces the rules of the contract for every adapter."""

from __future__ import annotations

from ...schema.inputs import Rule
from .drafts import (
    Ask,
    AskKind,
    Draft,
    Frame,
    Notable,
    Pending,
    Requested,
    ToolAsked,
    ToolDone,
    Turn,
    draft_of,
)
from .recovery import Recovery
from .scribe import Mark, Scribe

__all__ = [
    "Ask",
    "AskKind",
    "Draft",
    "Frame",
    "Mark",
    "Notable",
    "Pending",
    "Recovery",
    "Requested",
    "Rule",
    "Scribe",
    "ToolAsked",
    "ToolDone",
    "Turn",
    "draft_of",
]
