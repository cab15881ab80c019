"""The daemon: all sessions, what they share, and its own start and stop."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import re
import socket
import time
from collections.abc import Collection, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from .. import __version__
from ..agents import AGENTS
from ..agents.acp import parse_acp_agents
from ..agents.base import Agent
from ..agents.unknown import unknown_agent
from ..config import Config
from ..errors import (
    AgentNotInstalled,
    AgentProcessExited,
    Conflict,
    InvalidRequest,
    PermissionDenied,
    SandboxAgentError,
    SessionAlreadyExists,
    Unavailable,
    UnsupportedAgent,
)
from ..files.roots import Roots
from ..files.vault import Vault
from ..files.work import Files
from ..install.publishers import RECIPES
from ..install.version import LATEST, check_version
from ..policy.rules import Rules
from ..processes.guarded import sweep
from ..processes.processes import Processes
from ..schema.desktop import DESKTOP_SERVER
from ..schema.features import Catalogue, Command, Mode
from ..schema.inputs import Settings
from ..schema.limits import Limits
from ..schema.nodes import NodeInfo
from ..schema.policy import PolicyRule
from ..schema.skills import Skill, SkillSource
from ..schema.tools import Tool
from ..schema.world import REAL, World
from ..session.life import Created
from ..skills.library import Library
from ..store.base import Secrets, SessionRecord, Store
from ..store.opening import SQLITE, database_url, open_store, sqlite_path
from .attachments import Attachments
from .catalogues import Catalogues
from .changes import SessionChanges
from .choices import CHOICES, check_choice, check_directory, check_mode, check_settings
from .directories import Directories
from .folder import DataFolder, name_of
from .hosts import Hosts
from .installs import InstallRequest, Installs
from .locks import Locks
from .log import Log
from .mcp import granted, servers_for
from .private_folder import private_folder, remove_leftovers
from .programs import Program, Programs
from .sessions import Sessions
from .tool_schemas import check_tools

if TYPE_CHECKING:
    from ..desktop.desktop import Desktop
    from .cluster import Cluster
    from .courier import Carriage

logger = logging.getLogger("sandbox_agent.daemon")

CARRY_SECONDS = 10.0
"""How long a stop waits until the agents' conversations are stored."""


def log_files(config: Config) -> list[Path]:
    """The files of a log outside the data directory."""
    url = database_url(config) or ""
    if not url.startswith(SQLITE):
        return []
    path = sqlite_path(url)
    return [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))]


def open_log(store: Store, folder: Path) -> tuple[Attachments, Log]:
    """The log, and the files that its events name."""
    if not store.is_shared:
        attachments = Attachments(folder, store.identity)
        return attachments, Log(store, attachments.keep)
    from ..store.shared import SharedStore
    from .shared_attachments import SharedAttachments
    from .shared_log import SharedLog

    assert isinstance(store, SharedStore)
    attachments = SharedAttachments(folder, store)
    return attachments, SharedLog(store, attachments.keep)


class Daemon:
    """Create it inside a running event loop, then `start` it. `stop` leaves nothing behind."""

    def __init__(self, config: Config, agents: dict[str, Agent] | None = None, world: World = REAL) -> None:
        self.config = config
        self.agents = (
            agents
            if agents is not None
            else {**AGENTS, **parse_acp_agents(config.acp_agent, AGENTS, config.acp_env)}
        )
        self.draining = False
        self.started_at = time.monotonic()
        self.began_at = world.now()
        if config.policy is not None:
            from ..policy.operator import OperatorRules

            # Read first: a daemon whose rules are broken must not start.
            world = msgspec.structs.replace(world, operator_rules=OperatorRules(config.policy).current)
        self.world = world
        self._data = DataFolder(config.data_path)
        self.folder = folder = self._data.path.resolve()
        store = open_store(config, folder)
        self.attachments, self.log = open_log(store, folder)
        self.programs = Programs(folder)
        self.files = Files(Roots(config.fs_root, Vault(folder, log_files(config))), folder / "uploads")
        self.changes = SessionChanges(self.attachments, self.files, self.log)
        self.installs = Installs(folder, config.mirror)
        # Marks the daemon's processes, so that the leftovers of an earlier daemon can be distinguished from others. The identity survives moving or
        # mounting the data directory, and the inode sets a copy apart.
        self._instance = f"{store.identity}-{folder.stat().st_ino & 0xFFFFFFFF:x}"
        self.processes = Processes(folder / "processes", self._instance, self.spawn)
        self.library = Library(folder / "skills", self._instance, self.files)
        self.directories = Directories(folder / "directories", self.files)
        self.hosts = Hosts(self.log, folder, self._instance, world)
        self.families = Locks()
        """Held while an agent starts work in another session: two calls must not both get what is left of a limit."""
        self._catalogues = Catalogues(self.programs, self.hosts, config.start_seconds, world)
        self.sessions = Sessions(
            config,
            self.log,
            self.hosts,
            self.attachments,
            self.agents,
            self.provide,
            self.spawn,
            world,
            lambda: self.desktop,
        )
        self.node_name = config.node_name or re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:64]
        self.cluster = self._cluster() if store.is_shared else None
        self.broken: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Why the daemon must stop: nothing it could write would be right."""
        self._tasks: set[asyncio.Task[None]] = set()

    def _cluster(self) -> Cluster:
        from .carrier import Carrier
        from .cluster import Cluster
        from .shared_log import SharedLog

        assert isinstance(self.log, SharedLog)
        self.log.on_went_back = self._break
        cluster = Cluster(self.config, self.log, self.sessions, self.node_name, self.folder, self.spawn)
        self.sessions.cluster = cluster
        carrier = Carrier(self.log.store, name_of(self.folder), self._instance, self.spawn)
        carrier.on_left_out = self.sessions.note_not_carried
        self.sessions.carrier = carrier
        return cluster

    def _break(self, words: str) -> None:
        if not self.broken.done():
            self.broken.set_result(words)

    async def join(self) -> None:
        """Join the daemons that share the log, before `start`. May wait for as long as another one has this node's name."""
        if self.cluster is not None:
            await self.cluster.join()

    async def start(self, carriage: Carriage | None = None) -> None:
        """Remove leftovers of an earlier daemon, close what it left open, and continue with its queues.

        With a carriage, it takes requests of the daemons that share its log.
        """
        if leftovers := sweep(f"{self._instance}/"):
            logger.warning("ended %d processes that an earlier daemon left behind", leftovers)
        remove_leftovers(self._instance)
        self._data.remove_launch_files()
        self.spawn(self._remove_leftover_files())
        await self.library.clear()
        await self.processes.start()
        if self.cluster is not None:
            assert carriage is not None
            self.cluster.start(carriage)
        await self.sessions.resume()

    async def _remove_leftover_files(self) -> None:
        await self.attachments.sweep(await self.log.look_up(self.log.store.folders))

    async def stop(self) -> None:
        """Accept no new work, give running turns a short grace period, then write and end everything.

        The data directory stays locked: call `release_folder` when nothing answers requests any more.
        """
        self.draining = True
        self.installs.stop()
        if "desktop" in self.__dict__:
            await self.desktop.stop()  # before its processes, so that a recording is finished
        await self.processes.stop()
        if self.broken.done():
            await self.sessions.give_up_all()
        else:
            await self.sessions.drain(self.config.drain_seconds)
            await self.sessions.stop_all()
        await self.hosts.stop_all()
        if self.sessions.carrier is not None and not self.broken.done():
            await self.sessions.carrier.finish(CARRY_SECONDS)
        self._data.remove_launch_files()
        self.log.channel.close()
        self.files.close()
        if self.cluster is not None:
            self.cluster.stop_asking()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.cluster is not None:
            await self.log.flush()
            await self.cluster.leave()
        await self.log.close()

    def release_folder(self) -> None:
        """Let another daemon use the data directory."""
        self._data.close()

    @functools.cached_property
    def desktop(self) -> Desktop:
        """Loaded by the first request for it: most daemons never have one."""
        from ..desktop.desktop import Desktop

        make_folder = functools.partial(private_folder, self._instance)
        return Desktop(self.processes, self.folder / "desktop", make_folder, self.spawn, self.world)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a background task. The daemon owns it and logs what it raises."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a background task failed", exc_info=error)

    # -- nodes --------------------------------------------------------------------------------

    def require_node(self, name: str) -> None:
        if name != self.node_name:
            raise Conflict(f"this is node {self.node_name}: ask node {name} itself", node=name)

    async def nodes(self) -> list[NodeInfo]:
        if self.cluster is not None:
            return await self.cluster.nodes()
        return [NodeInfo(self.node_name, "live", __version__, self.began_at, asked=True)]

    async def fence(self, name: str) -> None:
        if self.cluster is None:
            raise Conflict("this daemon does not share its log", node=self.node_name)
        await self.cluster.fence(name)

    # -- sessions -----------------------------------------------------------------------------

    async def create(
        self,
        session_id: str,
        agent_name: str,
        settings: Settings,
        secrets: Secrets,
        *,
        title: str | None = None,
        pinned_version: str | None = None,
        turn_timeout_ms: int | None = None,
        skills: tuple[SkillSource, ...] = (),
        policy: tuple[PolicyRule, ...] = (),
        limits: Limits | None = None,
        tools: tuple[Tool, ...] = (),
        tool_timeout_ms: int | None = None,
        desktop: bool = False,
        callers: tuple[str, ...] = (),
    ) -> Created:
        """Create a session and start its agent. If this raises, nothing was created; a returned error ended the session."""
        self.require_open()
        self.log.require_writable()
        agent = self.agent(agent_name)
        check_settings(agent, settings, no_bypass=self.config.no_bypass)
        if tools:
            check_tools(tools)
        check_version(pinned_version)
        config = await self.directories.read(settings.directory)
        secrets = msgspec.structs.replace(secrets, mcp={**config.mcp, **secrets.mcp})
        self._check_servers(agent, settings, secrets)
        self.log.store.require_place_for(secrets)
        if desktop:
            self._check_desktop(agent, secrets)
        if await self.sessions.exists(session_id):
            raise SessionAlreadyExists(f"session {session_id} already exists", sessionId=session_id)
        program = await self.provide(agent, pinned_version)
        pinned = pinned_version and program.version
        offered = functools.partial(self.catalogue, agent, settings.directory, pinned, secrets.env)
        await check_mode(agent, settings, program.version, offered)
        await check_choice(agent, settings, CHOICES, offered)
        folder = self.attachments.new_folder()
        laid_out = await self._lay_out(skills + config.sources(), folder)
        moment = self.world.now()
        record = SessionRecord(
            session_id,
            agent_name,
            settings,
            moment,
            moment,
            title,
            agent_version=program.version,
            pinned_version=pinned,
            native_id=agent.choose_native_id(self.world),
            turn_timeout_ms=turn_timeout_ms,
            skills=laid_out,
            policy=policy,
            limits=(limits or Limits()).applied_to(self.config.limits),
            tools=tools,
            tool_timeout_ms=tool_timeout_ms,
            desktop=desktop,
            folder=folder,
            callers=callers,
        )
        try:
            await self.changes.begin(folder, settings.directory)
            return await self.sessions.create(record, secrets)
        except SandboxAgentError:
            await self.attachments.remove(folder)
            raise

    async def _lay_out(self, sources: tuple[SkillSource, ...], folder: str) -> tuple[Skill, ...]:
        if not sources:
            return ()
        try:
            return await self.library.lay_out(sources, self.attachments.skills_folder(folder))
        except BaseException:
            await self.attachments.remove(folder)
            raise

    def _check_desktop(self, agent: Agent, secrets: Secrets) -> None:
        if self.config.no_processes:
            raise PermissionDenied("this daemon was started with --no-processes")
        if not agent.capabilities.mcp_tools:
            raise InvalidRequest(
                f"{agent.title} takes no MCP servers, so it cannot use the desktop", field="desktop"
            )
        if DESKTOP_SERVER in secrets.mcp:
            raise InvalidRequest(f"`{DESKTOP_SERVER}` is the name of the server for `desktop`", field="mcp")
        self.desktop.require_programs()

    def _check_servers(self, agent: Agent, settings: Settings, secrets: Secrets) -> None:
        """Refuse MCP servers that cannot be passed to the agent, or that lack a variable."""
        environ = {**granted(self.config.mcp_env, os.environ), **secrets.env}
        servers_for(agent, secrets.mcp, settings.directory, environ)

    def rules(self, session: tuple[PolicyRule, ...]) -> Rules:
        """The rules of a session, with the operator's as they are now."""
        return Rules(self.world.operator_rules(), session)

    def agent(self, name: str) -> Agent:
        agent = self.agents.get(name)
        if agent is None:
            raise UnsupportedAgent(unknown_agent(name, self.agents), agent=name)
        return agent

    def require_open(self) -> None:
        if self.draining:
            raise Unavailable("the daemon is stopping", retryAfter=5)

    async def check(self, record: SessionRecord, settings: Settings, changed: Collection[str]) -> None:
        """Refuse settings that a session cannot have: a missing directory, or a choice its agent would not use."""
        agent = self.agent(record.agent)
        check_settings(agent, settings, no_bypass=self.config.no_bypass)
        offered = functools.partial(self._offered, agent, record)
        await check_mode(agent, settings, record.agent_version, offered)
        await check_choice(agent, settings, changed, offered)

    # -- agents -------------------------------------------------------------------------------

    async def provide(self, agent: Agent, version: str | None) -> Program:
        """An agent's program, installed first if it is missing or `version` names another one."""
        self.agent(agent.name)
        try:
            if version != LATEST:
                return await self.programs.program(agent, version)
        except AgentNotInstalled as missing:
            if agent.name not in RECIPES:
                raise
            if self.config.no_install:
                raise AgentNotInstalled(
                    f"{missing.detail}; this daemon was started with --no-install", **missing.facts
                ) from None
        # A version chosen for one session does not become the default.
        installed = await self.installs.get_or_start(
            InstallRequest(agent, version, default=version is None)
        ).wait()
        return Program(Path(installed.path), installed.version)

    async def catalogue(
        self, agent: Agent, directory: str, version: str | None = None, env: Mapping[str, str] | None = None
    ) -> Catalogue:
        """Models, modes and commands in a directory. `env` is a session's own environment, which may change them."""
        check_directory(directory)
        return await self._catalogues.get(agent, directory, version, env)

    async def commands(self, record: SessionRecord) -> tuple[Command, ...]:
        """The commands of a session: those its agent always has, and those its process offers."""
        agent = self.agent(record.agent)
        offered = await self._offered(agent, record)
        return agent.commands_of(offered)

    async def _offered(self, agent: Agent, record: SessionRecord) -> Catalogue:
        """What a session's own process offers; without one, what a process with the same environment would."""
        with contextlib.suppress(AgentProcessExited):
            offered = await self.sessions.catalogue(record.session_id)
            if offered is not None:
                return offered
        env = (await self.sessions.secrets(record.session_id)).env
        return await self.catalogue(agent, record.settings.directory, record.pinned_version, env)

    async def modes(self, agent: Agent, directory: str, version: str | None = None) -> tuple[Mode, ...]:
        modes = (await self.catalogue(agent, directory, version)).modes
        return modes or agent.modes_of((await self.programs.program(agent, version)).version)

    def cluster_figures(self) -> dict[str, tuple[str, float]]:
        """The figures of a node for `/metrics`, with their descriptions."""
        return {} if self.cluster is None else self.cluster.figures()

    def counts(self) -> dict[str, int]:
        """The figures for `/metrics`."""
        return {
            **self.sessions.counts(),
            "agent_processes": self.hosts.count,
            "events_committed": self.log.committed_events,
            "log_bytes": self.log.store.size(),
        }
