"""One attempt of a session to reach an agent: start or join a process, send to it, notice its end, release it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import stat
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from ..agents.base import Conversation, Ending, Notice, Place, Ready, Start, StartFailed
from ..agents.scribe import Scribe
from ..errors import AgentProcessExited, Conflict, Internal, SandboxAgentError, Timeout, Unavailable
from ..schema.desktop import DESKTOP_SERVER
from ..schema.events import TurnStarted
from ..schema.features import Catalogue
from ..schema.inputs import McpServer, Settings
from ..schema.mcp import McpState
from ..schema.tools import CLIENT_SERVER
from ..session import inputs
from ..session.effects import (
    Connect,
    GiveAnswer,
    GiveDecision,
    GivePrompt,
    GiveToolResult,
    Instruction,
    Interrupt,
    Switch,
)
from .carried import CarriedConversation
from .host import Host
from .hosts import HostRequest
from .mcp import granted, is_own_server, servers_for
from .process import Exit
from .programs import Program
from .session_door import SessionDoor

if TYPE_CHECKING:
    from .client_tools import ClientTools
    from .desktop_tools import DesktopSocket
    from .live import LiveSession

logger = logging.getLogger("sandbox_agent.link")

EXIT_SECONDS = 2.0
MAX_FILE_BYTES = 48 << 20
"""Total size of the files in one message; encoded in base64 they make a line of 64 MiB."""


class StartFailure(Exception):
    """The conversation could not be opened."""

    def __init__(self, problem: SandboxAgentError, *, exited: bool = False, gone: bool = False) -> None:
        self.problem = problem
        self.exited = exited
        self.gone = gone


class AgentLink:
    def __init__(self, live: LiveSession, effect: Connect) -> None:
        self.attempt = effect.attempt
        self._live = live
        self._effect = effect
        self._host: Host | None = None
        self._conversation: Conversation | None = None
        self._opened: asyncio.Future[None] | None = None
        self._tools: ClientTools | None = None
        self._desktop: DesktopSocket | None = None
        self._door: SessionDoor | None = None
        self._our_servers: dict[str, McpServer] = {}
        self._place: Place | None = None
        self._failing = False
        """The agent reported that the start fails; its exit adds details, not a second failure."""
        self._unwanted = False
        self._closing: asyncio.Task[None] | None = None
        self._is_open = False
        self._early: list[inputs.Input] = []
        """Inputs that arrived after the agent was ready and before the session knew it."""
        self._instructions: deque[Instruction] = deque()
        self._reading = False
        self.output_ready = live.output_ready
        self._task = live.spawn(self._open())

    @property
    def can_resume(self) -> bool:
        return self._conversation is None or self._conversation.can_resume

    async def catalogue(self) -> Catalogue | None:
        """The commands that the process offers; None while no process can be asked."""
        host = self._host
        if host is None or not self._is_open or host.process.is_ending:
            return None
        seconds = self._live.sessions.config.start_seconds
        return await host.catalogue(self._effect.settings.directory, seconds)

    # -- opening ------------------------------------------------------------------------------

    async def _open(self) -> None:
        live, attempt = self._live, self.attempt
        try:
            program = await live.sessions.provide(live.agent, live.pinned_version)
            await self._open_with(program)
        except StartFailure as failure:
            await self._release()
            live.step(inputs.OpenFailed(attempt, failure.problem, failure.exited, failure.gone))
        except SandboxAgentError as problem:
            await self._release()
            exited = isinstance(problem, AgentProcessExited)
            live.step(inputs.OpenFailed(attempt, problem, exited))
        except asyncio.CancelledError:
            await self._release()
        except Exception as error:
            logger.exception("the agent of session %s could not be opened", live.id)
            await self._release()
            live.step(inputs.OpenFailed(attempt, Internal(f"the agent could not be opened: {error}")))
        else:
            self._is_open = True
            live.step(inputs.Ready(attempt, program.version, self._by_signal))
            for input in self._early:
                live.step(input)

    async def _open_with(self, program: Program) -> None:
        live, effect = self._live, self._effect
        agent = live.agent
        if live.tools:
            await self._offer_tools()
        if live.uses_desktop:
            await self._offer_desktop()
        await self._open_door()
        settings = self._settings(effect.settings)
        request = HostRequest(agent, program, settings, live.secrets.env, effect.native_id, effect.resume)
        self._place = live.sessions.hosts.place_of(request)
        if effect.resume and effect.native_id is not None:
            await self._bring_conversation(effect.native_id)
        # A start cannot be interrupted: a process that is no longer wanted is released once it has started.
        starting = asyncio.ensure_future(live.sessions.hosts.get(request))
        try:
            self._host = host = await asyncio.shield(starting)
        except asyncio.CancelledError:
            with contextlib.suppress(SandboxAgentError):
                self._host = await starting
            raise
        if not live.is_dropped:
            live.hold_or_release()  # it may be waiting for the disk already
        self._by_signal = host.wire.interrupts_by_signal
        self._opened = asyncio.get_running_loop().create_future()
        metadata = agent.metadata(program.version, live.settings)
        start = Start(live.scribe, settings, metadata, effect.native_id, effect.resume)
        self._conversation = host.open(start, self)
        host.begin()
        host.flush()
        try:
            await asyncio.wait_for(self._opened, live.sessions.config.start_seconds)
        except TimeoutError:
            text = f"{agent.title} did not answer in {live.sessions.config.start_seconds:g} s"
            raise Timeout(text, agent=agent.name) from None

    async def _bring_conversation(self, native_id: str) -> None:
        """Another machine may have had the agent's conversation until now."""
        carrier, conversation = self._live.sessions.carrier, self.conversation_here(native_id)
        if carrier is None or conversation is None:
            return
        try:
            await carrier.bring(conversation, even_if_older=self._effect.carried)
        except Conflict as problem:
            raise StartFailure(problem, exited=True, gone=True) from None
        except OSError as error:
            raise Unavailable(f"the agent's conversation cannot be restored: {error}") from error

    def conversation_here(self, native_id: str) -> CarriedConversation | None:
        """Where this machine has, or would have, the agent's conversation."""
        place, live = self._place, self._live
        kept = None if place is None else live.agent.conversation(place, native_id)
        if place is None or kept is None:
            return None
        return CarriedConversation(live.id, native_id, kept, place.environ, live.settings.directory)

    def _settings(self, settings: Settings) -> Settings:
        """The settings with what no client may read, and with what is on disk."""
        return msgspec.structs.replace(settings, mcp=self._mcp_servers(settings), skills=self._live.skills)

    def _mcp_servers(self, settings: Settings) -> dict[str, McpServer]:
        """The session's servers, and ours."""
        live, secrets = self._live, self._live.secrets
        environ = {**granted(live.sessions.config.mcp_env, os.environ), **secrets.env}
        return {**servers_for(live.agent, secrets.mcp, settings.directory, environ), **self._our_servers}

    async def _offer_tools(self) -> None:
        """Let the agent call the client's tools, through an MCP server of ours."""
        from .client_tools import ClientTools

        live = self._live
        self._tools = tools = ClientTools(live.tools, live.tool_timeout_ms, self.attempt, self._tell)
        self._our_servers[CLIENT_SERVER] = await tools.open(live.sessions.hosts.instance)

    async def _offer_desktop(self) -> None:
        from ..desktop.tools import DesktopTools
        from .desktop_tools import DesktopSocket

        sessions = self._live.sessions
        self._desktop = desktop = DesktopSocket(DesktopTools(sessions.desktop()))
        self._our_servers[DESKTOP_SERVER] = await desktop.open(sessions.hosts.instance)

    async def _open_door(self) -> None:
        """Let the agent start other sessions, if its client configured that."""
        sessions, servers = self._live.sessions, self._live.secrets.mcp
        names = [
            name for name, server in servers.items() if server.enabled is not False and is_own_server(server)
        ]
        if names and sessions.welcome is not None:
            self._door = SessionDoor(self._live.id, sessions.welcome, sessions.spawn)
            ours = await self._door.open(sessions.hosts.instance)
            self._our_servers.update(dict.fromkeys(names, ours))

    def mcp(self) -> Mapping[str, McpState]:
        """What the agent has said about its MCP servers."""
        return {} if self._conversation is None else self._conversation.mcp

    async def _release(self) -> None:
        host, self._host = self._host, None
        conversation, self._conversation = self._conversation, None
        self._close_sockets()
        await asyncio.gather(self._leave_desktop(), self._release_host(host, conversation))

    async def _leave_desktop(self) -> None:
        if self._desktop is not None:
            try:
                await self._desktop.end()
            except Exception:
                # The session has left in any case.
                logger.exception("session %s could not leave the desktop", self._live.id)

    async def _release_host(self, host: Host | None, conversation: Conversation | None) -> None:
        if host is None:
            return
        try:
            await self._live.sessions.hosts.release(host, conversation)
        except TimeoutError:
            # The session's patience timer answers its callers. This wait ends when the process does, however late.
            logger.error("the agent of session %s does not exit", self._live.id)
            await host.process.ended.wait()

    def _close_sockets(self) -> None:
        if self._tools is not None:
            self._tools.close()
        if self._desktop is not None:
            self._desktop.close()
        if self._door is not None:
            self._door.close()

    async def close(self) -> None:
        """Release the process, or this session's place on a shared one. None of it runs when this returns."""
        self._unwanted = True
        if self._closing is None:
            self._closing = self._live.spawn(self._close())
        await asyncio.wait([self._closing])

    async def _close(self) -> None:
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._release()
        self._live.step(inputs.Closed(self.attempt))

    # -- notifications from the host ------------------------------------------------------------

    def note_turns(self, scribe: Scribe) -> None:
        """A turn that the agent has just begun is not the one that was cancelled."""
        conversation = self._conversation
        if conversation is not None and conversation.cancelling:
            conversation.cancelling = not any(isinstance(data, TurnStarted) for _, data in scribe.notable)

    def notice(self, notice: Notice) -> None:
        opened = self._opened
        match notice:
            case Ready() if opened is not None and not opened.done():
                opened.set_result(None)
            case StartFailed(_, message, gone) if opened is not None and not opened.done():
                self._failing = True
                self._live.spawn(self._fail_opening(opened, message, gone))
            case Ending(_, unread):
                self._tell(inputs.Leaving(self.attempt, unread))

    async def _fail_opening(self, opened: asyncio.Future[None], message: str, gone: bool) -> None:
        """An unshared process is about to exit; its exit code and stderr belong to the failure."""
        agent = self._live.agent
        problem = AgentProcessExited(message, agent=agent.name)
        if self._host is not None and not agent.capabilities.shared_process:
            process = self._host.process
            process.close_input()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.ended.wait(), EXIT_SECONDS)
            facts = {"stderr": process.stderr(), "exitCode": process.exit_code}
            problem = AgentProcessExited(message, agent=agent.name, **facts)
        if not opened.done():
            opened.set_exception(StartFailure(problem, exited=True, gone=gone))

    def dying(self) -> None:
        self._tell(inputs.Dying(self.attempt))

    def exited(self, exit: Exit) -> None:
        host, self._host, conversation = self._host, None, self._conversation
        self._conversation = None
        self._close_sockets()
        if self._desktop is not None:
            self._live.spawn(self._leave_desktop())
        if host is not None:
            host.expect_no_more()
        opened = self._opened
        if opened is not None and not opened.done():
            if not self._failing:
                opened.set_exception(self._exit_failure(exit, conversation))
            return
        self._tell(inputs.Exited(self.attempt, exit.code, exit.signal, exit.stderr, exit.describe()))

    def _exit_failure(self, exit: Exit, conversation: Conversation | None) -> StartFailure:
        agent = self._live.agent
        gone = conversation is not None and conversation.resumed and agent.is_gone(exit.stderr_text)
        problem = AgentProcessExited(
            exit.describe(), agent=agent.name, exitCode=exit.code, stderr=exit.stderr
        )
        return StartFailure(problem, exited=True, gone=gone)

    def broken(self, message: str) -> None:
        opened = self._opened
        if opened is not None and not opened.done():
            opened.set_exception(StartFailure(Internal(message)))
        else:
            self._tell(inputs.Broken(message))

    def _tell(self, input: inputs.Input) -> None:
        if self._unwanted:
            return
        if self._is_open:
            self._live.step(input)
        else:
            self._early.append(input)

    # -- holding ------------------------------------------------------------------------------

    def hold(self) -> Host | None:
        if self._host is not None:
            self._host.hold()
        return self._host

    # -- speaking -----------------------------------------------------------------------------

    def instruct(self, instruction: Instruction) -> None:
        """Messages reach the agent in order: none overtakes a prompt whose files are still being read."""
        if isinstance(instruction, GiveToolResult):
            if self._tools is not None:
                self._tools.give(instruction.key, instruction.outcome)
            return
        self._instructions.append(instruction)
        if not self._reading:
            self._speak()

    def _speak(self) -> None:
        while self._instructions and not self._reading:
            instruction = self._instructions.popleft()
            host, conversation = self._host, self._conversation
            if host is None or conversation is None or host.process.is_ending:
                if isinstance(instruction, GivePrompt):
                    self._tell(inputs.Undelivered(self.attempt))
                continue
            try:
                self._send(host, conversation, instruction)
            except Exception as error:
                logger.exception("a message to the agent of session %s could not be sent", self._live.id)
                self._tell(
                    inputs.DeliveryFailed(self.attempt, f"the prompt could not be sent to the agent: {error}")
                )

    def _send(self, host: Host, conversation: Conversation, instruction: Instruction) -> None:
        wire = host.wire
        match instruction:
            case GivePrompt(_, prompt):
                if wanted := wire.wants(prompt):
                    self._reading = True
                    host.hold()  # the agent's reply must be processed after the prompt
                    self._live.spawn(self._read_and_prompt(host, conversation, instruction, wanted))
                    return
                conversation.cancelling = False
                wire.prompt(conversation, prompt, {})
            case GiveDecision(key, decision):
                wire.decide(conversation, key, decision)
            case GiveAnswer(key, answer):
                wire.answer(conversation, key, answer)
            case Interrupt():
                conversation.cancelling = True
                wire.cancel(conversation)
                if wire.interrupts_by_signal:
                    host.flush()
                    host.interrupt()
            case Switch(settings):
                if not wire.configure(conversation, self._settings(settings)):
                    self._tell(inputs.Stale(self.attempt))
                conversation.settings = self._settings(settings)
        host.flush()

    async def _read_and_prompt(
        self, host: Host, conversation: Conversation, instruction: GivePrompt, paths: tuple[str, ...]
    ) -> None:
        try:
            files = await asyncio.to_thread(_read, paths)
            if self._conversation is conversation:
                conversation.cancelling = False
                host.wire.prompt(conversation, instruction.prompt, files)
                host.flush()
        except Exception as error:
            logger.exception("a prompt of session %s could not be sent to its agent", self._live.id)
            self._tell(
                inputs.DeliveryFailed(self.attempt, f"the prompt could not be sent to the agent: {error}")
            )
        finally:
            self._reading = False
            host.release()
        self._speak()


def _read(paths: tuple[str, ...]) -> dict[str, bytes]:
    """Files that are gone or too large are left out: the prompt still names them, so the agent can report the problem."""
    files: dict[str, bytes] = {}
    left = MAX_FILE_BYTES
    for path in paths:
        # A pipe that has replaced the file must not block the read.
        with contextlib.suppress(OSError), open(path, "rb", opener=_open_at_once) as file:
            facts = os.fstat(file.fileno())
            # Files under /proc and /sys report no size, and some never end.
            if stat.S_ISREG(facts.st_mode) and 0 < facts.st_size <= left:
                files[path] = file.read(facts.st_size)
                left -= len(files[path])
    return files


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
