"""The messages of a stream: bounded while nobody reads, and there again for a reader that comes back."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from sandbox_agent.doors.acp.outbox import MAX_WAITING_BYTES, Outbox
from sandbox_agent.errors import Conflict

LARGE = b"x" * (MAX_WAITING_BYTES // 2 + 1)


async def frames_of(
    outbox: Outbox, count: int, after: int = 0, *, numbered: bool = False
) -> list[bytes | None]:
    async with aclosing(outbox.frames(after, numbered=numbered)) as frames:
        found = [await anext(frames) for _ in range(count)]
        # The next one is asked for: only then is the last one read.
        asking = asyncio.ensure_future(anext(frames))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        return found


def test_a_sender_waits_while_nobody_reads() -> None:
    async def scenario() -> None:
        outbox = Outbox()
        for _ in range(2):
            await outbox.put(LARGE)
        third = asyncio.ensure_future(outbox.put(b"third"))
        await asyncio.sleep(0)
        assert not third.done()
        assert await frames_of(outbox, 2) == [b"data: %b\n\n" % LARGE] * 2
        await third
        assert await outbox.take() == b"third"

    asyncio.run(scenario())


def test_what_was_read_is_kept_for_a_reader_that_comes_back() -> None:
    async def scenario() -> None:
        outbox = Outbox(kept_bytes=10)
        for word in (b"one", b"two", b"three"):
            await outbox.put(word)
        whole = [
            b"event: message\nid: %d\ndata: %b\n\n" % pair
            for pair in ((1, b"one"), (2, b"two"), (3, b"three"))
        ]
        assert await frames_of(outbox, 3, numbered=True) == whole
        # The first was dropped when the third was read: together they exceed the limit.
        assert await frames_of(outbox, 2, numbered=True) == whole[1:]
        assert await frames_of(outbox, 1, after=2, numbered=True) == whole[2:]

    asyncio.run(scenario())


@pytest.mark.parametrize("seen", [0, 3, 99, 101, 1000])
def test_the_number_of_another_outbox_skips_nothing(seen: int) -> None:
    async def scenario() -> None:
        outbox = Outbox(kept_bytes=100, begins_after=100)
        reader = outbox.frames(seen, numbered=True)
        asking = asyncio.ensure_future(anext(reader))
        await asyncio.sleep(0)
        await outbox.put(b"one")
        assert await asking == b"event: message\nid: 101\ndata: one\n\n"
        await reader.aclose()

    asyncio.run(scenario())


def test_a_new_reader_takes_over() -> None:
    async def scenario() -> None:
        outbox = Outbox()
        first = outbox.frames(0, numbered=False)
        asking = asyncio.ensure_future(anext(first))
        await asyncio.sleep(0)
        with pytest.raises(Conflict):
            outbox.require_free()
        second = outbox.frames(0, numbered=False)
        await outbox.put(b"hello")
        assert await anext(second) == b"data: hello\n\n"
        with pytest.raises(StopAsyncIteration):
            await asking
        await second.aclose()
        outbox.require_free()
        outbox.close()
        assert [frame async for frame in outbox.frames(1, numbered=False)] == []

    asyncio.run(scenario())
