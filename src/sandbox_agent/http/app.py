"""The application: finds the operation, asks the gate, calls the handler, sends the response.

Plain ASGI, because routing dominates the cost of a request. This is the only place that turns errors into problems.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from typing import TYPE_CHECKING

from ..config import Config
from ..doors.exchange import DoorRequest
from ..errors import (
    UNEXPECTED,
    Internal,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    SandboxAgentError,
    TokenInvalid,
)
from ..ops import OPERATIONS
from ..ops.desktop import LIVE_VIEW, live_view
from ..ops.operation import Dialogue, Download, Operation, Stream, Watched
from ..runtime.daemon import Daemon
from .answers import BrokenOff, send_bytes, send_download, send_problem, send_result, send_stream
from .asgi import Message, Receive, Scope, Send
from .gate import Gate, HeaderList, Headers, check_doubled
from .inspector import ROOT, Inspector
from .openai import PREFIX as OPENAI
from .openai import OpenAI
from .opencode import PREFIX as OPENCODE
from .opencode import OpenCode
from .pages import Page, sign_in_page
from .patience import TRUST
from .requests import ATTACHMENT_FACTOR, query_of, read_body, request_of
from .websocket import AsgiSocket

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..doors.acp.remote import AcpDoor
    from ..doors.mcp.door import McpDoor
    from ..ops.delegation import Lines

logger = logging.getLogger("sandbox_agent.http")

Methods = dict[str, Operation]
ACP_ROOT = "/v1/acp"
MCP_PATH = "/mcp"
LEAD_TO_INSPECTOR = ("/", ROOT.rstrip("/"))


class App:
    """One ASGI application for one daemon."""

    def __init__(self, daemon: Daemon, config: Config, token: str | None, pages: dict[str, Page]) -> None:
        self._daemon = daemon
        self._max_body = config.max_body_bytes
        self._max_upload = config.max_upload_bytes
        self._gate = Gate(config, token)
        self._pages = pages
        self._inspector = Inspector()
        self._opencode = OpenCode(daemon, self._gate, config.max_body_bytes)
        self._openai = OpenAI(daemon, self._gate, config.max_body_bytes)
        self._fixed, self._patterns = _routes()
        self._acp_door: AcpDoor | None = None
        self._mcp_door: McpDoor | None = None
        daemon.sessions.welcome = self._welcome

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._converse(scope, receive, send)
            return
        headers: Headers = dict(scope["headers"])
        cors: HeaderList = []
        try:
            if len(headers) < len(scope["headers"]):
                check_doubled(scope["headers"])
            # Check the origin first: an allowed page may read that its Host is wrong.
            if not scope["path"].startswith(ROOT) and scope["path"] not in LEAD_TO_INSPECTOR:
                cors = self._gate.check_site(headers)
            self._gate.check_host(headers)
            if self._gate.is_preflight(scope["method"], headers):
                await send_result(send, 204, None, [*cors, *self._gate.preflight()])
                return
            stream = await self._answer(scope, headers, receive, send, cors)
            if stream is not None:
                del headers  # release the request while its stream runs
                await send_stream(scope, receive, send, stream, cors)
        except SandboxAgentError as error:
            await send_problem(send, error, scope["path"], cors)
        except BrokenOff as error:
            # The server logs it and closes the connection, so the reader sees that the stream is incomplete.
            raise BrokenOff(f"{scope['method']} {scope['path']} failed midway") from error.__cause__
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            await send_problem(send, Internal(UNEXPECTED), scope["path"], cors)

    async def _answer(
        self, scope: Scope, headers: Headers, receive: Receive, send: Send, cors: HeaderList
    ) -> Stream | None:
        """Send the response, or return it if it is a stream."""
        method, path = scope["method"], scope["path"]
        leads_there = path in LEAD_TO_INSPECTOR and method in ("GET", "HEAD")
        if path.startswith(ROOT) or leads_there:
            await self._send_inspector(path, method, headers, send)
            return None
        if is_acp(path):
            return await self._enter(self._acp, scope, headers, receive, send, cors)
        if path == MCP_PATH:
            return await self._enter(self._mcp, scope, headers, receive, send, cors)
        if path.startswith(OPENCODE):
            return await self._opencode.answer(scope, headers, receive, send, cors)
        if path.startswith(OPENAI):
            return await self._openai.answer(scope, headers, receive, send, cors)
        methods, path_values = self._find(path)
        page = None if methods else self._pages.get(path)
        if page is not None:
            await self._send_page(page, scope, headers, send, cors)
            return None
        operation = methods.get(method) if methods else None
        if operation is not None and operation.public:
            query: dict[str, str] = {}
        else:
            query = query_of(scope)
            self._check_token(scope, headers, query, operation)
        if path == LIVE_VIEW:
            raise InvalidRequest(f"{path} is a WebSocket: send an upgrade request")
        if methods is None:
            raise NotFound(f"there is nothing at {path}")
        if operation is None:
            raise MethodNotAllowed(f"{path} supports {', '.join(methods)}", allow=list(methods))
        # Read no body before the token is checked.
        limit = 0 if operation.public else self._max_body
        if operation.response is Dialogue:
            raise InvalidRequest(f"{path} is a WebSocket: send an upgrade request")
        request = await request_of(operation, path_values, query, headers, receive, limit, self._max_upload)
        result = await operation.handler(self._daemon, request)
        if isinstance(result, Watched):
            wants_stream = b"text/event-stream" in headers.get(b"accept", b"")
            result = result.stream() if wants_stream else await asyncio.shield(result.result)
        if isinstance(result, Stream):
            return result
        if isinstance(result, Download):
            await send_download(receive, send, result, cors)
            return None
        status = 204 if result is None else operation.status
        await send_result(send, status, result, cors)
        return None

    # -- doors --------------------------------------------------------------------------------

    async def _enter(
        self,
        door: Callable[[], AcpDoor | McpDoor],
        scope: Scope,
        headers: Headers,
        receive: Receive,
        send: Send,
        cors: HeaderList,
    ) -> Stream | None:
        query = query_of(scope)
        self._check_token(scope, headers, query, None)
        limit = self._max_body * ATTACHMENT_FACTOR  # a message may contain images
        request = DoorRequest(
            scope["method"], scope["path"], query, headers, lambda: read_body(headers, receive, limit)
        )
        answer = await door().answer(request)
        if isinstance(answer, Stream):
            return answer
        if answer.body:
            await send_bytes(send, answer.status, answer.body, [*cors, *answer.headers])
        else:
            await send_result(send, answer.status, None, [*cors, *answer.headers])
        return None

    def _acp(self) -> AcpDoor:
        """Imported by the first request for it: a door that nobody uses costs nothing."""
        if self._acp_door is None:
            from ..doors.acp.remote import AcpDoor

            self._acp_door = AcpDoor(self._daemon)
        return self._acp_door

    def _mcp(self) -> McpDoor:
        if self._mcp_door is None:
            from ..doors.mcp.door import McpDoor

            self._mcp_door = McpDoor(self._daemon)
        return self._mcp_door

    async def _welcome(self, session_id: str, lines: Lines) -> None:
        """The agent of a session gives work to others, through a socket instead of a request."""
        await self._mcp().welcome(session_id, lines)

    def _check_token(
        self,
        scope: Scope,
        headers: Headers,
        query: dict[str, str],
        operation: Operation | None,
        *,
        is_socket: bool = False,
    ) -> None:
        """A browser's EventSource and WebSocket cannot send headers: only there may the token be in the query."""
        in_query = None
        is_followed = operation is not None and operation.may_stream and query.get("follow") == "true"
        if is_socket or is_followed or (operation is not None and operation.response in (Stream, Dialogue)):
            in_query = query.pop("access_token", None)
        client = scope.get("client")
        self._gate.check_token(headers, in_query, client[0] if client else "")
        if TRUST in scope["extensions"]:
            scope["extensions"][TRUST]()

    # -- WebSockets ---------------------------------------------------------------------------

    def is_dialogue(self, path: str) -> bool:
        """Whether this path accepts WebSockets."""
        if path in (ACP_ROOT, LIVE_VIEW):
            return True
        operation = (self._find(path)[0] or {}).get("GET")
        return operation is not None and operation.response is Dialogue

    async def _converse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Until it is accepted, a WebSocket is refused like any other request."""
        await receive()

        async def refuse(message: Message) -> None:
            await send({**message, "type": f"websocket.{message['type']}"})

        socket = AsgiSocket(receive, send)
        try:
            query = self._check_upgrade(scope)
            if scope["path"] == ACP_ROOT:
                self._check_token(scope, dict(scope["headers"]), query, None, is_socket=True)
                await send({"type": "websocket.accept", "headers": [connection_header()]})
                await self._acp().converse(socket, query.get("agent"))
            elif scope["path"] == LIVE_VIEW:
                self._check_token(scope, dict(scope["headers"]), query, None, is_socket=True)
                viewer = live_view(self._daemon)
                await send({"type": "websocket.accept"})
                await viewer.run(socket)
            else:
                dialogue = await self._begin_dialogue(scope, query)
                await send({"type": "websocket.accept"})
                await dialogue.viewer.run(socket)
        except SandboxAgentError as error:
            await send_problem(refuse, error, scope["path"], [])
            return
        await socket.close()

    def _check_upgrade(self, scope: Scope) -> dict[str, str]:
        """Its query, if the request may come from where it comes from."""
        headers: Headers = dict(scope["headers"])
        check_doubled(scope["headers"])
        self._gate.check_site(headers)
        self._gate.check_host(headers)
        return query_of(scope)

    async def _begin_dialogue(self, scope: Scope, query: dict[str, str]) -> Dialogue:
        methods, values = self._find(scope["path"])
        operation = (methods or {})["GET"]
        self._check_token(scope, dict(scope["headers"]), query, operation)
        dialogue: Dialogue = await operation.handler(
            self._daemon, operation.parse({**values, **query}, strict=False)
        )
        return dialogue

    async def _send_page(
        self, page: Page, scope: Scope, headers: Headers, send: Send, cors: HeaderList
    ) -> None:
        """A browser without a token gets a form to enter it."""
        status, body, media_type = 200, b"", page.media_type
        try:
            if not page.public:
                self._check_token(scope, headers, query_of(scope), None)
        except TokenInvalid:
            if scope["method"] != "GET" or b"text/html" not in headers.get(b"accept", b""):
                raise
            status, body, media_type = 401, sign_in_page(), "text/html; charset=utf-8"
        if scope["method"] != "GET":
            raise MethodNotAllowed(f"{scope['path']} supports only GET", allow=["GET"])
        described = [*cors, (b"content-type", media_type.encode()), *PAGE_HEADERS]
        await send_bytes(send, status, body or page.render(), described)

    async def _send_inspector(self, path: str, method: str, headers: Headers, send: Send) -> None:
        """Public files: anyone may read them, including through a link from another site."""
        if path in LEAD_TO_INSPECTOR:
            # Temporary: another program may listen on this port later.
            await send_bytes(send, 307, b"", [(b"location", ROOT.encode()), (b"cache-control", b"no-cache")])
            return
        file = self._inspector.find(path)
        if file is None:
            raise NotFound(f"there is nothing at {path}")
        if method not in ("GET", "HEAD"):
            raise MethodNotAllowed(f"{path} supports only GET", allow=["GET", "HEAD"])
        body, described = file.answer(headers.get(b"accept-encoding", b""))
        if headers.get(b"if-none-match") == dict(described)[b"etag"]:
            kept = [(name, value) for name, value in described if name != b"content-encoding"]
            await send_result(send, 304, None, kept)
            return
        await send_bytes(send, 200, body, [(b"content-type", file.media_type.encode()), *described])

    def _find(self, path: str) -> tuple[Methods | None, dict[str, str]]:
        if methods := self._fixed.get(path):
            return methods, {}
        for pattern, methods in self._patterns:
            if found := pattern.fullmatch(path):
                return methods, found.groupdict()
        return None, {}


def is_acp(path: str) -> bool:
    return path == ACP_ROOT or path.startswith(f"{ACP_ROOT}/")


def connection_header() -> tuple[bytes, bytes]:
    """The id of a connection on a WebSocket. Nothing refers to it, but clients expect one."""
    return b"acp-connection-id", secrets.token_hex(16).encode()


PAGE_HEADERS: HeaderList = [
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
]


def _routes() -> tuple[dict[str, Methods], list[tuple[re.Pattern[str], Methods]]]:
    by_path: dict[str, Methods] = {}
    for operation in OPERATIONS.values():
        by_path.setdefault(operation.path, {})[operation.method] = operation
    fixed = {path: methods for path, methods in by_path.items() if "{" not in path}
    patterns = [
        (re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path)), methods)
        for path, methods in by_path.items()
        if "{" in path
    ]
    return fixed, patterns
