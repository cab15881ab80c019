"""The operations of the daemon that the door uses, with the types of their answers. Nothing else here reaches the daemon."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing, asynccontextmanager
from typing import Any

from ...config import Config
from ...errors import SandboxAgentError
from ...ops.operation import Download
from ...runtime.daemon import Daemon
from ...schema.answers import (
    AgentInfo,
    AgentList,
    Commands,
    CreatedSession,
    EventPage,
    Models,
    Modes,
    Queue,
    SentMessage,
    SessionPage,
    StoredAttachment,
)
from ...schema.changes import ChangeList
from ...schema.features import Command
from ...schema.files import SearchResult
from ...schema.sessions import SessionInfo
from ..calling import call
from ..inlet import Inlet, inlet_of

PAGE = 1000
MAX_PAGES = 10
"""Of the list of sessions: older ones are found by their id only."""


class Operations:
    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon

    @property
    def config(self) -> Config:
        return self._daemon.config

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return self._daemon.spawn(work)

    async def _call(self, operation_name: str, /, **values: object) -> Any:
        return await call(self._daemon, operation_name, **values)

    # -- agents -------------------------------------------------------------------------------

    async def agents(self) -> list[AgentInfo]:
        listed: AgentList = await self._call("agents.list")
        return listed.agents

    def title(self, agent: str) -> str:
        return self._daemon.agent(agent).title

    async def models(self, agent: str, directory: str) -> Models:
        found: Models = await self._call("agents.models", agent=agent, directory=directory)
        return found

    async def modes(self, agent: str, directory: str) -> Modes:
        found: Modes = await self._call("agents.modes", agent=agent, directory=directory)
        return found

    async def commands(self, agent: str, directory: str) -> list[Command]:
        found: Commands = await self._call("agents.commands", agent=agent, directory=directory)
        return found.commands

    # -- sessions -----------------------------------------------------------------------------

    async def sessions(self) -> AsyncGenerator[SessionInfo, None]:
        """The newest first."""
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page: SessionPage = await self._call("sessions.list", limit=PAGE, cursor=cursor)
            for info in page.sessions:
                yield info
            cursor = page.next_cursor
            if cursor is None:
                return

    async def session(self, session_id: str) -> SessionInfo:
        info: SessionInfo = await self._call("sessions.get", session_id=session_id)
        return info

    async def create(self, session_id: str | None, **settings: str | None) -> CreatedSession:
        name = "sessions.new" if session_id is None else "sessions.create"
        created: CreatedSession = await self._call(name, session_id=session_id, **settings)
        return created

    async def update(self, session_id: str, **changed: str) -> SessionInfo:
        info: SessionInfo = await self._call("sessions.update", session_id=session_id, **changed)
        return info

    async def delete(self, session_id: str) -> None:
        await self._call("sessions.delete", session_id=session_id)

    async def cancel(self, session_id: str) -> None:
        await self._call("sessions.cancel", session_id=session_id)

    async def queue(self, session_id: str) -> Queue:
        waiting: Queue = await self._call("sessions.queue", session_id=session_id, limit=100)
        return waiting

    async def changes(self, session_id: str) -> ChangeList:
        found: ChangeList = await self._call("changes.list", session_id=session_id)
        return found

    # -- messages -----------------------------------------------------------------------------

    async def send(self, session_id: str, **message: Any) -> SentMessage:
        sent: SentMessage = await self._call("sessions.send_message", session_id=session_id, **message)
        return sent

    @asynccontextmanager
    async def send_and_follow(self, session_id: str, **message: Any) -> AsyncIterator[Inlet]:
        """The events of the message's turn."""
        stream = await self._call("sessions.stream_message", session_id=session_id, **message)
        async with inlet_of(stream.pieces) as inlet:
            yield inlet

    async def upload(self, session_id: str, content: bytes, name: str | None, mime: str) -> StoredAttachment:
        stored: StoredAttachment = await self._call(
            "attachments.upload", session_id=session_id, content=content, filename=name, content_type=mime
        )
        return stored

    # -- events -------------------------------------------------------------------------------

    async def events(self, session_id: str, offset: int) -> EventPage:
        page: EventPage = await self._call(
            "sessions.events", session_id=session_id, offset=offset, limit=PAGE
        )
        return page

    @asynccontextmanager
    async def follow_all(self) -> AsyncIterator[Inlet]:
        """The events of all sessions from now on."""
        stream = await self._call("events.sse")
        async with inlet_of(stream.pieces) as inlet:
            yield inlet

    # -- requests -----------------------------------------------------------------------------

    async def reply_permission(self, session_id: str, id: str, reply: str, message: str | None) -> None:
        await self._call(
            "permissions.reply", session_id=session_id, permission_id=id, reply=reply, message=message
        )

    async def reply_question(self, session_id: str, id: str, answers: tuple[tuple[str, ...], ...]) -> None:
        await self._call("questions.reply", session_id=session_id, question_id=id, answers=answers)

    async def reject_question(self, session_id: str, id: str) -> None:
        await self._call("questions.reject", session_id=session_id, question_id=id)

    # -- files --------------------------------------------------------------------------------

    async def beginning_of(self, path: str) -> bytes:
        """The first piece of a file; nothing if it cannot be read."""
        try:
            download: Download = await self._call("fs.read", path=path)
        except SandboxAgentError:
            return b""
        async with aclosing(download.pieces) as pieces:
            return await anext(pieces, b"")

    async def search(self, directory: str, glob: str, limit: int) -> SearchResult:
        found: SearchResult = await self._call("fs.search", path=directory, glob=glob, limit=limit)
        return found
