"""Blocking work: in a thread for the async client, directly otherwise. Asynchronous work: the other way round."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    import asyncio  # slow to import, and the blocking client does not need it

    return await asyncio.to_thread(work)


def at_once(work: Callable[[], Result]) -> Result:
    return work()


async def in_loop(work: Coroutine[Any, Any, Result]) -> Result:
    return await work


def in_own_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """In a thread, because this one may have a loop that is running, as in a notebook."""
    import asyncio

    future = asyncio.run_coroutine_threadsafe(work, _own_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def is_in_loop() -> bool:
    """Whether this thread runs an event loop, as in a notebook."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@cache
def _own_loop() -> AbstractEventLoop:
    """One loop for all clients, because a provider's connections belong to the loop that they were opened in."""
    import asyncio
    import threading

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="sandbox-agent-providers", daemon=True).start()
    return loop
