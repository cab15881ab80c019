"""Channels: readers follow the committed end of one session's log, or of the whole log.

Each event is encoded once for all readers. The channel buffers nothing: a reader that falls behind reads from the store.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

logger = logging.getLogger("sandbox_agent.channel")

PIECE_BYTES = 64 << 10

Numbered = tuple[int, bytes]
"""A number in the channel, and its SSE frame."""


class Piece(NamedTuple):
    """Bytes for a reader, and its position after them."""

    text: bytes
    after: int
    """The number of the last complete frame; while a frame is sent in parts, one less than its number."""
    part: int
    """Bytes of the next frame that are included."""


class Follower(Protocol):
    """A subscriber, called as soon as something is published."""

    def published(self, frames: Sequence[Numbered], pieces: Sequence[Piece]) -> None: ...

    def miss(self) -> None:
        """Something was committed that is not published to it: read it from the store."""

    def wake(self) -> None:
        """Something else has changed; check again."""

    def fail(self) -> None:
        """Its stream cannot continue."""


class Channel:
    def __init__(self, committed: int, *, ended: bool = False) -> None:
        self.committed = committed
        self.ended = ended
        """The last event is the session's end."""
        self.closed = False
        self.deleted = False
        """Its session was deleted; another one may have the same id by now."""
        self.on_left: Callable[[], None] | None = None
        """Called when the last reader has left."""
        self._followers: dict[Follower, None] = {}

    @property
    def readers(self) -> int:
        return len(self._followers)

    def publish(self, frames: Sequence[Numbered], *, ended: bool = False) -> None:
        """Publish frames in ascending order, all after those published before."""
        self.committed = frames[-1][0]
        self.ended = ended
        if self._followers:
            pieces = cut(frames)
            for follower in tuple(self._followers):
                try:
                    follower.published(frames, pieces)
                except Exception:
                    # One reader's failure must not affect the log or other readers.
                    logger.exception("a reader failed and is dropped")
                    follower.fail()

    def skip_to(self, committed: int, *, ended: bool = False) -> None:
        """Everything up to here is committed, and readers get it from the store."""
        if committed > self.committed:
            self.committed = committed
            self.ended = ended
            for follower in tuple(self._followers):
                follower.miss()

    def wake(self) -> None:
        for follower in tuple(self._followers):
            follower.wake()

    def close(self, *, deleted: bool = False) -> None:
        """Nothing more will come: the session was deleted, or the daemon is stopping."""
        self.closed = True
        self.deleted = deleted
        self.wake()

    def enter(self, follower: Follower) -> None:
        self._followers[follower] = None

    def leave(self, follower: Follower) -> None:
        self._followers.pop(follower, None)
        if not self._followers and self.on_left is not None:
            self.on_left()


def frame_of(number: int, body: bytes) -> bytes:
    """An event as an SSE frame."""
    return b"id: %d\ndata: %b\n\n" % (number, body)


def news_frame(position: int, body: bytes) -> bytes:
    """An update of a session as an SSE frame, for readers of all sessions."""
    return b"id: %d\nevent: session\ndata: %b\n\n" % (position, body)


def cut(frames: Sequence[Numbered], part: int = 0) -> list[Piece]:
    """Split frames into pieces small enough for one write, skipping `part` bytes of the first frame."""
    pieces: list[Piece] = []
    gathered: list[bytes] = []
    size = after = 0
    for number, frame in frames:
        text, sent, part = frame[part:] if part else frame, part, 0
        if gathered and size + len(text) > PIECE_BYTES:
            pieces.append(Piece(b"".join(gathered), after, 0))
            gathered, size = [], 0
        if len(text) > PIECE_BYTES:
            pieces += sliced(number, text, sent)
        else:
            gathered.append(text)
            size += len(text)
            after = number
    if gathered:
        pieces.append(Piece(gathered[0] if len(gathered) == 1 else b"".join(gathered), after, 0))
    return pieces


def sliced(number: int, text: bytes, sent: int, *, to_end: bool = True) -> list[Piece]:
    """Pieces of one frame, of which `part` bytes were sent before."""
    pieces = []
    for start in range(0, len(text), PIECE_BYTES):
        piece = text[start : start + PIECE_BYTES]
        sent += len(piece)
        pieces.append(Piece(piece, number - 1, sent))
    if to_end:
        pieces[-1] = Piece(pieces[-1].text, number, 0)
    return pieces
