"""Agents: list them, install them, read their modes, models and commands."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ..agents.base import Agent
from ..errors import (
    AgentNotInstalled,
    AgentProcessExited,
    InstallFailed,
    InvalidRequest,
    PermissionDenied,
    SandboxAgentError,
    StreamError,
    Timeout,
    UnsupportedAgent,
)
from ..install.publishers import RECIPES
from ..install.version import check_version
from ..runtime.credentials import has_credentials
from ..runtime.daemon import Daemon
from ..runtime.installs import InstallRequest
from ..schema.answers import AgentInfo, AgentList, Commands, Installed, Models, Modes
from ..schema.options import Choices, Chosen, ConfigOption, options_of
from .operation import Watched, operation

PING_SECONDS = 15.0

AgentName = Annotated[str, Meta(description="Name of the agent, e.g. `claude`.")]


WithConfig = Annotated[
    bool, Meta(description="Include what a session may choose: models, modes, variants, permissions.")
]
NoCache = Annotated[bool, Meta(description="Accepted for older clients. It has no effect.")]


class ListAgents(Struct, frozen=True, rename="camel"):
    config: WithConfig = False
    no_cache: NoCache = False


class OneAgent(Struct, frozen=True, rename="camel"):
    agent: AgentName
    config: WithConfig = False
    no_cache: NoCache = False


class InstallAgent(Struct, frozen=True, rename="camel"):
    agent: AgentName
    reinstall: Annotated[bool, Meta(description="Install again even if it is installed.")] = False
    agent_version: Annotated[
        str | None,
        Meta(
            description="Version to install, or `latest`. Default: the installed version, or the tested one if none is installed."
        ),
    ] = None
    keep_default: Annotated[
        bool,
        Meta(
            description="Leave the default version as it is: only sessions with this `agentVersion` use the new one."
        ),
    ] = False


class InDirectory(Struct, frozen=True):
    agent: AgentName
    directory: Annotated[
        str | None, Meta(description="Working directory of the agent (default: the daemon's).")
    ] = None


@operation(
    "GET",
    "/v1/agents",
    name="agents.list",
    examples=(
        "sandbox-agent agents list",
        "sandbox-agent agents list --json | jq -r '.agents[].id'",
    ),
)
async def list_agents(daemon: Daemon, request: ListAgents) -> AgentList:
    """List all agents with their install state, version, credentials and capabilities."""
    agents = daemon.agents.values()
    return AgentList([await _info(daemon, agent, config=request.config) for agent in agents])


@operation(
    "GET",
    "/v1/agents/{agent}",
    UnsupportedAgent,
    name="agents.get",
    examples=("sandbox-agent agents get claude --config --json | jq .configOptions",),
)
async def get(daemon: Daemon, request: OneAgent) -> AgentInfo:
    """Show an agent with its install state, version, credentials and capabilities."""
    return await _info(daemon, daemon.agent(request.agent), config=request.config)


async def _info(daemon: Daemon, agent: Agent, *, config: bool) -> AgentInfo:
    path = daemon.programs.find(agent)
    return AgentInfo(
        agent.name,
        path is not None,
        await asyncio.to_thread(has_credentials, agent, os.environ, Path.home()),
        agent.stability,
        agent.capabilities,
        await daemon.programs.version(agent, path) if path else None,
        str(path) if path else None,
        agent.tested_version,
        daemon.hosts.server_status(agent),
        daemon.programs.source(agent, path) if path else None,
        daemon.programs.size(agent, path) if path else None,
        await _options(daemon, agent) if config and path else None,
    )


async def _options(daemon: Daemon, agent: Agent) -> tuple[ConfigOption, ...] | None:
    """What a new session may choose. None if the agent cannot say it, for example without a login."""
    try:
        catalogue = await daemon.catalogue(agent, os.getcwd())
        modes = await daemon.modes(agent, os.getcwd())
    except SandboxAgentError:
        return None
    choices = Choices(modes, catalogue.models, catalogue.default_model)
    return options_of(Chosen(agent.modes[0].id), choices)


@operation(
    "POST",
    "/v1/agents/{agent}/install",
    InvalidRequest,
    UnsupportedAgent,
    PermissionDenied,
    InstallFailed,
    name="agents.install",
    examples=("sandbox-agent agents install codex",),
)
async def install(daemon: Daemon, request: InstallAgent) -> Watched[Installed]:
    """Install an agent, or return where it is installed.

    A client that accepts `text/event-stream` receives frames named `progress`, then one named `result` with the
    response, or one named `problem` with the error.
    """
    agent = daemon.agent(request.agent)
    check_version(request.agent_version)
    there = await _by_default(daemon, agent, request.agent_version)
    if there is not None and (not request.reinstall or not agent.executables):
        return _at_once(there)
    if not agent.executables:
        raise InstallFailed(f"{agent.title} is part of this daemon and has its version", agent=agent.name)
    if daemon.config.no_install:
        raise PermissionDenied("this daemon was started with --no-install", agent=agent.name)
    installation = daemon.installs.get_or_start(
        InstallRequest(agent, request.agent_version, request.reinstall, default=not request.keep_default)
    )
    return Watched(installation.result, installation.follow(PING_SECONDS))


async def _by_default(daemon: Daemon, agent: Agent, required: str | None) -> Installed | None:
    """The default program, if its version matches."""
    path = daemon.programs.find(agent)
    version = await daemon.programs.version(agent, path) if path else None
    broken = version is None and agent.name in RECIPES
    if path is None or broken or required not in (None, version):
        return None
    return Installed(True, version, str(path), daemon.programs.source(agent, path))


def _at_once(installed: Installed) -> Watched[Installed]:
    result: asyncio.Future[Installed] = asyncio.get_running_loop().create_future()
    result.set_result(installed)
    return Watched(result, _no_steps())


async def _no_steps() -> AsyncGenerator[Struct | None, None]:
    return
    yield


@operation(
    "GET",
    "/v1/agents/{agent}/modes",
    InvalidRequest,
    UnsupportedAgent,
    AgentNotInstalled,
    AgentProcessExited,
    StreamError,
    Timeout,
    name="agents.modes",
)
async def modes(daemon: Daemon, request: InDirectory) -> Modes:
    """List an agent's modes in a directory."""
    agent = daemon.agent(request.agent)
    return Modes(list(await daemon.modes(agent, request.directory or os.getcwd())))


@operation(
    "GET",
    "/v1/agents/{agent}/models",
    InvalidRequest,
    UnsupportedAgent,
    AgentNotInstalled,
    AgentProcessExited,
    StreamError,
    Timeout,
    name="agents.models",
    examples=("sandbox-agent agents models opencode --directory /srv/project",),
)
async def models(daemon: Daemon, request: InDirectory) -> Models:
    """List an agent's models and their variants in a directory."""
    agent = daemon.agent(request.agent)
    catalogue = await daemon.catalogue(agent, request.directory or os.getcwd())
    return Models(list(catalogue.models), catalogue.default_model)


@operation(
    "GET",
    "/v1/agents/{agent}/commands",
    InvalidRequest,
    UnsupportedAgent,
    AgentNotInstalled,
    AgentProcessExited,
    StreamError,
    Timeout,
    name="agents.commands",
)
async def commands(daemon: Daemon, request: InDirectory) -> Commands:
    """List the slash commands and prompt templates that a new session in a directory would have."""
    agent = daemon.agent(request.agent)
    catalogue = await daemon.catalogue(agent, request.directory or os.getcwd())
    return Commands(list(agent.commands_of(catalogue)))
