"""The operations of the daemon that the door uses, with the types of their answers. Nothing else here reaches the daemon."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from ...runtime.daemon import Daemon
from ...schema.answers import (
    AgentInfo,
    AgentList,
    CreatedSession,
    EventPage,
    Models,
    Queue,
    QueuedMessageInfo,
    SentMessage,
    SessionPage,
    StoredAttachment,
)
from ...schema.inputs import Attachment
from ...schema.sessions import SessionInfo
from ..calling import call
from ..inlet import Inlet, inlet_of

SESSIONS = 1000


class Operations:
    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return self._daemon.spawn(work)

    async def _call(self, operation_name: str, /, **values: object) -> Any:
        return await call(self._daemon, operation_name, **values)

    # -- agents -------------------------------------------------------------------------------

    async def agents(self) -> list[AgentInfo]:
        listed: AgentList = await self._call("agents.list")
        return listed.agents

    async def models(self, agent: str, directory: str | None = None) -> Models:
        found: Models = await self._call("agents.models", agent=agent, directory=directory)
        return found

    # -- sessions -----------------------------------------------------------------------------

    async def session(self, session_id: str) -> SessionInfo:
        info: SessionInfo = await self._call("sessions.get", session_id=session_id)
        return info

    async def sessions(self) -> AsyncGenerator[SessionInfo, None]:
        """The newest first."""
        cursor: str | None = None
        while True:
            page: SessionPage = await self._call("sessions.list", limit=SESSIONS, cursor=cursor)
            for info in page.sessions:
                yield info
            cursor = page.next_cursor
            if cursor is None:
                return

    async def create(self, session_id: str, **settings: str | None) -> CreatedSession:
        created: CreatedSession = await self._call("sessions.create", session_id=session_id, **settings)
        return created

    async def update(self, session_id: str, **changed: str) -> None:
        await self._call("sessions.update", session_id=session_id, **changed)

    async def suspend(self, session_id: str) -> None:
        await self._call("sessions.suspend", session_id=session_id)

    async def cancel(self, session_id: str, turn_id: str) -> None:
        await self._call("sessions.cancel", session_id=session_id, turn_id=turn_id)

    # -- messages -----------------------------------------------------------------------------

    async def send(
        self,
        session_id: str,
        text: str,
        attachments: tuple[Attachment, ...],
        client_id: str,
        key: str | None,
    ) -> str:
        """Send a message; the id of its turn."""
        sent: SentMessage = await self._call(
            "sessions.send_message",
            session_id=session_id,
            message=text,
            attachments=attachments,
            client_id=client_id,
            idempotency_key=key,
        )
        return sent.turn_id

    async def queue(self, session_id: str) -> AsyncGenerator[QueuedMessageInfo, None]:
        """The oldest first."""
        cursor: str | None = None
        while True:
            page: Queue = await self._call("sessions.queue", session_id=session_id, cursor=cursor)
            for message in page.messages:
                yield message
            cursor = page.next_cursor
            if cursor is None:
                return

    async def withdraw(self, session_id: str, turn_id: str) -> None:
        await self._call("sessions.withdraw", session_id=session_id, turn_id=turn_id)

    async def upload(self, session_id: str, content: bytes, filename: str, mime: str) -> Attachment:
        stored: StoredAttachment = await self._call(
            "attachments.upload", session_id=session_id, content=content, filename=filename, content_type=mime
        )
        return Attachment(stored.path, mime, filename)

    # -- events -------------------------------------------------------------------------------

    async def events(self, session_id: str, offset: int, limit: int) -> EventPage:
        page: EventPage = await self._call(
            "sessions.events", session_id=session_id, offset=offset, limit=limit
        )
        return page

    @asynccontextmanager
    async def follow(self, session_id: str, after: int) -> AsyncIterator[Inlet]:
        """The events after a sequence, then every new one."""
        stream = await self._call("sessions.events_sse", session_id=session_id, offset=after)
        if stream is None:  # the session has ended, and there is nothing after it
            inlet = Inlet()
            inlet.end()
            yield inlet
            return
        async with inlet_of(stream.pieces) as inlet:
            yield inlet

    # -- requests of agents -------------------------------------------------------------------

    async def reject_permission(self, session_id: str, id: str, message: str) -> None:
        await self._call(
            "permissions.reply", session_id=session_id, permission_id=id, reply="reject", message=message
        )

    async def reject_question(self, session_id: str, id: str) -> None:
        await self._call("questions.reject", session_id=session_id, question_id=id)
