"""Files of a session: whole or not there, and nobody waits for the disk but those who asked for it."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandbox_agent.config import Config
from sandbox_agent.errors import SessionNotFound
from sandbox_agent.ops.attachments import OneAttachment, UploadAttachment, read, upload
from sandbox_agent.runtime.attachments import Attachments
from sandbox_agent.runtime.daemon import Daemon
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.store.base import Secrets

SPACE = 1 << 20
SOON = 5.0


@pytest.fixture
def little_space() -> Iterator[None]:
    """No file of this process may be larger: writing on fails as it does on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SPACE, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("little_space")
def test_a_file_that_does_not_fit_leaves_nothing_behind(tmp_path: Path) -> None:
    attachments = Attachments(tmp_path)
    with pytest.raises(OSError, match="too large"):
        attachments.save("s", "film.bin", bytes(2 * SPACE))
    assert list(attachments.folder("s").iterdir()) == []
    assert attachments.save("s", "note.txt", b"fits").read_bytes() == b"fits"


# -- a slow disk --------------------------------------------------------------------------------


class SlowDisk:
    """Every file waits at its end until the event loop, which must not wait with it, lets it through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._open = threading.Event()
        fsync, read_bytes = os.fsync, Path.read_bytes
        monkeypatch.setattr(os, "fsync", lambda fd: self._wait() and fsync(fd))
        monkeypatch.setattr(Path, "read_bytes", lambda path: self._wait() and read_bytes(path))

    def _wait(self) -> bool:
        self._loop.call_soon_threadsafe(self.reached.set)
        assert self._open.wait(SOON), "nobody opened it: the event loop stands still"
        return True

    async def let_through(self, *others: Awaitable[object]) -> None:
        """Do something else while the disk works, then let it get ready."""
        await asyncio.wait_for(self.reached.wait(), SOON)
        for other in others:
            await other
        self._open.set()


@asynccontextmanager
async def opened(data_dir: Path) -> AsyncIterator[Daemon]:
    daemon = Daemon(Config(data_dir=str(data_dir)))
    await daemon.create("s", "mock", Settings(str(data_dir)), Secrets())
    try:
        yield daemon
    finally:
        await daemon.stop()


def test_files_are_written_and_read_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with opened(tmp_path) as daemon:
            uploading = asyncio.ensure_future(upload(daemon, UploadAttachment("s", b"content", "a.txt")))
            with monkeypatch.context() as patch:
                await SlowDisk(patch).let_through()
                stored = await uploading
            reading = asyncio.ensure_future(read(daemon, OneAttachment("s", Path(stored.path).name)))
            with monkeypatch.context() as patch:
                await SlowDisk(patch).let_through()
                assert (await reading).body == b"content"

    asyncio.run(scenario())


def test_a_session_that_is_deleted_during_an_upload_keeps_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with opened(tmp_path) as daemon:
            disk = SlowDisk(monkeypatch)
            uploading = asyncio.ensure_future(upload(daemon, UploadAttachment("s", b"content", "a.txt")))
            await disk.let_through(daemon.delete("s"))
            with pytest.raises(SessionNotFound):
                await uploading
            assert not daemon.attachments.folder("s").exists()

    asyncio.run(scenario())


def test_the_same_file_can_be_uploaded_twice_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with opened(tmp_path) as daemon:
            request = UploadAttachment("s", bytes(SPACE), "a.bin")
            stored = await asyncio.gather(*(upload(daemon, request) for _ in range(8)))
            assert {one.path for one in stored} == {stored[0].path}
            [file] = daemon.attachments.folder("s").iterdir()
            assert file.read_bytes() == request.content

    asyncio.run(scenario())
