"""Blocking work: in a thread for the async client, directly otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    import asyncio  # slow to import, and the blocking client does not need it

    return await asyncio.to_thread(work)


def at_once(work: Callable[[], Result]) -> Result:
    return work()
