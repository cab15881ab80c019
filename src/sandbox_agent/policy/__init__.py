"""Who answers a permission request: a rule, the session's mode, an earlier "always", or the client. Pure, but for the operator's file."""

from __future__ import annotations

from .modes import STATUS, is_client_tool, only_looks, out_of_plan, plan_answer, remember
from .rules import Rules
from .verdicts import Verdict, denial, settings_for_agent, verdict

__all__ = [
    "STATUS",
    "Rules",
    "Verdict",
    "denial",
    "is_client_tool",
    "only_looks",
    "out_of_plan",
    "plan_answer",
    "remember",
    "settings_for_agent",
    "verdict",
]
