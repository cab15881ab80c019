"""Following the log: a stream reads from the store while it is behind, and from the channel once it has caught up.

A reader that keeps up gets events as they are published, without a queue or a wake-up. A reader whose connection is full is paused;
meanwhile only its position in the log is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from ..errors import Unavailable
from .channel import PIECE_BYTES, Channel, Numbered, Piece, cut
from .pages import LogPages, Page, Pages, RawPages, SessionPages, Slice
from .reading import Reading

MAX_PAGE_BYTES = 256 << 10

OUTAGE_RETRY_SECONDS = 0.5

PING = b": ping\n\n"
END = b"event: end\ndata: {}\n\n"


class Outlet(Protocol):
    """The connection to one reader."""

    is_full: bool
    """It accepts no more for now; `on_change` is called when it does."""
    is_gone: bool
    on_change: Callable[[], None]

    def write(self, text: bytes) -> None: ...


class Following:
    """Everything after a number, until the stream ends."""

    greeting = b""
    tells_end = False
    """Whether a frame is the end of the session."""

    def __init__(self, reading: Reading, channel: Channel, pages: Pages, after: int) -> None:
        self._reading = reading
        self._channel = channel
        self._pages = pages
        self._after = after
        self._part = 0
        self._page_bytes = PIECE_BYTES
        self._is_live = False
        """It has everything that is committed, so the next published event can be written directly."""
        self._has_failed = False
        self._outlet: Outlet
        self._asleep: asyncio.Future[None] | None = None

    async def run(self, outlet: Outlet) -> None:
        self._outlet = outlet
        outlet.on_change = self.wake
        self._channel.enter(self)
        self._reading.pings.add(self)
        try:
            while await self._catch_up():
                self._asleep = asyncio.get_running_loop().create_future()
                await self._asleep
            if self.tells_end and self._channel.ended and self._is_live and not outlet.is_gone:
                outlet.write(END)
        finally:
            self._channel.leave(self)
            self._reading.pings.remove(self)

    def wake(self) -> None:
        if self._asleep is not None and not self._asleep.done():
            self._asleep.set_result(None)

    def miss(self) -> None:
        self._is_live = False
        self.wake()

    def fail(self) -> None:
        self._has_failed = True
        self._is_live = False  # what it received last is unknown, so it gets no end frame
        self.wake()

    def ping(self) -> None:
        if not (self._outlet.is_full or self._outlet.is_gone or self._part):
            self._outlet.write(PING)

    def published(self, frames: Sequence[Numbered], pieces: Sequence[Piece]) -> None:
        if not self._is_live or self._outlet.is_gone:
            return
        if frames[0][0] <= self._after:
            # It was already read from the store.
            frames = [frame for frame in frames if frame[0] > self._after]
            pieces = cut(frames)
        if self._outlet.is_full or not self._take(self._chosen(frames, pieces)):
            self._is_live = False
        elif self._channel.ended or self._is_over():
            self.wake()

    async def _catch_up(self) -> bool:
        """Read to the end of the log, or until the outlet is full. False when the stream is over."""
        channel, outlet = self._channel, self._outlet
        while not (outlet.is_gone or channel.deleted or self._has_failed or self._is_over()):
            if outlet.is_full:
                return not channel.closed
            if self._after >= channel.committed:
                self._is_live = True
                return not (channel.closed or channel.ended)
            self._is_live = False
            committed = channel.committed
            try:
                if await self._take_page():
                    continue
            except Unavailable:
                if not self._reading.outlasts_outages:
                    raise
                await asyncio.sleep(OUTAGE_RETRY_SECONDS)
                continue
            if self._part:
                return False
            # The rows in between were deleted with their session: skip them, but not rows that arrived during the read.
            self._after = committed
        return False

    async def _take_page(self) -> bool:
        """Write the next page from the store. False if there is none."""
        async with self._reading.pages:
            page = await self._reading.look_up(self._read)
            if not page or self._outlet.is_gone or self._channel.deleted:
                return bool(page)
            is_taken = self._take(self._pieces_of(page))
            self._page_bytes = min(2 * self._page_bytes, MAX_PAGE_BYTES) if is_taken else PIECE_BYTES
            return True

    def _read(self) -> Page:
        return self._pages.read(self._after, self._part, self._page_bytes)

    def _take(self, pieces: Sequence[Piece]) -> bool:
        """Write as much as the outlet accepts. Returns whether it would accept more."""
        outlet = self._outlet
        for text, after, part in pieces:
            if text:
                outlet.write(text)
            self._after, self._part = after, part
            if outlet.is_full:
                return False
        return True

    def _pieces_of(self, page: Page) -> Sequence[Piece]:
        return page.pieces if isinstance(page, Slice) else cut(page, self._part)

    def _chosen(self, frames: Sequence[Numbered], pieces: Sequence[Piece]) -> Sequence[Piece]:
        """The published frames that are for this reader."""
        return pieces

    def _is_over(self) -> bool:
        return False


class SessionFollowing(Following):
    """The events of a session."""

    tells_end = True

    def __init__(self, reading: Reading, channel: Channel, session_id: str, after: int) -> None:
        super().__init__(reading, channel, SessionPages(reading.store, session_id), after)


class RawFollowing(Following):
    """The events of a session with their native payloads, which only the store holds."""

    tells_end = True

    def __init__(self, reading: Reading, channel: Channel, session_id: str, after: int) -> None:
        super().__init__(reading, channel, RawPages(reading.store, session_id), after)

    def published(self, frames: Sequence[Numbered], pieces: Sequence[Piece]) -> None:
        self.wake()


class LogFollowing(Following):
    """The events of all sessions, and the updates of each session."""

    def __init__(self, reading: Reading, after: int) -> None:
        super().__init__(reading, reading.channel, LogPages(reading.store, reading.channel), after)
        # Only an id: a reader that started "now" and is disconnected before the first event knows where to resume. The comment
        # repeats it for parsers that drop a frame without data.
        self.greeting = b": position %d\nid: %d\n\n" % (after, after)


class TurnFollowing(Following):
    """The events from a turn's start to its end. Only turn events are decoded; their type is read from the bytes."""

    def __init__(self, reading: Reading, channel: Channel, session_id: str, after: int, turn_id: str) -> None:
        super().__init__(reading, channel, SessionPages(reading.store, session_id), after)
        self._turn = turn_id.encode()
        self._has_started = False
        self._last: int | None = None

    def _is_over(self) -> bool:
        return self._last is not None and self._after >= self._last

    def _pieces_of(self, page: Page) -> Sequence[Piece]:
        if not isinstance(page, Slice):
            return self._chosen_from(page, self._part)
        number, pieces = page
        if self._part or self._choose([(number, pieces[0].text)]):
            return pieces
        return [Piece(b"", number, 0)]

    def _chosen(self, frames: Sequence[Numbered], pieces: Sequence[Piece]) -> Sequence[Piece]:
        return self._chosen_from(frames) if frames else pieces

    def _chosen_from(self, frames: Sequence[Numbered], part: int = 0) -> Sequence[Piece]:
        return [*cut(self._choose(frames), part), Piece(b"", frames[-1][0], 0)]

    def _choose(self, frames: Sequence[Numbered]) -> list[Numbered]:
        chosen = []
        for number, frame in frames:
            if self._last is not None and number > self._last:
                break
            is_last = _is_last(frame, self._turn)
            if not self._has_started:
                self._has_started = type_of(frame) == b"turn.started" and self._turn in frame
            if self._has_started or is_last:
                chosen.append((number, frame))
            if is_last:
                self._last = number
                break
        return chosen


def _is_last(frame: bytes, turn: bytes) -> bool:
    """Whether an event ends the turn: its own end, the session's end, or the withdrawal of its message."""
    name = type_of(frame)
    if name == b"session.ended":
        return True
    if turn not in frame:
        return False
    if name == b"item.completed":
        return b'"source":"daemon"' in _envelope(frame) and b'"state":"withdrawn"' in frame
    return name == b"turn.ended"


def type_of(frame: bytes) -> bytes:
    """The type of the event in an SSE frame."""
    return _envelope(frame).rpartition(b'"type":"')[2].removesuffix(b'"')


def _envelope(frame: bytes) -> bytes:
    """The part of an event before its data, ending with its type. The data comes from the agent and may imitate it."""
    return frame[: frame.index(b',"data":')]
