"""One connection of a client: uvicorn's, with bounds on what a client may send and on how long it may take.

What is wrong with a request as such is answered with a problem, like everything else that is wrong.
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

MOST_HEAD_BYTES = 64 << 10
MOST_HEADERS = 256
"""Of a head that is not whole yet: kept apart, small headers take ten times their bytes."""


class Connection(HttpToolsProtocol):
    _unfinished = 0  # bytes that have brought neither the end of a head nor a piece of a body
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
        # uvicorn tells the request that came last. Where several came at once, another one is being answered.
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
        # The parser keeps a head until it is whole, however long it gets: anybody could fill the memory with one.
        if self._unfinished > MOST_HEAD_BYTES:
            self._refuse_head(f"{MOST_HEAD_BYTES} bytes", MOST_HEAD_BYTES)
        elif self._in_head and len(self.headers) > MOST_HEADERS:
            self._refuse_head(f"{MOST_HEADERS} headers", MOST_HEADERS)
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
        # Until the body is here: an answer that does not wait for it is the last one on this connection.
        self._stays_open, self.cycle.keep_alive = self.cycle.keep_alive, False

    def on_body(self, body: bytes) -> None:
        self._unfinished = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._is_upgrading:
            return
        self._unfinished = 0
        self._in_body = False
        # A head that follows in the same packet has its time from now on.
        self._patience.expect_nothing(self)
        if not self.cycle.response_started:
            self.cycle.keep_alive = self._stays_open
        super().on_message_complete()

    def _should_upgrade(self) -> bool:
        return self._is_upgrading

    def handle_websocket_upgrade(self) -> None:
        """Whoever asks for one shows the token at once, or is sent away."""
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
        """We owe it an answer, or do not read what it sends."""
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
            self.flow.resume_reading()  # to see the reader go
        self._outlet = Outlet(self.transport)
        return self._outlet

    # -- the end ------------------------------------------------------------------------------

    def _refuse_head(self, most: str, limit: int) -> None:
        if not self.transport.is_closing():
            too_large = PayloadTooLarge(f"the head of a request may have {most}", limit=limit)
            self._refuse("413 Content Too Large", too_large)

    def _refuse(self, status: str, error: SandboxAgentError) -> None:
        """Close the connection, with a reason unless something else is being said on it."""
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
