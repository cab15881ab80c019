"""The daemon: all sessions, what they share, and its own beginning and end."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec

from ..agents import AGENTS
from ..agents.acp import Acp, parse_acp_agents
from ..agents.base import Agent
from ..config import Config
from ..errors import (
    AgentNotInstalled,
    InvalidRequest,
    ModeNotSupported,
    PermissionDenied,
    SandboxAgentError,
    SessionAlreadyExists,
    SessionNotFound,
    Unavailable,
    UnsupportedAgent,
)
from ..install.publishers import RECIPES
from ..install.version import LATEST, check_version
from ..schema.features import Catalogue, Mode
from ..schema.inputs import Settings
from ..schema.sessions import SessionInfo
from ..schema.world import REAL
from ..store.base import DeleteSession, SaveSecrets, SaveSession, Secrets, SessionRecord, Store
from .attachments import Attachments
from .delegate import remove_leftovers
from .folder import DataFolder
from .host import Hosts, Seat
from .installs import Installs, Wish
from .log import Log, SessionLog, now
from .process import sweep
from .programs import Program, Programs
from .recorded import Recorded, session_info
from .session import Session

logger = logging.getLogger("sandbox_agent.daemon")

CATALOGUE_SECONDS = 60.0
RECENT_CHANGES = 10_000


def open_store(config: Config, folder: Path) -> Store:
    """The store that the configuration names."""
    url = config.database_url
    if url is None or url.startswith("sqlite:"):
        from ..store.sqlite import SqliteStore

        path = Path(url.removeprefix("sqlite:").removeprefix("//")) if url else folder / "log.db"
        return SqliteStore(path, config.synchronous)
    if url == "memory:":
        from ..store.memory import MemoryStore

        return MemoryStore()
    raise InvalidRequest(
        f"--database-url {url.split(':', 1)[0]}: is not supported; use sqlite:PATH or memory:"
    )


class Daemon:
    """Made inside a running event loop; `start` it, and `stop` it to leave nothing behind."""

    def __init__(self, config: Config, agents: dict[str, Agent] | None = None) -> None:
        self.config = config
        self.agents = {**AGENTS, **parse_acp_agents(config.acp_agent, AGENTS)} if agents is None else agents
        self.draining = False
        self.started_at = time.monotonic()
        self._data = DataFolder(config.data_path)
        self.folder = folder = self._data.path.resolve()
        self.log = Log(open_store(config, folder))
        self.log.on_lost = self._lost
        self.attachments = Attachments(folder, self.log.store.identity)
        self.programs = Programs(folder)
        self.installs = Installs(folder, config.mirror)
        # Names our processes, so that leftovers of an earlier life can be found and no others.
        self._instance = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        self.hosts = Hosts(self.log, folder, self._instance)
        self._sessions: dict[str, Session] = {}
        self._creating: set[str] = set()
        self._loading: dict[str, asyncio.Lock] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._catalogues: dict[tuple[str, str, str | None], tuple[float, Catalogue]] = {}
        self.changes: OrderedDict[str, tuple[int, bytes]] = OrderedDict()
        """The latest news of each session that changed lately, with a number that grows."""
        self._change_number = 0

    async def start(self) -> None:
        """Clear away what an earlier life left, close what it left open, and go on with its queues."""
        if leftovers := sweep(f"{self._instance}/"):
            logger.warning("ended %d processes that an earlier daemon left behind", leftovers)
        remove_leftovers(self._instance)
        self._data.remove_launch_files()
        self.spawn(self._sweep_files())
        for session_id in await self.log.look_up(self.log.store.active_sessions):
            session = await self.session(session_id)
            if session.agent.name not in self.agents:
                logger.warning("session %s waits for its agent, %s", session_id, session.agent.name)
            session.wake()

    async def _sweep_files(self) -> None:
        await self.attachments.sweep(await self.log.look_up(self.log.store.folders))

    async def stop(self) -> None:
        """No new work, a short grace for running turns, then everything is written and ended."""
        self.draining = True
        self.installs.stop()
        running = [session for session in self._sessions.values() if session.scribe.turn]
        deadline = time.monotonic() + self.config.drain_seconds
        for session in running:
            await session.wait_at_rest(deadline - time.monotonic())
        await asyncio.gather(
            *(session.rest() for session in list(self._sessions.values())), return_exceptions=True
        )
        await self.hosts.stop_all()
        self._data.remove_launch_files()
        for session in self._sessions.values():
            session.log.channel.close()
        self.log.channel.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.log.close()
        self._data.close()

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something beside the caller; the daemon owns it and logs what it raises."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a background task failed", exc_info=error)

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
    ) -> tuple[Session, SandboxAgentError | None]:
        """Create a session and start its agent. An error raised here created nothing; one returned ended the session."""
        self.require_open()
        self.log.require_writable()
        agent = self.agent(agent_name)
        self._check_settings(agent, settings)
        check_version(pinned_version)
        stored = await self.log.look_up(lambda: self.log.store.session(session_id))
        # Looked at last, so that nobody comes between: of several who want an id at once, one gets it.
        if stored is not None or session_id in self._sessions or session_id in self._creating:
            raise SessionAlreadyExists(f"session {session_id} exists", sessionId=session_id)
        self._creating.add(session_id)
        try:
            program = await self.provide(agent, pinned_version)
            await self._check_mode(agent, settings, pinned_version and program.version)
            moment = now()
            record = SessionRecord(session_id, agent_name, settings, moment, moment, title)
            record.pinned_version = pinned_version and program.version
            record.turn_timeout_ms = turn_timeout_ms
            record.folder = self.attachments.new_folder()
            session = Session(self, agent, record, secrets)
            failure = await session.begin()
            try:
                await session.log.commit([SaveSession(record), SaveSecrets(session_id, secrets)])
            except BaseException:
                await session.let_go()
                raise
            session.saved = True
            self._sessions[session_id] = session
            await session.flush()
            return session, failure
        finally:
            self._creating.discard(session_id)

    async def session(self, session_id: str) -> Session:
        """A session by its id, loaded from the store when it is not in memory."""
        if session := self._sessions.get(session_id):
            return session
        async with self._loading.setdefault(session_id, asyncio.Lock()):
            if session := self._sessions.get(session_id):
                return session
            store = self.log.store
            record = await self.log.look_up(lambda: store.session(session_id))
            if record is None or session_id in self._creating:
                self._loading.pop(session_id, None)
                raise SessionNotFound(f"no session {session_id}", sessionId=session_id)
            secrets = await self.log.look_up(lambda: store.secrets(session_id))
            # One that --acp-agent named, and does not any more, is never started: its sessions can be read and deleted.
            agent = self.agents.get(record.agent) or Acp(record.agent, [record.agent])
            session = Session(self, agent, record, secrets)
            await session.recover()
            self._sessions[session_id] = session
        self._loading.pop(session_id, None)
        return session

    async def session_page(self, before: int | None, limit: int) -> list[tuple[int, SessionInfo]]:
        """Newest first, each with its ordinal. Listing loads nothing."""
        rows = await self.log.look_up(lambda: self.log.store.sessions(before, limit))
        page = []
        for ordinal, record in rows:
            known = self._sessions.get(record.session_id)
            page.append((ordinal, known.info() if known else session_info(record)))
        return page

    async def delete(self, session_id: str) -> None:
        session = await self.session(session_id)
        await session.terminate()
        # What its agent may still say must not bring it back.
        session.saved = False
        await session.log.commit([DeleteSession(session_id)])
        self._sessions.pop(session_id, None)
        session.log.channel.close()
        self.session_changed(session, deleted=True)
        await self.attachments.remove(session.record.files)

    def _lost(self, log: SessionLog) -> None:
        """What a session did last could not be written, so that only the store knows how it stands: load it again."""
        session = self._sessions.get(log.session_id)
        if session is not None and session.log is log:
            del self._sessions[session.id]
            session.saved = False
            log.channel.close()  # its readers come back, and find what is stored
            self.spawn(self._load_again(session))

    async def _load_again(self, session: Session) -> None:
        await session.let_go()
        (await self.session(session.id)).wake()

    def agent(self, name: str) -> Agent:
        agent = self.agents.get(name)
        if agent is None:
            known = ", ".join(self.agents)
            raise UnsupportedAgent(f"no agent is called {name}; there are {known}", agent=name)
        return agent

    def require_open(self) -> None:
        if self.draining:
            raise Unavailable("the daemon is stopping", retryAfter=5)

    async def check(self, agent: Agent, settings: Settings) -> None:
        """Refuse what cannot be: a directory that is not there, a mode the agent does not have."""
        self.agent(agent.name)
        self._check_settings(agent, settings)
        await self._check_mode(agent, settings, None)

    def _check_settings(self, agent: Agent, settings: Settings) -> None:
        self.check_directory(settings.directory)
        if settings.permission_mode == "bypass" and self.config.no_bypass:
            raise PermissionDenied("this daemon was started with --no-bypass")
        if settings.permission_mode not in agent.permission_modes:
            raise ModeNotSupported(
                f"{agent.title} has no permission mode {settings.permission_mode}", agent=agent.name
            )

    async def _check_mode(self, agent: Agent, settings: Settings, version: str | None) -> None:
        """The agent itself knows the modes that its user has made."""
        if settings.agent_mode not in {mode.id for mode in agent.modes}:
            modes = await self.modes(agent, settings.directory, version)
            if settings.agent_mode not in {mode.id for mode in modes}:
                known = ", ".join(mode.id for mode in modes)
                raise ModeNotSupported(
                    f"{agent.title} has no mode {settings.agent_mode}; it has {known}", agent=agent.name
                )

    def check_directory(self, directory: str) -> None:
        if not os.path.isabs(directory):
            raise InvalidRequest(f"directory {directory} is not an absolute path", field="directory")
        # `os.path.isdir` says no to impossible names, too.
        if not os.path.isdir(directory):
            raise InvalidRequest(f"there is no folder {directory}", field="directory")

    # -- agents -------------------------------------------------------------------------------

    async def provide(self, agent: Agent, version: str | None) -> Program:
        """An agent's program, which is installed first where it is missing or `version` names another one."""
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
        # A session's own version does not become everybody's.
        installed = await self.installs.want(Wish(agent, version, default=version is None)).wait()
        return Program(Path(installed.path), installed.version)

    async def catalogue(self, agent: Agent, directory: str, version: str | None = None) -> Catalogue:
        """Models and modes in a directory, asked from the agent itself and remembered for a minute."""
        self.check_directory(directory)
        key = (agent.name, directory, version)
        known = self._catalogues.get(key)
        if known and time.monotonic() - known[0] < CATALOGUE_SECONDS:
            return known[1]
        program = await self.programs.program(agent, version)
        settings = Settings(directory, agent.modes[0].id)
        host = await self.hosts.get(Seat(agent, program, settings, {}, agent.choose_native_id(REAL), False))
        try:
            catalogue = await host.catalogue(directory, self.config.start_seconds)
        finally:
            await self.hosts.release(host, None)
        self._catalogues[key] = (time.monotonic(), catalogue)
        return catalogue

    async def modes(self, agent: Agent, directory: str, version: str | None = None) -> tuple[Mode, ...]:
        found = (await self.catalogue(agent, directory, version)).modes
        return found or agent.modes

    # -- news ---------------------------------------------------------------------------------

    def session_changed(self, session: Recorded, *, deleted: bool = False) -> None:
        """Tell those who watch all sessions."""
        news = msgspec.to_builtins(session.info())
        if deleted:
            news["deleted"] = True
        self._change_number += 1
        self.changes[session.id] = (self._change_number, msgspec.json.encode(news))
        self.changes.move_to_end(session.id)
        while len(self.changes) > RECENT_CHANGES:
            self.changes.popitem(last=False)
        self.log.channel.wake()

    @property
    def change_number(self) -> int:
        return self._change_number

    def changes_after(self, number: int) -> list[tuple[int, bytes]]:
        found = []
        for change in reversed(self.changes.values()):
            if change[0] <= number:
                break
            found.append(change)
        return found[::-1]

    def counts(self) -> dict[str, int]:
        """What `/metrics` tells."""
        states = [session.state for session in self._sessions.values()]
        return {
            "sessions_loaded": len(states),
            "turns_running": sum(state in ("running", "requires_action") for state in states),
            "agent_processes": self.hosts.count,
            "events_committed": self.log.committed_events,
            "log_bytes": self.log.store.size(),
            "readers": self.log.channel.readers
            + sum(session.log.channel.readers for session in self._sessions.values()),
        }
