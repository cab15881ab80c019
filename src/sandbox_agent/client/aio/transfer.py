"""Files on their way: what a program sends, and what it receives, without ever holding all of it."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self, cast

from ..call import Call
from ..misuse import AsyncGuard
from ..waiting import in_thread

if TYPE_CHECKING:
    import httpx2

    from .transport import AsyncTransport

PIECE_BYTES = 256 << 10

AsyncContent = bytes | IO[bytes] | AsyncIterable[bytes]
"""What can be sent: bytes, a file that is open for reading, or pieces."""


def pieces_of(content: AsyncContent | None) -> bytes | AsyncIterable[bytes] | None:
    """What the HTTP client is given."""
    if isinstance(content, AsyncDownload):
        return content.__aiter__()
    if isinstance(content, bytes) or not hasattr(content, "read"):
        return content
    # A file might be a pipe, of which nobody can tell how long it is.
    return _read(cast("IO[bytes]", content))


async def _read(file: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := await in_thread(partial(file.read, PIECE_BYTES)):
        yield piece


class AsyncDownload(AsyncGuard):
    """A file, or an archive, that the daemon sends. It is asked for when the first piece of it is.

    Iterate it for its pieces, `read()` it like a file, or `save()` it. Use it in a `with` block where you may stop early.
    """

    def __init__(self, transport: AsyncTransport, request: Call) -> None:
        self._transport = transport
        self._request = request
        self._stack = AsyncExitStack()
        self._answer: httpx2.Response | None = None
        self._pieces: AsyncGenerator[bytes, None] | None = None
        self._rest = b""

    async def __aenter__(self) -> Self:
        await self._opened()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connection, also in the middle of the file."""
        if self._pieces is not None:
            await self._pieces.aclose()
        await self._stack.aclose()

    @property
    def etag(self) -> str | None:
        """The tag of the file, once it is open; `write(…, if_match=…)` takes it."""
        return self._answer.headers.get("etag") if self._answer is not None else None

    @property
    def size(self) -> int | None:
        """How many bytes come, once it is open; None where only the end tells."""
        length = self._answer.headers.get("content-length") if self._answer is not None else None
        return int(length) if length is not None else None

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._all()

    async def _all(self) -> AsyncIterator[bytes]:
        while piece := await self.read(PIECE_BYTES):
            yield piece

    async def read(self, size: int = -1) -> bytes:
        """So many bytes, fewer only at the end; without a size, all that is left."""
        found = [self._rest]
        length = len(self._rest)
        while size < 0 or length < size:
            piece = await self._next()
            if not piece:
                break
            found.append(piece)
            length += len(piece)
        whole = b"".join(found)
        cut = len(whole) if size < 0 else size
        self._rest = whole[cut:]
        return whole[:cut]

    async def save(self, path: str | os.PathLike[str]) -> int:
        """Write what comes to a file of this machine. Returns how many bytes."""
        written = 0
        with await in_thread(lambda: Path(path).open("wb")) as file:
            async for piece in self:
                await in_thread(partial(file.write, piece))
                written += len(piece)
        return written

    async def _next(self) -> bytes:
        pieces = await self._opened()
        try:
            return await anext(pieces)
        except StopAsyncIteration:
            await self.close()
            return b""

    async def _opened(self) -> AsyncGenerator[bytes, None]:
        if self._pieces is None:
            self._answer = await self._stack.enter_async_context(self._transport.opened(self._request))
            self._pieces = self._transport.pieces(self._answer)
        return self._pieces
