"""Work that blocks: beside an event loop in a thread, elsewhere at once."""

from __future__ import annotations

from collections.abc import Callable


async def in_thread(work: Callable[[], None]) -> None:
    import asyncio  # takes long to load, and the waiting client does without

    await asyncio.to_thread(work)


def at_once(work: Callable[[], None]) -> None:
    work()
