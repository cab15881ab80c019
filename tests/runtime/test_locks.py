"""Locks by name: one holder at a time for each name, and none is left over."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_agent.runtime.locks import Locks


def test_locks_serialize_one_name_and_no_other() -> None:
    async def scenario() -> list[str]:
        locks, order = Locks(), list[str]()
        may_go = asyncio.Event()

        async def work(name: str, word: str) -> None:
            async with locks.hold(name):
                order.append(f"{word} in")
                if name == "a":
                    await may_go.wait()
                order.append(f"{word} out")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(work("a", "first"))
            tasks.create_task(work("a", "second"))
            await tasks.create_task(work("b", "other"))
            assert len(locks) == 1
            may_go.set()
        assert len(locks) == 0
        return order

    assert asyncio.run(scenario()) == [
        "first in",
        "other in",
        "other out",
        "first out",
        "second in",
        "second out",
    ]


def test_failures_and_cancellations_leave_no_lock() -> None:
    async def scenario() -> None:
        locks = Locks()

        async def wait() -> None:
            async with locks.hold("a"):
                raise AssertionError("it was never its turn")

        async def fail() -> None:
            async with locks.hold("a"):
                waiting = asyncio.create_task(wait())
                await asyncio.sleep(0)
                waiting.cancel()
                await asyncio.wait([waiting])
                assert len(locks) == 1
                raise ValueError

        with pytest.raises(ValueError):
            await fail()
        assert len(locks) == 0

    asyncio.run(scenario())
