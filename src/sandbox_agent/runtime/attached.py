"""The agent behind a session: start it, resume it, notice its end, let it go."""

from __future__ import annotations

import asyncio
import contextlib
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ..agents.base import Agent, Conversation, Ending, Notice, Ready, Start, StartFailed
from ..agents.failures import Failure
from ..agents.scribe import Turn
from ..errors import AgentProcessExited, Conflict, SandboxAgentError, Timeout
from ..schema.inputs import Decision, Settings
from ..schema.world import REAL
from ..store.base import Secrets, SessionRecord
from .host import Host, Seat
from .process import Exit
from .programs import Program
from .recorded import Recorded

if TYPE_CHECKING:
    from .daemon import Daemon

EXIT_SECONDS = 2.0


class ConversationGone(SandboxAgentError):
    """The agent does not know the conversation that we asked it to resume."""

    type, status, title = "conflict", 409, "Conversation gone"


class Attached(Recorded):
    def __init__(self, daemon: Daemon, agent: Agent, record: SessionRecord, secrets: Secrets) -> None:
        super().__init__(daemon, agent, record)
        self.host: Host | None = None
        self._secrets = secrets
        self._conversation: Conversation | None = None
        self._opening: asyncio.Future[None] | None = None
        # The agent said that the start fails; its exit adds facts, not a second failure.
        self._failing = False
        self._attach_lock = asyncio.Lock()
        self._releases: set[asyncio.Task[None]] = set()
        """Processes that we have let go and that have not ended yet."""
        self._given_up = False
        """Nothing may be started for this session any more, whatever waits."""
        self._restart_when_idle = False
        self._unheard: Turn | None = None
        """A turn whose prompt is still on its way to an agent: a process that ends now is no crash of it."""

    async def attach(self, *, fresh: bool = False) -> None:
        """Have a process that knows this conversation: the one that runs, or a new one that resumes it."""
        async with self._attach_lock:
            if self.host is not None and self.host.process.is_ending:
                await self._see_it_end(self.host)
            if self.host is not None:
                return
            await self._released()
            try:
                await self._open(resume=self.record.prompted)
            except ConversationGone as error:
                if self.record.native_stored and not fresh:
                    raise Conflict(
                        f"the agent's own conversation is gone ({error.detail}); send the message with `fresh: true` "
                        "to start a new one in this session",
                        sessionId=self.id,
                    ) from None
                await self._open_anew()
            except AgentProcessExited:
                # It does not say that the conversation is gone, and cannot go on with it either.
                if not fresh or not self.record.prompted:
                    raise
                await self._open_anew()
            self._arm_idle_timer()

    async def _open_anew(self) -> None:
        lost = self.record.native_id
        self.record.native_id = self.scribe.native_session_id = None
        self.record.native_stored = self.record.prompted = False
        self.scribe.status(
            "resume_lost",
            {"native_session_id": lost},
            "the agent had not stored this conversation; it starts anew",
            source="daemon",
        )
        await self._open(resume=False)

    async def _open(self, *, resume: bool) -> None:
        if self.record.native_id is None:
            self.record.native_id = self.agent.choose_native_id(REAL)
        program = await self._program()
        self.record.agent_version = program.version
        self._require_wanted()
        host = await self._daemon.hosts.get(self._seat(program, resume))
        self.host = host
        self._conversation = None
        try:
            self._require_wanted()
        except Conflict:
            await self._detach()
            raise
        self._opening = asyncio.get_running_loop().create_future()
        self._failing = False
        metadata = self.agent.metadata(program.version, self.record.settings)
        start = Start(self.scribe, self._settings(), metadata, self.record.native_id, resume)
        try:
            self._conversation = host.open(start, self)
            host.flush()
            await asyncio.wait_for(self._opening, self._daemon.config.start_seconds)
        except TimeoutError:
            await self._detach()
            seconds = self._daemon.config.start_seconds
            raise Timeout(
                f"{self.agent.title} did not answer in {seconds:g} s", agent=self.agent.name
            ) from None
        except BaseException:
            await self._detach()
            raise
        finally:
            self._opening = None

    def _require_wanted(self) -> None:
        """Looked at around everything that takes time at a start: nobody would end a process that comes too late."""
        if self.record.ended or self._given_up:
            raise Conflict("the session has ended", sessionId=self.id)

    async def _program(self) -> Program:
        """The agent's program, in the version that was asked for."""
        return await self._daemon.provide(self.agent, self.record.pinned_version)

    def _seat(self, program: Program, resume: bool) -> Seat:
        return Seat(self.agent, program, self._settings(), self._secrets.env, self.record.native_id, resume)

    def _settings(self) -> Settings:
        return msgspec.structs.replace(self.record.settings, mcp=self._secrets.mcp)

    async def _see_it_end(self, host: Host) -> None:
        """It died just now, and its descendants are being ended: what we would send it, nobody would read."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(host.exit_told.wait(), EXIT_SECONDS)
        if self.host is host:
            await self._detach()

    async def _detach(self) -> None:
        """Let the process go, or our place on it. What it left open is closed, and nothing of it runs when this returns."""
        host, conversation, opening = self.host, self._conversation, self._opening
        self.host = self._conversation = None
        self._restart_when_idle = False
        self._stop_idle_timer()
        if opening is not None and not opening.done():
            opening.set_exception(Conflict("the agent was let go while it started", sessionId=self.id))
        if conversation is not None:
            self.scribe.close_background()
            self.flush()
        if host is not None:
            release = self._daemon.spawn(self._daemon.hosts.release(host, conversation))
            self._releases.add(release)
            release.add_done_callback(self._releases.discard)
        await self._released()

    async def _released(self) -> None:
        if self._releases:
            await asyncio.wait(set(self._releases))

    def _tell(self, say: Callable[[Host, Conversation], None]) -> None:
        """Say something to the agent, if it is there."""
        if self.host is not None and self._conversation is not None:
            say(self.host, self._conversation)
            self.host.flush()

    def _send_replies(self, replies: list[tuple[str, Decision]]) -> None:
        for key, decision in replies:
            self._tell(lambda host, conversation: host.wire.decide(conversation, key, decision))  # noqa: B023

    def notice(self, notice: Notice) -> None:
        opening = self._opening
        match notice:
            case Ready() if opening is not None and not opening.done():
                opening.set_result(None)
            case StartFailed(_, message, gone) if opening is not None and not opening.done():
                self._failing = True
                self._daemon.spawn(self._fail_opening(opening, message, gone))
            case Ending(_, unread):
                self._restart_when_idle = True
                if unread is not None:
                    self._prompt_unread(unread)

    async def _fail_opening(self, opening: asyncio.Future[None], message: str, gone: bool) -> None:
        """A process of our own is about to exit: its exit code and stderr belong to the failure."""
        facts: dict[str, Any] = {"agent": self.agent.name}
        if self.host is not None and not self.agent.capabilities.shared_process:
            process = self.host.process
            process.close_input()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.ended.wait(), EXIT_SECONDS)
            facts |= {"stderr": process.stderr(), "exitCode": process.exit_code}
        if not opening.done():
            kind = ConversationGone if gone else AgentProcessExited
            opening.set_exception(kind(message, **facts))

    def process_exited(self, exit: Exit) -> None:
        """The process is gone by itself (or was shared and is gone): a crash of the turn, nothing between turns."""
        conversation, opening = self._conversation, self._opening
        self.host = self._conversation = None
        self._restart_when_idle = False
        self._stop_idle_timer()
        if opening is not None and not opening.done() and not self._failing:
            gone = conversation is not None and conversation.resumed and self.agent.is_gone(exit.stderr_text)
            kind = ConversationGone if gone else AgentProcessExited
            opening.set_exception(
                kind(exit.describe(), agent=self.agent.name, exitCode=exit.code, stderr=exit.stderr)
            )
        if conversation is not None and conversation.cancelling:
            self.scribe.end_turn("interrupted", source="daemon")
        if self._unheard is not None and self.scribe.turn is self._unheard:
            self.scribe.close_background()
        else:
            self.scribe.crash(exit.code, exit.signal, exit.stderr)
        self.flush()

    @abstractmethod
    def _prompt_unread(self, failure: Failure) -> None:
        """The process ends for a reason older than the running turn, and never read its prompt."""

    @abstractmethod
    def _arm_idle_timer(self) -> None:
        """From now on the process has nothing to do."""

    @abstractmethod
    def _stop_idle_timer(self) -> None:
        """The process is gone or busy: nothing will give it back."""
