"""Watching a folder: a slow reader costs nothing, and misses nothing without a notice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.daemons import PAUSE, SECONDS

from sandbox_agent.files.roots import Roots
from sandbox_agent.files.vault import Vault
from sandbox_agent.files.watch import LOST, Lost, Watch
from sandbox_agent.schema.files import FileChange

QUEUED = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())


def watch(root: Path, data: Path) -> Watch:
    return Watch(Roots([root], Vault(data)), str(root))


def read_all(watched: Watch) -> list[FileChange | Lost]:
    found: list[FileChange | Lost] = []
    while changes := watched._read():
        found += changes
    return found


def test_a_folder_whose_creation_was_lost_is_watched(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    watched = watch(root, tmp_path / "data")
    for _ in range(QUEUED // 2):
        (root / "file").touch()
        (root / "file").unlink()
    (root / "late").mkdir()
    assert LOST in read_all(watched)
    (root / "late" / "inside").touch()
    assert FileChange(str(root / "late" / "inside"), "created", "file") in read_all(watched)


def test_a_folder_that_left_while_changes_were_lost_is_not_watched(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "sub").mkdir(parents=True)
    watched = watch(root, tmp_path / "data")
    for _ in range(QUEUED // 2):
        (root / "file").touch()
        (root / "file").unlink()
    (root / "sub").rename(outside)
    assert LOST in read_all(watched)
    (outside / "secret").touch()
    assert read_all(watched) == []


def test_changes_that_wait_for_a_slow_reader_cost_no_work(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()

    async def run(read: Callable[[], list[FileChange | Lost]]) -> list[FileChange | Lost]:
        return read()

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        add_reader, woken = loop.add_reader, 0

        def counted(fd: int, callback: Callable[..., Any], *args: Any) -> None:
            def count() -> None:
                nonlocal woken
                woken += 1
                callback(*args)

            add_reader(fd, count)

        loop.add_reader = counted  # type: ignore[method-assign, assignment]
        changes = watch(root, tmp_path / "data").changes(run, SECONDS)
        first = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(PAUSE)
        (root / "first").touch()
        assert await first == FileChange(str(root / "first"), "created", "file")
        (root / "second").touch()
        for _ in range(100):
            await asyncio.sleep(0)
        assert woken <= 2
        async for change in changes:
            if change == FileChange(str(root / "second"), "created", "file"):
                break
        await changes.aclose()

    asyncio.run(scenario())
