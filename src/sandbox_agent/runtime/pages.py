"""Pages: how a reader that is behind reads from the store, never more than it asked for.

An event larger than a page is read in slices. With its native payload it consists of several segments, each of which is read only
if the slice overlaps it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from ..store.base import Store, StoredEvent
from .channel import Channel, Numbered, Piece, frame_of, news_frame, sliced

PAGE_ROWS = 1_000

_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")
_NO_RAW = b"null}"

_encode = msgspec.json.Encoder().encode

_whole_payload = threading.Lock()
"""Large payloads are checked one at a time: each briefly takes its size in memory."""


class Slice(NamedTuple):
    """A part of a frame larger than the page."""

    number: int
    pieces: list[Piece]


Page = Sequence[Numbered] | Slice
"""Whole frames, or a part of one; empty at the end."""


class Pages(Protocol):
    def read(self, after: int, part: int, max_bytes: int) -> Page:
        """What follows a number and `part` bytes of the next frame. Called off the event loop."""


class SessionPages:
    def __init__(self, store: Store, session_id: str) -> None:
        self._store = store
        self._session_id = session_id

    def read(self, after: int, part: int, max_bytes: int) -> Page:
        rows = self._store.read(self._session_id, after, PAGE_ROWS, max_bytes, whole=False)
        if rows and rows[0].is_large:
            return _slice(self._store, rows[0].sequence, rows[0].position, part, max_bytes)
        return [(row.sequence, frame_of(row.sequence, row.body)) for row in rows]


class LogPages:
    """The events and updates of all sessions, numbered by position."""

    def __init__(self, store: Store, channel: Channel) -> None:
        self._store = store
        self._channel = channel

    def read(self, after: int, part: int, max_bytes: int) -> Page:
        # Past the committed position, the two queries could see different states.
        last = self._channel.committed
        rows = self._store.read_log(after, PAGE_ROWS, max_bytes, whole=False)
        news = self._store.news(after, PAGE_ROWS)
        if len(news) == PAGE_ROWS:
            last = min(last, news[-1][0])
        if rows:
            last = min(last, rows[-1].position)
        # Positions have gaps, but `after` of a partly sent event is one less than its own.
        if part and (not rows or rows[0].position != after + 1):
            return []  # it was deleted; do not continue with bytes of another one
        if part or (rows and rows[0].is_large and all(position > rows[0].position for position, _ in news)):
            return _slice(self._store, rows[0].position, rows[0].position, part, max_bytes)
        frames = [(row.position, frame_of(row.position, row.body)) for row in rows if not row.is_large]
        frames += [(position, news_frame(position, body)) for position, body in news]
        large = next((row.position for row in rows if row.is_large), last + 1)
        return sorted(frame for frame in frames if frame[0] <= last and frame[0] < large)


class RawPages:
    """A session's events with their native payloads."""

    def __init__(self, store: Store, session_id: str) -> None:
        self._store = store
        self._session_id = session_id
        self._known_as_json = 0
        """The position of the last large payload known to be JSON, because the check has to read all of it."""

    def read(self, after: int, part: int, max_bytes: int) -> Page:
        rows = self._store.read(self._session_id, after, PAGE_ROWS, max_bytes, with_raw=True, whole=False)
        if rows and rows[0].is_large:
            return self._slice(rows[0].sequence, rows[0].position, part, max_bytes)
        return [(row.sequence, frame_of(row.sequence, with_raw_spliced(row))) for row in rows]

    def _slice(self, number: int, position: int, part: int, max_bytes: int) -> Page:
        body, raw = _Stored(self._store, position), _Stored(self._store, position, raw=True)
        if not body.size or not raw.size:
            return _slice(self._store, number, position, part, max_bytes)
        body.size -= len(_NO_RAW)
        spliced: _Segment = raw
        if position != self._known_as_json:
            with _whole_payload:
                whole, _ = self._store.read_slice(position, 0, raw.size, raw=True)
                if _is_json(whole):
                    self._known_as_json = position
                else:
                    spliced = _Text(_as_string(whole))
        return _read(number, [_head(number), body, spliced, _Text(b"}\n\n")], part, max_bytes)


# -- slices -----------------------------------------------------------------------------------


class _Segment(Protocol):
    """A part of a frame."""

    size: int

    def read(self, start: int, size: int) -> bytes: ...


class _Text:
    def __init__(self, text: bytes) -> None:
        self.size = len(text)
        self._text = text

    def read(self, start: int, size: int) -> bytes:
        return self._text[start : start + size]


class _Stored:
    def __init__(self, store: Store, position: int, *, raw: bool = False) -> None:
        _, self.size = store.read_slice(position, 0, 0, raw=raw)
        self._store, self._position, self._raw = store, position, raw

    def read(self, start: int, size: int) -> bytes:
        text, _ = self._store.read_slice(self._position, start, size, raw=self._raw)
        return text.translate(_ONE_LINE) if self._raw else text


def _slice(store: Store, number: int, position: int, part: int, max_bytes: int) -> Page:
    body = _Stored(store, position)
    return _read(number, [_head(number), body, _Text(b"\n\n")], part, max_bytes) if body.size else []


def _head(number: int) -> _Text:
    return _Text(b"id: %d\ndata: " % number)


def _read(number: int, segments: Sequence[_Segment], part: int, max_bytes: int) -> Page:
    """What follows `part` bytes of a sequence of segments."""
    taken: list[bytes] = []
    start, left = part, max_bytes
    for segment in segments:
        size = min(left, max(0, segment.size - start))
        if size:
            text = segment.read(start, size)
            if len(text) < size:
                return []  # it was deleted during the read
            taken.append(text)
        left -= size
        start = max(0, start - segment.size)
    text = b"".join(taken)
    to_end = part + len(text) == sum(segment.size for segment in segments)
    return Slice(number, sliced(number, text, part, to_end=to_end))


# -- native payloads --------------------------------------------------------------------------


def with_raw_spliced(row: StoredEvent) -> bytes:
    """The event with its native payload in place of null. A payload that is not JSON, or is too deep to check, becomes a string."""
    if row.raw is None:
        return row.body
    # In JSON a line break is only whitespace between tokens; in an SSE frame it would end the line.
    raw = row.raw.translate(_ONE_LINE) if _is_json(row.raw) else _as_string(row.raw)
    return row.body[: -len(_NO_RAW)] + raw + b"}"


def _is_json(raw: bytes) -> bool:
    try:
        raw.decode()  # msgspec does not validate strings that it skips
        msgspec.json.decode(raw, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _as_string(raw: bytes) -> bytes:
    return _encode(raw.decode(errors="replace"))
