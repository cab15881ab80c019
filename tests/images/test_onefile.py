"""The single file works on a machine without Python, and starts about as fast as a checkout."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from .image import ROOT, Builder, Container, Image, run_claude


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("dist") / "sandbox-agent-linux-x64"
    subprocess.run(
        [sys.executable, "-m", "tools.onefile", "--output", built], cwd=ROOT, check=True, capture_output=True
    )
    return built


@pytest.fixture(scope="session")
def bare(builder: Builder, program: Path) -> Iterator[Image]:
    with builder.bare(program) as image:
        yield image


def test_there_is_no_python_on_the_machine(bare: Image) -> None:
    assert not list(bare.root.glob("usr/bin/python3*"))


def test_it_serves_a_session(bare: Image, tmp_path: Path, port: int) -> None:
    container = Container(bare, tmp_path, port)
    container.start()
    try:
        assert container.check(bare.health) == 0
        container.call("POST", "/v1/sessions/s", {"agent": "mock", "directory": "/workspace"})
        assert container.turn("s", "hello")[-1]["data"]["stop_reason"] == "end_turn"
    finally:
        container.stop()


def test_a_real_agent_works(bare: Image, tmp_path: Path, port: int) -> None:
    assert run_claude(bare, tmp_path, port) == "end_turn"


def test_it_unpacks_once_even_if_several_start_at_the_same_time(program: Path, tmp_path: Path) -> None:
    env = {**os.environ, "SANDBOX_AGENT_CACHE": str(tmp_path / "cache")}
    starts = [subprocess.Popen([program, "--version"], env=env, stdout=subprocess.PIPE) for _ in range(4)]
    assert [start.wait(120) for start in starts] == [0, 0, 0, 0]
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_cache_that_cannot_be_written_is_a_clear_error(program: Path) -> None:
    env = {**os.environ, "SANDBOX_AGENT_CACHE": "/proc/none"}
    ended = subprocess.run([program, "--version"], env=env, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "SANDBOX_AGENT_CACHE names another folder" in ended.stderr


def test_it_starts_about_as_fast_as_a_checkout(program: Path, tmp_path: Path) -> None:
    env = {**os.environ, "SANDBOX_AGENT_CACHE": str(tmp_path / "cache")}
    subprocess.run([program, "--version"], env=env, check=True, capture_output=True)
    checkout = [sys.executable, "-m", "sandbox_agent", "doctor", "--help"]
    single = [str(program), "doctor", "--help"]
    pairs = [(_cpu_seconds(checkout, env), _cpu_seconds(single, env)) for _ in range(5)]
    ours, theirs = min(one for one, _ in pairs), min(other for _, other in pairs)
    print(f"the single file takes {theirs / ours:.2f} of a checkout's time to start")
    assert theirs < ours * 3  # `make bench` measures a daemon's start


def _cpu_seconds(command: Sequence[str], env: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
