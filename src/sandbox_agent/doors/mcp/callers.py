"""Who calls a tool, and what it may do: a client of the daemon, or the agent of a session."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from msgspec import Struct

from ...errors import InvalidRequest, PermissionDenied, SessionAlreadyExists
from ...ops.delegation import Order, find_below, list_below, send_below, start_below
from ...ops.sessions import (
    ListSessions,
    OneSession,
    SendMessage,
    SessionSettings,
    create_session,
    deliver,
    get,
    list_sessions,
)
from ...runtime.daemon import Daemon
from ...schema.sessions import SessionInfo
from ..calling import require_started
from .tools import Run


class Sent(Struct, frozen=True):
    """An accepted message, and the sequence after which the events of its turn begin."""

    turn_id: str
    after: int


class Caller(Protocol):
    name: str
    """Distinguishes the calls of one caller from those of others."""

    async def start(self, session_id: str, given: Run, key: str | None) -> Sent:
        """Create a session and send its first message. Raises if its agent does not start."""

    async def send(self, session_id: str, prompt: str, key: str | None) -> Sent: ...

    async def find(self, session_id: str) -> SessionInfo:
        """A session that the caller may use."""

    def sessions(self) -> AsyncGenerator[SessionInfo, None]:
        """The sessions that the caller may use, newest first."""

    def check_answers(self) -> None:
        """Raises if the caller may not answer permissions and questions."""


class Client:
    """A program with the daemon's token.

    - `agent`, `directory`: Those of new sessions, unless a call names others.
    """

    name = ""

    def __init__(self, daemon: Daemon, agent: str | None, directory: str | None) -> None:
        self._daemon = daemon
        self._agent = agent
        self._directory = directory

    async def start(self, session_id: str, given: Run, key: str | None) -> Sent:
        agent = given.agent or self._agent
        if agent is None:
            raise InvalidRequest("`agent` is missing: the tool `agents` lists them", field="agent")
        settings = SessionSettings(
            agent=agent,
            directory=given.directory or self._directory,
            model=given.model,
            permission_mode=given.permission_mode or "default",
        )
        try:
            require_started(await create_session(self._daemon, session_id, settings))
        except SessionAlreadyExists:
            if key is None:
                raise
            # The call is repeated: its first attempt got this far.
        return await self.send(session_id, given.prompt, key)

    async def send(self, session_id: str, prompt: str, key: str | None) -> Sent:
        before = (await self.find(session_id)).event_count
        message = SendMessage(session_id, prompt, idempotency_key=key)
        turn_id, may_be_old = await deliver(self._daemon, message)
        return Sent(turn_id, 0 if may_be_old else before)

    async def find(self, session_id: str) -> SessionInfo:
        info: SessionInfo = await get(self._daemon, OneSession(session_id))
        return info

    async def sessions(self) -> AsyncGenerator[SessionInfo, None]:
        cursor: str | None = None
        while True:
            page = await list_sessions(self._daemon, ListSessions(cursor=cursor))
            for info in page.sessions:
                yield info
            if (cursor := page.next_cursor) is None:
                return

    def check_answers(self) -> None:
        """It may."""


class SessionAgent:
    """The agent of a session: it may use what it has started, and people answer for it."""

    def __init__(self, daemon: Daemon, session_id: str) -> None:
        self.name = session_id
        self._daemon = daemon
        self._session_id = session_id

    async def start(self, session_id: str, given: Run, key: str | None) -> Sent:
        order = Order(
            session_id, given.prompt, given.agent, given.directory, given.model, given.permission_mode
        )
        created, accepted = await start_below(self._daemon, self._session_id, order)
        require_started(created)
        assert accepted is not None  # a healthy session has got its message
        return Sent(accepted.turn_id, 0)

    async def send(self, session_id: str, prompt: str, key: str | None) -> Sent:
        before = (await self.find(session_id)).event_count
        request = SendMessage(session_id, prompt, idempotency_key=key)
        return Sent((await send_below(self._daemon, self._session_id, request)).turn_id, before)

    async def find(self, session_id: str) -> SessionInfo:
        return (await find_below(self._daemon, self._session_id, session_id)).info

    async def sessions(self) -> AsyncGenerator[SessionInfo, None]:
        async for shown in list_below(self._daemon, self._session_id):
            yield shown.info

    def check_answers(self) -> None:
        raise PermissionDenied(
            "only people can answer the permissions and questions of sessions that an agent has started: call `wait`"
        )
