"""A session in memory: its machine, its end of the log, its link, its timers and its callers.

It carries out the machine's effects in order and does nothing else. Effects may cause inputs, which wait until the effects before
them are done.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from ..agents.base import Agent
from ..agents.scribe import Scribe
from ..errors import Internal, SandboxAgentError, Unavailable
from ..schema.features import Catalogue
from ..schema.inputs import Settings
from ..schema.mcp import McpState
from ..schema.skills import SessionSkills
from ..schema.tools import Tool
from ..session import effects, inputs
from ..session.effects import Effect
from ..session.inputs import OUTPUT_READY, Input, TimerKind
from ..session.machine import Machine
from ..session.phases import Gone
from ..store.base import Secrets
from .agent_link import AgentLink
from .callers import Callers
from .host import Host
from .log import RETRY_SECONDS, End, Log
from .lookups import look_up
from .timers import Timers

if TYPE_CHECKING:
    from .sessions import Sessions

logger = logging.getLogger("sandbox_agent.session")

LOOKUP_SECONDS = 5.0

_command_ids = itertools.count(1)


def next_command_id() -> int:
    return next(_command_ids)


class LiveSession:
    def __init__(
        self, sessions: Sessions, agent: Agent, machine: Machine, end: End, secrets: Secrets
    ) -> None:
        self.agent = agent
        self.machine = machine
        self.end = end
        self.secrets = secrets
        self._core = machine.core
        self._log: Log = sessions.log
        self.pins = 0
        """Callers about to send a command; the session must stay in memory."""
        self.sessions = sessions
        self._inputs: deque[Input] = deque()
        self._busy = False
        self.is_dropped = False
        """It accepts nothing more: its state is in the store."""
        self._link: AgentLink | None = None
        self._closing: asyncio.Task[None] | None = None
        self._held: Host | None = None
        self._callers: Callers = Callers()
        self._timers: Timers = Timers(self._time_out)
        self._turns_kept = machine.core.record.turns if sessions.carrier is not None else None
        """How many turns had begun when the agent's conversation was last given to the carrier; None if nothing is carried."""
        end.listener = self

    @property
    def id(self) -> str:
        return self.end.session_id

    @property
    def scribe(self) -> Scribe:
        return self._core.scribe

    @property
    def pinned_version(self) -> str | None:
        """The requested version of the agent."""
        return self._core.record.pinned_version

    @property
    def skills(self) -> SessionSkills | None:
        """Its skills, where they are now: the data directory may have been moved."""
        record = self._core.record
        if not record.skills:
            return None
        return SessionSkills(str(self.sessions.attachments.skills_folder(record.folder)), record.skills)

    @property
    def settings(self) -> Settings:
        """What the client has chosen; its agent may get stricter settings."""
        return self._core.record.settings

    @property
    def tools(self) -> tuple[Tool, ...]:
        return self._core.record.tools

    @property
    def uses_desktop(self) -> bool:
        return self._core.record.desktop

    @property
    def tool_timeout_ms(self) -> int | None:
        return self._core.record.tool_timeout_ms

    # -- what it is asked ---------------------------------------------------------------------

    async def create(self, command: inputs.Create) -> Any:
        """Start a new session, and wait until it exists or has failed."""
        try:
            with self._callers.waiting(command.id) as answer:
                for effect in self.machine.begin():
                    self._carry_out(effect)
                return await answer
        finally:
            self.rest_if_idle()

    async def ask(self, command: inputs.Command) -> Any:
        """Step the machine and wait for its answer."""
        if self.is_dropped:
            raise Unavailable("the session is being loaded again", retryAfter=1, sessionId=self.id)
        with self._callers.waiting(command.id) as answer:
            self.step(command)
            return await answer

    async def catalogue(self) -> Catalogue | None:
        """The commands that its process offers; None without a process."""
        return None if self._link is None else await self._link.catalogue()

    def mcp(self) -> Mapping[str, McpState]:
        """What its process has said about its MCP servers."""
        return {} if self._link is None else self._link.mcp()

    def refuse_callers(self, problem: SandboxAgentError) -> None:
        self._callers.refuse_all(problem)

    @property
    def is_settled(self) -> bool:
        """Everything the session has done so far is written."""
        return self._core.last == self._core.committed and not self.is_dropped

    async def settled(self) -> None:
        """Wait until everything the session has done so far is written, or cannot be for now."""
        if self._core.last > self._core.committed and not self.is_dropped:
            await self._callers.until_settled()

    # -- notifications from the log ------------------------------------------------------------

    def committed(self, number: int) -> None:
        self.step(inputs.Committed(number))
        if self._core.last == self._core.committed:
            self._callers.tell_settled()
        if self._turns_kept is not None:
            self._keep_conversation()

    def _keep_conversation(self) -> None:
        """Store the agent's own conversation after each turn, if the agent runs here."""
        carrier, link, view = self.sessions.carrier, self._link, self.end.view
        if carrier is None or link is None or view is None:
            return
        record = view.record
        if record.turn_id is not None or record.turns == self._turns_kept or record.native_id is None:
            return
        self._turns_kept = record.turns
        if (conversation := link.conversation_here(record.native_id)) is not None:
            carrier.keep(conversation, self.end.committed)

    def refused(self, number: int, problem: SandboxAgentError) -> None:
        self.step(inputs.Refused(number, problem))

    def stalled(self, problem: SandboxAgentError) -> None:
        self.step(inputs.Stalled(problem))
        self._callers.tell_settled()

    def lost(self, error: Exception) -> None:
        if isinstance(error, SandboxAgentError):  # another node has it
            self._drop(error, moved=True)
        else:
            self._drop(Internal(f"this cannot be written: {error}", sessionId=self.id))

    # -- steps --------------------------------------------------------------------------------

    def output_ready(self) -> None:
        """The agent produced output. Most of it is deltas, which need no decision."""
        if self.is_dropped:
            return
        pieces = None if self._busy else self._core.take_pieces()
        if pieces is None:
            self.step(OUTPUT_READY)
        elif pieces:
            try:
                self._log.append_pieces(self.end, pieces)
            except Exception as error:
                self._fail(error, "a delta")

    def step(self, input: Input) -> None:
        self._inputs.append(input)
        if self._busy:
            return
        self._busy = True
        try:
            while self._inputs and not self.is_dropped:
                self._step(self._inputs.popleft())
        finally:
            self._busy = False
        if not self.is_dropped:
            try:
                self.hold_or_release()
            except Exception as error:  # the caller is mostly the log, which must not see it
                self._fail(error, "an input")
            self.rest_if_idle()

    def _step(self, input: Input) -> None:
        if input is OUTPUT_READY and self._link is not None:
            self._link.note_turns(self._core.scribe)
        try:
            for effect in self.machine.step(input):
                self._carry_out(effect)
        except Exception as error:
            self._fail(error, type(input).__name__)

    def _fail(self, error: Exception, on: str) -> None:
        """An internal error. The stored state is correct; the state in memory may not be."""
        logger.exception("session %s failed on %s", self.id, on)
        self._drop(Internal(f"the daemon failed: {type(error).__name__}", sessionId=self.id))

    def hold_or_release(self) -> None:
        """Hold the agent's output while the machine waits."""
        if self.machine.holding:
            if self._held is None and self._link is not None:
                self._held = self._link.hold()
        elif self._held is not None:
            host, self._held = self._held, None
            host.release()

    def rest_if_idle(self) -> None:
        """Unload a session whose state is all in the store."""
        if not (self.pins or self._callers or self.is_dropped) and self.machine.at_rest:
            self.is_dropped = True
            self._timers.cancel_all()
            self.sessions.forget(self, gone=isinstance(self.machine.core.phase, Gone))

    def _drop(self, problem: SandboxAgentError, *, moved: bool = False) -> None:
        """Only the stored state can be trusted: end the session's process, and load it again unless another node has it."""
        if self.is_dropped:
            return
        self.is_dropped = True
        self._timers.cancel_all()
        self._callers.tell_settled()
        self._callers.refuse_all(problem)
        if self._held is not None:
            host, self._held = self._held, None
            asyncio.get_running_loop().call_soon(host.release)
        self.sessions.reload(self, moved=moved)

    async def suspend(self) -> None:
        """Stop the agent's process as the idle timeout would, and wait until it is gone. A busy agent keeps running."""
        self._time_out("idle", "")
        if self._closing is not None:
            await asyncio.wait([self._closing])

    async def close_link(self) -> None:
        if self._link is not None:
            await self._link.close()

    # -- effects ------------------------------------------------------------------------------

    def _carry_out(self, effect: Effect) -> None:
        CARRY_OUT[type(effect)](self, effect)

    def _instruct(self, effect: effects.Instruct) -> None:
        if self._link is not None and self._link.attempt == effect.attempt:
            self._link.instruct(effect.instruction)

    def _connect(self, effect: effects.Connect) -> None:
        self._link = AgentLink(self, effect)

    def _stop(self, effect: effects.Stop) -> None:
        if self._link is not None and self._link.attempt == effect.attempt:
            self._closing = self.spawn(self._link.close())

    def _remove_files(self, effect: effects.RemoveFiles) -> None:
        self.spawn(self.sessions.attachments.remove(effect.folder))

    def _time_out(self, kind: TimerKind, tag: str) -> None:
        if kind == "idle" and self._link is not None and self._link.can_resume:
            tag = "resumable"
        self.step(inputs.Timer(kind, tag))

    def _look_up(self, effect: effects.Question) -> None:
        self.spawn(self._find(effect))

    async def _find(self, effect: effects.Question) -> None:
        waited = 0.0
        while not self.is_dropped:
            try:
                self.step(await self._log.look_up(lambda: look_up(self._log.store, self.id, effect)))
                return
            except Unavailable as problem:
                # The turn that runs needs no lookup, so the session is kept, but no one waits for long.
                if waited >= LOOKUP_SECONDS:
                    self._callers.refuse_all(_uncertain(problem))
                    waited = 0.0
            except Exception as error:
                logger.exception("a lookup for session %s failed", self.id)
                self._drop(Internal(f"the store could not be read: {error}", sessionId=self.id))
                return
            await asyncio.sleep(RETRY_SECONDS)
            waited += RETRY_SECONDS

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return self.sessions.spawn(work)


def _uncertain(problem: Unavailable) -> Unavailable:
    return Unavailable(problem.detail, **{**problem.facts, "outcome": "unknown"})


CARRY_OUT: dict[type[Any], Callable[[LiveSession, Any], None]] = {
    effects.Append: lambda live, effect: live._log.append(live.end, effect),
    effects.Answer: lambda live, effect: live._callers.answer(effect),
    effects.Instruct: LiveSession._instruct,
    effects.Connect: LiveSession._connect,
    effects.Stop: LiveSession._stop,
    effects.Arm: lambda live, effect: live._timers.arm(effect),
    effects.Disarm: lambda live, effect: live._timers.disarm(effect),
    effects.LookUpKey: LiveSession._look_up,
    effects.LookUpAsked: LiveSession._look_up,
    effects.Load: LiveSession._look_up,
    effects.RemoveFiles: LiveSession._remove_files,
}
