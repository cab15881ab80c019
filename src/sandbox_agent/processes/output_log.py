"""The output of a process on disk: a ring of entries that drops the oldest when full.

The ring is a folder of a few append-only files. The oldest file is removed as a whole, so nothing is overwritten, and the output of
a flood is often removed before it reaches the disk. One thread appends; any thread may read.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import struct
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from ..schema.processes import LogStream

SEGMENTS = 8
LARGEST_ENTRY = 64 << 10
STREAMS: tuple[LogStream, ...] = ("stdout", "stderr", "pty")
_HEADER = struct.Struct("<QQIB")  # sequence, milliseconds, bytes of data, index of the stream


class Place(NamedTuple):
    """A reader's position: the last entry it has, with its file and offset, so that no search is needed."""

    after: int
    segment: int = 0
    offset: int = 0


class Entry(NamedTuple):
    moment: int
    """Milliseconds since 1970."""
    stream: LogStream
    data: bytes
    place: Place
    """The position after this entry."""

    @property
    def sequence(self) -> int:
        return self.place.after


class _Segment:
    def __init__(self, path: Path, first: int) -> None:
        self.path = path
        self.first = first
        self.last = first - 1
        self.size = 0
        """Bytes of complete entries. Anything after them is a partial write."""


class Held(OSError):
    """The log is full of unread output and must not drop any."""


class OutputLog:
    """With `holds`, unread output is not dropped: the writer has to wait."""

    def __init__(self, folder: Path, limit: int, *, holds: bool = False) -> None:
        self._folder = folder
        self._limit = limit
        self._segment_bytes = max(limit // SEGMENTS, 1024)
        self._piece_bytes = min(self._segment_bytes - _HEADER.size, LARGEST_ENTRY)
        self._segments: tuple[_Segment, ...] = ()
        self._fd: int | None = None
        self._holds = holds
        self.given = 0
        """Sequence of the newest entry given to a reader."""
        self.last = 0
        """Sequence of the newest entry."""

    @classmethod
    def found(cls, folder: Path) -> OutputLog:
        """Open the log of an earlier daemon. Nothing is appended to it."""
        log = cls(folder, 0)
        segments = []
        for path in sorted(folder.glob("*.log")):
            segment = _Segment(path, int(path.stem))
            for sequence, end in _ends(path.read_bytes()):
                segment.last, segment.size = sequence, end
            segments.append(segment)
            log.last = segment.last
        log._segments = tuple(segments)
        return log

    # -- the thread that appends --------------------------------------------------------------

    def append(self, stream: LogStream, data: bytes, *, is_rest: bool = False) -> int:
        """Append, and return how many bytes fit. Raises OSError if there is no room.

        The last output of a process does not wait for a reader.
        """
        moment = time.time_ns() // 1_000_000
        for start in range(0, len(data), self._piece_bytes):
            try:
                self._append(stream, moment, data[start : start + self._piece_bytes], is_rest)
            except OSError:
                if start:
                    return start
                raise
        return len(data)

    def _append(self, stream: LogStream, moment: int, data: bytes, is_rest: bool) -> None:
        size = _HEADER.size + len(data)
        self._make_room(size, is_rest)
        segment = self._segments[-1] if self._segments else None
        if self._fd is None or segment is None or segment.size + size > self._segment_bytes:
            segment = self._begin_segment()
        assert self._fd is not None
        header = _HEADER.pack(self.last + 1, moment, len(data), STREAMS.index(stream))
        if os.pwritev(self._fd, (header, data), segment.size) < size:
            raise OSError("the disk is full")
        segment.size += size
        segment.last = self.last + 1
        self.last += 1  # only now: a reader that knows of an entry must find it

    def _make_room(self, size: int, is_rest: bool) -> None:
        total = sum(segment.size for segment in self._segments) + size
        while self._segments and total > self._limit:
            oldest, *rest = self._segments
            if self._holds and oldest.last > self.given:
                if is_rest:
                    return
                raise Held
            if not rest:
                self.close()
            self._segments = tuple(rest)
            total -= oldest.size
            with contextlib.suppress(FileNotFoundError):
                oldest.path.unlink()

    def _begin_segment(self) -> _Segment:
        self.close()
        segment = _Segment(self._folder / f"{self.last + 1:016d}.log", self.last + 1)
        self._fd = os.open(segment.path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        self._segments = (*self._segments, segment)
        return segment

    def close(self) -> None:
        """Stop appending."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def remove(self) -> None:
        self.close()
        self._segments = ()
        shutil.rmtree(self._folder, ignore_errors=True)

    # -- any thread ---------------------------------------------------------------------------

    def read(self, place: Place, max_bytes: int) -> list[Entry]:
        """Entries after a position, from one file: at least one if there is one, then limited in bytes."""
        for segment in self._segments:
            if segment.last <= place.after:
                continue
            try:
                offset = place.offset if place.segment == segment.first else _offset(segment, place.after)
                return list(_entries(segment, offset, max_bytes))
            except FileNotFoundError:  # it was the oldest and was removed
                continue
        return []

    def before_tail(self, count: int, streams: Collection[LogStream], after: int) -> int:
        """The sequence before the last `count` entries of these streams."""
        wanted = [STREAMS.index(stream) for stream in streams]
        for segment in reversed(self._segments):
            if count <= 0 or segment.last <= after:
                break
            try:
                content = segment.path.read_bytes()[: segment.size]
            except FileNotFoundError:
                break
            found = [
                sequence for sequence, stream in _heads(content) if stream in wanted and sequence > after
            ]
            if len(found) >= count:
                return found[-count] - 1
            count -= len(found)
        return max(after, self.last) if count <= 0 else after

    def before_last_bytes(self, count: int) -> int:
        """The sequence before roughly the last `count` bytes."""
        for segment in reversed(self._segments):
            if count <= segment.size:
                content = segment.path.read_bytes()[: segment.size]
                return next((seq for seq, end in _ends(content) if segment.size - end <= count), segment.last)
            count -= segment.size
        return 0


def _offset(segment: _Segment, after: int) -> int:
    """The position of the first entry after this one."""
    if after < segment.first:
        return 0
    content = segment.path.read_bytes()[: segment.size]
    return next((end for sequence, end in _ends(content) if sequence == after), segment.size)


def _entries(segment: _Segment, offset: int, max_bytes: int) -> Iterator[Entry]:
    """Entries from an offset, up to the limit."""
    with segment.path.open("rb", buffering=0) as file:
        file.seek(offset)
        content = file.read(min(segment.size - offset, max(max_bytes, _HEADER.size + LARGEST_ENTRY)))
    start = 0
    while start + _HEADER.size <= len(content):
        sequence, moment, length, stream = _HEADER.unpack_from(content, start)
        begin, start = start + _HEADER.size, start + _HEADER.size + length
        if start <= len(content):
            place = Place(sequence, segment.first, offset + start)
            yield Entry(moment, STREAMS[stream], content[begin:start], place)


def _heads(content: bytes) -> Iterator[tuple[int, int]]:
    """Sequence and stream of each entry."""
    start = 0
    while start + _HEADER.size <= len(content):
        sequence, _, length, stream = _HEADER.unpack_from(content, start)
        start += _HEADER.size + length
        if start <= len(content):
            yield sequence, stream


def _ends(content: bytes) -> Iterator[tuple[int, int]]:
    """Sequence and end of each complete entry."""
    start = 0
    while start + _HEADER.size <= len(content):
        sequence, _, length, _ = _HEADER.unpack_from(content, start)
        start += _HEADER.size + length
        if start <= len(content):
            yield sequence, start
