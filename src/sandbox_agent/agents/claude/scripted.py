"""Runs Claude on the scripted model."""

from __future__ import annotations

from pathlib import Path

from ..scripted import KEY, Offline, Scripted


def offline(model: str, home: Path) -> Offline:
    return Offline(
        {
            "ANTHROPIC_BASE_URL": model,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",  # the default of ten takes minutes
        }
    )


SCRIPTED = Scripted(
    offline,
    reports_mcp=True,
    other_model=("sonnet", "claude-sonnet-5-5"),
    failed_output="Exit code 3\nto-stderr",
)
