"""A client's connection: uvicorn's, with limits on what a client may send and how long it may take.

A malformed request is answered with a problem, like every other error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ..errors import InvalidRequest, PayloadTooLarge, SandboxAgentError
from .outlet import OUTLET, Outlet
from .patience import TRUST, Patience

MAX_HEAD_BYTES = 64 << 10
MAX_HEADERS = 256
"""Headers of an incomplete head: stored separately, small ones take ten times their size."""


class Connection(HttpToolsProtocol):
    _unfinished = 0  # bytes since the last complete head or piece of a body
    _in_head = False
    _in_body = False
    _stays_open = False
    _answered: Any = None
    _outlet: Outlet | None = None
    _is_upgrading = False

    def __init__(
        self, patience: Patience, is_websocket: Callable[[str], bool], *args: Any, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._patience = patience
        self._is_websocket = is_websocket

    # -- what uvicorn and its parser call -----------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._patience.meet(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._patience.forget(self)
        super().connection_lost(exc)
        # uvicorn refers to the last request. With pipelining, an earlier one is being answered.
        self.pipeline.clear()
        if self._answered is not None:
            self._answered.disconnected = True
            self._answered.message_event.set()
        if self._outlet is not None:
            self._outlet.leave()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._outlet is not None:
            self._outlet.fill()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._outlet is not None:
            self._outlet.drain()

    def data_received(self, data: bytes) -> None:
        self._unfinished += len(data)
        super().data_received(data)
        if self._is_upgrading:
            return  # the connection belongs to another protocol now
        # The parser buffers an incomplete head without a limit: anyone could fill the memory.
        if self._unfinished > MAX_HEAD_BYTES:
            self._refuse_head(f"{MAX_HEAD_BYTES} bytes", MAX_HEAD_BYTES)
        elif self._in_head and len(self.headers) > MAX_HEADERS:
            self._refuse_head(f"{MAX_HEADERS} headers", MAX_HEADERS)
        if self.transport.is_closing():
            self._patience.expect_nothing(self)
        elif self._in_body:
            self._patience.expect_body(self)
        elif self._in_head or self._unfinished:
            self._patience.expect_head(self)
        else:
            self._patience.expect_nothing(self)

    def on_message_begin(self) -> None:
        self._in_head = True
        super().on_message_begin()
        extensions: dict[str, Any] = {OUTLET: {"open": self._open_outlet}, TRUST: self._trust}
        self.scope["extensions"] = extensions

    def on_headers_complete(self) -> None:
        self._unfinished = 0
        self._in_head, self._in_body = False, True
        if self.parser.should_upgrade() and self.parser.get_method() == b"GET":
            self._is_upgrading = self._get_upgrade() == b"websocket" and self._is_websocket(self._path())
        super().on_headers_complete()
        if self._is_upgrading:
            return
        # Until the body has arrived: a response that does not wait for it is the last one on this connection.
        self._stays_open, self.cycle.keep_alive = self.cycle.keep_alive, False

    def on_body(self, body: bytes) -> None:
        self._unfinished = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._is_upgrading:
            return
        self._unfinished = 0
        self._in_body = False
        # The time for a head that follows in the same packet starts now.
        self._patience.expect_nothing(self)
        if not self.cycle.response_started:
            self.cycle.keep_alive = self._stays_open
        super().on_message_complete()

    def _should_upgrade(self) -> bool:
        return self._is_upgrading

    def handle_websocket_upgrade(self) -> None:
        """A WebSocket request must carry the token, or it is refused."""
        self._patience.forget(self)
        super().handle_websocket_upgrade()

    def shutdown(self) -> None:
        self._stays_open = False
        super().shutdown()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def send_400_response(self, msg: str) -> None:
        self._refuse("400 Bad Request", InvalidRequest("the request cannot be read as HTTP"))

    # -- what `Patience` asks and does --------------------------------------------------------

    @property
    def waits_for_us(self) -> bool:
        """A response is pending, or reading is paused."""
        owed = self.cycle is not None and not self.cycle.response_complete and not self._in_body
        return owed or self.flow.read_paused

    def give_up(self, why: str) -> None:
        self._refuse("400 Bad Request", InvalidRequest(why))

    def drop(self) -> None:
        self.transport.abort()

    def _path(self) -> str:
        return unquote(self.url.partition(b"?")[0].decode("latin-1"))

    # -- what an answer asks for --------------------------------------------------------------

    def _trust(self) -> None:
        self._patience.trust(self)

    def _open_outlet(self) -> Outlet:
        if not self.transport.is_closing():
            self.flow.resume_reading()  # to notice a disconnect
        self._outlet = Outlet(self.transport)
        return self._outlet

    # -- the end ------------------------------------------------------------------------------

    def _refuse_head(self, most: str, limit: int) -> None:
        if not self.transport.is_closing():
            too_large = PayloadTooLarge(f"the headers of a request may have at most {most}", limit=limit)
            self._refuse("413 Content Too Large", too_large)

    def _refuse(self, status: str, error: SandboxAgentError) -> None:
        """Close the connection, with a reason unless a response is being sent."""
        if (
            self.cycle is None
            or self.cycle.response_complete
            or not (self.cycle.response_started or self.pipeline)
        ):
            body = msgspec.json.encode(error.problem())
            head = (
                f"HTTP/1.1 {status}\r\ncontent-type: application/problem+json\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()
