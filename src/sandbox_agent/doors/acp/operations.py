"""What a connection needs of the daemon: the operations it calls, in the daemon itself or over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from msgspec import Struct

from ...schema.answers import SessionPage
from ...schema.events import Event
from ...schema.features import Command
from ...schema.inputs import Attachment, McpServer, PermissionMode, Reply
from ...schema.options import Choices
from ...schema.sessions import SessionInfo


class NewSession(Struct, frozen=True):
    agent: str
    directory: str
    mcp: dict[str, McpServer]
    session_id: str | None = None
    """None for a generated one."""


class Message(Struct, frozen=True):
    text: str
    attachments: tuple[Attachment, ...] = ()
    command: bool = False


class Changes(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Settings of a session to change; None leaves one as it is."""

    model: str | None = None
    variant: str | None = None
    agent_mode: str | None = None
    permission_mode: PermissionMode | None = None


class Operations(Protocol):
    """Errors are those of `sandbox_agent.errors`. Everything that is answered is durable."""

    async def create(self, session: NewSession) -> str:
        """Create a session and start its agent; the session's id. Raises if the agent does not start."""

    async def get(self, session_id: str) -> SessionInfo: ...

    async def list(self, cursor: str | None) -> SessionPage: ...

    async def update(self, session_id: str, changes: Changes) -> SessionInfo: ...

    async def delete(self, session_id: str) -> None: ...

    async def suspend(self, session_id: str) -> None: ...

    async def send(self, session_id: str, message: Message) -> str:
        """Send a message; the id of its turn."""

    async def withdraw(self, session_id: str, turn_id: str) -> None: ...

    async def cancel(self, session_id: str) -> None: ...

    async def upload(
        self, session_id: str, content: bytes, filename: str, mime: str | None
    ) -> Attachment: ...

    async def download(self, session_id: str, name: str) -> bytes: ...

    async def decide(
        self, session_id: str, permission_id: str, reply: Reply, message: str | None
    ) -> None: ...

    async def answer(
        self, session_id: str, question_id: str, answers: Sequence[Sequence[str]] | None
    ) -> None:
        """Answer a question; None rejects it."""

    async def choices(self, agent: str, directory: str) -> Choices: ...

    async def commands(self, session_id: str) -> Sequence[Command]: ...

    def events(self, session_id: str, after: int) -> AsyncGenerator[Event, None]:
        """The events after a sequence, then every new one, until the session ends."""
