"""This daemon among the others that share its log: joining, renewing the lease, watching others, and taking over from the dead.

Safety never depends on time: whatever a fenced node writes is refused. Times only decide how soon a silent node is fenced. A node
fences another one only if it has watched it for a whole lease without a sign of life, so an outage of the database or a clock that
jumps starts no wave of takeovers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from .. import __version__
from ..config import Config
from ..errors import Conflict, NotFound, SandboxAgentError, SessionAlreadyExists, SessionNotFound, Unavailable
from ..schema.nodes import NodeInfo, NodeState
from ..store.shared import Abandoned, Fenced, NameTaken, Node, Owner, SharedStore
from .courier import Carriage, Courier
from .folder import name_of
from .follower import Follower
from .log import End
from .sessions import Sessions, Spawn
from .shared_log import SharedLog

logger = logging.getLogger("sandbox_agent.cluster")

TRIES = 3
RETRY_SECONDS = 0.25
FREEZE_SECONDS = 2.0
"""How long before the end of the lease agents are frozen. It is half of a shorter lease."""
MAX_CLOSED_AT_ONCE = 50
"""Sessions that are closed at the same time."""

Found = TypeVar("Found")


class Elsewhere(Unavailable):
    """Another node runs the session."""

    def __init__(self, session_id: str, node: Node) -> None:
        super().__init__(
            f"session {session_id} runs on node {node.name}",
            retryAfter=1,
            sessionId=session_id,
            node=node.name,
        )
        self.node = node


class RoutedOperation(Protocol):
    """An operation, as this module sees it."""

    @property
    def runs(self) -> str: ...

    @property
    def here(self) -> Callable[[Any, Any], Awaitable[Any]]: ...


class Silences:
    """How long each node has shown no sign of life, as seen by this one."""

    def __init__(self, lease: float) -> None:
        self._lease = lease
        self._seen: dict[int, tuple[int, float]] = {}
        """By incarnation: its number of writes, and since when it has not changed."""
        self._looked_at: float | None = None

    def look(self, nodes: Sequence[Node], now: float) -> list[Node]:
        """The nodes that were silent for a whole lease, during which this one kept looking."""
        if self._looked_at is None or now - self._looked_at > self._lease:
            self._seen.clear()  # this node was paused, or could not look
        self._looked_at = now
        before, self._seen = self._seen, {}
        silent = []
        for node in nodes:
            if node.is_fenced:
                continue
            writes, since = before.get(node.incarnation, (-1, now))
            self._seen[node.incarnation] = (node.writes, since if writes == node.writes else now)
            if writes == node.writes and now - since >= self._lease and node.lease_left < 0:
                silent.append(node)
        return silent

    def forget(self) -> None:
        """The database did not answer, so nothing is known about any node."""
        self._looked_at = None


class Cluster:
    def __init__(
        self, config: Config, log: SharedLog, sessions: Sessions, name: str, folder: Path, spawn: Spawn
    ) -> None:
        self.name = name
        self.incarnation = 0
        self._lease = config.lease_seconds
        self._takes_any = config.takeover == "any"
        self._log = log
        self._store: SharedStore = log.store
        self._sessions = sessions
        self._folder = name_of(folder)
        self._spawn = spawn
        self._silences = Silences(self._lease)
        self.follower = Follower(log, sessions, spawn)
        self._courier: Courier | None = None
        self._closing: set[str] = set()
        """Sessions of dead nodes, while this one closes what they left open."""
        log.on_fenced = self._fenced
        log.on_uncertain = self._tell_uncertain
        self._unseen: tuple[int, float] | None = None
        """The position of a write of ours that readers of all sessions could not see, and since when."""
        self._held_at = 0.0
        if self._takes_any:
            log.on_renewed = self._hold_agents

    # -- life ---------------------------------------------------------------------------------

    async def join(self) -> None:
        """Join the log, and continue the sessions of this node. Waits while another node has its name."""
        while True:
            try:
                self.incarnation = await self._ask(self._join)
                break
            except NameTaken as taken:
                wait = max(RETRY_SECONDS, min(taken.node.lease_left, self._lease))
                logger.warning("%s; waiting %.1f s for the end of its lease", taken, wait)
            except Exception as error:
                wait = RETRY_SECONDS
                logger.warning("this node cannot join the log yet: %s", error)
            await asyncio.sleep(wait)
        self._log.begin_life()
        logger.info("joined the log as node %s, incarnation %d", self.name, self.incarnation)

    def _join(self) -> int:
        return self._store.join(self.name, self._folder, self._lease, __version__)

    def start(self, carriage: Carriage) -> None:
        self._courier = Courier(self._log, carriage, self._spawn)
        self.follower.on_commands = self._courier.wake
        self.follower.on_answer = self._courier.answered
        self.follower.start()
        self._courier.start()
        self._spawn(self._renew())
        self._spawn(self._watch())

    def stop_asking(self) -> None:
        """This node is stopping: nobody may wait for another node any longer."""
        if self._courier is not None:
            self._courier.close()

    async def leave(self) -> None:
        """Release all sessions, so that other nodes need not wait for the lease. Called once everything is written."""
        try:
            await self._ask(self._store.leave)
        except Exception as error:
            logger.warning("this node could not leave the log; others wait for its lease: %s", error)

    def _fenced(self) -> None:
        """Everything that this node ran may run elsewhere by now: end it, and join again."""
        self._spawn(self._rejoin())

    async def _rejoin(self) -> None:
        self._closing.clear()
        await self._sessions.give_up_all()
        await self.join()
        await self._sessions.resume()

    def _tell_uncertain(self, ends: list[End]) -> None:
        for end in ends:
            problem = Unavailable(
                "the database does not answer: the request may have been carried out",
                retryAfter=1,
                sessionId=end.session_id,
                outcome="unknown",
            )
            self._sessions.refuse_callers(end.session_id, problem)

    async def _renew(self) -> None:
        """Write something every third of the lease. Every other write renews it, too."""
        end = End("", "", 0, None)
        while True:
            await asyncio.sleep(self._lease / 3)
            if self._log.failure is None:  # otherwise the log tries again by itself
                with contextlib.suppress(Unavailable):
                    await self._log.written(end)
                    await self._check_horizon()

    async def _check_horizon(self) -> None:
        """Note whether readers of all sessions can see our last write, which any open transaction on the server may delay."""
        if self._unseen is None:
            self._unseen = (self._log.written_to, time.monotonic())
        if await self._ask(self._store.horizon) >= self._unseen[0]:
            self._unseen = None

    def _hold_agents(self, renewed_at: float) -> None:
        """Another node may continue our sessions when the lease is over, on the same files: our agents must not act any more by then."""
        now = time.monotonic()
        if now - self._held_at >= self._lease / 6:
            self._held_at = now
            freeze_after = max(self._lease - FREEZE_SECONDS, self._lease / 2)
            self._sessions.hosts.hold(renewed_at + freeze_after - now)

    # -- others -------------------------------------------------------------------------------

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._lease / 4)
            try:
                await self._look()
            except Exception as error:
                self._silences.forget()
                logger.log(
                    logging.WARNING if isinstance(error, SandboxAgentError) else logging.ERROR,
                    "the other nodes cannot be watched: %s",
                    error,
                )

    async def _look(self) -> None:
        if self._log.failure is not None:
            self._silences.forget()
            return
        nodes = await self._ask(self._store.nodes)
        others = [node for node in nodes if node.incarnation != self.incarnation]
        for node in self._silences.look(others, _now()):
            if await self._ask(lambda: self._store.fence(node.incarnation)):  # noqa: B023 - called at once
                logger.warning("fenced node %s, which was last seen at %s", node.name, node.seen_at)
        await self._take_over(await self._ask(self._store.abandoned))

    async def _take_over(self, abandoned: Sequence[Abandoned]) -> None:
        """Continue the sessions that this node may continue, and close what is open in the others."""
        ours = [left.session_id for left in abandoned if self._may_continue(left.home)]
        for session_id in dict.fromkeys([*ours, *self._sessions.not_loaded]):
            await self._sessions.wake(session_id)
        to_close = [
            left.session_id for left in abandoned if left.is_open and not self._may_continue(left.home)
        ]
        to_close += self._closing.difference(to_close)  # those that could not be closed before
        for start in range(0, len(to_close), MAX_CLOSED_AT_ONCE):
            await self._close(to_close[start : start + MAX_CLOSED_AT_ONCE])

    def _may_continue(self, home: str) -> bool:
        return self._takes_any or home == self.name

    async def _close(self, session_ids: Sequence[str]) -> None:
        """Readers must not wait for the end of a turn that no longer runs; only its own node can begin another."""
        # Noted first: if the answer is lost, this node owns them anyway, and no other node takes care of them.
        self._closing.update(session_ids)
        claimed = await self._ask(lambda: self._store.claim(session_ids))
        self._closing.difference_update(set(session_ids) - claimed)  # another node has them
        outcomes = await asyncio.gather(
            *(self._sessions.close(session_id) for session_id in claimed), return_exceptions=True
        )
        closed = []
        for session_id, error in zip(claimed, outcomes, strict=True):
            if isinstance(error, Exception):
                logger.warning("session %s cannot be closed yet: %s", session_id, error)
            else:
                closed.append(session_id)
        # Until it is released, no command may reach it here: it would run where its files are not.
        await self._ask(lambda: self._store.release(closed))
        self._closing.difference_update(closed)

    # -- sessions -----------------------------------------------------------------------------

    async def reserve(self, session_id: str) -> None:
        if not await self._ask(lambda: self._store.reserve(session_id)):
            raise SessionAlreadyExists(f"session {session_id} already exists", sessionId=session_id)

    async def give_up(self, session_id: str) -> None:
        """This node does not run a session after all, or has not created it: any other may."""
        with contextlib.suppress(SandboxAgentError):
            await self._ask(lambda: self._store.release([session_id]))

    def require_usable(self, session_id: str) -> None:
        """Refuse a command at once that would have to wait for an outage, or come between a close and its release."""
        self._log.require_known()
        self._require_not_closing(session_id)

    def _require_not_closing(self, session_id: str) -> None:
        if session_id in self._closing:
            raise Unavailable("the session's node is gone", retryAfter=1, sessionId=session_id)

    async def own(self, session_id: str) -> None:
        """Make this node run the session. Raises `Elsewhere` if another one does, or why none can."""
        for _ in range(TRIES):
            owner = await self.owner(session_id)
            if owner.node is not None and owner.node.incarnation == self.incarnation:
                return
            await self._require_free(session_id, owner)
            moves = owner.home != self.name
            if session_id in await self._ask(lambda: self._store.claim([session_id], moves=moves)):  # noqa: B023
                return
        raise Unavailable("other nodes take over the session", retryAfter=1, sessionId=session_id)

    async def owner(self, session_id: str) -> Owner:
        self._require_not_closing(session_id)
        owner = await self._ask(lambda: self._store.owner(session_id))
        self._require_not_closing(session_id)
        if owner is None:
            raise SessionNotFound(f"no session {session_id}", sessionId=session_id)
        return owner

    async def _require_free(self, session_id: str, owner: Owner) -> None:
        self._log.require_writable()
        if owner.node is not None and not owner.node.is_fenced:
            raise Elsewhere(session_id, owner.node)
        if not self._may_continue(owner.home):
            raise self._gone(session_id, owner)
        if owner.home != self.name:
            await self._require_directory(session_id)

    def _gone(self, session_id: str, owner: Owner) -> Unavailable:
        return Unavailable(
            f"node {owner.home}, which has the session's files, is gone",
            retryAfter=max(1, round(self._lease)),
            sessionId=session_id,
            node=owner.home,
            lastSeenAt=owner.node and owner.node.seen_at,
        )

    async def _require_directory(self, session_id: str) -> None:
        record = await self._ask(lambda: self._store.session(session_id))
        directory = record.settings.directory if record else "/"
        if not os.path.isdir(directory):
            raise Conflict(
                f"node {self.name} has no directory {directory}", sessionId=session_id, directory=directory
            )

    # -- requests -------------------------------------------------------------------------------

    async def carry_out(self, daemon: Any, operation: RoutedOperation, request: Any) -> Any:
        """Carry out an operation on the node that it concerns."""
        for _ in range(TRIES):
            node = await self._node_for(operation, request)
            if node is not None:
                session_id = getattr(request, "session_id", None)
                if self._courier is None:
                    raise Unavailable("this node is starting", retryAfter=1, sessionId=session_id)
                return await self._courier.ask(node, operation, request, session_id)
            try:
                return await operation.here(daemon, request)
            except Elsewhere as problem:
                moved = problem  # another node has claimed it since: nothing was done here
        raise moved

    async def _node_for(self, operation: RoutedOperation, request: Any) -> Node | None:
        """The other node that is to carry it out; None for this one."""
        if operation.runs == "owner" and (session_id := request.session_id) is not None:
            return None if self._sessions.is_loaded(session_id) else await self._runs(session_id)
        if operation.runs == "node" and request.node not in (None, self.name):
            return await self._named(request.node)
        return None

    async def _runs(self, session_id: str) -> Node | None:
        """The node that runs a session, or would run it; None for this one."""
        owner = await self.owner(session_id)
        node = owner.node
        if node is None or node.is_fenced:
            if self._may_continue(owner.home):
                return None
            node = await self._live(owner.home)
            if node is None:
                raise self._gone(session_id, owner)
        return None if node.incarnation == self.incarnation else node

    async def _live(self, name: str) -> Node | None:
        nodes = await self._ask(self._store.nodes)
        return next((node for node in nodes if node.name == name and not node.is_fenced), None)

    async def _named(self, name: str) -> Node:
        node = await self._live(name)
        if node is None:
            raise Unavailable(f"no node is called {name}", retryAfter=1, node=name)
        return node

    # -- what clients see -----------------------------------------------------------------------

    async def nodes(self) -> list[NodeInfo]:
        return [
            NodeInfo(
                node.name,
                _state_of(node),
                node.version,
                node.started_at,
                node.seen_at,
                asked=node.incarnation == self.incarnation,
            )
            for node in await self._ask(self._store.nodes)
        ]

    async def fence(self, name: str) -> None:
        nodes = [node for node in await self._ask(self._store.nodes) if node.name == name]
        if not nodes:
            raise NotFound(f"no node is called {name}", node=name)
        for node in nodes:
            if node.incarnation == self.incarnation:
                raise Conflict("a node cannot fence itself: ask another one, or stop it", node=name)
            if not node.is_fenced:
                await self._ask(lambda: self._store.fence(node.incarnation, at_once=True))  # noqa: B023
                logger.warning("fenced node %s, as a client asked", name)

    def figures(self) -> dict[str, tuple[str, float]]:
        now = time.monotonic()
        return {
            "lease_age_seconds": (
                "Seconds since the node last renewed its lease.",
                now - self._log.written_at,
            ),
            "write_seconds": ("How long the last write to the database took.", self._log.write_seconds),
            "follower_lag_seconds": (
                "Seconds since the node last knew everything that others had written.",
                now - self.follower.looked_at,
            ),
            "log_horizon_age_seconds": (
                "How long a transaction that is open on the database server has delayed the stream of all sessions.",
                now - self._unseen[1] if self._unseen is not None else 0.0,
            ),
            "commands_waiting": (
                "Requests that wait for another node.",
                float(self._courier.waiting if self._courier else 0),
            ),
        }

    async def _ask(self, question: Callable[[], Found]) -> Found:
        try:
            return await self._log.ask(question)
        except Fenced:
            raise Unavailable("this node was fenced and joins the log again", retryAfter=1) from None


def _state_of(node: Node) -> NodeState:
    if node.is_fenced:
        return "fenced"
    return "live" if node.lease_left >= 0 else "silent"


def _now() -> float:
    """Counts the time that the machine was suspended, which is silence as well."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
