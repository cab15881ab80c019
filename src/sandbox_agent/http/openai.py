"""The OpenAI door over HTTP: its requests, responses and errors. Its clients send the token like all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..doors.exchange import DoorRequest
from ..errors import SandboxAgentError
from ..ops.operation import Stream
from .answers import send_bytes, send_problem
from .asgi import Receive, Scope, Send
from .gate import Gate, HeaderList, Headers
from .patience import TRUST
from .requests import ATTACHMENT_FACTOR, query_of, read_body

if TYPE_CHECKING:
    from ..doors.openai.door import Door
    from ..runtime.daemon import Daemon

PREFIX = "/openai/"


class OpenAI:
    def __init__(self, daemon: Daemon, gate: Gate, max_body: int) -> None:
        self._daemon = daemon
        self._gate = gate
        self._limit = max_body * ATTACHMENT_FACTOR  # images come inside the JSON
        self._door: Door | None = None

    async def answer(
        self, scope: Scope, headers: Headers, receive: Receive, send: Send, cors: HeaderList
    ) -> Stream | None:
        """Send the response, or return it if it is a stream."""
        # Loaded on first use: a door that is not used costs nothing.
        from ..doors.openai.errors import as_openai_error, retry_header

        async def gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        try:
            query = query_of(scope)
            client = scope.get("client")
            self._gate.check_token(headers, None, client[0] if client else "")
            if TRUST in scope["extensions"]:
                scope["extensions"][TRUST]()
            request = DoorRequest(
                scope["method"],
                scope["path"],
                query,
                headers,
                lambda: read_body(headers, receive, self._limit),
            )
            answer = await self._opened().answer(request, gone)
        except SandboxAgentError as error:
            described = [*cors, retry_header(error)]
            await send_problem(send, as_openai_error(error), scope["path"], described)
            return None
        if isinstance(answer, Stream):
            return answer
        await send_bytes(send, answer.status, answer.body, [*cors, *answer.headers])
        return None

    def _opened(self) -> Door:
        if self._door is None:
            from ..doors.openai.door import Door

            self._door = Door(self._daemon)
        return self._door
