"""The fleet's address: the API of the daemons, with sandboxes that start when they are needed.

Every request is passed on to the gateway, which can read every session and hands commands to other nodes by way of the log. Three
kinds concern a sandbox that may not run:

- A new session gets the sandbox it names in `node`, or one of its own. The sandbox is started first.
- A request that names a `node` in its query goes to that sandbox.
- A request that a node refuses with 503 or 409 and the name of another `node` was not carried out. That sandbox is started if it
  belongs to this fleet, and gets the request.

The nodes check tokens, not the front: it starts a sandbox only after a node has accepted the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar
from urllib.parse import parse_qs, quote

import httpx2
import msgspec
from msgspec import Struct

from ..client.failures import ClientError, error_of_answer
from ..errors import (
    UNEXPECTED,
    Conflict,
    Internal,
    InvalidRequest,
    PayloadTooLarge,
    SandboxAgentError,
    StreamError,
    Unavailable,
)
from ..providers.provider import Sandbox, checked_name
from ..schema.nodes import NodeList
from .asgi import Headers, Receive, Scope, Send, problem_headers
from .fleet import Fleet

logger = logging.getLogger("sandbox_agent.fleet")

Found = TypeVar("Found")

MAX_REPEATED_BYTES = 2 << 20
"""Larger bodies are passed on as they arrive, so they cannot be sent to a second node."""
MAX_ANSWER_BYTES = 1 << 20
"""The limit for answers that the front reads itself."""
MAX_LOOKED_UP_BYTES = 64 << 20
"""The limit for what it looks up. The list of nodes names every sandbox that ever was."""
BODY_SECONDS = 60.0
"""How long a client may take for a body, or for the part of it that is held."""
TRIES = 3
TIMEOUTS = {"connect": 10.0, "write": 60.0, "pool": 10.0, "read": None}
"""Nodes limit their own work; streams may be silent between their pings."""

OF_THE_CONNECTION = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"te", b"trailer"),
        *(b"transfer-encoding", b"upgrade", b"proxy-connection", b"expect"),
    }
)
PROVES_THE_CLIENT = frozenset({b"authorization", b"x-sandbox-token", b"host"})
_CREATE = re.compile(r"/v1/sessions(?:/(?P<session>[^/]+))?")
_OWN_NAME = re.compile(r"[A-Za-z0-9._-]{1,60}", re.ASCII)


class Wanted(Struct, frozen=True):
    """The part of a create request that concerns the fleet."""

    node: str | None = None


class Home(Struct, frozen=True):
    """The part of a session that concerns the fleet."""

    node: str | None = None


class Refusal(Struct, frozen=True):
    """The part of a problem that concerns the fleet."""

    node: str | None = None
    outcome: str | None = None


class Gone(Exception):
    """The client has disconnected."""


class Request:
    """A request of a client. Its body is held if it is small enough to be sent twice."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        self.query = parse_qs(scope["query_string"].decode("latin-1"))
        self.headers: Headers = [pair for pair in scope["headers"] if pair[0] not in OF_THE_CONNECTION]
        self.created = _CREATE.fullmatch(self.path) if self.method == "POST" else None
        """Says which session is created, if one is."""
        self.used = contextlib.ExitStack()
        """The sandboxes that this request keeps from being idle."""
        self._receive = receive
        self.body = b""
        self.is_whole = False

    async def read(self) -> None:
        parts = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while not self.is_whole and len(parts) <= MAX_REPEATED_BYTES:
                    parts += await self._next()
        except TimeoutError:
            raise InvalidRequest("the body did not arrive in time") from None
        self.body = bytes(parts)

    async def _next(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise Gone
        self.is_whole = not message.get("more_body", False)
        body: bytes = message.get("body", b"")
        return body

    async def content(self) -> AsyncIterator[bytes]:
        if self.body:
            yield self.body
        while not self.is_whole:
            yield await self._next()

    async def disconnected(self) -> None:
        """Wait until the client disconnects. Only after the whole body was read."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def at(self, sandbox: Sandbox) -> httpx2.Request:
        assert sandbox.endpoint is not None
        url = httpx2.URL(sandbox.endpoint).copy_with(raw_path=self.target)
        has_length = any(name == b"content-length" for name, _ in self.headers)
        is_empty = self.is_whole and not self.body
        chunked = [] if has_length or is_empty else [(b"transfer-encoding", b"chunked")]
        return _request(self.method, url, [*self.headers, *chunked], self.content())

    def look_up(self, gateway: Sandbox, path: str) -> httpx2.Request:
        """A request that the front makes itself, with the client's token."""
        url = httpx2.URL(f"{gateway.endpoint}{path}")
        headers = [pair for pair in self.headers if pair[0] in PROVES_THE_CLIENT]
        if (token := self.query.get("access_token")) and self.method == "GET":
            headers.append((b"x-sandbox-token", token[-1].encode()))
        return _request("GET", url, headers, _nothing())


class Front:
    """The ASGI application."""

    def __init__(self, fleet: Fleet, transport: httpx2.AsyncHTTPTransport) -> None:
        self._fleet = fleet
        self._transport = transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._converse(scope, receive, send)
            return
        request = Request(scope, receive)
        with request.used, contextlib.suppress(Gone):
            try:
                await self._answer(request, send)
            except SandboxAgentError as error:
                await _send_problem(send, error, request.path)

    async def _answer(self, request: Request, send: Send) -> None:
        try:
            await request.read()
            response = await self._response(request)
        except ClientError as error:
            raise Unavailable(error.detail) from None
        except (SandboxAgentError, Gone):
            raise
        except Exception:
            logger.exception("%s %s failed", request.method, request.path)
            raise Internal(UNEXPECTED) from None
        try:
            await _pass_on(response, request, send)
        finally:
            await response.aclose()

    async def _response(self, request: Request) -> httpx2.Response:
        """The response of a node. A client that leaves is not waited for, unless its body is still on its way."""
        if not request.is_whole:
            return await self._routed(request)
        asking = asyncio.ensure_future(self._routed(request))
        leaving = asyncio.ensure_future(request.disconnected())
        try:
            await asyncio.wait({asking, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            raise Gone
        finally:
            for task in (asking, leaving):
                task.cancel()
            await asyncio.gather(asking, leaving, return_exceptions=True)

    async def _routed(self, request: Request) -> httpx2.Response:
        gateway = await self._fleet.started(self._fleet.gateway)
        name = self._named(request) or await self._home(request, gateway)
        target = gateway if name is None else await self._target(request, gateway, name)
        return await self._ask(request, target)

    async def _converse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A WebSocket starts no sandbox: a terminal belongs to a process, and its sandbox runs."""
        from . import tunnel

        named = parse_qs(scope["query_string"].decode("latin-1")).get("node")
        try:
            sandbox = await self._fleet.started(self._fleet.gateway)
            if named and (ours := await self._fleet.get(checked_name(named[-1]))) and ours.endpoint:
                sandbox = ours
            await tunnel.converse(scope, receive, send, sandbox)
        except SandboxAgentError as error:
            await tunnel.refuse(send, error)

    def _named(self, request: Request) -> str | None:
        """The sandbox that a request is for; None if any node can take it."""
        if named := request.query.get("node"):
            return checked_name(named[-1])
        if request.created is None:
            return None
        if not request.is_whole:
            raise PayloadTooLarge(f"a request for a session has at most {MAX_REPEATED_BYTES} bytes")
        try:
            wanted = msgspec.json.decode(request.body, type=Wanted)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None  # a node says what is wrong with it
        if wanted.node is not None:
            return checked_name(wanted.node)
        return own_name(request.created["session"])

    async def _home(self, request: Request, gateway: Sandbox) -> str | None:
        """The sandbox of an upload's session. A large body is sent once, so it must not go to a node that refuses it."""
        session_id = request.query.get("sessionId") or request.query.get("session_id")
        if request.is_whole or not session_id:
            return None
        path = f"/v1/sessions/{quote(session_id[-1], safe='')}"
        return (await self._look_up(request, gateway, path, Home)).node

    async def _target(self, request: Request, gateway: Sandbox, name: str) -> Sandbox:
        """The sandbox of this name, started if necessary. Raises if the client may not ask."""
        nodes = (await self._look_up(request, gateway, "/v1/nodes", NodeList)).nodes
        ours = await self._fleet.get(name)
        if ours is None:
            if any(node.name == name and node.state == "live" for node in nodes):
                return gateway  # it belongs to another fleet, or to nobody; the gateway passes it on
            if request.created is None:
                return gateway  # which says that there is no such node
            if any(node.name == name for node in nodes):
                # It has files somewhere. A second sandbox of its name, without them, would take over its sessions.
                raise Conflict(
                    f"node {name} is known, but this fleet has no files of it: use another name, or "
                    f"`sandbox-agent fleet start {name}` if its files are gone for good",
                    node=name,
                )
        return await self._started(request, name)

    async def _started(self, request: Request, name: str) -> Sandbox:
        request.used.enter_context(self._fleet.used(name))
        return await self._fleet.started(name)

    async def _look_up(self, request: Request, gateway: Sandbox, path: str, kind: type[Found]) -> Found:
        """Ask the gateway with the client's own token, which this also checks."""
        answer = await self._sent(request.look_up(gateway, path), gateway)
        content = await _whole(answer, MAX_LOOKED_UP_BYTES)
        if answer.status_code != 200:
            error = error_of_answer(answer.status_code, content, f"node {gateway.name}")
            error.instance = None
            raise error
        return msgspec.json.decode(content, type=kind)

    async def _ask(self, request: Request, target: Sandbox) -> httpx2.Response:
        for _ in range(TRIES):
            response = await self._sent(request.at(target), target)
            if response.status_code not in (409, 503):
                break
            content = await _whole(response)
            response = _again(response, content)
            other = await self._refused_for(request, content, target)
            if other is None or not request.is_whole:
                break
            target = other
        return response

    async def _refused_for(self, request: Request, content: bytes, target: Sandbox) -> Sandbox | None:
        """The sandbox to ask instead, now running; None if the refusal is final."""
        try:
            refusal = msgspec.json.decode(content, type=Refusal)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        # What may have been carried out is not sent again: that is for the client to decide.
        if refusal.node in (None, target.name) or refusal.outcome is not None:
            return None
        if refusal.node is None or await self._fleet.get(refusal.node) is None:
            return None
        return await self._started(request, refusal.node)

    async def _sent(self, request: httpx2.Request, target: Sandbox) -> httpx2.Response:
        try:
            return await self._transport.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            raise Unavailable(
                f"node {target.name} cannot be reached", retryAfter=1, node=target.name
            ) from None
        except httpx2.HTTPError as error:
            raise StreamError(
                f"node {target.name} closed the connection: {error or type(error).__name__}; the request may have been carried out",
                node=target.name,
                outcome="unknown",
            ) from None


def own_name(session_id: str | None) -> str:
    """The sandbox of a session that names none. The same for the same id, so a repeated request starts no second one."""
    if session_id is None:
        return f"s-{secrets.token_hex(8)}"
    if _OWN_NAME.fullmatch(session_id):
        return f"s-{session_id}"
    return f"s-{hashlib.sha256(session_id.encode()).hexdigest()[:32]}"


def _request(method: str, url: httpx2.URL, headers: Headers, content: AsyncIterator[bytes]) -> httpx2.Request:
    return httpx2.Request(
        method, url, headers=headers, stream=_Content(content), extensions={"timeout": TIMEOUTS}
    )


class _Content(httpx2.AsyncByteStream):
    def __init__(self, parts: AsyncIterator[bytes]) -> None:
        self._parts = parts

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._parts:
            yield part


async def _nothing() -> AsyncGenerator[bytes, None]:
    return
    yield b""


async def _whole(response: httpx2.Response, most: int = MAX_ANSWER_BYTES) -> bytes:
    parts = bytearray()
    try:
        async for part in response.aiter_raw():
            parts += part
            if len(parts) > most:
                raise StreamError("a node's answer is larger than expected")
    finally:
        await response.aclose()
    return bytes(parts)


def _again(response: httpx2.Response, content: bytes) -> httpx2.Response:
    """The same response, with what was already read of it."""
    return httpx2.Response(response.status_code, headers=response.headers, stream=httpx2.ByteStream(content))


async def _pass_on(response: httpx2.Response, request: Request, send: Send) -> None:
    """Send a response as it arrives, until it ends or the client leaves."""
    headers = [pair for pair in response.headers.raw if pair[0].lower() not in OF_THE_CONNECTION]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    sending = asyncio.ensure_future(_send_parts(response, send))
    leaving = asyncio.ensure_future(request.disconnected())
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if sending.done():
            sending.result()
    finally:
        for task in (sending, leaving):
            task.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)


async def _send_parts(response: httpx2.Response, send: Send) -> None:
    # What fails here ends the connection, so that the reader sees that something is missing.
    async for part in response.stream:  # type: ignore[union-attr]  # always asynchronous here
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body"})


async def _send_problem(send: Send, error: SandboxAgentError, path: str) -> None:
    headers, body = problem_headers(error, path)
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
