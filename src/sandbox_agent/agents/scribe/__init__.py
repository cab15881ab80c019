"""The scribe: enforces the rules of the contract for every adapter."""

from __future__ import annotations

from ...schema.inputs import Rule
from .drafts import Ask, AskKind, Draft, Frame, Pending, Turn, draft_of
from .recovery import Recovery
from .scribe import Mark, Scribe

__all__ = [
    "Ask",
    "AskKind",
    "Draft",
    "Frame",
    "Mark",
    "Pending",
    "Recovery",
    "Rule",
    "Scribe",
    "Turn",
    "draft_of",
]
