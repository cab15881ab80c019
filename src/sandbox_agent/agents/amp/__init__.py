"""Amp: `amp -x --stream-json --stream-json-input`, one process for many turns, resumed by its thread id.

Permissions are asked by a program that Amp runs before a tool:

- `launch` writes a settings file of its own with a rule that delegates to `delegate.py`, and asks the runtime (`Launch.delegate`)
  to listen for it and to put the address (`unix:<path>`) into the child's `SANDBOX_AGENT_DELEGATE`.
- One connection is one question: a line `{"tool","tool_use_id","thread","input"}`. The wire gets it as a `DelegateAsk`, unread.
- The answer leaves the wire as a `DelegateReply`: the runtime sends the line `{"allow","message"}` over that connection and closes
  it. Closing it without a line rejects.

Amp itself cannot ask its user anything. An MCP server of ours (`question_server.py`) gives its model a tool for that, and asks over
the same socket: a line `{"questions"}`, answered by `{"answers"}`.

A workspace's own `.amp/settings.json` wins over the file we give: it can allow what we would ask for.
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
    reads_from_workspace = (
        "`.amp/settings.json`, which wins over the daemon's own settings: a workspace with such a file can switch "
        "permissions off; `AGENTS.md`"
    )
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
        "The tested build is the newest whose loop runs in the client. Later builds run it on Amp's own service, so "
        "nothing of them can be tried without an account: what is said of them here is handled, and untested.",
        "Modes: `smart`, `rush`, `deep` and `large` are the tested build's, `low`, `medium`, `high` and `ultra` those of "
        "later ones. Only those of the installed build are taken.",
        "Permissions, `bypass` too, go into a settings file of the session's own, which all builds read: the flag for it is gone in later "
        "ones. A workspace's `.amp/settings.json` wins over that file, and can allow what would be asked for.",
        "A message that failed stays unanswered in its thread, and a process that continues the thread begins with it, until it has "
        "read the new one. If it fails again within that moment, the new message goes to another process.",
        "It does not say why its model stopped early: text that breaks off in a sentence is told as `max_tokens`, anything else as "
        "`refusal`.",
        "A login: set `AMP_API_KEY`, or log in with `amp login` first. Later builds that find neither open a browser and wait: "
        "the session then fails to start after a minute with `timeout`.",
    )
    gaps = {
        "deltas": "its messages come whole",
        "plan_approved": "it has no plan mode; permissionMode plan is kept by the daemon",
        "plan_rejected": "it has no plan mode; permissionMode plan is kept by the daemon",
        "switch_agent_mode": "it has no plan mode",
        "models": "a mode chooses its models, and it lists none",
        "variant": "a mode chooses the effort of its models",
        "switch_model": "a mode chooses its models",
        "prompt_template": "it has no commands where it reads JSON",
        "compact": "it has no word for it",
        "subagent": "it shows nothing of what a sub-agent does",
        **dict.fromkeys(
            (
                "daemon_killed",
                "daemon_killed_pending",
                "daemon_killed_tool",
                "agent_killed_idle",
                "agent_killed_turn",
                "agent_killed_pending",
            ),
            "its service gets a conversation within two seconds after a turn, and from then on it is resumed; one that was "
            "killed sooner is gone, and the next message gets 409 unless it says `fresh`",
        ),
    }

    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        folder = place.data_dir / "launch"
        bypass = settings.permission_mode == "bypass"
        helper = str(folder / "amp-delegate")
        config = msgspec.json.encode(_settings(user_settings(place.environ), helper, bypass))
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

    def wire(self, world: World) -> Wire:
        from .wire import AmpWire

        return AmpWire(world)

    def modes_of(self, version: str | None) -> tuple[Mode, ...]:
        return modes_of(version)

    def is_gone(self, stderr: str) -> bool:
        return re.search(r"Thread T-\S+ does not exist", stderr) is not None


# The script alone, without our other code: it starts with every process of Amp.
_QUESTIONS = McpServer(sys.executable, ("-I", "-S", str(Path(__file__).with_name("question_server.py"))))


def user_settings(environ: Mapping[str, str]) -> dict[str, Any]:
    """The user's own settings (JSON with comments): `--settings-file` takes the place of that file."""
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
    """JSON with comments and trailing commas, as plain JSON; what stands in strings stays."""
    strings_or_comments = r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/'
    strings_or_commas = r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])'
    plain = re.sub(strings_or_comments, lambda found: found[1] or "", text, flags=re.DOTALL)
    return re.sub(strings_or_commas, lambda found: found[1] or "", plain)


def _settings(user: dict[str, Any], helper: str, bypass: bool) -> dict[str, Any]:
    """The user's settings with our permissions: what they reject stays rejected, all else is asked for."""
    own = user.get("amp.permissions") or ()
    rejected = [rule for rule in own if isinstance(rule, dict) and rule.get("action") == "reject"]
    allowed = [{"tool": tool, "action": "allow"} for tool in (*READ_ONLY, ASK_USER)]
    asked = {"tool": "*", "action": "delegate", "to": helper}
    rules = [*rejected, *allowed, asked]
    # The setting works in every version; the flag of that name is gone in newer ones.
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
    """A name for each content: sessions that run at the same time do not write over each other's files."""
    return str(folder / f"amp-{kind}-{hashlib.sha256(content).hexdigest()[:16]}.json")
