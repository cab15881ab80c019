"""The terminal of a process: output arrives as bytes, input is typed into it."""

from __future__ import annotations

import base64
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec
from msgspec import Struct

from ...errors import Conflict
from ..call import segment
from ..failures import DaemonUnreachable, error_of_answer
from ..misuse import AsyncGuard
from .transport import AsyncTransport

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

CONNECT_SECONDS = 10.0


class _Frame(Struct, rename="camel"):
    """A message from the daemon other than output."""

    type: str
    exit_code: int | None = None
    message: str = ""


class AsyncTerminal(AsyncGuard):
    """Use it in a `with` block, and iterate over it for its output: the recent screen first. It ends with the process."""

    def __init__(self, transport: AsyncTransport, process_id: str) -> None:
        self._transport = transport
        self._process_id = process_id
        self._socket: ClientConnection | None = None
        self.exit_code: int | None = None
        """The exit code of the process; None while it runs, and after a signal."""

    async def __aenter__(self) -> Self:
        # The library takes longer to import than the rest of the client.
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidHandshake, InvalidStatus

        address = await self._transport.address()
        headers = dict(address.headers)
        if address.token is not None:
            headers["Authorization"] = f"Bearer {address.token}"
        url = (
            f"ws{address.endpoint.removeprefix('http')}/v1/processes/{segment(self._process_id)}/terminal/ws"
        )
        try:
            opening = connect(
                url,
                additional_headers=headers,
                compression=None,
                max_size=None,
                open_timeout=CONNECT_SECONDS,
                proxy=None,
            )
            self._socket = await opening.__aenter__()
        except InvalidStatus as refused:
            answer = refused.response
            raise error_of_answer(
                answer.status_code, bytes(answer.body or b""), address.endpoint, ""
            ) from None
        except (OSError, TimeoutError, InvalidHandshake) as error:
            raise DaemonUnreachable(f"no terminal at {address.endpoint}: {error}", sent=False) from None
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        from websockets.exceptions import ConnectionClosed

        while True:
            try:
                received = await self._opened().recv()
            except ConnectionClosed:
                raise StopAsyncIteration from None
            if isinstance(received, bytes):
                return received
            frame = msgspec.json.decode(received, type=_Frame)
            if frame.type == "exit":
                self.exit_code = frame.exit_code
                raise StopAsyncIteration
            if frame.type == "error":
                raise Conflict(frame.message)

    async def write(self, data: str | bytes) -> None:
        """Type something."""
        if isinstance(data, str):
            await self._send({"type": "input", "data": data})
        else:
            await self._send({"type": "input", "data": base64.b64encode(data).decode(), "encoding": "base64"})

    async def resize(self, cols: int, rows: int) -> None:
        await self._send({"type": "resize", "cols": cols, "rows": rows})

    async def close(self) -> None:
        """Disconnect. The process keeps running."""
        if self._socket is not None:
            await self._socket.close()

    async def _send(self, frame: dict[str, object]) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            await self._opened().send(msgspec.json.encode(frame).decode())
        except ConnectionClosed:
            raise Conflict("the terminal is closed") from None

    def _opened(self) -> ClientConnection:
        if self._socket is None:
            raise Conflict("open the terminal first: `with client.processes.terminal(id) as terminal`")
        return self._socket
