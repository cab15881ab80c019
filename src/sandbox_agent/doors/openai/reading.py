"""Reads a turn from the log: as it is now, until its end, or as a stream."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import Any

import msgspec

from ...schema.events import decode_event
from ..inlet import Frame
from . import shapes
from .chat import Chat
from .errors import TurnFailed, error_body
from .intake import Begun
from .models import name_of
from .operations import Operations
from .turn import Turn

PAGE = 1000
KEEPALIVE_SECONDS = 15.0

_encode = msgspec.json.Encoder().encode


async def fresh_turn(operations: Operations, begun: Begun) -> Turn:
    return Turn(begun.name, name_of(await operations.session(begun.name.session_id)))


async def read_now(operations: Operations, begun: Begun, queued_at: int) -> shapes.Response:
    """The response as far as it is known."""
    turn, offset = await fresh_turn(operations, begun), begun.after
    turn.waiting_since = queued_at
    while not turn.has_ended:
        page = await operations.events(begun.name.session_id, offset, PAGE)
        for body in page.events:
            for _ in turn.take(decode_event(bytes(body))):
                pass
        offset += len(page.events)
        if not page.has_more:
            break
    return turn.response()


async def read_to_end(
    operations: Operations, begun: Begun, gone: Callable[[], Awaitable[None]]
) -> shapes.Response | None:
    """The response once its turn has ended; None if the client has gone before."""
    turn = await fresh_turn(operations, begun)
    reader = asyncio.ensure_future(_follow_to_end(operations, begun, turn))
    leaver = asyncio.ensure_future(gone())
    try:
        await asyncio.wait({reader, leaver}, return_when=asyncio.FIRST_COMPLETED)
        if not reader.done():
            return None
        reader.result()
    finally:
        reader.cancel()
        leaver.cancel()
        await asyncio.gather(reader, leaver, return_exceptions=True)
    if not turn.has_ended:
        raise _cut_off(begun)
    return turn.response()


async def _follow_to_end(operations: Operations, begun: Begun, turn: Turn) -> None:
    async with operations.follow(begun.name.session_id, begun.after) as inlet:
        while not turn.has_ended and (frames := await inlet.take()) is not None:
            for _ in _taken(turn, frames):
                pass


def _taken(turn: Turn, frames: Iterable[Frame]) -> Iterator[shapes.StreamEvent]:
    for frame in frames:
        if not frame.name:
            yield from turn.take(decode_event(frame.data))


# -- streams ----------------------------------------------------------------------------------


async def stream_response(
    operations: Operations, begun: Begun, after: int
) -> AsyncGenerator[bytes | None, None]:
    """Frames of the events with a number above `after`."""
    turn = await fresh_turn(operations, begun)

    def frames(event: shapes.StreamEvent) -> Iterator[bytes]:
        if event.sequence_number > after:
            yield b"event: %b\ndata: %b\n\n" % (_type_of(event).encode(), _encode(event))

    async with aclosing(_stream(operations, begun, turn, frames)) as pieces:
        async for piece in pieces:
            yield piece
    if not turn.has_ended:
        cut_off = shapes.StreamFailed(
            sequence_number=turn.next_number, code="server_error", message=_cut_off(begun).detail
        )
        yield b"event: error\ndata: %b\n\n" % _encode(cut_off)


async def stream_completion(
    operations: Operations, begun: Begun, *, with_usage: bool
) -> AsyncGenerator[bytes | None, None]:
    turn, chat = await fresh_turn(operations, begun), Chat(begun.name)

    def frames(event: shapes.StreamEvent) -> Iterator[bytes]:
        for chunk in chat.chunks(event, with_usage=with_usage):
            yield b"data: %b\n\n" % _encode(chunk)

    async with aclosing(_stream(operations, begun, turn, frames)) as pieces:
        async for piece in pieces:
            yield piece
    failure = failed(turn.response()) if turn.has_ended else _cut_off(begun)
    if failure is None:
        yield b"data: [DONE]\n\n"
    else:
        yield b"data: %b\n\n" % _encode(shapes.ErrorAnswer(error_body(failure)))


async def _stream(
    operations: Operations,
    begun: Begun,
    turn: Turn,
    frames_of: Callable[[shapes.StreamEvent], Iterable[bytes]],
) -> AsyncGenerator[bytes | None, None]:
    """The frames until the turn ends, with None where a keep-alive is due."""
    due = time.monotonic() + KEEPALIVE_SECONDS
    async with operations.follow(begun.name.session_id, begun.after) as inlet:
        while not turn.has_ended:
            taken = await inlet.take(max(due - time.monotonic(), 0.0))
            if taken is None:
                return
            piece = b"".join(frame for event in _taken(turn, taken) for frame in frames_of(event))
            if piece or time.monotonic() >= due:
                yield piece or None
                due = time.monotonic() + KEEPALIVE_SECONDS


def _cut_off(begun: Begun) -> TurnFailed:
    return TurnFailed(
        f"the daemon is stopping or the session was deleted before the turn ended; retrieve {begun.name.response_id} later",
        code="server_error",
    )


def failed(response: shapes.Response) -> TurnFailed | None:
    if response.error is None:
        return None
    return TurnFailed(response.error.message, code=response.error.code)


def _type_of(event: Any) -> str:
    name = type(event).__struct_config__.tag
    assert isinstance(name, str)
    return name
