"""Any program that speaks the Agent Client Protocol: one process per session, with a name and command the
operator chooses.

`--acp-agent NAME='command args'` registers it. Variables before the command, as in a shell, are added to its
environment. `--acp-env NAME=VARIABLE` passes it one of the daemon's variables, or a family of them. We do not
know which models the program uses, so it gets no keys unless the operator grants them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import InvalidRequest
from ...schema.features import Capabilities, Catalogue
from ...schema.inputs import Settings
from ...schema.items import ToolKind
from ...schema.world import World
from ..base import Agent, Launch, Place, Wire
from ..plain_asks import command_in, hosts_in, paths_in, plain_ask
from ..scribe import Ask
from .modes import BUILD

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_GRANT = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:_\*)?")


class Acp(Agent):
    modes = (BUILD,)
    # We do not know where it keeps its keys; a program that needs a login says so when it starts.
    credentials = None
    reaches_sse = True
    chooses = frozenset({"model", "variant"})
    unasked = "whatever the program does not ask for, which is up to the program"
    reports_tokens = "at the end of the turn"
    reports_cost = "whenever the agent reports it"
    mcp_timeout = "no: the protocol has no such field"
    mcp_reports = "nothing"
    finds_skills = (
        "the protocol has no skills: the first message tells the agent their names, descriptions and paths"
    )
    commands_from = "the commands that the agent announces, known while its process runs"
    carries = "nothing: the daemon does not know where the agent keeps it. The next message gets 409 unless it sets `fresh: true`"
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

    def __init__(
        self,
        name: str,
        command: list[str],
        environ: Mapping[str, str] | None = None,
        env_families: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.title = f"{name} (ACP)"
        self.executables = (command[0],)
        self.env_families = env_families
        self._arguments = command[1:]
        self._environ = dict(environ or {})

    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        return Launch([str(place.executable), *self._arguments], self._environ)

    def ask_about(self, tool: str, input: Any) -> Ask:
        """The protocol states the kind with each call; without a call, it is guessed from the input."""
        guesses: tuple[tuple[ToolKind, object], ...] = (
            ("command", command_in(input)),
            ("edit", paths_in(input)),
            ("fetch", hosts_in(input)),
        )
        return plain_ask(tool, next((kind for kind, found in guesses if found), "other"), input)

    def wire(self, world: World) -> Wire:
        from .wire import AcpWire

        return AcpWire(world)

    def takes_model(self, model: str, catalogue: Catalogue) -> bool:
        """The protocol allows only models that the program lists."""
        return model in {each.id for each in catalogue.models}

    def takes_variant(self, variant: str, model: str | None, catalogue: Catalogue) -> bool:
        """A program lists the variants of its current model only, and says nothing about those of others."""
        current = catalogue.default_model
        variants = [each.variants or () for each in catalogue.models if each.id == current]
        return not variants or model not in (None, current) or variant in variants[0]


def parse_acp_agents(
    values: Iterable[str], taken: Iterable[str] = (), grants: Iterable[str] = ()
) -> dict[str, Agent]:
    """The agents that `--acp-agent` names, with the variables `--acp-env` grants them. `taken` lists names
    that are in use.
    """
    agents: dict[str, Acp] = {}
    reserved = {*taken, "all"}
    for value in values:
        name, equals, command = value.partition("=")
        name = name.strip()
        if not equals:
            raise InvalidRequest(f"--acp-agent {value}: write it as NAME='command args'")
        if not _NAME.fullmatch(name):
            raise InvalidRequest(
                f"--acp-agent {name}: a name consists of lowercase letters, digits, - and _, and begins with a letter"
            )
        if name in reserved or name in agents:
            raise InvalidRequest(f"--acp-agent {name}: an agent with this name already exists")
        agents[name] = _agent(name, command)
    for grant in grants:
        _give(agents, grant)
    return {**agents}


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


def _give(agents: Mapping[str, Acp], grant: str) -> None:
    name, _, variable = (part.strip() for part in grant.partition("="))
    if not _GRANT.fullmatch(variable):
        raise InvalidRequest(f"--acp-env {grant}: write it as NAME=VARIABLE or NAME=FAMILY_*")
    if name not in agents:
        raise InvalidRequest(f"--acp-env {grant}: no --acp-agent is called {name}")
    agents[name].env_families += (variable.removesuffix("*"),)
