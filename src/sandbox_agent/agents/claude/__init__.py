"""Claude Code: a process per conversation that speaks stream-json with the control protocol."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...schema.desktop import DESKTOP_SERVER
from ...schema.features import Capabilities
from ...schema.inputs import McpServer, Settings
from ...schema.tools import CLIENT_SERVER
from ...schema.world import World
from ..base import Agent, KeptFiles, Launch, Place, Wire
from ..scribe import Ask
from .credentials import SOURCES
from .modes import MODES


class Claude(Agent):
    name = "claude"
    title = "Claude Code"
    stability = "stable"
    chooses = frozenset({"variant"})
    tested_version = "2.1.325"
    executables = ("claude",)
    env_families = ("ANTHROPIC_", "CLAUDE_")
    credentials = SOURCES
    reaches_sse = True
    modes = MODES
    unasked = (
        "reads and searches files in its directory, runs commands that it knows to be read-only (`ls`, `echo`), and "
        "whatever the user's or the workspace's own settings allow (`permissions.allow`, hooks)"
    )
    gaps = {"rule_read": "it reads files in its directory without asking"}
    reads_from_workspace = "`.claude/settings.json` and `.claude/settings.local.json` (permissions, hooks that run commands), `.mcp.json`, `CLAUDE.md`"
    reports_tokens = "after each model call"
    reports_cost = "at the end of the turn"
    mcp_timeout = "yes"
    mcp_reports = "state and tools, at the start of each turn"
    finds_skills = "`--plugin-dir`; the skills are named `skills:<name>`"
    commands_from = "built-in commands, skills and plugins; `.claude/commands` in the workspace"
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
    )

    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        from .commands import FLAG_SETTINGS, native_mode

        argv = [str(place.executable), "--print", "--verbose"]
        argv += ["--input-format=stream-json", "--output-format=stream-json", "--include-partial-messages"]
        argv += ["--permission-prompt-tool=stdio", f"--permission-mode={native_mode(settings)}"]
        argv += [f"--settings={msgspec.json.encode(FLAG_SETTINGS).decode()}"]
        # Without it, a later switch to bypass is impossible; by itself it allows nothing.
        argv += ["--allow-dangerously-skip-permissions"]
        if native_id is not None:
            argv.append(f"--resume={native_id}" if resume else f"--session-id={native_id}")
        if settings.model is not None:
            argv.append(f"--model={settings.model}")
        if settings.variant is not None:
            argv.append(f"--effort={settings.variant}")
        files: dict[str, bytes] = {}
        if settings.mcp:
            config = mcp_config(settings.mcp)
            path = place.data_dir / "launch" / f"claude-mcp-{hashlib.sha256(config).hexdigest()[:16]}.json"
            files[str(path)] = config
            argv.append(f"--mcp-config={path}")
        if settings.skills is not None:
            argv.append(f"--plugin-dir={settings.skills.root}")
        return Launch(argv, ENVIRONMENT, files=files)

    def ask_about(self, tool: str, input: Any) -> Ask:
        from .frames import CanUseTool
        from .tools import ask_of

        return ask_of(CanUseTool(tool, input if isinstance(input, dict) else {}), None)

    def wire(self, world: World) -> Wire:
        from .wire import ClaudeWire

        return ClaudeWire(world)

    def choose_native_id(self, world: World) -> str | None:
        return world.make_uuid()

    def conversation(self, place: Place, native_id: str) -> KeptFiles:
        home = place.environ.get("CLAUDE_CONFIG_DIR") or Path(place.environ.get("HOME", "/")) / ".claude"
        return KeptFiles(Path(home), f"projects/*/{glob.escape(native_id)}.jsonl")


ENVIRONMENT = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    # As root, Claude refuses bypass unless it knows that it runs in a sandbox.
    "IS_SANDBOX": "1",
}


def mcp_config(servers: Mapping[str, McpServer]) -> bytes:
    """The file for `--mcp-config`. It may hold secrets."""
    return msgspec.json.encode(
        {"mcpServers": {name: _mcp_server(name, server) for name, server in servers.items()}}
    )


def _mcp_server(name: str, server: McpServer) -> dict[str, Any]:
    timeout = {} if server.timeout_ms is None else {"timeout": server.timeout_ms}
    if server.url is not None:
        return {"type": server.transport or "http", "url": server.url, "headers": server.headers, **timeout}
    entry = {"type": "stdio", "command": server.command, "args": server.args, "env": server.env, **timeout}
    # By default the model must search for MCP tools before it can call them.
    return {**entry, "alwaysLoad": True} if name in (CLIENT_SERVER, DESKTOP_SERVER) else entry
