"""The OpenCode door over HTTP: its credentials, requests and responses.

OpenCode's clients send the token as the password of Basic credentials, or in the query as `auth_token`. Both are accepted only here.
Browsers send Basic credentials by themselves, so a request from a page of another site is refused unless its origin is allowed.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from ..errors import PermissionDenied, SandboxAgentError
from ..ops.operation import Stream
from .answers import send_result
from .asgi import Receive, Scope, Send
from .gate import Gate, HeaderList, Headers
from .patience import TRUST
from .requests import ATTACHMENT_FACTOR, query_of, read_body

if TYPE_CHECKING:
    from ..doors.opencode.door import Door
    from ..runtime.daemon import Daemon

PREFIX = "/opencode/"
AGENT = "@"
"""`/opencode/@claude/...` is the same door with another default agent."""


class OpenCode:
    def __init__(self, daemon: Daemon, gate: Gate, max_body: int) -> None:
        self._daemon = daemon
        self._gate = gate
        self._max_body = max_body
        self._door: Door | None = None

    async def answer(
        self, scope: Scope, headers: Headers, receive: Receive, send: Send, cors: HeaderList
    ) -> Stream | None:
        """Send the response, or return it if it is a stream."""
        # Loaded on first use: a door that is not used costs nothing.
        from ..doors.opencode.door import Door, Empty, as_opencode_error

        try:
            query = query_of(scope)
            self._check(scope, headers, query)
            if self._door is None:
                self._door = Door(self._daemon)
            door, path = self._door, "/" + scope["path"].removeprefix(PREFIX)
            if path.startswith(f"/{AGENT}"):
                agent, _, rest = path[2:].partition("/")
                door, path = door.for_agent(agent), f"/{rest}"

            async def body() -> bytes:
                # Images come inside the JSON.
                return await read_body(headers, receive, self._max_body * ATTACHMENT_FACTOR)

            async def gone() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass

            result = await door.answer(scope["method"], path, query, headers, body, gone)
        except SandboxAgentError as error:
            raise as_opencode_error(error) from None
        if isinstance(result, Stream):
            return result
        is_empty = isinstance(result, Empty)
        await send_result(send, 204 if is_empty else 200, None if is_empty else result, cors)
        return None

    def _check(self, scope: Scope, headers: Headers, query: dict[str, str]) -> None:
        if b"origin" not in headers and headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site"):
            raise PermissionDenied("a request from another site is refused")
        client = scope.get("client")
        token = _password(headers) or _password_in_query(query.pop("auth_token", ""))
        self._gate.check_token(headers, token, client[0] if client else "")
        if TRUST in scope["extensions"]:
            scope["extensions"][TRUST]()


def _password(headers: Headers) -> str | None:
    scheme, _, credentials = headers.get(b"authorization", b"").partition(b" ")
    return _decoded(credentials.strip()) if scheme.lower() == b"basic" else None


def _password_in_query(given: str) -> str | None:
    return _decoded(given.encode()) if given else None


def _decoded(credentials: bytes) -> str:
    """The password of `user:password` in base64. Anything else is a wrong password, not a missing one."""
    try:
        text = base64.b64decode(credentials, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return "?"
    return text.partition(":")[2] or "?"
