"""Clocks may be wrong by minutes and jump: no node is replaced, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cluster.logs import require_postgres
from tests.cluster.nodes import Nodes, outcomes, states
from tests.cluster.talking import Talker, check
from tools.postgres import PostgresServer

MINUTES = 60


class Clock:
    """A clock for one program that is wrong by some seconds."""

    def __init__(self, file: Path, library: Path, seconds: int = 0) -> None:
        self._file = file
        file.write_bytes(struct.pack("l", seconds))
        file.chmod(0o644)
        self.env = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(file)}

    def jump(self, seconds: int) -> None:
        with self._file.open("r+b") as file:
            file.write(struct.pack("l", seconds))


@pytest.fixture
def library(tmp_path: Path) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        words = "a wrong clock needs a C compiler"
        if os.environ.get("CI"):
            pytest.fail(words)
        pytest.skip(words)
    path = Path("/dev/shm" if os.path.isdir("/dev/shm") else tmp_path, f"clock-{os.getpid()}.so")
    source = Path(__file__).with_name("clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", path, source], check=True)
    path.chmod(0o755)
    return path


@pytest.fixture
def clock(library: Path) -> Iterator[Clock]:
    """The server's clock."""
    clock = Clock(library.with_suffix(".offset"), library)
    yield clock
    library.with_suffix(".offset").unlink()
    library.unlink()


@pytest.fixture
def server(clock: Clock) -> Iterator[PostgresServer]:
    require_postgres()
    server = PostgresServer(environment=clock.env)
    server.start()
    yield server
    server.remove()


def test_clocks_may_be_wrong_and_jump(
    server: PostgresServer, clock: Clock, library: Path, tmp_path: Path
) -> None:
    nodes = Nodes(tmp_path, server.url())
    try:
        early = Clock(tmp_path / "early", library, -20 * MINUTES)
        late = Clock(tmp_path / "late", library, 30 * MINUTES)
        one, two = nodes.start("one", env=early.env), nodes.start("two", env=late.env)
        sessions = [one.client.create(), two.client.create()]
        talkers = [Talker(two, sessions[0]), Talker(one, sessions[1])]
        for seconds in (10 * MINUTES, -10 * MINUTES, 60 * MINUTES, 0):
            clock.jump(seconds)
            [(epoch,)] = server.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
            assert abs(epoch - time.time() - seconds) < MINUTES
            early.jump(-seconds)
            for talker in talkers:
                talker.go_on()
        for session, talker in zip(sessions, talkers, strict=True):
            check(one, session, talker)
            assert set(outcomes(one.client.events(session))) == {"end_turn"}
        assert states(one) == {"one": "live", "two": "live"}
        assert server.execute("SELECT count(*) FROM nodes") == [(2,)]  # none had to join again
    finally:
        nodes.end()
