"""A running agent: its process, its wire, and the sessions that talk over it.

An agent with a process per session has a host with one tenant; a shared server has many. A session uses both the same way:
`open`, send through the wire, `flush`, `leave`. While a tenant holds the host, the agent's output waits here, undecoded.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from ..agents.base import Agent, Closed, Conversation, Ending, Launch, Listed, ListFailed, Notice, Start, Wait
from ..agents.frames import InFrame, OutFrame, encode_frame
from ..agents.scribe import Frame, Scribe
from ..errors import AgentProcessExited, StreamError, Timeout
from ..private_files import write_private
from ..schema.features import Catalogue
from ..schema.world import World
from .delegate import DelegatingProcess
from .framing import LineTooLong
from .http_link import HttpLink
from .log import BACKLOG_BYTES, Log
from .process import AgentProcess, Exit
from .traces import HostTraces

logger = logging.getLogger("sandbox_agent.host")

CLOSE_SECONDS = 1.5
EXIT_SECONDS = 1.0
MAX_HELD_BYTES = 1 << 20
"""Output held here at most; beyond it, the host stops reading from the agent."""


Tap = Callable[[Literal["in", "out", "cmd", "exit"], bytes], None]
"""Receives every frame, and the start and end of processes. Used to make recordings."""


class Tenant(Protocol):
    """A session at a host, as the host sees it."""

    def output_ready(self) -> None:
        """The scribe has written output of the agent."""

    def notice(self, notice: Notice) -> None: ...

    def dying(self) -> None:
        """The process is gone; its last output may still be held here."""

    def exited(self, exit: Exit) -> None:
        """The process is gone, and all of its output was processed."""

    def broken(self, message: str) -> None:
        """An internal error while processing the agent's output."""


class Host:
    def __init__(
        self,
        agent: Agent,
        launch: Launch,
        log: Log,
        world: World,
        instance: str,
        on_exit: Callable[[Host, Exit], None],
        tap: Tap | None = None,
    ) -> None:
        self.agent = agent
        self.wire = agent.wire(world)
        self.started_at = time.monotonic()
        self.exit_reported = asyncio.Event()
        """Set when every session knows that the process is gone."""
        self._tap = tap
        self._launch = launch
        self._log = log
        self._on_exit = on_exit
        self._tenants: dict[Conversation, Tenant] = {}
        self._by_scribe: dict[Scribe, Tenant] = {}
        self._leaving: dict[Conversation, asyncio.Future[None]] = {}
        self._listings: dict[asyncio.Future[Catalogue], str] = {}
        """Requests for a catalogue, with their directories."""
        self._expected = 0
        """Sessions that got this host and have not opened their conversation yet."""
        self._holds = 1
        """The first hold is the host's own: output waits until there is a tenant."""
        self._begun = False
        self._held: list[InFrame | LineTooLong] = []
        self._held_bytes = 0
        self._traces = HostTraces(agent)
        self._waits: dict[Conversation, asyncio.TimerHandle] = {}
        self._waited: list[Conversation] = []
        """Conversations whose delay ended while the host was held."""
        self._exit: Exit | None = None
        self._pauses = 0
        self._ending = False
        self.process = self._make_process(instance)

    def _make_process(self, instance: str) -> AgentProcess:
        if self._launch.server is not None:
            return HttpLink(self._launch.server, instance, self._handle, self._exited)
        kind = DelegatingProcess if self._launch.delegate else AgentProcess
        return kind(instance, self._handle, self._exited)

    async def start(self, env: dict[str, str], directory: str) -> None:
        launch = self._launch
        for path, content in launch.files.items():
            write_private(Path(path), content)
        if self._tap:
            self._tap("cmd", msgspec.json.encode(launch.argv))
        environ = {**env, **launch.env}
        self._traces.start(directory, environ)
        await self.process.start(launch.argv, environ, directory)
        self.wire.connected()
        self.flush()

    # -- tenants ------------------------------------------------------------------------------

    def expect(self) -> None:
        """A session is about to join, so the host must not end."""
        self._expected += 1

    def expect_no_more(self) -> None:
        self._expected -= 1

    def begin(self) -> None:
        """Start processing the agent's output."""
        if not self._begun:
            self._begun = True
            self.release()

    def open(self, start: Start, tenant: Tenant) -> Conversation:
        self._require_alive()
        traces = self._traces.before(start.settings.directory)
        conversation = self.wire.open(start)
        self._traces.keep(conversation, traces)
        self._tenants[conversation] = tenant
        self._by_scribe[conversation.scribe] = tenant
        return conversation

    async def leave(self, conversation: Conversation) -> None:
        """The session leaves. On a shared server its turn, commands and sub-agents end; the server stays."""
        if self._tenants.pop(conversation, None) is None:
            return
        try:
            await self._close(conversation)
        finally:
            self._traces.forget(conversation)

    async def _close(self, conversation: Conversation) -> None:
        del self._by_scribe[conversation.scribe]
        conversation.scribe.frame = Frame()  # this wire ignores its output from now on
        if self.process.ended.is_set():
            return
        closed = self._leaving[conversation] = asyncio.get_running_loop().create_future()
        try:
            self.wire.close(conversation)
            self.flush()
            if self.wire.confirms_close and not self.empty:
                await asyncio.wait([closed], timeout=CLOSE_SECONDS)
        except Exception:
            # It has left anyway, and its process may have to end.
            logger.exception("%s could not be notified that a session has left", self.agent.name)
        finally:
            self._leaving.pop(conversation, None)

    def interrupt(self) -> None:
        """Interrupt an agent that has no interrupt message, by signal. The process ends with the turn."""
        self._ending = True
        self.process.interrupt()

    async def end(self) -> None:
        """End the process and all its descendants. An agent that exits by itself may clean up first."""
        if self._ending:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.process.ended.wait(), EXIT_SECONDS)
        await self.process.stop()

    @property
    def empty(self) -> bool:
        """No session uses it. Whoever asks for its catalogue is a session too, or is expected."""
        return not (self._tenants or self._expected)

    async def catalogue(self, directory: str, seconds: float) -> Catalogue:
        """Models, modes and commands, asked over the wire."""
        self._require_alive()
        answer: asyncio.Future[Catalogue] = asyncio.get_running_loop().create_future()
        self._listings[answer] = directory
        traces = self._traces.before(directory)
        try:
            self.wire.list_catalogue(directory)
            self.begin()
            self.flush()
            return await asyncio.wait_for(answer, seconds)
        except TimeoutError:
            raise Timeout(f"{self.agent.title} did not list its models in {seconds:g} s") from None
        finally:
            traces.remove()
            self._listings.pop(answer, None)

    def _require_alive(self) -> None:
        """A session that joins after the exit was reported would never learn of it."""
        if self.exit_reported.is_set():
            raise AgentProcessExited("the agent's process has just exited", agent=self.agent.name)

    # -- what the process says ----------------------------------------------------------------

    def hold(self) -> None:
        """A tenant cannot take output now, so the whole host waits."""
        self._holds += 1

    def release(self) -> None:
        self._holds -= 1
        if self._holds:
            return
        if self._held:
            frames, self._held, size, self._held_bytes = self._held, [], self._held_bytes, 0
            if size > MAX_HELD_BYTES:
                self._resume()
            self._feed(frames)
        waited, self._waited = self._waited, []
        for conversation in waited:
            self._end_wait(conversation)
        if self._exit is not None and not self._holds and not self._held:
            self._tell_exit()

    def _handle(self, frames: Sequence[InFrame | LineTooLong]) -> None:
        if self._tap:
            _record(self._tap, "out", [frame for frame in frames if not isinstance(frame, LineTooLong)])
        if self._holds:
            self._keep(frames)
            return
        self._feed(frames)

    def _keep(self, frames: Sequence[InFrame | LineTooLong]) -> None:
        before = self._held_bytes
        self._held += frames
        self._held_bytes += sum(len(frame) if isinstance(frame, bytes) else 1_000 for frame in frames)
        if before <= MAX_HELD_BYTES < self._held_bytes:
            self._pause()

    def _feed(self, frames: Sequence[InFrame | LineTooLong]) -> None:
        receive, rest = self.wire.receive, iter(frames)
        frame: InFrame | LineTooLong
        for frame in rest:
            try:
                if type(frame) is LineTooLong:
                    for conversation in self._tenants:
                        conversation.scribe.unparsed(str(frame), "framing")
                else:
                    receive(frame)  # type: ignore[arg-type]  # told apart by the line above
            except Exception as error:
                logger.exception("output of %s could not be processed", self.agent.name)
                if not self._break(frame, error):
                    break
        self.flush()
        if self._log.backlog > BACKLOG_BYTES:
            self._pause()
            self._log.when_drained(self._resume)

    def _break(self, frame: InFrame | LineTooLong, error: Exception) -> bool:
        """An internal error ends the turn of the session whose frame it was, and its place here. Returns whether other tenants are left."""
        message = f"the daemon could not process the output of the agent: {type(error).__name__}: {error}"
        tenants = tuple(self._tenants.values())
        blamed = self._owner(frame)
        for tenant in tenants if blamed is None else (blamed,):
            tenant.broken(message)
        return blamed is not None and len(tenants) > 1

    def _owner(self, frame: InFrame | LineTooLong) -> Tenant | None:
        """The tenant whose frame this is, if the wire can tell."""
        conversation = None
        if not isinstance(frame, LineTooLong):
            with contextlib.suppress(Exception):
                conversation = self.wire.conversation_of(frame)
        return None if conversation is None else self._tenants.get(conversation)

    def flush(self) -> None:
        """Deliver what the wire produced: to the agent, the runtime and the sessions."""
        wire = self.wire
        while wire.outbox or wire.notices or wire.frame.touched:
            if wire.outbox:
                frames, wire.outbox = wire.outbox, []
                if self._tap:
                    _record(self._tap, "in", frames)
                self.process.write(frames)
            if wire.notices:
                notices, wire.notices = wire.notices, []
                for notice in notices:
                    self._note(notice)
            if wire.frame.touched:
                touched, wire.frame.touched = wire.frame.touched, []
                for scribe in touched:
                    tenant = self._by_scribe.get(scribe)
                    if tenant is not None:
                        tenant.output_ready()

    def _pause(self) -> None:
        self._pauses += 1
        if self._pauses == 1:
            self.process.pause()

    def _resume(self) -> None:
        self._pauses -= 1
        if not self._pauses:
            self.process.resume()

    def _note(self, notice: Notice) -> None:
        match notice:
            case Listed(catalogue, directory):
                for answer in self._take_listings(directory):
                    answer.set_result(catalogue)
            case ListFailed(message, directory):
                self._fail_listings(StreamError(message, agent=self.agent.name), directory)
            case Closed(conversation):
                self._left(conversation)
            case Wait(conversation, seconds):
                if before := self._waits.pop(conversation, None):
                    before.cancel()
                loop = asyncio.get_running_loop()
                self._waits[conversation] = loop.call_later(seconds, self._end_wait, conversation)
            case _:
                self._ending = self._ending or isinstance(notice, Ending)
                self._traces.remove(notice.conversation)
                if tenant := self._tenants.get(notice.conversation):
                    tenant.notice(notice)

    def _end_wait(self, conversation: Conversation) -> None:
        """Release what the wire holds back, if a tenant is left to receive it."""
        self._waits.pop(conversation, None)
        if self._holds:
            self._waited.append(conversation)
        elif tenant := self._tenants.get(conversation):
            try:
                self.wire.waited(conversation)
            except Exception as error:
                logger.exception("the last output of %s could not be processed", self.agent.name)
                tenant.broken(
                    f"the daemon could not process the output of the agent: {type(error).__name__}: {error}"
                )
            self.flush()

    def _left(self, conversation: Conversation) -> None:
        if closed := self._leaving.pop(conversation, None):
            closed.set_result(None)

    def _take_listings(self, directory: str | None) -> list[asyncio.Future[Catalogue]]:
        """The requests for the catalogue of a directory; None stands for all."""
        taken = [answer for answer, asked in self._listings.items() if directory in (None, asked)]
        for answer in taken:
            del self._listings[answer]
        return [answer for answer in taken if not answer.done()]

    def _fail_listings(self, error: Exception, directory: str | None = None) -> None:
        for answer in self._take_listings(directory):
            answer.set_exception(error)

    # -- its end ------------------------------------------------------------------------------

    def _exited(self, exit: Exit) -> None:
        self._exit = exit
        if self._tap:
            self._tap("exit", msgspec.json.encode({"returncode": self.process.returncode}))
        for tenant in tuple(self._tenants.values()):
            tenant.dying()
        if not self._holds and not self._held:
            self._tell_exit()

    def _tell_exit(self) -> None:
        exit, self._exit = self._exit, None
        assert exit is not None
        self._fail_listings(
            AgentProcessExited(exit.describe(), agent=self.agent.name, exitCode=exit.code, stderr=exit.stderr)
        )
        for conversation in tuple(self._leaving):
            self._left(conversation)
        tenants, self._tenants, self._by_scribe = self._tenants, {}, {}
        for conversation, tenant in tenants.items():
            self._traces.forget(conversation)
            conversation.scribe.frame = Frame()
            tenant.exited(exit)
        self._on_exit(self, exit)
        self.exit_reported.set()


def _record(tap: Tap, direction: Literal["in", "out"], frames: Sequence[InFrame | OutFrame]) -> None:
    for frame in frames:
        tap(direction, encode_frame(frame))
