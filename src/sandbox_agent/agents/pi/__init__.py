"""Pi: `pi --mode rpc`, one process per session, with an extension of ours that asks before a tool writes or
runs.
"""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

import msgspec

from ...schema.features import COMPACT, Capabilities, Catalogue
from ...schema.inputs import McpServer, Settings
from ...schema.world import World
from ..base import Agent, KeptFiles, Launch, Place, Wire
from ..scribe import Ask
from .credentials import sources
from .modes import MODES

EXTENSION = Path(__file__).with_name("extension.ts")
PROVIDERS = (
    "AI_GATEWAY_",
    "ANTHROPIC_",
    "ANT_LING_",
    "AWS_",
    "AZURE_",
    "BASETEN_",
    "CEREBRAS_",
    "CLOUDFLARE_",
    "COPILOT_GITHUB_TOKEN",
    "DEEPSEEK_",
    "FIREWORKS_",
    "GEMINI_",
    "GOOGLE_",
    "GROQ_",
    "HF_TOKEN",
    "KIMI_",
    "META_API_KEY",
    "MINIMAX_",
    "MISTRAL_",
    "MOONSHOT_",
    "NVIDIA_API_KEY",
    "OPENAI_",
    "OPENCODE_API_KEY",
    "OPENROUTER_",
    "QWEN_",
    "RADIUS_",
    "TOGETHER_",
    "TYPESAFE_",
    "XAI_",
    "XIAOMI_",
    "ZAI_",
)


class Pi(Agent):
    name = "pi"
    title = "Pi"
    stability = "stable"
    chooses = frozenset({"model", "variant"})
    tested_version = "1.5.0"
    executables = ("pi",)
    env_families = ("PI_", *PROVIDERS)
    quiet = {"PI_OFFLINE": "1"}
    credentials = sources(PROVIDERS)
    modes = MODES
    commands = (COMPACT,)
    unasked = "reads and searches files, reads MCP resources; other extensions run without asking"
    reads_from_workspace = "`.pi/` (settings, extensions that run code), `AGENTS.md`"
    reports_tokens = "after each model call"
    reports_cost = "after each model call"
    mcp_timeout = "yes; 60 seconds without progress by default"
    mcp_reports = "nothing"
    finds_skills = "`--skill`"
    commands_from = "extensions; prompt templates and skills in its home directory"
    carries = "the file of the conversation, as it grows"
    capabilities = Capabilities(
        text_messages=True,
        tool_calls=True,
        tool_results=True,
        questions=True,
        permissions=True,
        images=True,
        file_attachments=True,
        error_events=True,
        reasoning=True,
        command_execution=True,
        file_changes=True,
        mcp_tools=True,
        streaming_deltas=True,
        item_started=True,
        variants=True,
        status=True,
    )
    gaps = {
        "rule_read": "it reads files without asking",
        "plan_approved": "it has no plan approval; the daemon enforces permissionMode plan",
        "plan_rejected": "it has no plan approval; the daemon enforces permissionMode plan",
        "switch_agent_mode": "its only mode is `default`",
        "prompt_template": "it reads none from a directory that its user has not approved; those in its own home are offered",
        "subagent": "it has no sub-agents",
    }

    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        # `--session-id` opens the session with that id or creates it, so a resume starts the same way.
        argv = [str(place.executable), "--mode", "rpc", "-e", str(EXTENSION)]
        argv += ["--session-id", native_id] if native_id else ["--no-session"]
        if settings.model:
            argv += ["--model", settings.model]
        if settings.variant:
            argv += ["--thinking", settings.variant]
        for folder in settings.skills.folders() if settings.skills else ():
            argv += ["--skill", folder]
        env = {"PI_SKIP_VERSION_CHECK": "1"}
        if not settings.mcp:
            return Launch(argv, env)
        # Pi reads MCP servers from the user's files only; the extension registers ours for this process.
        path = str(place.data_dir / "launch" / f"pi-{native_id}.mcp.json")
        servers = {name: _server(server) for name, server in settings.mcp.items()}
        return Launch(argv, {**env, "SANDBOX_AGENT_PI_MCP": path}, files={path: msgspec.json.encode(servers)})

    def ask_about(self, tool: str, input: Any) -> Ask:
        from .dialogs import PermissionTitle, ask_for

        return ask_for(PermissionTitle("", tool, input), "")

    def wire(self, world: World) -> Wire:
        from .wire import PiWire

        return PiWire(world)

    def choose_native_id(self, world: World) -> str | None:
        return world.make_uuid()

    def conversation(self, place: Place, native_id: str) -> KeptFiles:
        home = (
            place.environ.get("PI_CODING_AGENT_DIR") or Path(place.environ.get("HOME", "/")) / ".pi" / "agent"
        )
        return KeptFiles(Path(home), f"sessions/*/*_{glob.escape(native_id)}.jsonl")

    def takes_model(self, model: str, catalogue: Catalogue) -> bool:
        """It also accepts part of a model's id or name, followed by a thinking level."""
        names = {model, model.rpartition(":")[0] or model}
        listed = {text for each in catalogue.models for text in (each.id, each.name) if text}
        if not listed or names & listed:
            return True
        pieces = {piece.lower() for piece in names if "/" not in piece}
        return any(piece in text.lower() for piece in pieces for text in listed)


def _server(server: McpServer) -> dict[str, object]:
    """An entry as in `mcp.json`. By default Pi hides MCP tools from the model behind a script tool."""
    entry: dict[str, object] = {"exposure": "direct"}
    if server.timeout_ms is not None:
        entry["timeout"] = server.timeout_ms / 1000
    if server.command is not None:
        return {**entry, "command": server.command, "args": server.args, "env": server.env}
    return {**entry, "url": server.url, "headers": server.headers}
