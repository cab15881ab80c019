"""Splits bytes into lines of bounded length, without I/O."""

from __future__ import annotations

# A 64 MiB payload fits, with room for the JSON around it.
LINE_LIMIT = 96 << 20


class LineTooLong(Exception):
    """An agent wrote a line that is too long."""


class LineSplitter:
    """Splits a stream into lines, however it is chunked.

    A line over the limit is skipped and reported once, so one bad line costs neither memory nor the lines after it.
    """

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes | LineTooLong]:
        """The lines that this chunk completes, without newlines. Empty lines are skipped."""
        if not self._pieces and not self._skipping and chunk.endswith(b"\n") and len(chunk) <= self._limit:
            return [line for line in chunk.split(b"\n") if line]  # the usual case: whole lines
        first, newline, rest = chunk.partition(b"\n")
        if not newline:
            self._keep(chunk)
            return self._overflow()
        lines: list[bytes | LineTooLong] = []
        if self._skipping:
            self._skipping = False
        else:
            self._keep(first)
            lines += self._overflow()
            if self._skipping:
                self._skipping = False
            else:
                lines.append(b"".join(self._pieces))
        self._pieces, self._size = [], 0
        *whole, last = rest.split(b"\n")
        lines += [line if len(line) <= self._limit else self._too_long() for line in whole]
        self._keep(last)
        lines += self._overflow()
        return [line for line in lines if line]

    def _keep(self, piece: bytes) -> None:
        if piece and not self._skipping:
            self._pieces.append(piece)
            self._size += len(piece)

    def _overflow(self) -> list[bytes | LineTooLong]:
        if self._size <= self._limit:
            return []
        self._pieces, self._size, self._skipping = [], 0, True
        return [self._too_long()]

    def _too_long(self) -> LineTooLong:
        return LineTooLong(f"a line is longer than {self._limit} bytes")
