"""Files on their way: what a program sends, and what it receives, without ever holding all of it."""

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
"""What can be sent: bytes, a file that is open for reading, or pieces."""


def pieces_of(content: Content | None) -> bytes | Iterable[bytes] | None:
    """What the HTTP client is given."""
    if isinstance(content, Download):
        return content.__iter__()
    if isinstance(content, bytes) or not hasattr(content, "read"):
        return content
    # A file might be a pipe, of which nobody can tell how long it is.
    return _read(cast("IO[bytes]", content))


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while piece := at_once(partial(file.read, PIECE_BYTES)):
        yield piece


class Download(Guard):
    """A file, or an archive, that the daemon sends. It is asked for when the first piece of it is.

    Iterate it for its pieces, `read()` it like a file, or `save()` it. Use it in a `with` block where you may stop early.
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
        """End the connection, also in the middle of the file."""
        if self._pieces is not None:
            self._pieces.close()
        self._stack.close()

    @property
    def etag(self) -> str | None:
        """The tag of the file, once it is open; `write(…, if_match=…)` takes it."""
        return self._answer.headers.get("etag") if self._answer is not None else None

    @property
    def size(self) -> int | None:
        """How many bytes come, once it is open; None where only the end tells."""
        length = self._answer.headers.get("content-length") if self._answer is not None else None
        return int(length) if length is not None else None

    def __iter__(self) -> Iterator[bytes]:
        return self._all()

    def _all(self) -> Iterator[bytes]:
        while piece := self.read(PIECE_BYTES):
            yield piece

    def read(self, size: int = -1) -> bytes:
        """So many bytes, fewer only at the end; without a size, all that is left."""
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
        """Write what comes to a file of this machine. Returns how many bytes."""
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
