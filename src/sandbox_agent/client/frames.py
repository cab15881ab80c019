"""Parses server-sent events from chunks of bytes. Does no I/O: both clients use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

END = "end"
"""The event name of the last frame."""


class Frame(NamedTuple):
    """One frame of a stream. A frame with only an id marks the position."""

    id: str | None
    data: bytes
    event: str | None = None


class FrameReader:
    """Takes chunks, returns complete frames. Only newlines end a line: JSON may contain other separators."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._fields: dict[str, str] = {}
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        first, *rest = chunk.split(b"\n")
        self._pieces.append(first)
        for piece in rest:
            # Joined only at the end of a line, which may have many megabytes.
            line = b"".join(self._pieces).removesuffix(b"\r")
            self._pieces = [piece]
            if line:
                self._take(line)
            elif self._data or "id" in self._fields:
                yield Frame(self._fields.get("id"), b"\n".join(self._data), self._fields.get("event"))
            if not line:
                self._fields, self._data = {}, []

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name in (b"id", b"event"):
            self._fields[name.decode()] = value.decode()
