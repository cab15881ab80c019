"""Work that blocks: beside an event loop in a thread, elsewhere at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    import asyncio  # takes long to load, and the waiting client does without

    return await asyncio.to_thread(work)


def at_once(work: Callable[[], Result]) -> Result:
    return work()
