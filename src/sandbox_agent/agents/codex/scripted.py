"""Runs Codex on the scripted model."""

from __future__ import annotations

from pathlib import Path

from ..scripted import KEY, Offline, Scripted

# Without these switches Codex also looks for updates, plugins and a telemetry endpoint, and waits forever for
# a server that is gone.
CONFIG = """\
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


def offline(model: str, home: Path) -> Offline:
    folder = home / ".codex"
    # Codex complains on stderr about a home below the temporary directory.
    env = {"CODEX_HOME": str(folder), "OPENAI_API_KEY": KEY, "TMPDIR": str(home / "tmp")}
    return Offline(env, {folder / "config.toml": CONFIG.replace("BASE_URL", model)})


SCRIPTED = Scripted(
    offline,
    reports_mcp=True,
    other_model=("gpt-6.1-sol", "gpt-6.1-sol"),
    subagent_model="gpt-6.1-sol",  # it offers sub-agents only to its newer models
    tells_reasons=False,  # its protocol has no text for a declined request
)
