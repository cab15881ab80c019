"""Any program that speaks the Agent Client Protocol: one process per session, named and started as the operator says.

`--acp-agent NAME='command args'` makes an agent of it. Variables before the command, as in a shell, belong to its environment.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...errors import InvalidRequest
from ...schema.features import Capabilities
from ...schema.inputs import Settings
from ...schema.world import World
from ..base import Agent, Launch, Place, Wire
from .modes import BUILD

PROVIDERS = (
    "ANTHROPIC_",
    "AWS_",
    "AZURE_",
    "CODEX_",
    "DEEPSEEK_",
    "GEMINI_",
    "GOOGLE_",
    "GROQ_",
    "MISTRAL_",
    "OPENAI_",
    "OPENROUTER_",
    "VERTEX_",
    "XAI_",
)
"""Whose variables any agent may need: it is not known which models it uses."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


class Acp(Agent):
    modes = (BUILD,)
    # Where it keeps its keys is its own business: one that wants a login says so when it is started.
    credentials = None
    capabilities = Capabilities(
        text_messages=True,
        tool_calls=True,
        tool_results=True,
        questions=True,
        permissions=True,
        plan_mode=True,
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

    def __init__(self, name: str, command: list[str], environ: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.title = f"{name} (ACP)"
        self.executables = (command[0],)
        self.env_families = (_family(name), _family(Path(command[0]).name), *PROVIDERS)
        self._arguments = command[1:]
        self._environ = dict(environ or {})

    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        return Launch([str(place.executable), *self._arguments], self._environ)

    def wire(self, world: World) -> Wire:
        from .wire import AcpWire

        return AcpWire(world)


def parse_acp_agents(values: Iterable[str], taken: Iterable[str] = ()) -> dict[str, Agent]:
    """The agents that `--acp-agent` names; `taken` are names that they cannot have."""
    agents: dict[str, Agent] = {}
    reserved = {*taken, "all"}
    for value in values:
        name, equals, command = value.partition("=")
        name = name.strip()
        if not equals:
            raise InvalidRequest(f"--acp-agent {value}: write it as NAME='command args'")
        if not _NAME.fullmatch(name):
            raise InvalidRequest(
                f"--acp-agent {name}: a name is lower case letters, digits, - and _, and begins with a letter"
            )
        if name in reserved or name in agents:
            raise InvalidRequest(f"--acp-agent {name}: there is an agent of this name already")
        agents[name] = _agent(name, command)
    return agents


def _agent(name: str, command: str) -> Acp:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidRequest(f"--acp-agent {name}: {error}") from None
    environ: dict[str, str] = {}
    while words and _VARIABLE.match(words[0]):
        variable, _, text = words.pop(0).partition("=")
        environ[variable] = text
    if not words:
        raise InvalidRequest(f"--acp-agent {name}: there is no command")
    return Acp(name, words, environ)


def _family(name: str) -> str:
    """`claude-agent-acp` has the variables that begin with `CLAUDE_`."""
    return re.split(r"[^A-Za-z0-9]", name)[0].upper() + "_"
