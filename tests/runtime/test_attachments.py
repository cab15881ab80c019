"""Files of a session: complete or absent, and only their own callers wait for the disk."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import PAUSE, SECONDS

from sandbox_agent.config import Config
from sandbox_agent.errors import InvalidRequest, NotFound, SessionNotFound
from sandbox_agent.ops.attachments import OneAttachment, UploadAttachment, read, upload
from sandbox_agent.ops.sessions import OneSession, SendMessage, delete, send_message
from sandbox_agent.runtime.attachments import Attachments
from sandbox_agent.runtime.daemon import Daemon
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.store.base import Secrets

SPACE = 1 << 20


@pytest.fixture
def little_space() -> Iterator[None]:
    """Limit the size of files of this process: further writes fail as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SPACE, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("little_space")
def test_a_file_that_does_not_fit_leaves_nothing_behind(tmp_path: Path) -> None:
    attachments = Attachments(tmp_path, "log")
    with pytest.raises(OSError, match="too large"):
        attachments.save("s", "film.bin", bytes(2 * SPACE))
    assert files(tmp_path) == []
    assert attachments.save("s", "note.txt", b"fits").read_bytes() == b"fits"


def files(data_dir: Path) -> list[Path]:
    """All files of all sessions, whole or not. Directories may disappear in the meantime."""
    return [Path(folder, name) for folder, _, names in os.walk(data_dir / "attachments") for name in names]


async def soon(is_so: Callable[[], bool]) -> None:
    """Files are removed in the background."""
    async with asyncio.timeout(SECONDS):
        while not is_so():
            await asyncio.sleep(PAUSE)


def test_writing_a_file_again_changes_nothing(tmp_path: Path) -> None:
    attachments = Attachments(tmp_path, "log")
    path = attachments.write("folder", "image.png", b"image")
    before = path.stat()
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: attachments.write("folder", "image.png", b"image"), range(32)))
    assert set(paths) == {path}
    assert path.stat() == before
    assert files(tmp_path) == [path]


def test_files_and_folders_are_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = Attachments(tmp_path, "log").write("folder", "a", b"a")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(file.stat().st_mode) for file in (path, path.parent)]
    assert modes == [0o600, 0o700]


# -- across restarts -----------------------------------------------------------------------------


def test_what_no_record_names_is_swept(tmp_path: Path) -> None:
    """While requests create new files, and with other logs in the same data directory."""
    earlier, other = Attachments(tmp_path, "log"), Attachments(tmp_path, "other")
    known, deleted, foreign = earlier.new_folder(), earlier.new_folder(), other.new_folder()
    for attachments, folder in ((earlier, known), (earlier, deleted), (other, foreign), (earlier, "ses-old")):
        attachments.write(folder, "a", b"a")
    now = Attachments(tmp_path, "log")
    new = now.new_folder()
    now.write(new, "a", b"a")
    asyncio.run(now.sweep({known}))
    kept = {path.parent.name for path in files(tmp_path)}
    assert kept == {known, foreign, new, "ses-old"}


def test_a_sweep_without_files_succeeds(tmp_path: Path) -> None:
    asyncio.run(Attachments(tmp_path, "log").sweep(set()))


UPLOADER = """
import os, sys
from pathlib import Path
from sandbox_agent.runtime.attachments import Attachments

def killed(fd): os.kill(os.getpid(), 9)
os.fsync = killed
Attachments(Path(sys.argv[1]), "log").write("log-folder", "film.bin", b"x" * 100_000)
"""


def test_an_upload_that_a_kill_cut_off_is_never_read_and_swept(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", UPLOADER, str(tmp_path)], check=False)
    [left] = files(tmp_path)
    attachments = Attachments(tmp_path, "log")
    assert left.parent != attachments.folder("log-folder")
    assert attachments.read("log-folder", left.name) is None
    asyncio.run(attachments.sweep({"log-folder"}))
    assert files(tmp_path) == []


def test_files_of_a_deleted_session_are_swept_by_the_next_daemon(tmp_path: Path) -> None:
    """As after a kill between the delete and the removal."""

    async def scenario() -> None:
        async with opened(tmp_path) as daemon:
            await upload(daemon, UploadAttachment("s", b"kept", "a.txt"))
            folder = daemon.attachments.new_folder()
            daemon.attachments.write(folder, "left.txt", b"left")
        daemon = Daemon(Config(data_dir=str(tmp_path)))
        await daemon.start()
        await soon(lambda: len(files(tmp_path)) == 1)
        assert [path.read_bytes() for path in files(tmp_path)] == [b"kept"]
        await daemon.stop()
        daemon.release_folder()

    asyncio.run(scenario())


def test_a_session_that_reuses_an_id_reads_no_files_of_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if none of its files could be removed."""
    monkeypatch.setattr(shutil, "rmtree", lambda *args, **options: None)

    async def scenario() -> None:
        async with opened(tmp_path) as daemon:
            stored = await upload(daemon, UploadAttachment("s", b"secret", "a.txt"))
            await delete(daemon, OneSession("s"))
            await daemon.create("s", "mock", Settings(str(tmp_path)), Secrets())
            name = Path(stored.path).name
            with pytest.raises(NotFound):
                await read(daemon, OneAttachment("s", name))
            folder = (await daemon.sessions.show("s")).view.record.folder
            with pytest.raises(InvalidRequest):
                daemon.attachments.resolve(folder, name)

    asyncio.run(scenario())


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/tmp"])
def test_an_invalid_folder_name_removes_nothing(tmp_path: Path, name: str) -> None:
    attachments = Attachments(tmp_path, "log")
    attachments.write("folder", "a", b"a")
    with pytest.raises(ValueError, match="not the name of a session"):
        asyncio.run(attachments.remove(name))
    assert len(files(tmp_path)) == 1


# -- a slow disk --------------------------------------------------------------------------------


class SlowDisk:
    """Every write waits at its end until the event loop, which must not block in the meantime, releases it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._open = threading.Event()
        fsync, read_bytes = os.fsync, Path.read_bytes
        monkeypatch.setattr(os, "fsync", lambda fd: self._wait() and fsync(fd))
        monkeypatch.setattr(Path, "read_bytes", lambda path: self._wait() and read_bytes(path))

    def _wait(self) -> bool:
        self._loop.call_soon_threadsafe(self.reached.set)
        assert self._open.wait(SECONDS), "nobody opened it: the event loop stands still"
        return True

    async def let_through(self, *others: Awaitable[object]) -> None:
        """Do something else while the disk is busy, then release it."""
        await asyncio.wait_for(self.reached.wait(), SECONDS)
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
        daemon.release_folder()


def test_files_are_written_and_read_off_the_event_loop(
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


def test_an_agents_image_is_written_off_the_event_loop_before_its_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with opened(tmp_path) as daemon:
            with monkeypatch.context() as patch:
                disk = SlowDisk(patch)
                await send_message(daemon, SendMessage("s", "image"))
                await asyncio.wait_for(disk.reached.wait(), SECONDS)
                assert b'"type":"image"' not in await bodies(daemon)
                await disk.let_through()

                async def is_reported() -> bool:
                    return b'"type":"image"' in await bodies(daemon)

                async with asyncio.timeout(SECONDS):
                    while not await is_reported():
                        await asyncio.sleep(PAUSE)
            [picture] = files(tmp_path)
            assert picture.read_bytes().startswith(b"\x89PNG")

    asyncio.run(scenario())


async def bodies(daemon: Daemon) -> bytes:
    """The stored bodies of the session's events."""
    store = daemon.log.store
    return b"".join(row.body for row in await asyncio.to_thread(lambda: store.read("s", 0, 1000, 1 << 20)))


def test_a_session_that_is_deleted_during_an_upload_keeps_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with opened(tmp_path) as daemon:
            disk = SlowDisk(monkeypatch)
            uploading = asyncio.ensure_future(upload(daemon, UploadAttachment("s", b"content", "a.txt")))
            await disk.let_through(delete(daemon, OneSession("s")))
            with pytest.raises(SessionNotFound):
                await uploading
            await soon(lambda: files(tmp_path) == [])

    asyncio.run(scenario())


def test_a_session_that_takes_the_name_during_an_upload_does_not_get_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with opened(tmp_path) as daemon:
            disk = SlowDisk(monkeypatch)
            uploading = asyncio.ensure_future(upload(daemon, UploadAttachment("s", b"content", "a.txt")))
            create = daemon.create("s", "mock", Settings(str(tmp_path)), Secrets())
            await disk.let_through(delete(daemon, OneSession("s")), create)
            with pytest.raises(SessionNotFound):
                await uploading
            await soon(lambda: files(tmp_path) == [])

    asyncio.run(scenario())


def test_files_are_removed_off_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with opened(tmp_path) as daemon:
            await upload(daemon, UploadAttachment("s", b"content", "a.txt"))
            threads: list[threading.Thread] = []
            rmtree = shutil.rmtree

            def noted(*args: Any, **options: Any) -> None:
                threads.append(threading.current_thread())
                rmtree(*args, **options)

            monkeypatch.setattr(shutil, "rmtree", noted)
            await delete(daemon, OneSession("s"))
            await soon(lambda: files(tmp_path) == [])
            assert threads
            assert threading.current_thread() not in threads

    asyncio.run(scenario())


def test_the_same_file_can_be_uploaded_twice_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with opened(tmp_path) as daemon:
            request = UploadAttachment("s", bytes(SPACE), "a.bin")
            stored = await asyncio.gather(*(upload(daemon, request) for _ in range(8)))
            assert {attachment.path for attachment in stored} == {stored[0].path}
            [file] = files(tmp_path)
            assert file.read_bytes() == request.content

    asyncio.run(scenario())
