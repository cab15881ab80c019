"""Amp's modes, and its tools that change nothing. Apart from the wire, so that facts load without it."""

from __future__ import annotations

from ...schema.features import Mode

MODES = (
    Mode("build", "Build", "Amp's own default mode."),
    Mode("smart", "Smart", "The best model, without limits."),
    Mode("rush", "Rush", "Faster and cheaper, for small tasks."),
    Mode("deep", "Deep", "Thinks longer, for hard problems."),
    Mode("large", "Large", "A large context window."),
    Mode("low", "Low", "Later builds: the least effort."),
    Mode("medium", "Medium", "Later builds: some effort."),
    Mode("high", "High", "Later builds: much effort."),
    Mode("ultra", "Ultra", "Later builds: the most effort."),
)

# They neither write nor run: Amp may use them without asking. A sub-agent's own calls are asked for one by one.
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
