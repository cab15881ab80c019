"""ACP over HTTP and WebSocket, at `/v1/acp`.

`/v1/acp` is the protocol's own transport, a draft: each POST is a message, answers and updates come on streams, one for the
connection and one for each session. `/v1/acp/{server}` is the transport of the published client `sandbox-agent` 0.4: the client
names the connection, and everything comes on one stream with numbers.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from typing import Any

import msgspec
from msgspec import Struct

from ...agents.jsonrpc import Call, Note, Reply, read
from ...agents.nesting import shallow
from ...errors import (
    Conflict,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    RateLimited,
)
from ...ops.operation import Stream
from ...runtime.daemon import Daemon
from ..exchange import DoorAnswer, DoorRequest, Socket
from .clients import Clients, RemoteClient
from .connection import Connection
from .frames import OnSession
from .local import LocalOperations

ROOT = "/v1/acp"
CONNECTION_ID, SESSION_ID = b"acp-connection-id", b"acp-session-id"
JSON = (b"content-type", b"application/json")
KEPT_BYTES = 1 << 20
"""How much of its stream a published client can read again after a lost connection."""

Message = Call | Note | Reply

_SERVER = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
_PUBLISHED = re.compile(r"sdk-(.+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The name that a published client gives its connection."""


class AcpDoor:
    def __init__(self, daemon: Daemon) -> None:
        self._operations = LocalOperations(daemon)
        self._clients = Clients(daemon.spawn)
        self._servers = Clients(daemon.spawn)

    async def answer(self, request: DoorRequest) -> DoorAnswer | Stream:
        tail = request.path.removeprefix(ROOT)
        if not tail:
            return await self._at_root(request)
        server = tail.removeprefix("/")
        if not _SERVER.fullmatch(server):
            raise NotFound(f"there is nothing at {request.path}")
        return await self._at_server(server, request)

    async def converse(self, socket: Socket, agent: str | None) -> None:
        """A client on a WebSocket: one message per frame."""
        connection = Connection(self._operations, _SocketPeer(socket), agent)
        try:
            while (frame := await socket.receive()) is not None:
                await connection.receive(frame.encode() if isinstance(frame, str) else frame)
        finally:
            await connection.close()

    # -- the protocol's own transport ---------------------------------------------------------

    async def _at_root(self, request: DoorRequest) -> DoorAnswer | Stream:
        match request.method:
            case "POST":
                return await self._post(request)
            case "GET" if request.headers.get(CONNECTION_ID) or _wants_stream(request):
                return self._stream(request)
            case "GET":
                return self._listed()
            case "DELETE":
                self._clients.remove(self._known(request)[0])
                return DoorAnswer(202)
        raise MethodNotAllowed(f"{ROOT} supports GET, POST, DELETE", allow=["GET", "POST", "DELETE"])

    async def _post(self, request: DoorRequest) -> DoorAnswer:
        frame = await _json_body(request)
        message = _message_in(frame)
        if not request.headers.get(CONNECTION_ID):
            if not isinstance(message, Call) or message.method != "initialize":
                raise InvalidRequest(
                    "the first message is `initialize`; then send `Acp-Connection-Id`",
                    field="Acp-Connection-Id",
                )
            return await self._initialize(request, frame)
        _, client = self._known(request)
        session_id, named = _session_in(frame), request.header(SESSION_ID)
        # Not every client names the session of its first message about it.
        if session_id is not None and named and named != session_id:
            raise InvalidRequest(
                "`Acp-Session-Id` must name the session of the message", field="Acp-Session-Id"
            )
        return await _received(client, frame, message)

    async def _initialize(self, request: DoorRequest, frame: bytes) -> DoorAnswer:
        id = secrets.token_hex(16)
        client = RemoteClient(self._operations, request.query.get("agent"))
        self._clients.add(id, client)
        await client.connection.receive(frame)
        body = await client.outbox().take()
        exposed = (b"access-control-expose-headers", b"Acp-Connection-Id")
        return DoorAnswer(200, body, (JSON, (CONNECTION_ID, id.encode()), exposed))

    def _stream(self, request: DoorRequest) -> Stream:
        if not _wants_stream(request):
            raise InvalidRequest("a stream is `Accept: text/event-stream`", field="Accept")
        _, client = self._known(request)
        outbox = client.outbox(request.header(SESSION_ID) or None)
        outbox.require_free()
        return Stream(outbox.frames(0, numbered=False))

    def _known(self, request: DoorRequest) -> tuple[str, RemoteClient]:
        id = request.header(CONNECTION_ID)
        if not id:
            raise InvalidRequest("`Acp-Connection-Id` is missing", field="Acp-Connection-Id")
        client = self._clients.find(id)
        if client is None:
            raise NotFound("there is no such connection: start again with `initialize`")
        return id, client

    # -- the transport of the published client ------------------------------------------------

    def _listed(self) -> DoorAnswer:
        servers = [
            _Server(server_id=id, agent=client.agent or "", created_at_ms=int(client.created_at * 1000))
            for id, client in self._servers
        ]
        return DoorAnswer(200, msgspec.json.encode(_Servers(servers)), (JSON,))

    async def _at_server(self, server: str, request: DoorRequest) -> DoorAnswer | Stream:
        match request.method:
            case "POST":
                return await self._post_to_server(server, request)
            case "GET":
                # It may come before the first message, and after a restart of the daemon.
                outbox = self._server(server).outbox()
                return Stream(outbox.frames(_last_seen(request), numbered=True))
            case "DELETE":
                self._servers.remove(server)
                return DoorAnswer(204)
        raise MethodNotAllowed(f"{request.path} supports GET, POST, DELETE", allow=["GET", "POST", "DELETE"])

    async def _post_to_server(self, server: str, request: DoorRequest) -> DoorAnswer:
        frame = await _json_body(request)
        client = self._server(server)
        if agent := request.query.get("agent") or (client.agent is None and _agent_in(server)):
            if client.agent not in (None, agent):
                raise Conflict(f"{server} is a server of {client.agent}", serverId=server)
            client.name_agent(agent)
        # The answer comes on the stream, after the updates before it: two responses would have no order.
        return await _received(client, frame, _message_in(frame))

    def _server(self, server: str) -> RemoteClient:
        client = self._servers.find(server)
        if client is None:
            client = RemoteClient(self._operations, None, kept_bytes=KEPT_BYTES)
            self._servers.add(server, client)
        return client


def _agent_in(server: str) -> str | None:
    """The agent that a published client means: it says so only once, and the daemon may have been restarted since."""
    found = _PUBLISHED.fullmatch(server)
    return found[1] if found else None


class _Server(Struct, frozen=True, rename="camel"):
    server_id: str
    agent: str
    created_at_ms: int


class _Servers(Struct, frozen=True):
    servers: list[_Server]


class _SocketPeer:
    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    async def send(self, message: bytes, session_id: str | None) -> None:
        # A client that is gone is noticed by the reader of the socket.
        with contextlib.suppress(OSError, RuntimeError):
            await self._socket.send_text(message.decode())


async def _received(client: RemoteClient, frame: bytes, message: Message | None) -> DoorAnswer:
    if client.connection.is_busy and not isinstance(message, Reply):
        # What the connection says would have to wait until the client reads its streams.
        raise RateLimited("too many requests of this connection are open", retryAfter=1)
    await client.connection.receive(frame)
    return DoorAnswer(202)


def _wants_stream(request: DoorRequest) -> bool:
    return "text/event-stream" in request.header(b"accept")


async def _json_body(request: DoorRequest) -> bytes:
    """A single JSON object."""
    frame = await request.json_body()
    try:
        message = _outline(frame)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"the body is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise InvalidRequest("the body must be one JSON-RPC message")
    return frame


def _outline(frame: bytes) -> Any:
    """The JSON, down to where it is nested too deep."""
    try:
        return msgspec.json.decode(frame)
    except RecursionError:
        return msgspec.json.decode(shallow(frame))


def _message_in(frame: bytes) -> Message | None:
    """None if it is not JSON-RPC, or nested too deep: the connection says what is wrong."""
    try:
        return read(frame)
    except (msgspec.DecodeError, RecursionError):
        return None


class _Params(Struct, frozen=True):
    params: OnSession | None = None


def _session_in(frame: bytes) -> str | None:
    """The session that a message names in its parameters."""
    try:
        message = msgspec.json.decode(frame, type=_Params)
    except (msgspec.DecodeError, RecursionError):
        return None
    return message.params.session_id if message.params else None


def _last_seen(request: DoorRequest) -> int:
    text = request.header(b"last-event-id")
    return int(text) if text.isdecimal() and len(text) < 18 else 0
