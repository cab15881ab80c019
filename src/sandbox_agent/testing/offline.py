"""Settings that make a real agent talk to a scripted model on this machine, and to nothing else.

`offline_environment` writes an agent's private settings below a home of its own and returns the environment to start
it with. The variables belong to the agent's own family, so they also pass through the daemon's environment filter.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

KEY = "sk-scripted"


def offline_environment(agent: str, base_url: str, home: Path) -> dict[str, str]:
    """What to add to the environment of `agent`; `base_url` is the scripted model's, without `/v1`."""
    if agent not in _SETTINGS:
        raise ValueError(f"no offline settings for {agent!r}, only for {', '.join(_SETTINGS)}")
    home.mkdir(parents=True, exist_ok=True)
    return {"HOME": str(home), **_xdg(home), **_SETTINGS[agent](base_url.rstrip("/"), home)}


def _xdg(home: Path) -> dict[str, str]:
    return {
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
    }


def _claude(base_url: str, home: Path) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": base_url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",  # the default of ten takes minutes
    }


def _claude_agent_acp(base_url: str, home: Path) -> dict[str, str]:
    return {**_claude(base_url, home), "CLAUDE_CODE_EXECUTABLE": "claude"}


def _codex(base_url: str, home: Path) -> dict[str, str]:
    codex_home = home / ".codex"
    _write(codex_home / "config.toml", _CODEX_CONFIG.replace("BASE_URL", base_url))
    # Codex complains on stderr about a home below the folder for temporary files.
    temporary = home / "tmp"
    temporary.mkdir(exist_ok=True)
    return {"CODEX_HOME": str(codex_home), "OPENAI_API_KEY": KEY, "TMPDIR": str(temporary)}


# Without these switches Codex also looks for updates, plugins and a place for its statistics, and waits for ever
# for a server that is gone.
_CODEX_CONFIG = """\
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
web_search = "disabled"
suppress_unstable_features_warning = true
model_reasoning_summary = "auto"
show_raw_agent_reasoning = true

[model_providers.scripted]
name = "Scripted"
base_url = "BASE_URL/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = 20000
supports_websockets = false

[analytics]
enabled = false

[feedback]
enabled = false

[features]
apps = false
plugins = false
remote_plugin = false
enable_request_compression = false
shell_snapshot = false
unbounded_connection_retries = false
default_mode_request_user_input = true

[tools.update_plan]
enabled = true
"""


def _opencode(base_url: str, home: Path) -> dict[str, str]:
    config = home / ".config" / "opencode" / "opencode.json"
    _write(config, _json(_opencode_config(base_url)))
    # It installs a package of its own into its settings folder, which keeps it busy for the first half minute, and no
    # variable tells it not to: here it finds none.
    _write(home / ".npmrc", f"registry={base_url}/\nfetch-retries=0\n")
    switched_off = (
        "AUTOUPDATE",
        "CLAUDE_CODE",
        "DEFAULT_PLUGINS",
        "EMBEDDED_WEB_UI",
        "EXTERNAL_SKILLS",
        "LSP_DOWNLOAD",
        "MODELS_FETCH",
        "SHARE",
    )
    return {
        "OPENCODE_CONFIG": str(config),
        "OPENCODE_PURE": "1",
        **{f"OPENCODE_DISABLE_{name}": "1" for name in switched_off},
    }


def _opencode_config(base_url: str) -> dict[str, Any]:
    model = {
        "tool_call": True,
        "reasoning": True,
        "attachment": True,
        "modalities": {"input": ["text", "image"], "output": ["text"]},
        "limit": {"context": 128000, "output": 8192},
        "cost": {"input": 1, "output": 2},
    }
    efforts = {effort: {"reasoningEffort": effort} for effort in ("low", "high")}
    options = {"baseURL": f"{base_url}/v1", "apiKey": KEY}
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


def _pi(base_url: str, home: Path) -> dict[str, str]:
    folder = home / ".pi" / "agent"
    _write(folder / "models.json", _json({"providers": _pi_providers(base_url)}))
    settings = {
        "defaultProvider": "scripted",
        "defaultModel": "scripted-1",
        "retry": {"maxRetries": 1, "baseDelayMs": 100},  # the default of three takes 14 s
    }
    _write(folder / "settings.json", _json(settings))
    return {
        "PI_CODING_AGENT_DIR": str(folder),
        "PI_OFFLINE": "1",
        "PI_SKIP_VERSION_CHECK": "1",
        "PI_TELEMETRY": "0",
    }


def _pi_providers(base_url: str) -> dict[str, Any]:
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
            "baseUrl": f"{base_url}/v1",
            "apiKey": KEY,
            "api": "openai-completions",
            "models": [
                model("scripted-1", "Scripted One"),
                model("scripted-2", "Scripted Two", reasoning=False),
            ],
        },
        "scripted-anthropic": {
            "baseUrl": base_url,
            "apiKey": KEY,
            "api": "anthropic-messages",
            "models": [model("scripted-a", "Scripted A")],
        },
        "scripted-responses": {
            "baseUrl": f"{base_url}/v1",
            "apiKey": KEY,
            "api": "openai-responses",
            "models": [model("scripted-r", "Scripted R")],
        },
    }


def _amp(base_url: str, home: Path) -> dict[str, str]:
    return {"AMP_URL": base_url, "AMP_API_KEY": "sgamp_user_scripted", "AMP_SKIP_UPDATE_CHECK": "1"}


_SETTINGS: dict[str, Callable[[str, Path], dict[str, str]]] = {
    "claude": _claude,
    "codex": _codex,
    "opencode": _opencode,
    "pi": _pi,
    "amp": _amp,
    "claude-agent-acp": _claude_agent_acp,
}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)


def _json(value: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(value)).decode()
