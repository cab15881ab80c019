"""All sessions: those in memory, and how a client's request reaches the machine that answers it.

What clients see comes from the session's end of the log, or from the store if there is none. Only a command loads a machine.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..agents.acp import Acp
from ..agents.base import Agent
from ..agents.scribe import Requested
from ..config import Config
from ..errors import (
    Conflict,
    Internal,
    SandboxAgentError,
    SessionAlreadyExists,
    SessionNotFound,
    Unavailable,
)
from ..schema.events import PermissionRequested, QuestionRequested, decode_event
from ..schema.features import Catalogue
from ..schema.mcp import McpServerInfo
from ..schema.sessions import SessionInfo
from ..schema.tools import ToolRequest
from ..schema.world import World
from ..session import inputs
from ..session.core import Limits
from ..session.life import Created
from ..session.machine import Machine
from ..session.view import View, requested, view_of
from ..store.base import QueuedMessage, Secrets, SessionRecord
from .attachments import Attachments
from .hosts import Hosts
from .live import LiveSession, next_command_id
from .locks import Locks
from .log import End, Log, moved_away
from .mcp import listed
from .programs import Program
from .session_door import Welcome

if TYPE_CHECKING:
    from ..desktop.desktop import Desktop
    from .carrier import Carrier
    from .cluster import Cluster

logger = logging.getLogger("sandbox_agent.sessions")

CATCH_UP_SECONDS = 2.0
CATCH_UP_PAUSE = 0.01
RELOAD_SECONDS, MAX_RELOAD_SECONDS = 1.0, 60.0
UNREAD_SECONDS = 10.0
"""How long an end of the log waits for its first reader."""

UNREADABLE = (Internal, msgspec.MsgspecError)
"""A session that cannot be loaded for one of these reasons would fail again in the same way."""

Provide = Callable[[Agent, str | None], Awaitable[Program]]
Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class Shown(NamedTuple):
    """A session as clients see it: its committed state."""

    view: View
    event_count: int

    @property
    def info(self) -> SessionInfo:
        return self.view.info(self.event_count)


class Sessions:
    def __init__(
        self,
        config: Config,
        log: Log,
        hosts: Hosts,
        attachments: Attachments,
        agents: dict[str, Agent],
        provide: Provide,
        spawn: Spawn,
        world: World,
        desktop: Callable[[], Desktop],
    ) -> None:
        self.config = config
        self.log = log
        self.hosts = hosts
        self.attachments = attachments
        self.provide = provide
        self.spawn = spawn
        self.cluster: Cluster | None = None
        """The other nodes that share the log, if it is shared."""
        self.carrier: Carrier | None = None
        """Carries the agents' conversations to other nodes, if the log is shared."""
        self.desktop = desktop
        self._agents = agents
        self._world = world
        self._limits = Limits(idle=config.idle_seconds)
        self._live: dict[str, LiveSession] = {}
        self._ends: dict[str, End] = {}
        """For sessions in memory, and for those with readers."""
        self.welcome: Welcome | None = None
        """Serves the agents of sessions that may start others; set by the server."""
        self._dropped: dict[str, LiveSession] = {}
        """Sessions dropped after an internal error, until none of their work runs or waits to be written."""
        self.not_loaded: set[str] = set()
        """Sessions of this node that could not be loaded for now, though something in them is open or queued."""
        self._locks = Locks()
        self._draining = False

    # -- what clients see ------------------------------------------------------------------------

    async def show(self, session_id: str) -> Shown:
        """The committed state of a session. It loads nothing."""
        end = self._known(session_id)
        if end is not None and end.view is not None:
            return Shown(end.view, end.committed)
        view = await self.log.look_up(lambda: self._stored(session_id))
        return Shown(view, view.record.event_count)

    def _known(self, session_id: str) -> End | None:
        """A session's end of the log, if no other node can have changed the session since."""
        end = self._ends.get(session_id)
        return end if end is not None and (self.cluster is None or end.listener is not None) else None

    def is_loaded(self, session_id: str) -> bool:
        return session_id in self._live

    async def secrets(self, session_id: str) -> Secrets:
        return await self.log.look_up(lambda: self.log.store.secrets(session_id))

    def _stored(self, session_id: str) -> View:
        record = self.log.store.session(session_id)
        if record is None:
            raise SessionNotFound(f"no session {session_id}", sessionId=session_id)
        return view_of(record, self._pending(session_id))

    def _pending(self, session_id: str) -> list[Requested]:
        return [requested(row) for row in self.log.store.pending(session_id)]

    async def page(self, before: int | None, limit: int) -> list[tuple[int, Shown]]:
        """Newest first, each with its ordinal."""
        rows = await self.log.look_up(lambda: self._listed(before, limit))
        page = []
        for ordinal, view in rows:
            end = self._known(view.record.session_id)
            if end is not None and end.view is not None:
                page.append((ordinal, Shown(end.view, end.committed)))
            else:
                page.append((ordinal, Shown(view, view.record.event_count)))
        return page

    def _listed(self, before: int | None, limit: int) -> list[tuple[int, View]]:
        """Only a running turn can have requests. Those of another node's turn are in the store."""
        elsewhere = self.cluster is not None
        return [
            (
                ordinal,
                view_of(record, self._pending(record.session_id) if elsewhere and record.turn_id else ()),
            )
            for ordinal, record in self.log.store.sessions(before, limit)
        ]

    async def queue(self, session_id: str, after: int, limit: int) -> list[tuple[int, QueuedMessage]]:
        await self.show(session_id)
        return await self.log.look_up(lambda: self.log.store.queue_page(session_id, after, limit))

    async def catalogue(self, session_id: str) -> Catalogue | None:
        """The commands that the session's process offers; None without a process. It starts none."""
        live = self._live.get(session_id)
        return None if live is None else await live.catalogue()

    async def mcp(self, session_id: str) -> list[McpServerInfo]:
        """A session's MCP servers, with what its process has said about them. It starts none."""
        await self.show(session_id)
        servers = (await self.secrets(session_id)).mcp
        live = self._live.get(session_id)
        return listed(servers, {} if live is None else live.mcp())

    async def end(self, session_id: str) -> End:
        """A session's end of the log, to follow it."""
        async with self._locks.hold(session_id):
            await self._settle(session_id)
            end = self._ends.get(session_id)
            if end is None or (self.cluster is not None and end.listener is None):
                view = await self.log.look_up(lambda: self._stored(session_id))
                end = self._followed(view)
            if end.view is None:
                raise SessionNotFound(f"no session {session_id}", sessionId=session_id)
            # The caller may never start to follow it.
            asyncio.get_running_loop().call_later(UNREAD_SECONDS, self._drop_end, end)
            return end

    async def end_at(self, session_id: str, offset: int) -> End:
        """A session's end of the log for a reader who has seen this much. Raises `Conflict` if there is no such event."""
        end = await self.end(session_id)
        if offset <= end.committed:
            return end
        if self.cluster is None or offset > await self._stored_events(session_id):
            raise _beyond(session_id, offset, end.committed)
        # Another node has shown it already: this one does not know yet that its own write is done, or that it is no longer the owner.
        deadline = time.monotonic() + CATCH_UP_SECONDS
        while offset > end.committed:
            if time.monotonic() > deadline:
                raise Unavailable("this node lags behind the log", retryAfter=1, sessionId=session_id)
            await asyncio.sleep(CATCH_UP_PAUSE)
            end = await self.end(session_id)
        return end

    async def events_until(self, session_id: str, offset: int) -> int:
        """How many events a session has, for a reader who has seen this much. Raises `Conflict` if there is no such event."""
        count = (await self.show(session_id)).event_count
        if offset > count and self.cluster is not None:
            count = await self._stored_events(session_id)
        if offset > count:
            raise _beyond(session_id, offset, count)
        return count

    async def _stored_events(self, session_id: str) -> int:
        """Whatever this node knows."""
        return (await self.log.look_up(lambda: self._stored(session_id))).record.event_count

    def _followed(self, view: View) -> End:
        """The end of a session that this node does not write, with what is committed by now."""
        end = self._end_of(view.record)
        if end is None:
            end = self._keep_end(view)
            if self.cluster is not None:
                self.cluster.follower.watch(end)
        elif end.listener is None:
            end.catch_up(view)
        return end

    def _end_of(self, record: SessionRecord) -> End | None:
        """A session's end of the log. One of an earlier session with the same id, which another node has deleted, is dropped."""
        end = self._ends.get(record.session_id)
        if end is not None and end.listener is None and end.folder != record.folder:
            self.drop_deleted(end)
            return None
        return end

    def drop_deleted(self, end: End) -> None:
        """Drop the end of a session that was deleted."""
        end.view = None
        end.channel.close(deleted=True)
        if self._ends.get(end.session_id) is end:
            del self._ends[end.session_id]

    def _keep_end(self, view: View) -> End:
        record = view.record
        end = End(record.session_id, record.folder, record.event_count, view)
        end.announced = view.news
        end.channel.on_left = lambda: self._drop_end(end)
        self._ends[record.session_id] = end
        return end

    def _drop_end(self, end: End) -> None:
        """No one needs it any more. A late reader finds it closed, and asks for another."""
        if end.listener is None and not end.channel.readers and self._ends.get(end.session_id) is end:
            del self._ends[end.session_id]
            end.channel.close()

    # -- commands -----------------------------------------------------------------------------

    async def create(self, record: SessionRecord, secrets: Secrets) -> Created:
        """Start an agent for a new session. If this raises, nothing was created; a returned error ended the session."""
        id = record.session_id
        async with self._locks.hold(id):
            await self._settle(id)
        stored = await self.log.look_up(lambda: self.log.store.session(id))
        if self.cluster is not None:
            await self.cluster.reserve(id)
            record = msgspec.structs.replace(record, home=self.cluster.name)
        # Checked last, without an await in between: of several requests for the same id, one gets it.
        if stored is not None or id in self._live:
            raise SessionAlreadyExists(f"session {id} already exists", sessionId=id)
        agent = self._agents[record.agent]
        end = End(id, record.folder, 0, None)
        end.channel.on_left = lambda: self._drop_end(end)
        create = inputs.Create(next_command_id(), secrets)
        folder = self._image_folder(record)
        machine = Machine.create(agent, record, create, self._world, self._limits, folder)
        live = LiveSession(self, agent, machine, end, secrets)
        self._end_of(record)
        self._live[id], self._ends[id] = live, end
        try:
            created: Created = await live.create(create)
        except SandboxAgentError:
            # If the outcome is unknown, the session is still here and may exist.
            if self.cluster is not None and id not in self._live and end.view is None:
                await self.cluster.give_up(id)
            raise
        return created

    async def exists(self, session_id: str) -> bool:
        """Whether the id is taken, including by a session that is being created."""
        stored = await self.log.look_up(lambda: self.log.store.session(session_id))
        return stored is not None or session_id in self._live

    async def ask(self, session_id: str, command: Callable[[int], inputs.Command]) -> Any:
        """Send a command to a session, and wait for its answer."""
        live = await self._load(session_id)
        try:
            return await live.ask(command(next_command_id()))
        finally:
            self._unpin(live)

    async def suspend(self, session_id: str) -> None:
        """Stop an idle agent's process; the next message starts it again."""
        async with self.loaded(session_id) as live:
            await live.suspend()

    @asynccontextmanager
    async def loaded(self, session_id: str) -> AsyncIterator[LiveSession]:
        """The session in memory, pinned for the length of the block."""
        live = await self._load(session_id)
        try:
            yield live
        finally:
            self._unpin(live)

    def _unpin(self, live: LiveSession) -> None:
        live.pins -= 1
        live.rest_if_idle()

    async def _load(self, session_id: str) -> LiveSession:
        """The session in memory, pinned until `_unpin`."""
        if self.cluster is not None:
            self.cluster.require_usable(session_id)
        live = self._live.get(session_id)
        if live is None:
            async with self._locks.hold(session_id):
                await self._settle(session_id)
                live = self._live.get(session_id)
                if live is None:
                    live = await self._own_and_restore(session_id)
        if live.end.view is None:  # it is being created, and no client can see it
            raise SessionNotFound(f"no session {session_id}", sessionId=session_id)
        live.pins += 1
        return live

    async def _own_and_restore(self, session_id: str) -> LiveSession:
        if self.cluster is None:
            return await self._restore(session_id)
        await self.cluster.own(session_id)
        try:
            return await self._restore(session_id)
        except Unavailable:
            # Another node may be able to: this one may lack the key of its secrets.
            await self.cluster.give_up(session_id)
            raise

    async def _restore(self, session_id: str, *, only_closes: bool = False) -> LiveSession:
        """Build a machine from the store: its record, what was open, what is queued. It may be one that starts nothing."""
        log, store = self.log, self.log.store
        view = await log.look_up(lambda: self._stored(session_id))
        record = view.record
        secrets, call_ids, heads = await log.look_up(
            lambda: (
                # Another node's secrets may be sealed with a key that this one does not have.
                Secrets() if only_closes else store.secrets(session_id),
                store.call_ids(session_id),
                store.queue_heads(session_id),
            )
        )
        # An agent that --acp-agent no longer names is never started; its sessions can be read and deleted.
        agent = self._agents.get(record.agent) or Acp(record.agent, [record.agent])
        end = self._end_of(record) or self._keep_end(view)
        if end.sequence < record.event_count:
            end.catch_up(view)
        machine = Machine.load(agent, record, call_ids, self._world, self._limits, self._image_folder(record))
        live = LiveSession(self, agent, machine, end, secrets)
        live.pins += 1
        try:
            if record.open_since is not None:
                after = record.open_since - 1
                while rows := await log.read(session_id, after):
                    live.step(inputs.Replay([decode_event(row.body) for row in rows]))
                    after = rows[-1].sequence
        except BaseException:
            end.listener = None
            self._drop_end(end)
            raise
        startable = record.agent in self._agents and not self._draining and not only_closes
        if self.cluster is not None and not only_closes and record.home != self.cluster.name:
            machine.core.change(home=self.cluster.name)
        if record.agent not in self._agents:
            logger.warning("session %s needs agent %s, which is not configured", session_id, record.agent)
        pending = tuple(_id_of(request) for request in view.pending)
        live.step(inputs.Restored(pending, tuple(heads), startable))
        live.pins -= 1
        if live.is_dropped:
            raise Internal("the stored session cannot be read", sessionId=session_id)
        self._live[session_id] = live
        return live

    def _image_folder(self, record: SessionRecord) -> str:
        return f"{self.attachments.folder(record.folder)}/"

    # -- unloading ----------------------------------------------------------------------------

    def forget(self, live: LiveSession, *, gone: bool) -> None:
        """Drop a session whose state is in the store, or which was deleted."""
        if self._live.get(live.id) is live:
            del self._live[live.id]
        live.end.listener = None
        if gone:
            self.drop_deleted(live.end)
        else:
            self._drop_end(live.end)

    def reload(self, live: LiveSession, *, moved: bool) -> None:
        """Drop a session after an internal error, or because another node has it: only the stored state can be trusted."""
        live.end.listener = None
        if self._ends.get(live.id) is live.end:
            del self._ends[live.id]
        live.end.channel.close()  # its readers reconnect, and get what is stored
        self._dropped[live.id] = live
        # A session that failed while loading would fail again.
        if self._live.get(live.id) is live:
            del self._live[live.id]
            self.spawn(self._let_go(live) if moved else self._reload(live.id))

    async def _let_go(self, live: LiveSession) -> None:
        await live.close_link()
        if self._dropped.get(live.id) is live:
            del self._dropped[live.id]

    async def _reload(self, session_id: str) -> None:
        """Load a session as soon as that is possible: its open turn has to end, and its queue continues."""
        pause = RELOAD_SECONDS
        while not await self._is_reloaded(session_id):
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_RELOAD_SECONDS)
            while self.log.failure is not None:
                await asyncio.sleep(RELOAD_SECONDS)

    async def _is_reloaded(self, session_id: str) -> bool:
        """Whether it is loaded, or never will be."""
        try:
            async with self.loaded(session_id):
                return True
        except SessionNotFound:
            return True  # it was never stored
        except Exception as error:
            if isinstance(error, UNREADABLE):
                logger.warning("session %s stays unloaded until the next command: %s", session_id, error)
                return True
            if self.cluster is not None and isinstance(error, Unavailable | Conflict):
                self._note_not_loaded(session_id, error)  # the cluster tries again
                return True
            logger.warning("session %s cannot be loaded yet: %s", session_id, error)
            return False

    async def _settle(self, session_id: str) -> None:
        """Wait until a dropped session's process is gone and its appends are settled, before its state is read."""
        live = self._dropped.get(session_id)
        if live is not None:
            await live.close_link()
            await self.log.written(live.end)
            self._dropped.pop(session_id, None)

    # -- the daemon's beginning and end ---------------------------------------------------------

    async def resume(self) -> None:
        """Close what an earlier daemon left open, and continue with its queues."""
        for session_id in await self.log.look_up(self.log.store.active_sessions):
            await self.wake(session_id)

    async def wake(self, session_id: str) -> None:
        """Close what is open in a session, and continue with its queue."""
        self.not_loaded.discard(session_id)
        try:
            async with self.loaded(session_id) as live:
                # Until this is written, clients would see a turn that no longer runs.
                await live.settled()
        except Exception as error:
            if self.cluster is not None and isinstance(error, Unavailable | Conflict | SessionNotFound):
                logger.info("session %s is not continued here for now: %s", session_id, error.detail)
                self._note_not_loaded(session_id, error)
            else:
                logger.exception("session %s cannot be loaded; continuing with the others", session_id)
                if not isinstance(error, UNREADABLE):
                    self.spawn(self._reload(session_id))

    def _note_not_loaded(self, session_id: str, problem: SandboxAgentError) -> None:
        """Try again later, unless another node has it: this one may own it by now, and then no other will load it."""
        if self.cluster is not None and isinstance(problem, Unavailable) and "node" not in problem.facts:
            self.not_loaded.add(session_id)

    async def close(self, session_id: str) -> None:
        """Close what is open in a session of a node that is gone, and start nothing."""
        async with self._locks.hold(session_id):
            await self._settle(session_id)
            live = self._live.get(session_id) or await self._restore(session_id, only_closes=True)
            live.pins += 1
        try:
            await live.settled()
            if not live.is_settled:
                raise self.log.unavailable()
        finally:
            self._unpin(live)

    def note_not_carried(self, session_id: str, reason: str) -> None:
        if (live := self._live.get(session_id)) is not None:
            live.step(inputs.NotCarried(reason))

    def refuse_callers(self, session_id: str, problem: SandboxAgentError) -> None:
        """Stop all waiting; the commands themselves are still carried out."""
        if (live := self._live.get(session_id)) is not None:
            live.refuse_callers(problem)

    async def give_up_all(self) -> None:
        """Other nodes may run every session: end what this one runs, and wait until it is gone."""
        self.not_loaded.clear()
        for live in list(self._live.values()):
            live.lost(moved_away(live.id))
        # What fails is logged where it is let go, and must not keep this node from joining again.
        closing = (live.close_link() for live in self._dropped.values())
        await asyncio.gather(*closing, return_exceptions=True)

    async def drain(self, seconds: float) -> None:
        """Start no new turns, and give running ones this much time."""
        self._draining = True
        deadline = asyncio.get_running_loop().time() + seconds
        for live in list(self._live.values()):
            live.step(inputs.Drain())
        while self._is_any_turn_running() and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.02)

    async def stop_all(self) -> None:
        """End every turn with an unknown outcome and stop the agents; readers see that before they are disconnected."""
        await asyncio.gather(*(self._stop(live) for live in list(self._live.values())))
        for end in list(self._ends.values()):
            end.channel.close()

    async def _stop(self, live: LiveSession) -> None:
        if live.is_dropped:  # it was unloaded just now
            return
        try:
            await live.ask(inputs.Rest(next_command_id()))
        except SandboxAgentError as problem:
            logger.warning("session %s: %s", live.id, problem.detail)

    def foreign_ends(self) -> list[End]:
        """Ends with readers that this node does not write."""
        return [end for end in self._ends.values() if end.listener is None]

    def _is_any_turn_running(self) -> bool:
        return any(live.scribe.turn is not None for live in self._live.values())

    def counts(self) -> dict[str, int]:
        states = [live.end.view.state for live in self._live.values() if live.end.view is not None]
        return {
            "sessions_loaded": len(self._live),
            "turns_running": sum(state in ("running", "requires_action") for state in states),
            "readers": self.log.channel.readers + sum(end.channel.readers for end in self._ends.values()),
        }


def _beyond(session_id: str, offset: int, committed: int) -> Conflict:
    return Conflict("the offset is beyond the log", sessionId=session_id, offset=offset, committed=committed)


def _id_of(asked: Requested) -> str:
    match asked:
        case PermissionRequested(id) | QuestionRequested(id) | ToolRequest(id):
            return id
