"""Amp: `amp -x --stream-json --stream-json-input`, one process for many turns, resumed by its thread id.

Amp asks for permissions through a program that it runs before each tool:

- `launch` writes a settings file with a rule that delegates to `delegate.py`, and asks the runtime
  (`Launch.delegate`) to listen for it and to put the address (`unix:<path>`) into the child's
  `SANDBOX_AGENT_DELEGATE`.
- One connection is one request: a line `{"tool","tool_use_id","thread","input"}`. The wire gets it unread,
  as a `DelegateAsk`.
- The answer leaves the wire as a `DelegateReply`: the runtime sends the line `{"allow","message"}` over that
  connection and closes it. Closing it without a line rejects the call.

Amp itself cannot ask its user questions. Our MCP server (`question_server.py`) gives its model a tool for
that, and uses the same socket: a line `{"questions"}`, answered by `{"answers"}`.

A workspace's own `.amp/settings.json` overrides the file we pass: it can allow what we would ask about.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...schema.features import Capabilities, Mode
from ...schema.inputs import McpServer, Settings
from ...schema.world import World
from ..base import Agent, Launch, Place, Wire
from ..scribe import Ask
from .credentials import SOURCES
from .modes import ASK_USER, MODES, QUESTION_SERVER, READ_ONLY, modes_of


class Amp(Agent):
    name = "amp"
    title = "Amp"
    tested_version = "0.0.1777266064-g47b6f7"
    executables = ("amp",)
    env_families = ("AMP_",)
    quiet = {"AMP_SKIP_UPDATE_CHECK": "1"}
    credentials = SOURCES
    modes = MODES
    ignores = frozenset({"model", "variant"})
    unasked = (
        "reads and searches files, fetches and searches the web, reads threads, starts sub-agents (whose own calls ask); "
        "everything, if `.amp/settings.json` in the workspace says so"
    )
    reads_from_workspace = (
        "`.amp/settings.json`, which overrides the daemon's settings, so that a workspace can turn permissions off; "
        "`AGENTS.md`"
    )
    reports_tokens = "after each model call"
    reports_cost = "never: use `maxTokens`"
    mcp_timeout = "no: Amp has no such setting"
    mcp_reports = "nothing"
    finds_skills = "`amp.skills.path` in the session's settings file"
    commands_from = "none"
    carries = "nothing: the thread is on Amp's service"
    capabilities = Capabilities(
        text_messages=True,
        tool_calls=True,
        tool_results=True,
        questions=True,
        permissions=True,
        images=True,
        file_attachments=True,
        session_lifecycle=True,
        error_events=True,
        reasoning=True,
        command_execution=True,
        file_changes=True,
        mcp_tools=True,
    )
    notes = (
        "The tested build is the newest one that runs its agent loop in the client. Later builds run it on Amp's service and cannot "
        "be tested without an account: what this page says about them is implemented but untested.",
        "Modes: `smart`, `rush`, `deep` and `large` belong to the tested build, `low`, `medium`, `high` and `ultra` to "
        "later ones. Only the modes of the installed build are accepted.",
        "Permissions, including `bypass`, are written to a settings file for the session, which all builds read; later builds have no flag "
        "for it. A workspace's `.amp/settings.json` overrides that file and can allow what Amp would otherwise ask about.",
        "If a turn fails or is cancelled, its message stays unanswered in the thread, and a process that resumes the thread works on it "
        "until it has read the new message. The new turn may then start with part of an answer to the old message, which is also in its "
        "usage. If the process fails before it has read the new message, the message goes to another process.",
        "Amp does not say why its model stopped early: text that breaks off in mid-sentence is reported as `max_tokens`, anything else as "
        "`refusal`.",
        "Login: set `AMP_API_KEY`, or run `amp login` first. Later builds that find neither open a browser and wait; "
        "the session then fails to start after a minute with `timeout`.",
    )
    gaps = {
        "rule_read": "it reads files without asking",
        "deltas": "it sends whole messages",
        "plan_approved": "it has no plan mode; the daemon enforces permissionMode plan",
        "plan_rejected": "it has no plan mode; the daemon enforces permissionMode plan",
        "switch_agent_mode": "it has no plan mode",
        "models": "its modes choose the model, and it lists none",
        "variant": "its modes choose the effort",
        "switch_model": "its modes choose the model",
        "prompt_template": "it has no commands in JSON mode",
        "compact": "its protocol has no message for it",
        "subagent": "it does not show a sub-agent's work",
        **dict.fromkeys(
            (
                "daemon_killed",
                "daemon_killed_pending",
                "daemon_killed_tool",
                "agent_killed_idle",
                "agent_killed_turn",
                "agent_killed_pending",
            ),
            "a conversation reaches its service within two seconds after a turn and can be resumed from then on; if Amp was "
            "killed sooner, it is lost, and the next message gets 409 unless it sets `fresh`",
        ),
    }

    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        folder = place.data_dir / "launch"
        bypass = settings.permission_mode == "bypass"
        helper = str(folder / "amp-delegate")
        own = _settings(user_settings(place.environ), helper, bypass)
        if settings.skills is not None:
            paths = (own.get("amp.skills.path"), settings.skills.folder)
            own["amp.skills.path"] = ":".join(path for path in paths if isinstance(path, str) and path)
        config = msgspec.json.encode(own)
        config_path = _named(folder, "settings", config)
        files = {config_path: config, helper: _launcher()}
        argv = [str(place.executable)]
        if resume and native_id:
            argv += ["threads", "continue", native_id]
        argv += ["-x", "--stream-json", "--stream-json-thinking", "--stream-json-input"]
        argv += ["--settings-file", config_path]
        if settings.agent_mode != "build":
            argv += ["--mode", settings.agent_mode]
        all_servers = {QUESTION_SERVER: _QUESTIONS, **settings.mcp}
        servers = msgspec.json.encode({name: _server(server) for name, server in all_servers.items()})
        mcp_path = _named(folder, "mcp", servers)
        files[mcp_path] = servers
        argv += ["--mcp-config", mcp_path]
        return Launch(argv, {"AMP_SKIP_UPDATE_CHECK": "1"}, files=files, delegate=True)

    def ask_about(self, tool: str, input: Any) -> Ask:
        from .frames import Question
        from .tools import ask_of

        return ask_of(Question(tool, input), None)

    def wire(self, world: World) -> Wire:
        from .wire import AmpWire

        return AmpWire(world)

    def modes_of(self, version: str | None) -> tuple[Mode, ...]:
        return modes_of(version)

    def is_gone(self, stderr: str) -> bool:
        return re.search(r"Thread T-\S+ does not exist", stderr) is not None


# The script alone, without our package: it starts with every Amp process.
_QUESTIONS = McpServer(sys.executable, ("-I", "-S", str(Path(__file__).with_name("question_server.py"))))


def user_settings(environ: Mapping[str, str]) -> dict[str, Any]:
    """The user's own settings (JSON with comments), because `--settings-file` replaces that file."""
    home = Path(environ.get("HOME") or Path.home())
    folder = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "amp"
    given = environ.get("AMP_SETTINGS_FILE")
    paths = [Path(given)] if given else [folder / "settings.json", folder / "settings.jsonc"]
    for path in paths:
        try:
            return msgspec.json.decode(_without_comments(path.read_text()), type=dict[str, Any])
        except (OSError, UnicodeDecodeError, msgspec.DecodeError):
            continue
    return {}


def _without_comments(text: str) -> str:
    """Strips comments and trailing commas from JSON, but leaves strings alone."""
    strings_or_comments = r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/'
    strings_or_commas = r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])'
    plain = re.sub(strings_or_comments, lambda match: match[1] or "", text, flags=re.DOTALL)
    return re.sub(strings_or_commas, lambda match: match[1] or "", plain)


def _settings(user: dict[str, Any], helper: str, bypass: bool) -> dict[str, Any]:
    """The user's settings with our permissions: what they reject stays rejected, everything else asks."""
    own = user.get("amp.permissions") or ()
    rejected = [rule for rule in own if isinstance(rule, dict) and rule.get("action") == "reject"]
    allowed = [{"tool": tool, "action": "allow"} for tool in (*READ_ONLY, ASK_USER)]
    asked = {"tool": "*", "action": "delegate", "to": helper}
    rules = [*rejected, *allowed, asked]
    # The setting works in every version; newer ones no longer have the flag.
    return {**user, "amp.dangerouslyAllowAll": bypass, "amp.permissions": rules}


def _launcher() -> bytes:
    """Amp runs one program without arguments, and this Python may not be on its PATH."""
    script = Path(__file__).with_name("delegate.py")
    return f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S {shlex.quote(str(script))}\n".encode()


def _server(server: McpServer) -> dict[str, object]:
    if server.command is not None:
        return {"command": server.command, "args": server.args, "env": server.env}
    return {"url": server.url, "headers": server.headers}


def _named(folder: Path, kind: str, content: bytes) -> str:
    """A file name derived from the content, so that concurrent sessions do not overwrite each other's files."""
    return str(folder / f"amp-{kind}-{hashlib.sha256(content).hexdigest()[:16]}.json")
