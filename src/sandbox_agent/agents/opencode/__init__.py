"""OpenCode: one `opencode serve` for all sessions, reached over HTTP (`wire.py` says what the link must do)."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from ...schema.features import COMPACT, Capabilities, Mode
from ...schema.inputs import Settings
from ...schema.world import World
from ..base import Agent, HttpServer, KeptByProgram, Launch, Place, Wire
from ..plain_asks import plain_ask
from ..scribe import Ask
from .credentials import sources
from .settings import settings_files, with_schema, with_skills

READY = r"opencode server listening on (http://\S+)"
EVENTS = "/global/event"
PROVIDER_KEYS = (
    "ANTHROPIC_",
    "AWS_",
    "AZURE_",
    "BASETEN_",
    "CEREBRAS_",
    "CLOUDFLARE_",
    "COHERE_",
    "DEEPINFRA_",
    "DEEPSEEK_",
    "FIREWORKS_",
    "GEMINI_",
    "GITHUB_TOKEN",
    "GITLAB_",
    "GOOGLE_",
    "GROQ_",
    "HF_",
    "HUGGINGFACE_",
    "MISTRAL_",
    "MOONSHOT_",
    "NVIDIA_",
    "OLLAMA_",
    "OPENAI_",
    "OPENROUTER_",
    "PERPLEXITY_",
    "TOGETHER_",
    "VERCEL_",
    "VERTEX_",
    "XAI_",
    "ZAI_",
    "ZHIPU_",
)


class OpenCode(Agent):
    name = "opencode"
    title = "OpenCode"
    stability = "stable"
    chooses = frozenset({"model", "variant"})
    tested_version = "1.18.33"
    executables = ("opencode",)
    env_families = ("OPENCODE_", *PROVIDER_KEYS)
    credentials = sources(PROVIDER_KEYS)
    needs_credentials = False
    reaches_sse = True
    unasked = (
        "reads and searches files in its directory, searches the web, loads skills, starts sub-agents (whose own calls ask); "
        "its plugins run without asking"
    )
    reads_from_workspace = (
        "`opencode.json`, `.opencode/` (agents, commands, plugins that run code), `AGENTS.md`"
    )
    reports_tokens = "after each model call"
    reports_cost = "after each model call"
    mcp_timeout = "yes; 60 seconds without progress by default"
    mcp_reports = "the state, when the session opens"
    finds_skills = "`skills.paths` in its settings; a session with skills runs on a server of its own. The `skill` tool needs ripgrep."
    commands_from = "built-in commands; `.opencode/command` in the workspace"
    carries = "the output of `opencode export`; `opencode import` restores it"
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
        "rule_read": "it reads files in its directory without asking",
        "error_cut": "it reports the failure after five more tries, which take over a minute; a cancel or `turnTimeoutMs` ends such a turn earlier",
    }
    commands = (COMPACT,)
    makes_in_git = ("opencode",)
    notes = (
        "Plans are files. In a repository they are in its `.opencode/plans`, otherwise in OpenCode's own data directory; in plan mode the agent "
        "may write only these files.",
    )
    modes = (
        Mode("build", "Build", "The default agent. Executes tools based on configured permissions."),
        Mode("plan", "Plan", "Plan mode. Disallows all edit tools."),
    )

    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        from .permissions import server_permissions

        argv = [str(place.executable), "serve", "--hostname", "127.0.0.1", "--port", "0"]
        # A password per process: only our link may talk to it.
        server = HttpServer(READY, EVENTS, "opencode", secrets.token_urlsafe(24))
        env = {
            "OPENCODE_SERVER_USERNAME": server.user,
            "OPENCODE_SERVER_PASSWORD": server.password,
            "OPENCODE_PERMISSION": server_permissions(place.environ),
            # Together they give the model the tool that asks for approval of a plan.
            "OPENCODE_CLIENT": "cli",
            "OPENCODE_EXPERIMENTAL_PLAN_MODE": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_EMBEDDED_WEB_UI": "1",
        }
        if settings.skills is not None:
            given = place.environ.get("OPENCODE_CONFIG_CONTENT", "")
            env["OPENCODE_CONFIG_CONTENT"] = with_skills(given, settings.skills.folder)
        return Launch(argv, env, server)

    def server_settings(self, settings: Settings) -> str:
        # Skills belong to the server: its sessions all see them.
        return "" if settings.skills is None else settings.skills.root

    def ask_about(self, tool: str, input: Any) -> Ask:
        from .tools import kind_of

        return plain_ask(tool, kind_of(tool), input)

    def wire(self, world: World) -> Wire:
        from .wire import OpenCodeWire

        return OpenCodeWire(world)

    def conversation(self, place: Place, native_id: str) -> KeptByProgram:
        program = str(place.executable)
        return KeptByProgram([program, "export", native_id], [program, "import"])

    def rewrites(self, directory: str, environ: Mapping[str, str]) -> Iterable[str]:
        return settings_files(directory, environ)

    def rewritten(self, settings: bytes) -> bytes:
        return with_schema(settings)
