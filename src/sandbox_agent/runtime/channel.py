"""What readers follow: the committed end of one session's log, or of the whole log.

What is published is made into text once, for all readers. The channel keeps none of it: a reader that cannot take it now finds
it in the store.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

logger = logging.getLogger("sandbox_agent.channel")

PIECE_BYTES = 64 << 10

Numbered = tuple[int, bytes]
"""A number of the channel, and the SSE frame that it names."""


class Piece(NamedTuple):
    """Text for a reader, and where its reading stands behind it."""

    text: bytes
    after: int
    """The number of the last frame that is whole."""
    part: int
    """Bytes of the frame behind that."""


class Follower(Protocol):
    """One who is told what is published, in the moment it is."""

    def published(self, frames: Sequence[Numbered], pieces: Sequence[Piece]) -> None: ...

    def wake(self) -> None:
        """Something else has changed: look."""

    def fail(self) -> None:
        """Its stream cannot go on."""


class Channel:
    def __init__(self, committed: int, *, ended: bool = False) -> None:
        self.committed = committed
        self.ended = ended
        """The last event is the session's end."""
        self.closed = False
        self.deleted = False
        """Its session is: another one may have the same id by now."""
        self.on_left: Callable[[], None] | None = None
        """Is told when the last reader has gone."""
        self._followers: dict[Follower, None] = {}

    @property
    def readers(self) -> int:
        return len(self._followers)

    def publish(self, frames: Sequence[Numbered], *, ended: bool = False) -> None:
        """Frames in the order of their numbers, which are behind all that came before."""
        self.committed = frames[-1][0]
        self.ended = ended
        if self._followers:
            pieces = cut(frames)
            for follower in tuple(self._followers):
                try:
                    follower.published(frames, pieces)
                except Exception:
                    # One reader's fault is neither the log's nor the other readers'.
                    logger.exception("a reader failed, and is let go")
                    follower.fail()

    def wake(self) -> None:
        for follower in tuple(self._followers):
            follower.wake()

    def close(self, *, deleted: bool = False) -> None:
        """There is nothing more to come: the session was deleted, or the daemon stops."""
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
    """An event as SSE."""
    return b"id: %d\ndata: %b\n\n" % (number, body)


def news_frame(position: int, body: bytes) -> bytes:
    """A session as the readers of all sessions are told of it."""
    return b"id: %d\nevent: session\ndata: %b\n\n" % (position, body)


def cut(frames: Sequence[Numbered], part: int = 0) -> list[Piece]:
    """Pieces that are small enough to be written at once, behind `part` bytes of the first frame."""
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
    """Pieces of one frame, of which so many bytes were sent before."""
    pieces = []
    for start in range(0, len(text), PIECE_BYTES):
        piece = text[start : start + PIECE_BYTES]
        sent += len(piece)
        pieces.append(Piece(piece, number - 1, sent))
    if to_end:
        pieces[-1] = Piece(pieces[-1].text, number, 0)
    return pieces
