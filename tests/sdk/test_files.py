"""Files through the asynchronous client: streamed both ways, from whatever a program has."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.daemons import PAUSE

from sandbox_agent import AsyncSandboxAgent, FileChange, InvalidRequest, PreconditionFailed

from .conftest import TOKEN


async def pieces() -> AsyncIterator[bytes]:
    for _ in range(40):
        yield bytes(100_000)


def test_an_asynchronous_program_streams_files(endpoint: str, tmp_path: Path) -> None:
    async def program() -> None:
        async with AsyncSandboxAgent.connect(endpoint, TOKEN) as client:
            path = str(tmp_path / "large")
            assert (await client.fs.write(path, pieces())).bytes_written == 4_000_000
            received = 0
            async with client.fs.read(path) as file:
                assert file.size == 4_000_000
                async for piece in file:
                    received += len(piece)
            assert received == 4_000_000
            async with client.fs.read(path) as file:
                assert await file.read(10) == bytes(10)
            copied = await client.fs.write(str(tmp_path / "copy"), client.fs.read(path))
            assert copied.bytes_written == 4_000_000
            assert await client.fs.read(path).save(tmp_path / "here") == 4_000_000
            with pytest.raises(InvalidRequest):
                await client.fs.read(str(tmp_path / "gone")).read()

    asyncio.run(program())


def test_a_pipe_is_sent_to_its_end(endpoint: str, tmp_path: Path) -> None:
    """Nobody can tell how long it is."""

    async def program() -> None:
        read, write = os.pipe()
        os.write(write, b"through a pipe")
        os.close(write)
        async with AsyncSandboxAgent.connect(endpoint, TOKEN) as client:
            with open(read, "rb") as pipe:
                await client.fs.write(str(tmp_path / "file"), pipe)
            tag = (await client.fs.stat(str(tmp_path / "file"))).etag
            await client.fs.write(str(tmp_path / "file"), io.BytesIO(b"again"), if_match=tag)
            with pytest.raises(PreconditionFailed):
                await client.fs.write(str(tmp_path / "file"), b"too late", if_match=tag)
            with pytest.raises(PreconditionFailed):
                await client.fs.write(str(tmp_path / "file"), b"exists", if_none_match="*")

    asyncio.run(program())
    assert (tmp_path / "file").read_bytes() == b"again"


def test_an_asynchronous_program_sees_changes(endpoint: str, tmp_path: Path) -> None:
    async def first_change(client: AsyncSandboxAgent) -> FileChange | None:
        async for change in client.fs.watch(path=str(tmp_path)):
            return change
        raise AssertionError("the stream has ended")

    async def program() -> FileChange | None:
        async with AsyncSandboxAgent.connect(endpoint, TOKEN) as client:
            first = asyncio.ensure_future(first_change(client))
            number = 0
            while not first.done():
                number += 1
                await client.fs.mkdir(str(tmp_path / str(number)))
                await asyncio.sleep(PAUSE)
            return await first

    change = asyncio.run(program())
    assert change is not None
    assert (change.change, change.entry_type) == ("created", "directory")
