"""The scribe: keeps the rules of the contract, for every adapter."""

from __future__ import annotations

from ...schema.inputs import Rule
from .drafts import Ask, AskKind, Draft, Frame, Pending, Turn
from .recovery import RecoveringScribe
from .scribe import Scribe

__all__ = ["Ask", "AskKind", "Draft", "Frame", "Pending", "RecoveringScribe", "Rule", "Scribe", "Turn"]
