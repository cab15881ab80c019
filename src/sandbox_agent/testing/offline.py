"""Settings that make a real agent talk to a scripted model on this machine, and to nothing else.

`offline_environment` writes an agent's private settings below a separate home and returns the environment to
start it with. `agents/<name>/scripted.py` says what each agent needs.
"""

from __future__ import annotations

from pathlib import Path

from ..agents import AGENTS
from ..agents.claude.scripted import SCRIPTED as CLAUDE
from ..agents.scripted import Offline, Scripted, scripted
from ..install.publishers import RECIPES


def _claude_agent_acp(model: str, home: Path) -> Offline:
    return Offline({**CLAUDE.offline(model, home).env, "CLAUDE_CODE_EXECUTABLE": "claude"})


ACP_PROGRAMS = {"claude-agent-acp": Scripted(_claude_agent_acp)}
"""Programs that the tests drive and that have no adapter of their own."""


def offline_environment(agent: str, base_url: str, home: Path) -> dict[str, str]:
    """What to add to the environment of `agent`; `base_url` is the scripted model's, without `/v1`."""
    programs = [*RECIPES, *ACP_PROGRAMS]
    if agent not in programs:
        raise ValueError(f"no offline settings for {agent!r}, only for {', '.join(programs)}")
    program = ACP_PROGRAMS.get(agent) or scripted(AGENTS[agent])
    settings = program.offline(base_url.rstrip("/"), home)
    home.mkdir(parents=True, exist_ok=True)
    if temporary := settings.env.get("TMPDIR"):
        Path(temporary).mkdir(exist_ok=True)
    for path, text in settings.files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)
    return {"HOME": str(home), **_xdg(home), **settings.env}


def _xdg(home: Path) -> dict[str, str]:
    return {
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
    }
