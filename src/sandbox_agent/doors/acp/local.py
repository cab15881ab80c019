"""The operations as the daemon itself carries them out, for clients that connect to it directly."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import msgspec

from ...ops.operation import Content, Stream
from ...runtime.daemon import Daemon
from ...schema.answers import (
    Commands,
    CreatedSession,
    Models,
    Modes,
    SentMessage,
    SessionPage,
    StoredAttachment,
)
from ...schema.events import Event, decode_event
from ...schema.features import Command
from ...schema.inputs import Attachment, Reply
from ...schema.options import Choices
from ...schema.sessions import SessionInfo
from ..calling import call, require_started
from ..inlet import inlet_of
from .operations import Changes, Message, NewSession


class LocalOperations:
    """Implements `Operations`."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon

    async def create(self, session: NewSession) -> str:
        named = {} if session.session_id is None else {"session_id": session.session_id}
        name = "sessions.create" if named else "sessions.new"
        created: CreatedSession = await self._call(
            name, agent=session.agent, directory=session.directory, mcp=session.mcp, **named
        )
        return require_started(created).session_id

    async def get(self, session_id: str) -> SessionInfo:
        info: SessionInfo = await self._call("sessions.get", session_id=session_id)
        return info

    async def list(self, cursor: str | None) -> SessionPage:
        page: SessionPage = await self._call("sessions.list", cursor=cursor)
        return page

    async def update(self, session_id: str, changes: Changes) -> SessionInfo:
        changed = msgspec.structs.asdict(changes)
        info: SessionInfo = await self._call("sessions.update", session_id=session_id, **changed)
        return info

    async def delete(self, session_id: str) -> None:
        await self._call("sessions.delete", session_id=session_id)

    async def suspend(self, session_id: str) -> None:
        await self._call("sessions.suspend", session_id=session_id)

    async def send(self, session_id: str, message: Message) -> str:
        sent: SentMessage = await self._call(
            "sessions.send_message",
            session_id=session_id,
            message=message.text,
            attachments=message.attachments,
            command=message.command,
        )
        return sent.turn_id

    async def withdraw(self, session_id: str, turn_id: str) -> None:
        await self._call("sessions.withdraw", session_id=session_id, turn_id=turn_id)

    async def cancel(self, session_id: str) -> None:
        await self._call("sessions.cancel", session_id=session_id)

    async def upload(self, session_id: str, content: bytes, filename: str, mime: str | None) -> Attachment:
        stored: StoredAttachment = await self._call(
            "attachments.upload", session_id=session_id, content=content, filename=filename, content_type=mime
        )
        return Attachment(stored.path, stored.mime, filename)

    async def download(self, session_id: str, name: str) -> bytes:
        content: Content = await self._call("attachments.get", session_id=session_id, name=name)
        return content.body

    async def decide(self, session_id: str, permission_id: str, reply: Reply, message: str | None) -> None:
        await self._call(
            "permissions.reply",
            session_id=session_id,
            permission_id=permission_id,
            reply=reply,
            message=message,
        )

    async def answer(
        self, session_id: str, question_id: str, answers: Sequence[Sequence[str]] | None
    ) -> None:
        question = {"session_id": session_id, "question_id": question_id}
        if answers is None:
            await self._call("questions.reject", **question)
        else:
            await self._call("questions.reply", answers=answers, **question)

    async def choices(self, agent: str, directory: str) -> Choices:
        modes: Modes = await self._call("agents.modes", agent=agent, directory=directory)
        models: Models = await self._call("agents.models", agent=agent, directory=directory)
        return Choices(modes.modes, models.models, models.default_model)

    async def commands(self, session_id: str) -> Sequence[Command]:
        commands: Commands = await self._call("sessions.commands", session_id=session_id)
        return commands.commands

    async def events(self, session_id: str, after: int) -> AsyncGenerator[Event, None]:
        stream: Stream | None = await self._call("sessions.events_sse", session_id=session_id, offset=after)
        if stream is None:
            return  # it has ended, and everything was read
        assert not isinstance(stream.pieces, AsyncGenerator)
        async with inlet_of(stream.pieces) as inlet:
            while (frames := await inlet.take()) is not None:
                for frame in frames:
                    if frame.name != "end":
                        yield decode_event(frame.data)

    async def _call(self, operation_name: str, /, **values: object) -> Any:
        return await call(self._daemon, operation_name, **values)
