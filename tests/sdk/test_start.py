"""A daemon that a program starts belongs to the program, and ends with it, however the program ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.busy import busy
from tests.daemons import SECONDS

from sandbox_agent import AsyncSandboxAgent, DaemonNotStarted, DaemonUnreachable, SandboxAgent

from ..daemons import Daemon, gone_within

PROGRAM = """
import sys
from sandbox_agent import SandboxAgent
client = SandboxAgent.start(data_dir=sys.argv[1])
session = client.sessions.create(agent="mock")
print("ready", flush=True)
{then}
"""

ENDS = {
    "it returns without having closed anything": ("", None),
    "it raises": ("1 / 0", None),
    "it is killed while a turn runs": (
        "for event in session.prompt('slow'): print(event.type, flush=True)",
        signal.SIGKILL,
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_the_daemon_ends_with_the_program_when(end: str, tmp_path: Path) -> None:
    then, number = ENDS[end]
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(then=then), str(tmp_path / "data")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
    )
    assert program.stdout is not None
    with program.stdout as output:
        assert output.readline() == b"ready\n"
        daemon = int((tmp_path / "data" / "lock").read_text())
        if number is not None:
            assert output.readline() == b"turn.started\n"
            os.kill(program.pid, number)
        program.communicate(timeout=SECONDS)
    assert gone_within([daemon], 20) == []


def test_a_started_daemon_has_a_port_and_a_token_of_its_own(tmp_path: Path) -> None:
    with (
        SandboxAgent.start(data_dir=tmp_path / "one") as one,
        SandboxAgent.start(data_dir=tmp_path / "two") as two,
    ):
        first, second = one.address(), two.address()
        assert first.endpoint != second.endpoint
        assert None not in (first.token, second.token)
        assert first.token != second.token
        assert one.system.health() == two.system.health()


def test_a_conversation_survives_a_restart_of_the_programs_daemon(tmp_path: Path) -> None:
    with SandboxAgent.start(data_dir=tmp_path / "data") as client:
        client.sessions.create("kept", agent="mock").prompt("hello").result()
    with SandboxAgent.start(data_dir=tmp_path / "data") as client:
        transcript = client.session("kept").prompt("memory").result()
    assert transcript.text == "You said before:\n\n1. hello"


def test_a_started_daemon_that_was_killed_is_not_waited_for(tmp_path: Path) -> None:
    with SandboxAgent.start(data_dir=tmp_path / "data") as client:
        turn = client.sessions.create(agent="mock").prompt("pace 400 50")
        while next(turn).source != "agent":
            pass
        os.kill(int((tmp_path / "data" / "lock").read_text()), signal.SIGKILL)
        began = time.monotonic()
        with pytest.raises(DaemonUnreachable, match=r"has exited|was lost"):
            turn.result()
        assert time.monotonic() - began < busy(30)


def test_a_folder_that_another_daemon_uses_is_reported(daemon: Daemon) -> None:
    with pytest.raises(DaemonNotStarted, match=rf"another daemon \(pid {daemon.pid}\) uses .* connect\(\)"):
        SandboxAgent.start(data_dir=daemon.data_dir)


def test_a_daemon_that_does_not_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(DaemonNotStarted, match=r"the daemon did not start:\n.*\n?.*--port"),
        SandboxAgent.start(data_dir=tmp_path, flags=["--port", "no"]),
    ):
        pass


async def types_of_a_turn(folder: Path) -> list[str]:
    async with AsyncSandboxAgent.start(data_dir=folder) as client:
        session = await client.sessions.create(agent="mock")
        return [event.type async for event in session.prompt("hello")]


def test_the_asynchronous_client_starts_one_too(tmp_path: Path) -> None:
    seen = asyncio.run(types_of_a_turn(tmp_path / "data"))
    assert (seen[0], seen[-1]) == ("turn.started", "turn.ended")


def test_a_start_that_is_interrupted_leaves_no_daemon_behind(tmp_path: Path) -> None:
    async def start() -> str:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0), AsyncSandboxAgent.start(data_dir=tmp_path):
                raise AssertionError("it has started")
        async with AsyncSandboxAgent.start(data_dir=tmp_path) as client:
            return (await client.system.health()).status

    assert asyncio.run(start()) == "ok"
