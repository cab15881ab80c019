"""A response with progress: its stream always ends with a frame that states the outcome."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from msgspec import Struct

from sandbox_agent.errors import InstallFailed
from sandbox_agent.ops.operation import Watched


async def no_steps() -> AsyncGenerator[Struct | None, None]:
    return
    yield


async def broken_steps() -> AsyncGenerator[Struct | None, None]:
    yield None
    raise TypeError("a secret detail")


async def frames(error: Exception, steps: AsyncGenerator[Struct | None, None]) -> list[bytes | None]:
    result: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    result.set_exception(error)
    result.exception()
    pieces = Watched(result, steps).stream().pieces
    assert isinstance(pieces, AsyncGenerator)
    return [piece async for piece in pieces]


@pytest.mark.parametrize("steps", [no_steps, broken_steps])
def test_an_internal_error_ends_the_stream_with_a_problem(steps: type) -> None:
    last = asyncio.run(frames(TypeError("a secret detail"), steps()))[-1]
    assert last is not None
    assert last.startswith(b'event: problem\ndata: {"type":"urn:sandbox-agent:error:internal"')
    assert b"secret" not in last


def test_an_install_that_fails_ends_the_stream_with_its_problem() -> None:
    last = asyncio.run(frames(InstallFailed("no network", agent="codex"), no_steps()))[-1]
    assert last is not None
    assert b"install_failed" in last
