"""One client: its JSON-RPC requests become operations, and its sessions become conversations."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ... import __version__
from ...agents.jsonrpc import METHOD_NOT_FOUND, Call, Note, RpcError
from ...errors import InvalidRequest, SandboxAgentError, SessionAlreadyExists
from ...schema.events import TurnEnded, TurnStarted
from ...schema.inputs import McpServer
from ...schema.options import Choices
from ...schema.sessions import SessionInfo
from . import frames
from .conversation import Conversation
from .errors import RequestFailed
from .frames import (
    AnyUpdate,
    ClientCapabilities,
    Empty,
    Initialized,
    ListedSession,
    ListedSessions,
    OptionsSet,
    Prompted,
)
from .operations import NewSession, Operations
from .options import change_of, change_of_mode, opened
from .rpc import Answered, Peer, Rpc, params_of

logger = logging.getLogger("sandbox_agent.doors.acp")

MAX_SESSIONS = 200
"""Sessions that may be open on one connection."""

CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
}


class Connection:
    """One client, over any transport.

    - `agent`: The agent of new sessions; without one, clients name it in `_meta`.
    - `session_id`: The session that `session/new` opens; it is created if it does not exist.
    """

    def __init__(
        self, operations: Operations, peer: Peer, agent: str | None, session_id: str | None = None
    ) -> None:
        self.capabilities = ClientCapabilities()
        self._operations = operations
        self._rpc = Rpc(peer, self)
        self.agent = agent
        self._session_id = session_id
        self._conversations: dict[str, Conversation] = {}
        self._opening = asyncio.Lock()

    # -- the client ---------------------------------------------------------------------------

    async def receive(self, frame: bytes) -> None:
        """Take one message of the client."""
        await self._rpc.receive(frame)

    @property
    def is_busy(self) -> bool:
        """Whether it takes nothing but answers until some of its work is done."""
        return self._rpc.is_busy

    async def close(self) -> None:
        """Stop showing sessions. Their turns continue."""
        for conversation in self._conversations.values():
            conversation.close()
        await self._rpc.close()

    async def update(self, session_id: str, update: AnyUpdate) -> None:
        await self._rpc.notify(
            "session/update", frames.Updated(session_id=session_id, update=update), session_id
        )

    async def ask(self, session_id: str, method: str, params: object) -> Raw:
        return await self._rpc.ask(method, params, session_id)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return self._rpc.spawn(work)

    async def result(self, call: Call) -> object:
        method = METHODS.get(call.method)
        if method is None:
            raise RequestFailed(RpcError(f"there is no method `{call.method}`", METHOD_NOT_FOUND))
        return await method.handler(self, params_of(call.params, method.params))

    async def notice(self, note: Note) -> None:
        """A notification gets no answer, so the log must say why it failed."""
        try:
            if note.method == "session/cancel":
                await self._cancel(params_of(note.params, frames.OnSession).session_id)
        except (SandboxAgentError, RequestFailed) as problem:
            logger.info("%s: %s", note.method, problem)

    def stream_of(self, call: Call, *, is_refused: bool = False) -> str | None:
        if call.method in ON_CONNECTION:
            return None
        try:
            session_id = msgspec.json.decode(call.params, type=frames.OnSession).session_id
        except (msgspec.DecodeError, RecursionError):
            return None
        # Nobody may read the stream of a session that is not open here, or does not exist.
        return None if is_refused and session_id not in self._conversations else session_id

    async def _cancel(self, session_id: str) -> None:
        if conversation := self._conversations.get(session_id):
            await conversation.cancel()
        else:
            await self._operations.cancel(session_id)

    # -- the methods --------------------------------------------------------------------------

    async def initialize(self, asked: frames.Initialize) -> Initialized:
        self.capabilities = asked.client_capabilities or ClientCapabilities()
        return Initialized(
            protocol_version=frames.PROTOCOL_VERSION,
            agent_capabilities=CAPABILITIES,
            agent_info=frames.AgentInfo(
                name="sandbox-agent", title=self.agent or "sandbox-agent", version=__version__
            ),
            auth_methods=(),
        )

    async def authenticate(self, asked: frames.Authenticate) -> Empty:
        raise InvalidRequest(
            "there is nothing to log in to: agents use the keys and logins of the daemon's machine",
            field="methodId",
        )

    async def new_session(self, asked: frames.NewSession) -> Answered:
        agent = self.agent or (asked.meta.ours.agent if asked.meta else None)
        if agent is None:
            raise InvalidRequest(
                "name the agent: with `?agent=` in the address, or as `_meta.sandbox-agent.agent`",
                field="agent",
            )
        _require_absolute(asked.cwd)
        new = NewSession(agent, asked.cwd, _mcp_servers(asked.mcp_servers or ()), self._session_id)
        async with self._opening:
            self._require_room()
            try:
                session = await self._operations.get(await self._operations.create(new))
                after, live_from = 0, 0
            except SessionAlreadyExists:
                session = await self._operations.get(self._session_id or "")
                after, live_from = 0, session.event_count
            conversation = await self._open(session)
        answer = msgspec.structs.replace(
            opened(session, conversation.settings.choices), session_id=session.session_id
        )
        return Answered(answer, lambda: conversation.follow(after, live_from))

    async def load_session(self, asked: frames.OpenSession) -> object:
        async with self._opening:
            session = await self._existing(asked)
            conversation = await self._open(session)
        conversation.follow(0, session.event_count)
        await conversation.until_live()
        return opened(session, conversation.settings.choices)

    async def resume_session(self, asked: frames.OpenSession) -> Answered:
        async with self._opening:
            session = await self._existing(asked)
            after = await self._end_of_history(session)
            conversation = await self._open(session)
        cost = session.usage.cost_usd or 0.0
        answer = opened(session, conversation.settings.choices)
        return Answered(answer, lambda: conversation.follow(after, session.event_count, cost))

    async def list_sessions(self, asked: frames.ListSessions) -> ListedSessions:
        page = await self._operations.list(asked.cursor)
        shown = (
            ListedSession(
                session_id=session.session_id,
                cwd=session.directory,
                title=session.title,
                updated_at=session.updated_at,
                meta={"sandbox-agent": {"agent": session.agent, "state": session.state}},
            )
            for session in page.sessions
            if self.agent in (None, session.agent) and asked.cwd in (None, session.directory)
        )
        return ListedSessions(sessions=tuple(shown), next_cursor=page.next_cursor)

    async def close_session(self, asked: frames.OnSession) -> Empty:
        """End its turn and stop its process. It can be loaded again."""
        await self._cancel(asked.session_id)
        if conversation := self._conversations.pop(asked.session_id, None):
            await conversation.until_answered()
            conversation.close()
        await self._operations.suspend(asked.session_id)
        return Empty()

    async def delete_session(self, asked: frames.OnSession) -> Empty:
        await self._operations.delete(asked.session_id)
        if conversation := self._conversations.pop(asked.session_id, None):
            conversation.close()
        return Empty()

    async def prompt(self, asked: frames.Prompt) -> Prompted:
        return await (await self._conversation(asked.session_id)).prompt(asked.prompt)

    async def set_mode(self, asked: frames.SetMode) -> Answered:
        conversation = await self._conversation(asked.session_id)
        change = change_of_mode(asked.mode_id, conversation.settings.choices)
        session = await self._operations.update(asked.session_id, change)
        return Answered(Empty(), lambda: self._rpc.spawn(conversation.show_settings(session)))

    async def set_option(self, asked: frames.SetOption) -> OptionsSet:
        conversation = await self._conversation(asked.session_id)
        change = change_of(asked.config_id, asked.value)
        session = await self._operations.update(asked.session_id, change)
        return OptionsSet(config_options=conversation.settings.answered(session))

    # -- conversations ------------------------------------------------------------------------

    async def _conversation(self, session_id: str) -> Conversation:
        """A session of this connection. One that it has not opened is resumed: the client knows it from another connection."""
        # Another session may be opening, which can take long; an open one does not wait for it.
        if conversation := self._conversations.get(session_id):
            return conversation
        async with self._opening:
            if conversation := self._conversations.get(session_id):
                return conversation
            session = await self._operations.get(session_id)
            after = await self._end_of_history(session)
            conversation = await self._open(session)
            conversation.follow(after, session.event_count, session.usage.cost_usd or 0.0)
            return conversation

    async def _open(self, session: SessionInfo) -> Conversation:
        """A conversation that does not follow its log yet. It replaces an earlier one of the same session."""
        if earlier := self._conversations.get(session.session_id):
            if earlier.has_prompts:
                raise InvalidRequest("the session is open and working on a prompt", field="sessionId")
            earlier.close()
        else:
            self._require_room()
        choices = await self._choices(session)
        conversation = Conversation(self, self._operations, session, choices)
        self._conversations[session.session_id] = conversation
        return conversation

    def _require_room(self) -> None:
        if len(self._conversations) >= MAX_SESSIONS:
            raise InvalidRequest(f"a connection may have at most {MAX_SESSIONS} open sessions: close one")

    async def _choices(self, session: SessionInfo) -> Choices:
        try:
            return await self._operations.choices(session.agent, session.directory)
        except SandboxAgentError as problem:
            # The session works without it, with fewer choices.
            logger.info("no models of %s: %s", session.agent, problem)
            return Choices()

    async def _existing(self, asked: frames.OpenSession) -> SessionInfo:
        session = await self._operations.get(asked.session_id)
        if os.path.normpath(asked.cwd) != os.path.normpath(session.directory):
            raise InvalidRequest(f"the session works in {session.directory}, not in {asked.cwd}", field="cwd")
        return session

    async def _end_of_history(self, session: SessionInfo) -> int:
        """The sequence after which a client that knows the session's history reads on: the start of an open turn, or the end."""
        if session.state in ("idle", "ended"):
            return session.event_count
        start = session.event_count
        events = self._operations.events(session.session_id, 0)
        try:
            async for event in events:
                if isinstance(event.data, TurnStarted):
                    start = event.sequence - 1
                elif isinstance(event.data, TurnEnded):
                    start = session.event_count
                if event.sequence >= session.event_count:
                    break
        finally:
            await events.aclose()
        return start


class Method(Struct, frozen=True):
    params: Any  # the struct of its parameters
    handler: Callable[[Connection, Any], Awaitable[object]]


METHODS: dict[str, Method] = {
    "initialize": Method(frames.Initialize, Connection.initialize),
    "authenticate": Method(frames.Authenticate, Connection.authenticate),
    "session/new": Method(frames.NewSession, Connection.new_session),
    "session/load": Method(frames.OpenSession, Connection.load_session),
    "session/resume": Method(frames.OpenSession, Connection.resume_session),
    "session/list": Method(frames.ListSessions, Connection.list_sessions),
    "session/close": Method(frames.OnSession, Connection.close_session),
    "session/delete": Method(frames.OnSession, Connection.delete_session),
    "session/prompt": Method(frames.Prompt, Connection.prompt),
    "session/set_mode": Method(frames.SetMode, Connection.set_mode),
    "session/set_config_option": Method(frames.SetOption, Connection.set_option),
}

ON_CONNECTION = {"initialize", "authenticate", "session/new", "session/load", "session/list"}
"""Methods whose answers belong to the connection, as in the draft of the remote transport."""


def _require_absolute(cwd: str) -> None:
    if not os.path.isabs(cwd):
        raise InvalidRequest("`cwd` must be an absolute path", field="cwd")


def _mcp_servers(servers: tuple[frames.McpServer, ...]) -> dict[str, McpServer]:
    return {
        server.name: McpServer(
            server.command,
            server.args,
            {pair.name: pair.value for pair in server.env},
            server.url,
            {pair.name: pair.value for pair in server.headers},
        )
        for server in servers
    }
