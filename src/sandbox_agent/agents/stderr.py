"""An agent's stderr, bounded: all of it if short, otherwise the first 20 and the last 50 lines."""

from __future__ import annotations

from collections import deque

from ..schema.events import Stderr

HEAD_LINES = 20
TAIL_LINES = 50
LINE_LIMIT = 2_000


class StderrTail:
    """Keeps both ends of a stream of lines."""

    def __init__(self) -> None:
        self._head: list[str] = []
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._total = 0
        self._open = False  # the last line continues with the next piece

    def feed(self, text: str) -> None:
        """Add whole lines."""
        for line in text.splitlines():
            self._total += 1
            (self._head if len(self._head) < HEAD_LINES else self._tail).append(line[:LINE_LIMIT])

    def feed_piece(self, text: str) -> None:
        """Add a piece of a stream, wherever the pipe split it."""
        if self._open:
            rest, newline, text = text.partition("\n")
            lines = self._tail or self._head
            lines[-1] = (lines[-1] + rest.removesuffix("\r"))[:LINE_LIMIT]
            self._open = not newline
        self.feed(text)
        self._open = self._open or (bool(text) and not text.endswith("\n"))

    def read(self) -> Stderr | None:
        if not self._total:
            return None
        truncated = self._total > HEAD_LINES + TAIL_LINES
        if not truncated:
            return Stderr(False, "\n".join([*self._head, *self._tail]), total_lines=self._total)
        return Stderr(True, "\n".join(self._head), "\n".join(self._tail), self._total)
