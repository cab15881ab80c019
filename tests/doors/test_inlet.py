"""A reader of the log inside the daemon gets whole frames, however they arrive, and holds a bounded number of them."""

from __future__ import annotations

import asyncio

from sandbox_agent.doors.inlet import MAX_BYTES, MAX_INSERTED, Frame, Inlet, inlet_of

TEXT = b': ping\n\nevent: session\ndata: {"a":1}\n\nid: 7\ndata: {}\n\n'
FRAMES = [Frame("session", b'{"a":1}'), Frame("", b"{}")]


class Cut:
    """A stream that arrives in pieces of one size; it waits while the inlet is full."""

    def __init__(self, text: bytes, size: int) -> None:
        self._pieces = [text[start : start + size] for start in range(0, len(text), size)]
        self.most_ahead = 0

    async def run(self, inlet: Inlet) -> None:
        ahead, can_go_on = 0, asyncio.Event()
        inlet.on_change = can_go_on.set
        for piece in self._pieces:
            inlet.write(piece)
            ahead += len(piece)
            self.most_ahead = max(ahead, self.most_ahead)
            if inlet.is_full:
                can_go_on.clear()
                await can_go_on.wait()
                ahead = 0


def frames_of(stream: Cut) -> list[Frame]:
    return asyncio.run(_frames_of(stream))


async def _frames_of(stream: Cut) -> list[Frame]:
    found: list[Frame] = []
    async with inlet_of(stream) as inlet:
        while (frames := await inlet.take()) is not None:
            found += frames
    return found


def test_frames_are_whole_however_they_are_cut() -> None:
    for size in range(1, len(TEXT) + 1):
        assert frames_of(Cut(TEXT, size)) == FRAMES


def test_a_huge_frame_pauses_the_stream_again_and_again() -> None:
    huge = Frame("", b"x" * (40 * MAX_BYTES))
    stream = Cut(b"data: %b\n\n%b" % (huge.data, TEXT), MAX_BYTES // 4)
    assert frames_of(stream) == [huge, *FRAMES]
    assert stream.most_ahead <= MAX_BYTES


def test_what_is_not_in_the_log_comes_between_frames_and_is_bounded() -> None:
    asyncio.run(_inserted())


async def _inserted() -> None:
    inlet = Inlet()
    inlet.write(b"data: half")
    for _ in range(2 * MAX_INSERTED):
        inlet.insert(Frame("toast", b"not available"))
    assert await inlet.take() == [Frame("toast", b"not available")] * MAX_INSERTED
    inlet.write(b" and half\n\n")
    assert await inlet.take() == [Frame("", b"half and half")]


def test_a_wait_without_frames_ends_in_time() -> None:
    asyncio.run(_wait_without_frames())


async def _wait_without_frames() -> None:
    inlet = Inlet()
    assert await inlet.take(0.01) == []
    inlet.write(b"data: half")
    assert await inlet.take(0.01) == []
    inlet.end()
    assert await inlet.take() is None
