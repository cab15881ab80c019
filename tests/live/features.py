"""The features that every agent is tested for, in the order of the coverage matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest
from msgspec import Struct

Test = TypeVar("Test", bound=Callable[..., object])


class Feature(Struct, frozen=True):
    name: str
    title: str
    scripted_only: str | None = None
    """Why it cannot be tested on a real model, if so."""


NO_ERRORS = "a real model does not fail on demand"
NO_LOG = "only the scripted model records its requests"

FEATURES = {
    feature.name: feature
    for feature in (
        Feature("text", "Text"),
        Feature("deltas", "Streamed deltas"),
        Feature("thinking", "Thinking"),
        Feature("tools", "Tool call and result"),
        Feature("command", "Command"),
        Feature("failing_command", "Failing command"),
        Feature("file_change", "File change with diff"),
        Feature("permission_once", "Permission: once"),
        Feature("permission_always", "Permission: always"),
        Feature("permission_reject", "Permission: reject"),
        Feature("rule_allow", "Rule: allow without asking"),
        Feature("rule_deny", "Rule: deny with a reason, even in bypass"),
        Feature("rule_read", "Rule: deny reading a file"),
        Feature("question_answered", "Questions answered"),
        Feature("question_multi_select", "Question with several choices"),
        Feature("question_rejected", "Question rejected"),
        Feature("plan_read_only", "Plan mode is read-only"),
        Feature("plan_approved", "Plan approved"),
        Feature("plan_rejected", "Plan rejected"),
        Feature("cancel_stream", "Cancel while streaming"),
        Feature("cancel_tool", "Cancel during a tool call"),
        Feature("queue", "Three queued messages"),
        Feature("multi_turn", "Multi-turn"),
        Feature("slash_text", "Message that begins with a slash", NO_LOG),
        Feature("prompt_template", "Workspace prompt template", NO_LOG),
        Feature("compact", "Compact"),
        Feature("reader_drops", "Reader reconnects during a turn"),
        Feature("daemon_killed", "Resume after kill -9 of the daemon"),
        Feature("daemon_killed_first_turn", "kill -9 of the daemon during the first turn"),
        Feature("daemon_killed_pending", "kill -9 of the daemon while a permission is pending"),
        Feature("daemon_killed_tool", "kill -9 of the daemon between a command and its result"),
        Feature("agent_killed_idle", "Resume after kill -9 of the agent"),
        Feature("agent_killed_turn", "kill -9 of the agent during a turn"),
        Feature("agent_killed_pending", "kill -9 of the agent while a permission is pending"),
        Feature("models", "Model list"),
        Feature("variant", "Variant", NO_LOG),
        Feature("switch_permission_mode", "Switch permission mode"),
        Feature("switch_agent_mode", "Switch agent mode"),
        Feature("switch_model", "Switch model and variant", NO_LOG),
        Feature("image", "Image"),
        Feature("file_attachment", "File attachment"),
        Feature("mcp", "MCP tool"),
        Feature("skills", "Skills", NO_LOG),
        Feature("client_tool", "Custom tool (Python)"),
        Feature("client_tool_typescript", "Custom tool (TypeScript)"),
        Feature("desktop", "Desktop: asks before a click", "the test finds what to click"),
        Feature("subagent", "Sub-agent"),
        Feature("usage", "Usage"),
        Feature("error_401", "Model error: 401", NO_ERRORS),
        Feature("error_429", "Model error: 429", NO_ERRORS),
        Feature("error_500", "Model error: 500", NO_ERRORS),
        Feature("error_cut", "Model error: interrupted stream", NO_ERRORS),
        Feature("terminate", "Terminate leaves no process behind"),
        Feature("two_sessions", "Two sessions at once"),
        Feature("budget", "Budget ends a running turn", "a real model does not spend on demand"),
    )
}


def feature(name: str) -> Callable[[Test], Test]:
    """Marks the one test of a feature."""
    mark: Callable[[Test], Test] = pytest.mark.feature(FEATURES[name])
    return mark
