"""A running agent: its process, its wire, and the sessions that talk over it.

An agent with a process per session has a host with one tenant; a shared server has many. Both look the same from a session:
`open`, speak through the wire, `flush`, `leave`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from ..agents.base import (
    Agent,
    Closed,
    Conversation,
    Ending,
    Launch,
    Listed,
    ListFailed,
    Notice,
    Place,
    Start,
)
from ..agents.environment import environment
from ..errors import AgentProcessExited, StreamError, Timeout, Unavailable
from ..schema.features import Catalogue
from ..schema.inputs import Settings
from ..schema.world import REAL
from .delegate import DelegatingProcess
from .framing import LineTooLong
from .http_link import HttpLink
from .log import Log
from .process import AgentProcess, Exit
from .programs import Program

logger = logging.getLogger("sandbox_agent.host")

CLOSE_SECONDS = 1.5
EXIT_SECONDS = 1.0


Tap = Callable[[Literal["in", "out", "cmd", "exit"], bytes], None]
"""Is told every frame that passes, and the start and end of processes: how recordings are made."""


class Tenant(Protocol):
    """A session, as its host sees it."""

    def flush(self) -> object: ...

    def notice(self, notice: Notice) -> None: ...

    def process_exited(self, exit: Exit) -> None: ...


class Seat(NamedTuple):
    """What a session needs a process for: hosts with the same shared seat are the same host."""

    agent: Agent
    program: Program
    settings: Settings
    env: dict[str, str]
    native_id: str | None
    resume: bool

    def key(self) -> str:
        version = (str(self.program.path), self.program.version)
        fingerprint = hashlib.sha256(repr((version, sorted(self.env.items()))).encode())
        return f"{self.agent.name}:{fingerprint.hexdigest()}"


class Host:
    def __init__(
        self,
        agent: Agent,
        launch: Launch,
        log: Log,
        instance: str,
        on_exit: Callable[[Host, Exit], None],
        tap: Tap | None = None,
    ) -> None:
        self._tap = tap
        self.agent = agent
        self.wire = agent.wire(REAL)
        self.started_at = time.monotonic()
        self._launch = launch
        self._log = log
        self._on_exit = on_exit
        self._tenants: dict[Conversation, Tenant] = {}
        self._leaving: dict[Conversation, asyncio.Future[None]] = {}
        self._listings: list[asyncio.Future[Catalogue]] = []
        self._paused = False
        self._ending = False
        self.exit_told = asyncio.Event()
        """Set when every session knows that the process is gone."""
        self.process = self._make_process(instance)

    def _make_process(self, instance: str) -> AgentProcess:
        if self._launch.server is not None:
            return HttpLink(self._launch.server, instance, self._hear, self._exited)
        kind = DelegatingProcess if self._launch.delegate else AgentProcess
        return kind(instance, self._hear, self._exited)

    async def start(self, env: dict[str, str], directory: str) -> None:
        launch = self._launch
        for path, content in launch.files.items():
            write_private(Path(path), content)
        if self._tap:
            self._tap("cmd", msgspec.json.encode(launch.argv))
        await self.process.start(launch.argv, {**env, **launch.env}, directory)
        self.wire.connected()
        self.flush()

    def open(self, start: Start, tenant: Tenant) -> Conversation:
        conversation = self.wire.open(start)
        self._tenants[conversation] = tenant
        return conversation

    async def leave(self, conversation: Conversation) -> None:
        """The session goes; on a shared server its turn, commands and sub-agents end, the server stays."""
        if not self._tenants.pop(conversation, None) or self.process.ended.is_set():
            return
        closed = self._leaving[conversation] = asyncio.get_running_loop().create_future()
        self.wire.close(conversation)
        self.flush()
        if self.wire.confirms_close and not self.empty:
            await asyncio.wait([closed], timeout=CLOSE_SECONDS)
        self._leaving.pop(conversation, None)

    def interrupt(self) -> None:
        """Stop the turn of an agent that has no word for it; the process ends with the turn."""
        self._ending = True
        self.process.interrupt()

    async def end(self) -> None:
        """End the process and all its descendants. One that ends by itself may first put its things in order."""
        if self._ending:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.process.ended.wait(), EXIT_SECONDS)
        await self.process.stop()

    @property
    def empty(self) -> bool:
        return not self._tenants and not self._listings

    def flush(self) -> None:
        """Pass on what the wire has to say to the agent, to the runtime and to the log."""
        wire = self.wire
        if wire.outbox:
            frames, wire.outbox = [one for one in wire.outbox if isinstance(one, bytes)], []
            if self._tap:
                self._tell_tap("in", frames)
            self.process.write(frames)
        if wire.notices:
            notices, wire.notices = wire.notices, []
            for notice in notices:
                self._note(notice)
        for tenant in list(self._tenants.values()):
            tenant.flush()
        if wire.outbox:
            self.flush()

    async def catalogue(self, directory: str, seconds: float) -> Catalogue:
        """Models and modes, asked over the wire."""
        answer: asyncio.Future[Catalogue] = asyncio.get_running_loop().create_future()
        self._listings.append(answer)
        try:
            self.wire.list_catalogue(directory)
            self.flush()
            return await asyncio.wait_for(answer, seconds)
        except TimeoutError:
            raise Timeout(f"{self.agent.title} did not list its models in {seconds:g} s") from None
        finally:
            if answer in self._listings:
                self._listings.remove(answer)

    # -- what the process says ----------------------------------------------------------------

    def _hear(self, frames: list[bytes | LineTooLong]) -> None:
        receive = self.wire.receive
        if self._tap:
            self._tell_tap("out", [frame for frame in frames if isinstance(frame, bytes)])
        for frame in frames:
            if isinstance(frame, LineTooLong):
                for conversation in self._tenants:
                    conversation.scribe.unparsed(str(frame), "framing")
            else:
                receive(frame)
        self.flush()
        if self._log.congested and not self._paused:
            self._paused = True
            self.process.pause()
            self._log.when_drained(self._resume)

    def _tell_tap(self, direction: Literal["in", "out"], frames: list[bytes]) -> None:
        assert self._tap is not None
        for frame in frames:
            self._tap(direction, frame)

    def _resume(self) -> None:
        self._paused = False
        self.process.resume()

    def _note(self, notice: Notice) -> None:
        match notice:
            case Listed(catalogue):
                for answer in self._listings:
                    if not answer.done():
                        answer.set_result(catalogue)
                self._listings.clear()
            case ListFailed(message):
                self._fail_listings(StreamError(message, agent=self.agent.name))
            case Closed(conversation):
                self._left(conversation)
            case _:
                self._ending = self._ending or isinstance(notice, Ending)
                if tenant := self._tenants.get(notice.conversation):
                    tenant.notice(notice)

    def _left(self, conversation: Conversation) -> None:
        if closed := self._leaving.pop(conversation, None):
            closed.set_result(None)

    def _fail_listings(self, error: Exception) -> None:
        for answer in self._listings:
            if not answer.done():
                answer.set_exception(error)
        self._listings.clear()

    def _exited(self, exit: Exit) -> None:
        if self._tap:
            self._tap("exit", msgspec.json.encode({"returncode": self.process.returncode}))
        self._fail_listings(
            AgentProcessExited(exit.describe(), agent=self.agent.name, exitCode=exit.code, stderr=exit.stderr)
        )
        for conversation in tuple(self._leaving):
            self._left(conversation)
        tenants, self._tenants = self._tenants, {}
        for tenant in tenants.values():
            tenant.process_exited(exit)
        self._on_exit(self, exit)
        self.exit_told.set()


class Hosts:
    """All running agents."""

    def __init__(
        self,
        log: Log,
        data_dir: Path,
        instance: str,
    ) -> None:
        self._log = log
        self._data_dir = data_dir
        self._instance = instance
        self._running: set[Host] = set()
        self._shared: dict[str, Host] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._last_errors: dict[str, str] = {}
        self._starts: dict[str, int] = {}
        self.tap: Tap | None = None

    async def get(self, seat: Seat) -> Host:
        """A process for this seat: the shared server it belongs on, or one of its own."""
        if not seat.agent.capabilities.shared_process:
            return await self._start(seat)
        key = seat.key()
        async with self._locks.setdefault(key, asyncio.Lock()):
            host = self._shared.get(key)
            if host is None or host.process.is_ending:
                host = self._shared[key] = await self._start(seat)
                self._starts[seat.agent.name] = self._starts.get(seat.agent.name, 0) + 1
            return host

    async def _start(self, seat: Seat) -> Host:
        agent = seat.agent
        env = environment(agent, os.environ, seat.env)
        place = Place(seat.program.path, self._data_dir, env)
        launch = agent.launch(place, seat.settings, seat.native_id, seat.resume)
        host = Host(agent, launch, self._log, self._instance, self._exited, self.tap)
        self._running.add(host)
        # A shared server belongs to no session's directory.
        directory = str(self._data_dir) if agent.capabilities.shared_process else seat.settings.directory
        try:
            await host.start(env, directory)
        except OSError as error:
            self._running.discard(host)
            raise Unavailable(f"{agent.title} cannot be started: {error}", agent=agent.name) from error
        except BaseException:
            self._running.discard(host)
            raise
        logger.info("started %s (pid %s)", agent.name, host.process.pid)
        return host

    async def release(self, host: Host, conversation: Conversation | None) -> None:
        """A session leaves; a process that nobody needs any more is ended with all its descendants."""
        if conversation is not None:
            await host.leave(conversation)
        if host.empty:
            self._forget(host)
            await host.end()

    async def stop_all(self) -> None:
        await asyncio.gather(*(host.process.stop() for host in list(self._running)), return_exceptions=True)

    def server_status(self, agent: Agent) -> dict[str, Any] | None:
        """What `GET /v1/agents` tells of a shared server."""
        if not agent.capabilities.shared_process:
            return None
        host = next((one for one in self._shared.values() if one.agent is agent), None)
        facts: dict[str, Any] = {
            "status": "running" if host else "stopped",
            "restartCount": max(0, self._starts.get(agent.name, 0) - 1),
            "uptimeMs": round((time.monotonic() - host.started_at) * 1000) if host else 0,
        }
        if error := self._last_errors.get(agent.name):
            facts["lastError"] = error
        return facts

    @property
    def count(self) -> int:
        return len(self._running)

    def _exited(self, host: Host, exit: Exit) -> None:
        self._forget(host)
        self._running.discard(host)
        if exit.code != 0:
            self._last_errors[host.agent.name] = exit.describe()

    def _forget(self, host: Host) -> None:
        for key in [key for key, one in self._shared.items() if one is host]:
            del self._shared[key]


def write_private(path: Path, content: bytes) -> None:
    """Write a file for the owner alone; one that begins with `#!` may be run. A process that reads it sees all of it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fd, unfinished = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
        if content.startswith(b"#!"):
            os.chmod(unfinished, 0o700)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise
