"""Codex: one `codex app-server` carries all conversations, over stdio.

Its home (`CODEX_HOME`) belongs to the user and is only ever read. The server ignores a key in the
environment; if the home holds no login, the command line defines a provider that uses the key.
"""

from __future__ import annotations

import glob
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...schema.features import COMPACT, Capabilities
from ...schema.inputs import Settings
from ...schema.items import arguments_of
from ...schema.world import World
from ..base import Agent, KeptFiles, Launch, Place, Wire
from ..plain_asks import plain_ask
from ..scribe import Ask
from .credentials import SOURCES, has_provider
from .modes import MODES

KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")
PROVIDER = "sandbox-agent"
OPENAI_URL = "https://api.openai.com/v1"


class Codex(Agent):
    name = "codex"
    title = "Codex"
    stability = "stable"
    chooses = frozenset({"variant"})
    tested_version = "0.166.0"
    executables = ("codex",)
    env_families = ("CODEX_", "OPENAI_")
    credentials = SOURCES
    modes = MODES
    commands = (COMPACT,)
    unasked = (
        "calls MCP tools that declare themselves read-only, searches the web at its provider, looks at images; it reads "
        "files with commands, for which it asks"
    )
    reads_from_workspace = "`.codex/config.toml` of trusted projects, `AGENTS.md`"
    reports_tokens = "after each model call"
    reports_cost = "never: use `maxTokens`"
    mcp_timeout = "yes; 300 seconds by default"
    mcp_reports = "the state"
    finds_skills = "`selectedCapabilityRoots` of the thread"
    commands_from = "only `compact`"
    carries = "the file of the conversation, as it grows"
    capabilities = Capabilities(
        text_messages=True,
        tool_calls=True,
        tool_results=True,
        questions=True,
        permissions=True,
        plan_mode=True,
        images=True,
        file_attachments=True,
        session_lifecycle=True,
        error_events=True,
        reasoning=True,
        command_execution=True,
        file_changes=True,
        mcp_tools=True,
        streaming_deltas=True,
        item_started=True,
        variants=True,
        status=True,
        shared_process=True,
    )
    gaps = {
        "rule_read": "it reads files with commands, which only rules for commands cover",
        "question_multi_select": "its questions accept one answer each",
        "prompt_template": "its app server has no commands",
        "plan_approved": "it proposes the plan as a message and ends its turn, so there is nothing to answer",
        "plan_rejected": "it proposes the plan as a message and ends its turn, so there is nothing to answer",
    }

    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        home = _codex_home(place.environ, Path(place.environ.get("HOME", "/")))
        overrides = provider_overrides(place.environ, home)
        return Launch(
            [
                str(place.executable),
                "app-server",
                *(part for override in overrides for part in ("-c", override)),
            ]
        )

    def ask_about(self, tool: str, input: Any) -> Ask:
        from .tools import kind_of_tool, patched_paths

        asked = plain_ask(tool, kind_of_tool(tool), input)
        return msgspec.structs.replace(asked, paths=patched_paths(input) or asked.paths)

    def wire(self, world: World) -> Wire:
        from .wire import CodexWire

        return CodexWire(world)

    def conversation(self, place: Place, native_id: str) -> KeptFiles:
        home = _codex_home(place.environ, Path(place.environ.get("HOME", "/")))
        return KeptFiles(home, f"sessions/*/*/*/rollout-*-{glob.escape(native_id)}.jsonl")


def provider_overrides(environ: Mapping[str, str], home: Path) -> list[str]:
    """Settings for a provider that uses the key in the environment; empty if the user has configured another."""
    key = next((name for name in KEYS if environ.get(name)), None)
    config = _config(home)
    if key is None or config is None or _has_login(home) or has_provider(config) or _keeps_login(config):
        return []
    url = environ.get("OPENAI_BASE_URL") or config.get("openai_base_url") or OPENAI_URL
    table = f"model_providers.{PROVIDER}"
    provider = {"name": "OpenAI", "base_url": url, "env_key": key, "wire_api": "responses"}
    # A JSON string is also a TOML string.
    return [
        f"model_provider={arguments_of(PROVIDER)}",
        *(f"{table}.{name}={arguments_of(value)}" for name, value in provider.items()),
    ]


def _codex_home(environ: Mapping[str, str], home: Path) -> Path:
    return Path(environ.get("CODEX_HOME") or home / ".codex")


def _config(codex_home: Path) -> dict[str, Any] | None:
    """The user's config.toml; None if it cannot be read, so that codex itself reports the error."""
    try:
        return tomllib.loads((codex_home / "config.toml").read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None


def _has_login(codex_home: Path) -> bool:
    return (codex_home / "auth.json").is_file()


def _keeps_login(config: dict[str, Any]) -> bool:
    """The login may be in the system's key store, which we do not read."""
    return config.get("cli_auth_credentials_store") in ("keyring", "auto")
