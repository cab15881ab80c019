"""All processes together: how many are kept, and what happens on a full disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop
from tests.daemons import SECONDS

from sandbox_agent.errors import Unavailable
from sandbox_agent.processes import processes as module
from sandbox_agent.processes.processes import Processes
from sandbox_agent.processes.program import ProgramSpec

Body = Callable[[Processes], Coroutine[Any, Any, None]]


def with_processes(folder: Path, body: Body) -> None:
    async def run() -> None:
        tasks: set[asyncio.Task[None]] = set()

        def spawn(work: Coroutine[Any, Any, None]) -> None:
            tasks.add(asyncio.get_running_loop().create_task(work))

        processes = Processes(folder, f"test-{folder.name}", spawn)
        await processes.start()
        try:
            await asyncio.wait_for(body(processes), SECONDS)
        finally:
            await processes.stop()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def spec(script: str) -> ProgramSpec:
    return ProgramSpec(("sh", "-c", script), {}, None)


def test_the_oldest_ended_processes_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ENDED", 2)

    async def body(processes: Processes) -> None:
        runs = await processes.create(spec("sleep 60"), interactive=False)
        for _ in range(4):
            await (await processes.create(spec("echo x"), interactive=False)).exited.wait()
        await processes.create(spec("sleep 60"), interactive=False)
        assert [process.id for process in await processes.list(None)] == [
            runs.id,
            "proc_4",
            "proc_5",
            "proc_6",
        ]

    with_processes(tmp_path, body)
    assert sorted(path.name for path in tmp_path.glob("proc_*")) == ["proc_1", "proc_4", "proc_5", "proc_6"]


def test_a_process_whose_record_cannot_be_written_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "proc_1").write_text("in the way")

    async def body(processes: Processes) -> None:
        with pytest.raises(Unavailable):
            await processes.create(spec("touch $0/started"), interactive=False)
        assert await processes.list(None) == []
        assert (await processes.create(spec("true"), interactive=False)).id == "proc_2"

    with_processes(tmp_path, body)
    assert not (tmp_path / "started").exists()


def test_a_folder_that_a_deleted_process_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "proc_7").mkdir()

    async def body(processes: Processes) -> None:
        assert await processes.list(None) == []

    with_processes(tmp_path, body)
    assert not (tmp_path / "proc_7").exists()


def test_nothing_starts_once_the_daemon_stops(tmp_path: Path) -> None:
    """An agent that may finish its turn may also ask for a desktop."""

    async def body(processes: Processes) -> None:
        await (await processes.create(spec("true"), interactive=False)).exited.wait()
        await processes.stop()
        with pytest.raises(Unavailable, match="stopping"):
            await processes.create(spec(f"touch {tmp_path}/started"), interactive=False)
        with pytest.raises(Unavailable, match="stopping"):
            await processes.run(spec(f"touch {tmp_path}/started"), None, None)

    with_processes(tmp_path, body)
    assert not (tmp_path / "started").exists()
