"""Amp's modes, its read-only tools, and the tool we give it. Separate from the wire, so that facts load
without it.
"""

from __future__ import annotations

import re

from ...schema.features import Mode

MODES = (
    Mode("build", "Build", "Amp's own default mode."),
    Mode("smart", "Smart", "The best model, without limits."),
    Mode("rush", "Rush", "Faster and cheaper, for small tasks."),
    Mode("deep", "Deep", "Thinks longer, for hard problems."),
    Mode("large", "Large", "A large context window."),
    Mode("low", "Low", "Later builds: minimal effort."),
    Mode("medium", "Medium", "Later builds: some effort."),
    Mode("high", "High", "Later builds: high effort."),
    Mode("ultra", "Ultra", "Later builds: maximum effort."),
)

_EARLIER = {"smart", "rush", "deep", "large"}
_LATER = {"low", "medium", "high", "ultra"}
_LAST_EARLIER = 1777266064
_FIRST_LATER = 1784106548
"""Build numbers are timestamps. No build between these two was examined: both kinds of modes are passed on.
"""


def modes_of(version: str | None) -> tuple[Mode, ...]:
    """The modes of a build; it refuses to start with those of other builds."""
    match = re.match(r"0\.0\.(\d+)", version or "")
    built = int(match[1]) if match else None
    if built is not None and built <= _LAST_EARLIER:
        return tuple(mode for mode in MODES if mode.id not in _LATER)
    if built is not None and built >= _FIRST_LATER:
        return tuple(mode for mode in MODES if mode.id not in _EARLIER)
    return MODES


# These neither write nor run anything: Amp may use them without asking. A sub-agent's own calls ask one by
# one.
READ_ONLY = (
    "Read",
    "Grep",
    "glob",
    "Glob",
    "list_directory",
    "finder",
    "get_diagnostics",
    "look_at",
    "librarian",
    "oracle",
    "mermaid",
    "chart",
    "web_search",
    "read_web_page",
    "read_mcp_resource",
    "read_thread",
    "find_thread",
    "skill",
    "task_list",
    "todo_read",
    "todo_write",
    "Task",
)

QUESTION_SERVER = "sandbox_agent"
ASK_USER = f"mcp__{QUESTION_SERVER}__ask_user"
"""Amp's name for the tool of `question_server.py`."""
