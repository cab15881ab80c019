"""The operations that the ACP door needs, over the Python SDK, which survives restarts of the daemon."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

from ..client.aio.client import AsyncSandboxAgent
from ..client.aio.stream import session_events
from ..client.events import UnknownEvent
from ..doors.acp.operations import Changes, Message, NewSession
from ..schema.answers import SessionPage
from ..schema.events import Event
from ..schema.features import Command
from ..schema.inputs import Attachment, Reply
from ..schema.options import Choices
from ..schema.sessions import SessionInfo


class RemoteOperations:
    """Implements `Operations`.

    - `env`: Variables for the agents of new sessions.
    """

    def __init__(self, client: AsyncSandboxAgent, env: Mapping[str, str]) -> None:
        self._client = client
        self._env = env

    async def create(self, session: NewSession) -> str:
        created = await self._client.sessions.create(
            session.session_id,
            agent=session.agent,
            directory=session.directory,
            mcp=session.mcp,
            env=self._env,
        )
        return created.id

    async def get(self, session_id: str) -> SessionInfo:
        return await self._client.sessions.get(session_id)

    async def list(self, cursor: str | None) -> SessionPage:
        return await self._client.sessions.list(cursor=cursor).page()

    async def update(self, session_id: str, changes: Changes) -> SessionInfo:
        return await self._client.sessions.update(
            session_id,
            model=changes.model,
            variant=changes.variant,
            agent_mode=changes.agent_mode,
            permission_mode=changes.permission_mode,
        )

    async def delete(self, session_id: str) -> None:
        await self._client.sessions.delete(session_id)

    async def suspend(self, session_id: str) -> None:
        await self._client.sessions.suspend(session_id)

    async def send(self, session_id: str, message: Message) -> str:
        sent = await self._client.sessions.send_message(
            session_id, message.text, attachments=message.attachments, command=message.command
        )
        return sent.turn_id

    async def withdraw(self, session_id: str, turn_id: str) -> None:
        await self._client.sessions.withdraw(session_id, turn_id)

    async def cancel(self, session_id: str) -> None:
        await self._client.sessions.cancel(session_id)

    async def upload(self, session_id: str, content: bytes, filename: str, mime: str | None) -> Attachment:
        stored = await self._client.attachments.upload(
            session_id, content, filename=filename, content_type=mime or "application/octet-stream"
        )
        return Attachment(stored.path, stored.mime, filename)

    async def download(self, session_id: str, name: str) -> bytes:
        return (await self._client.attachments.get(session_id, name)).content

    async def decide(self, session_id: str, permission_id: str, reply: Reply, message: str | None) -> None:
        await self._client.permissions.reply(session_id, permission_id, reply, message=message)

    async def answer(
        self, session_id: str, question_id: str, answers: Sequence[Sequence[str]] | None
    ) -> None:
        if answers is None:
            await self._client.questions.reject(session_id, question_id)
        else:
            await self._client.questions.reply(session_id, question_id, answers)

    async def choices(self, agent: str, directory: str) -> Choices:
        modes = await self._client.agents.modes(agent, directory=directory)
        models = await self._client.agents.models(agent, directory=directory)
        return Choices(modes.modes, models.models, models.default_model)

    async def commands(self, session_id: str) -> Sequence[Command]:
        return (await self._client.sessions.commands(session_id)).commands

    async def events(self, session_id: str, after: int) -> AsyncGenerator[Event, None]:
        stream = session_events(self._client.transport, session_id, after, include_raw=False)
        async with aclosing(stream) as events:
            async for event in events:
                if not isinstance(event, UnknownEvent):
                    yield event
