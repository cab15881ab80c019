"""Agents: what there is, what is installed, what each offers."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ..agents.base import Agent
from ..errors import (
    AgentNotInstalled,
    AgentProcessExited,
    InstallFailed,
    InvalidRequest,
    StreamError,
    Timeout,
    UnsupportedAgent,
)
from ..runtime.credentials import has_credentials
from ..runtime.daemon import Daemon
from ..schema.answers import AgentInfo, AgentList, Installed, Models, Modes
from .operation import Nothing, operation

AgentName = Annotated[str, Meta(description="Which agent, e.g. `claude`.")]


class InstallAgent(Struct, frozen=True, rename="camel"):
    agent: AgentName
    reinstall: Annotated[bool, Meta(description="Install again even if it is there.")] = False
    agent_version: Annotated[
        str | None, Meta(description="Version to install; the tested one when absent.")
    ] = None


class InDirectory(Struct, frozen=True):
    agent: AgentName
    directory: Annotated[
        str | None, Meta(description="Where the agent would run; the daemon's own folder when absent.")
    ] = None


@operation("GET", "/v1/agents", name="agents.list")
async def list_agents(daemon: Daemon, request: Nothing) -> AgentList:
    """List the agents: installed or not, version, credentials, capabilities."""
    return AgentList([await _info(daemon, agent) for agent in daemon.agents.values()])


async def _info(daemon: Daemon, agent: Agent) -> AgentInfo:
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
    )


@operation("POST", "/v1/agents/{agent}/install", UnsupportedAgent, InstallFailed, name="agents.install")
async def install(daemon: Daemon, request: InstallAgent) -> Installed:
    """Install an agent, or say where it is."""
    agent = daemon.agent(request.agent)
    path = daemon.programs.find(agent)
    version = await daemon.programs.version(agent, path) if path else None
    wanted = request.agent_version
    if (
        path is None
        or (wanted is not None and wanted != version)
        or (request.reinstall and agent.executables)
    ):
        name = agent.executables[0] if agent.executables else agent.name
        what = f"{agent.title} {wanted or agent.tested_version or ''}".strip()
        raise InstallFailed(
            f"this version of sandbox-agent does not fetch agents itself: install {what} so that `{name}` is on "
            f"PATH or in {daemon.config.data_path / 'bin'}",
            agent=agent.name,
        )
    return Installed(True, version, str(path), "built-in" if not agent.executables else "found")


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
)
async def models(daemon: Daemon, request: InDirectory) -> Models:
    """List an agent's models and their variants in a directory."""
    agent = daemon.agent(request.agent)
    catalogue = await daemon.catalogue(agent, request.directory or os.getcwd())
    return Models(list(catalogue.models), catalogue.default_model)
