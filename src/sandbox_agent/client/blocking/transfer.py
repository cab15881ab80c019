"""File transfers: uploads and downloads that never hold a whole file in memory."""

# Written by `make gen` from aio/transfer.py.

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self, cast

from ..call import Call
from ..misuse import Guard
from ..waiting import at_once

if TYPE_CHECKING:
    import httpx2

    from .transport import Transport

PIECE_BYTES = 256 << 10

Content = bytes | IO[bytes] | Iterable[bytes]
"""Content to send: bytes, a file open for reading, or an iterable of bytes."""


def pieces_of(content: Content | None) -> bytes | Iterable[bytes] | None:
    """The body for the HTTP client."""
    if isinstance(content, Download):
        return content.__iter__()
    if isinstance(content, bytes) or not hasattr(content, "read"):
        return content
    # A file may be a pipe, whose length is unknown.
    return _read(cast("IO[bytes]", content))


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while piece := at_once(partial(file.read, PIECE_BYTES)):
        yield piece


class Download(Guard):
    """A file or archive that the daemon sends. It is requested when the first piece is read.

    Iterate over its pieces, `read()` it like a file, or `save()` it. Use it in a `with` block if you may stop early.
    """

    def __init__(self, transport: Transport, request: Call) -> None:
        self._transport = transport
        self._request = request
        self._stack = ExitStack()
        self._answer: httpx2.Response | None = None
        self._pieces: Generator[bytes, None] | None = None
        self._rest = b""

    def __enter__(self) -> Self:
        self._opened()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, even before the end of the file."""
        if self._pieces is not None:
            self._pieces.close()
        self._stack.close()

    @property
    def etag(self) -> str | None:
        """The tag of the file, once it is open; for `write(…, if_match=…)`."""
        return self._answer.headers.get("etag") if self._answer is not None else None

    @property
    def size(self) -> int | None:
        """The size in bytes, once it is open; None if it is not known in advance."""
        length = self._answer.headers.get("content-length") if self._answer is not None else None
        return int(length) if length is not None else None

    def __iter__(self) -> Iterator[bytes]:
        return self._all()

    def _all(self) -> Iterator[bytes]:
        while piece := self.read(PIECE_BYTES):
            yield piece

    def read(self, size: int = -1) -> bytes:
        """Read this many bytes, fewer only at the end; without a size, everything left."""
        found = [self._rest]
        length = len(self._rest)
        while size < 0 or length < size:
            piece = self._next()
            if not piece:
                break
            found.append(piece)
            length += len(piece)
        whole = b"".join(found)
        cut = len(whole) if size < 0 else size
        self._rest = whole[cut:]
        return whole[:cut]

    def save(self, path: str | os.PathLike[str]) -> int:
        """Save it to a local file. Returns the number of bytes."""
        written = 0
        with at_once(lambda: Path(path).open("wb")) as file:
            for piece in self:
                at_once(partial(file.write, piece))
                written += len(piece)
        return written

    def _next(self) -> bytes:
        pieces = self._opened()
        try:
            return next(pieces)
        except StopIteration:
            self.close()
            return b""

    def _opened(self) -> Generator[bytes, None]:
        if self._pieces is None:
            self._answer = self._stack.enter_context(self._transport.opened(self._request))
            self._pieces = self._transport.pieces(self._answer)
        return self._pieces
