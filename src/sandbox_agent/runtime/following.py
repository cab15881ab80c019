"""Following the log: one stream's way through it, from the store as long as it is behind and from the channel then.

A reader that keeps up is given what is published in the moment it is: nothing waits and nobody is woken. One whose connection
takes no more is left alone until it does; meanwhile nothing is kept for it but its place in the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from .channel import PIECE_BYTES, Channel, Numbered, Piece, cut
from .pages import LogPages, Page, Pages, RawPages, SessionPages, Slice
from .reading import Reading

MOST_PAGE_BYTES = 256 << 10

PING = b": ping\n\n"
END = b"event: end\ndata: {}\n\n"


class Outlet(Protocol):
    """The way to one reader."""

    is_full: bool
    """It takes no more for now; `on_change` tells when it does."""
    is_gone: bool
    on_change: Callable[[], None]

    def write(self, text: bytes) -> None: ...


class Following:
    """All that comes behind a number, until there is nothing more to come."""

    greeting = b""
    tells_end = False
    """A frame says that the session has ended."""

    def __init__(self, reading: Reading, channel: Channel, pages: Pages, after: int) -> None:
        self._reading = reading
        self._channel = channel
        self._pages = pages
        self._after = after
        self._part = 0
        self._appetite = PIECE_BYTES
        self._is_live = False
        """It was given everything that is committed, so what is published next can be written at once."""
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

    def fail(self) -> None:
        self._has_failed = True
        self._is_live = False  # what it was given last is unknown, so it is not told that this was all
        self.wake()

    def ping(self) -> None:
        if not (self._outlet.is_full or self._outlet.is_gone or self._part):
            self._outlet.write(PING)

    def published(self, frames: Sequence[Numbered], pieces: Sequence[Piece]) -> None:
        if not self._is_live or self._outlet.is_gone:
            return
        if frames[0][0] <= self._after:
            # The store told it before the channel did.
            frames = [frame for frame in frames if frame[0] > self._after]
            pieces = cut(frames)
        if self._outlet.is_full or not self._take(self._chosen(frames, pieces)):
            self._is_live = False
        elif self._channel.ended or self._is_over():
            self.wake()

    async def _catch_up(self) -> bool:
        """Read on to the end of the log, as far as the outlet takes it. False when the stream is over."""
        channel, outlet = self._channel, self._outlet
        while not (outlet.is_gone or channel.deleted or self._has_failed or self._is_over()):
            if outlet.is_full:
                return not channel.closed
            if self._after >= channel.committed:
                self._is_live = True
                return not (channel.closed or channel.ended)
            self._is_live = False
            committed = channel.committed
            if await self._take_page():
                continue
            if self._part:
                return False
            # What lay between was deleted with its session: go on behind it, but not behind what came while we looked.
            self._after = committed
        return False

    async def _take_page(self) -> bool:
        """Write what comes next in the store. False when there is nothing."""
        async with self._reading.pages:
            page = await self._reading.look_up(self._read)
            if not page or self._outlet.is_gone or self._channel.deleted:
                return bool(page)
            is_taken = self._take(self._pieces_of(page))
            self._appetite = min(2 * self._appetite, MOST_PAGE_BYTES) if is_taken else PIECE_BYTES
            return True

    def _read(self) -> Page:
        return self._pages.read(self._after, self._part, self._appetite)

    def _take(self, pieces: Sequence[Piece]) -> bool:
        """Write as much as the outlet takes. Whether it would take more."""
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
        """What of all that was published is for this reader."""
        return pieces

    def _is_over(self) -> bool:
        return False


class SessionFollowing(Following):
    """The events of a session."""

    tells_end = True

    def __init__(self, reading: Reading, channel: Channel, session_id: str, after: int) -> None:
        super().__init__(reading, channel, SessionPages(reading.store, session_id), after)


class RawFollowing(Following):
    """The events of a session with their native payloads, which only the store knows."""

    tells_end = True

    def __init__(self, reading: Reading, channel: Channel, session_id: str, after: int) -> None:
        super().__init__(reading, channel, RawPages(reading.store, session_id), after)

    def published(self, frames: Sequence[Numbered], pieces: Sequence[Piece]) -> None:
        self.wake()


class LogFollowing(Following):
    """The events of all sessions, and what becomes of each session."""

    def __init__(self, reading: Reading, after: int) -> None:
        super().__init__(reading, reading.channel, LogPages(reading.store, reading.channel), after)
        # An id alone: a reader that began "now" and is cut off before the first event knows from where to go on. The
        # comment says the same to readers whose parser drops a frame without data.
        self.greeting = b": position %d\nid: %d\n\n" % (after, after)


class TurnFollowing(Following):
    """The events from a turn's start to its end. Only turn events are looked into, by a glance at their type."""

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
                self._has_started = _type_of(frame) == b"turn.started" and self._turn in frame
            if self._has_started or is_last:
                chosen.append((number, frame))
            if is_last:
                self._last = number
                break
        return chosen


def _is_last(frame: bytes, turn: bytes) -> bool:
    """The turn's end, the session's, or that the message was withdrawn before it became a turn."""
    name = _type_of(frame)
    if name == b"session.ended":
        return True
    if turn not in frame:
        return False
    if name == b"item.completed":
        return b'"source":"daemon"' in _envelope(frame) and b'"state":"withdrawn"' in frame
    return name == b"turn.ended"


def _type_of(frame: bytes) -> bytes:
    return _envelope(frame).rpartition(b'"type":"')[2].removesuffix(b'"')


def _envelope(frame: bytes) -> bytes:
    """What stands before an event's data, with its type at the end. The data is the agent's: it may look like any of this."""
    return frame[: frame.index(b',"data":')]
