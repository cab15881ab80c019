"""MCP over HTTP, at `/mcp`: each POST is one message, and its response has the answer. There are no sessions of the transport."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from ...agents.jsonrpc import Call, RpcError, read
from ...errors import InvalidRequest, MethodNotAllowed
from ...ops.delegation import Lines
from ...ops.operation import Stream
from ...runtime.daemon import Daemon
from ..exchange import DoorAnswer, DoorRequest
from .callers import Client, SessionAgent
from .frames import HEADER_MISMATCH, CallTool
from .lines import converse
from .reporting import messages_of
from .server import Server, refusal
from .work import Starts, Work

JSON = (b"content-type", b"application/json")
IDEMPOTENCY_KEY = b"idempotency-key"
MAX_KEY = 255
PING_TICKS = 15


class McpDoor:
    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._starts = Starts(daemon)

    async def answer(self, request: DoorRequest) -> DoorAnswer | Stream:
        match request.method:
            case "POST":
                return await self._post(request)
            case "DELETE":
                return DoorAnswer(204)  # a client ends a session of the transport that it never had
        # A GET would wait for messages of ours, which we never send.
        raise MethodNotAllowed(f"{request.path} supports POST, DELETE", allow=["POST", "DELETE"])

    async def welcome(self, session_id: str, lines: Lines) -> None:
        """Serve the agent of a session until it leaves."""
        await converse(
            Server(Work(self._daemon, SessionAgent(self._daemon, session_id), self._starts)), lines
        )

    async def _post(self, request: DoorRequest) -> DoorAnswer | Stream:
        frame = await request.json_body()
        key = request.header(IDEMPOTENCY_KEY) or None
        if key is not None and len(key) > MAX_KEY:
            raise InvalidRequest(
                f"`Idempotency-Key` has more than {MAX_KEY} characters", field="Idempotency-Key"
            )
        try:
            call = read(frame)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidRequest(f"the body is not a JSON-RPC message: {error}") from None
        if not isinstance(call, Call):
            return DoorAnswer(202)  # nobody waits here for what a notification could cancel
        if mismatch := _mismatch(request, call):
            return DoorAnswer(400, refusal(call, RpcError(mismatch, HEADER_MISMATCH)), (JSON,))
        client = Client(self._daemon, request.query.get("agent"), request.query.get("directory"))
        server = Server(Work(self._daemon, client, self._starts))
        if call.method == "tools/call" and "text/event-stream" in request.header(b"accept"):
            return Stream(_frames(server, call, key))
        return DoorAnswer(200, await server.answer(call, key, lambda _: None), (JSON,))


def _mismatch(request: DoorRequest, call: Call) -> str | None:
    """A proxy decides by the headers, so they must say what the message says."""
    if (method := request.header(b"mcp-method")) and method != call.method:
        return f"the header Mcp-Method is {method}, the message's method is {call.method}"
    if (name := request.header(b"mcp-name")) and call.method == "tools/call":
        try:
            called = msgspec.json.decode(call.params, type=CallTool).name
        except (msgspec.DecodeError, RecursionError):
            return None  # refused with a better reason
        if name != called:
            return f"the header Mcp-Name is {name}, the message calls {called}"
    return None


async def _frames(server: Server, call: Call, key: str | None) -> AsyncGenerator[bytes | None, None]:
    quiet = 0
    async with aclosing(messages_of(server, call, key)) as messages:
        async for message in messages:
            quiet += 1
            if message is not None:
                yield b"event: message\ndata: %b\n\n" % message
            elif quiet % PING_TICKS == 0:
                yield None
