"""Reading a file, or a range of it, piece by piece."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..errors import RangeNotSatisfiable
from .entries import etag
from .roots import Roots

PIECE_BYTES = 256 << 10
"""The memory that a stalled reader may take."""
_RANGE = re.compile(r"bytes\s*=\s*(\d*)\s*-\s*(\d*)", re.ASCII | re.IGNORECASE)


class OpenFile:
    """A file open for reading. It is closed when no longer referenced: a response may end before its first piece."""

    def __init__(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        self.descriptor = descriptor
        self.size = status.st_size
        self.etag = etag(status)

    def __del__(self) -> None:
        os.close(self.descriptor)

    def pieces(self, start: int, length: int) -> Iterator[bytes]:
        while length:
            piece = os.pread(self.descriptor, min(PIECE_BYTES, length), start)
            if not piece:
                raise EOFError("the file was truncated while it was read")
            yield piece
            start += len(piece)
            length -= len(piece)


def open_file(roots: Roots, path: str) -> OpenFile:
    return OpenFile(roots.open_file(path))


class Range(NamedTuple):
    start: int
    length: int


def range_of(header: str | None, size: int) -> Range | None:
    """The range that a header requests; None for the whole file, even if it requests several ranges."""
    found = _RANGE.fullmatch(header.strip()) if header is not None else None
    if found is None or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    if not first:
        length = min(_number(last), size)
        start = size - length
    else:
        start = _number(first)
        if last and _number(last) < start:
            return None
        length = min(_number(last), size - 1) - start + 1 if last else size - start
    if start >= size or length <= 0:
        raise RangeNotSatisfiable(f"the file has {size} bytes", size=size)
    return Range(start, length)


def _number(digits: str) -> int:
    """A position in a file. One with more digits than any file needs, or Python converts, is past every end."""
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) < 20 else 1 << 64
