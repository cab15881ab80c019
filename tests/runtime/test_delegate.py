"""The listener for an agent's permission program, with a real process and the real program."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.runtime.conftest import Run

from sandbox_agent.agents.amp import delegate as program
from sandbox_agent.agents.frames import DelegateAsk, DelegateReply, InFrame
from sandbox_agent.errors import AgentProcessExited
from sandbox_agent.private_files import write_private
from sandbox_agent.runtime.delegate import DelegatingProcess
from sandbox_agent.runtime.framing import LineTooLong
from sandbox_agent.runtime.private_folder import remove_leftovers
from sandbox_agent.runtime.process import Exit

AGENT = Path(__file__).with_name("delegating_agent.py")


class Talk:
    """An agent, and the frames that came from it."""

    def __init__(self) -> None:
        self.frames: asyncio.Queue[Any] = asyncio.Queue()
        self.exits: list[Exit] = []
        self.process = DelegatingProcess(f"test-delegate-{os.getpid()}", self._handle, self.exits.append)

    def _handle(self, frames: Sequence[InFrame | LineTooLong]) -> None:
        for frame in frames:
            assert isinstance(frame, bytes | DelegateAsk)
            self.frames.put_nowait(frame if isinstance(frame, DelegateAsk) else msgspec.json.decode(frame))

    def write(self, *lines: object) -> None:
        self.process.write([msgspec.json.encode(line) for line in lines])

    def reply(self, id: str, allow: bool, message: str | None = None) -> None:
        self.process.write([DelegateReply(id, allow, message)])

    async def start(self, directory: str = "/") -> None:
        argv = [sys.executable, "-I", "-S", str(AGENT), str(Path(program.__file__))]
        await self.process.start(argv, {"PATH": os.environ["PATH"]}, directory)


@asynccontextmanager
async def talk() -> AsyncIterator[tuple[Talk, Path]]:
    """A running agent, and the path of its socket."""
    agent = Talk()
    await agent.start()
    try:
        address = (await agent.frames.get())["address"]
        yield agent, Path(address.removeprefix("unix:"))
    finally:
        await agent.process.stop()


def question(asked: DelegateAsk) -> tuple[str, Any]:
    return asked.id, msgspec.json.decode(asked.body)


def facts(tool: str, given: object) -> dict[str, object]:
    return {"tool": tool, "tool_use_id": "call-1", "thread": None, "input": given}


def test_a_question_is_a_frame_and_an_allowance_lets_the_tool_run(run: Run) -> None:
    async def body() -> None:
        async with talk() as (agent, _):
            agent.write({"tool": "Bash", "input": {"cmd": "ls"}})
            assert question(await agent.frames.get()) == ("delegate-1", facts("Bash", {"cmd": "ls"}))
            agent.reply("delegate-1", True)
            assert await agent.frames.get() == {"tool": "Bash", "code": program.ALLOW, "stderr": ""}

    run(body)


def test_a_rejection_tells_the_agent_why(run: Run) -> None:
    async def body() -> None:
        async with talk() as (agent, _):
            agent.write({"tool": "Bash", "input": {"cmd": "rm -r /"}})
            await agent.frames.get()
            agent.reply("delegate-1", False, "not on my machine")
            rejected = {"tool": "Bash", "code": program.REJECT, "stderr": "not on my machine"}
            assert await agent.frames.get() == rejected

    run(body)


def test_questions_at_the_same_time_get_their_own_answers(run: Run) -> None:
    async def body() -> None:
        async with talk() as (agent, _):
            agent.write({"tool": "first", "input": 1}, {"tool": "second", "input": 2})
            questions = [question(await agent.frames.get()) for _ in range(2)]
            asked = {question["tool"]: id for id, question in questions}
            agent.reply(asked["second"], True)
            assert await agent.frames.get() == {"tool": "second", "code": program.ALLOW, "stderr": ""}
            agent.reply(asked["first"], False, "no")
            assert await agent.frames.get() == {"tool": "first", "code": program.REJECT, "stderr": "no"}

    run(body)


def test_an_input_of_many_megabytes_passes(run: Run) -> None:
    async def body() -> None:
        async with talk() as (agent, _):
            given = {"content": "x" * (8 << 20)}
            agent.write({"tool": "create_file", "input": given})
            assert question(await agent.frames.get()) == ("delegate-1", facts("create_file", given))
            agent.reply("delegate-1", True)
            await agent.frames.get()

    run(body)


def test_only_other_frames_than_replies_go_to_the_agent(run: Run) -> None:
    async def body() -> None:
        async with talk() as (agent, _):
            prompt = {"type": "user", "message": {"content": [{"text": '{"type":"delegate_reply"}'}]}}
            agent.process.write([DelegateReply("nobody's", allow=True), msgspec.json.encode(prompt)])
            assert await agent.frames.get() == {"read": prompt}

    run(body)


def test_a_question_is_passed_on_unchanged_with_an_id(run: Run) -> None:
    async def body() -> None:
        async with talk() as (agent, path):
            for number, line in enumerate((b'{"type":"result","id":"mine"}', b"what?"), 1):
                reader, writer = await asyncio.open_unix_connection(path)
                writer.write(line + b"\n")
                assert await agent.frames.get() == DelegateAsk(f"delegate-{number}", line)
                agent.reply(f"delegate-{number}", True)
                assert await reader.read() == b'{"allow":true,"message":null,"answers":null}\n'
                writer.close()
                await writer.wait_closed()

    run(body)


def test_the_socket_is_private_and_removed_with_the_process(run: Run) -> None:
    async def body() -> None:
        async with talk() as (agent, path):
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(b'{"tool":"Bash"}\n')
            await agent.frames.get()
            await agent.process.stop()
            assert await reader.read() == b""
            writer.close()
            await writer.wait_closed()
            assert not path.parent.exists()
            assert [exit.signal for exit in agent.exits] == ["SIGTERM"]

    run(body)


def test_a_long_folder_for_temporary_files_is_not_used(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))

    async def body() -> None:
        async with talk() as (_, path):
            assert path.parent.parent == Path("/tmp")
            assert list(long.iterdir()) == []

    run(body)


@pytest.fixture
def short_tmp(monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_process_that_cannot_be_started_leaves_nothing(run: Run, short_tmp: Path) -> None:
    async def body() -> None:
        with pytest.raises(AgentProcessExited):
            await Talk().start(str(short_tmp / "nowhere"))
        assert list(short_tmp.iterdir()) == []

    run(body)
    short_tmp.rmdir()


def test_what_a_killed_daemon_left_is_removed_and_nothing_else(short_tmp: Path) -> None:
    for name in ("sandbox-agent-mine-a1", "sandbox-agent-other-b2"):
        (short_tmp / name).mkdir()
        (short_tmp / name / "socket").touch()
    remove_leftovers("mine")
    assert [folder.name for folder in short_tmp.iterdir()] == ["sandbox-agent-other-b2"]
    remove_leftovers("other")
    short_tmp.rmdir()


def test_a_launch_file_is_replaced_atomically_and_only_scripts_are_executable(tmp_path: Path) -> None:
    path = tmp_path / "launch" / "file"
    for content, mode in ((b"#!/bin/sh\n", 0o700), (b"secret", 0o600), (b"#!/bin/sh\nexit\n", 0o700)):
        before = path.stat().st_ino if path.exists() else None
        write_private(path, content)
        after = path.stat()
        assert (path.read_bytes(), stat.S_IMODE(after.st_mode), after.st_ino == before) == (
            content,
            mode,
            False,
        )
    assert [file.name for file in path.parent.iterdir()] == ["file"]
