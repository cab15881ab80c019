"""Runs Pi on the scripted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..scripted import KEY, Offline, Scripted, pretty


def offline(model: str, home: Path) -> Offline:
    folder = home / ".pi" / "agent"
    settings = {
        "defaultProvider": "scripted",
        "defaultModel": "scripted-1",
        "retry": {"maxRetries": 1, "baseDelayMs": 100},  # the default of three takes 14 s
    }
    env = {
        "PI_CODING_AGENT_DIR": str(folder),
        "PI_OFFLINE": "1",
        "PI_SKIP_VERSION_CHECK": "1",
        "PI_TELEMETRY": "0",
    }
    files = {
        folder / "models.json": pretty({"providers": _providers(model)}),
        folder / "settings.json": pretty(settings),
    }
    return Offline(env, files)


def _providers(model_url: str) -> dict[str, Any]:
    def model(id: str, name: str, *, reasoning: bool = True) -> dict[str, Any]:
        return {
            "id": id,
            "name": name,
            "reasoning": reasoning,
            "input": ["text", "image"],
            "contextWindow": 128000,
            "maxTokens": 8192,
            "cost": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0},
        }

    return {
        "scripted": {
            "baseUrl": f"{model_url}/v1",
            "apiKey": KEY,
            "api": "openai-completions",
            "models": [
                model("scripted-1", "Scripted One"),
                model("scripted-2", "Scripted Two", reasoning=False),
            ],
        },
        "scripted-anthropic": {
            "baseUrl": model_url,
            "apiKey": KEY,
            "api": "anthropic-messages",
            "models": [model("scripted-a", "Scripted A")],
        },
        "scripted-responses": {
            "baseUrl": f"{model_url}/v1",
            "apiKey": KEY,
            "api": "openai-responses",
            "models": [model("scripted-r", "Scripted R")],
        },
    }


SCRIPTED = Scripted(
    offline,
    other_model=("scripted-responses/scripted-r", "scripted-r"),
    failed_output="to-stderr\n\n\nCommand exited with code 3",
)
