"""Runs OpenCode on the scripted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..scripted import KEY, Offline, Scripted, pretty

SWITCHED_OFF = (
    "AUTOUPDATE",
    "CLAUDE_CODE",
    "DEFAULT_PLUGINS",
    "EMBEDDED_WEB_UI",
    "EXTERNAL_SKILLS",
    "LSP_DOWNLOAD",
    "MODELS_FETCH",
    "SHARE",
)


def offline(model: str, home: Path) -> Offline:
    config = home / ".config" / "opencode" / "opencode.json"
    env = {
        "OPENCODE_CONFIG": str(config),
        "OPENCODE_PURE": "1",
        **{f"OPENCODE_DISABLE_{name}": "1" for name in SWITCHED_OFF},
    }
    # It installs a package of its own into its settings directory, which keeps it busy for the first half
    # minute, and no variable disables that: here it finds none.
    registry = f"registry={model}/\nfetch-retries=0\n"
    return Offline(env, {config: pretty(_config(model)), home / ".npmrc": registry})


def _config(model_url: str) -> dict[str, Any]:
    model = {
        "tool_call": True,
        "reasoning": True,
        "attachment": True,
        "modalities": {"input": ["text", "image"], "output": ["text"]},
        "limit": {"context": 128000, "output": 8192},
        "cost": {"input": 1, "output": 2},
    }
    efforts = {effort: {"reasoningEffort": effort} for effort in ("low", "high")}
    options = {"baseURL": f"{model_url}/v1", "apiKey": KEY}
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": "scripted/scripted-1",
        "small_model": "scripted/scripted-1",
        "enabled_providers": ["scripted", "scripted-anthropic", "scripted-responses"],
        "provider": {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Scripted",
                "options": options,
                "models": {
                    "scripted-1": {**model, "name": "Scripted One", "variants": efforts},
                    "scripted-2": {**model, "name": "Scripted Two", "reasoning": False},
                },
            },
            "scripted-anthropic": {
                "npm": "@ai-sdk/anthropic",
                "name": "Scripted (Messages)",
                "options": options,
                "models": {"scripted-a": {**model, "name": "Scripted A"}},
            },
            "scripted-responses": {
                "npm": "@ai-sdk/openai",
                "name": "Scripted (Responses)",
                "options": options,
                "models": {"scripted-r": {**model, "name": "Scripted R"}},
            },
        },
    }


SCRIPTED = Scripted(
    offline,
    reports_mcp=True,
    other_model=("scripted-anthropic/scripted-a", "scripted-a"),
    ends_when_rejected=True,
)
