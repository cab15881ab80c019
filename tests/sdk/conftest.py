"""Real daemons for the SDK's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ..daemons import Daemon, running

TOKEN = "a-token-for-the-sdk"


def daemon_in(folder: Path, *flags: str) -> Daemon:
    return Daemon(folder, "--drain-seconds", "0", *flags, env={"SANDBOX_AGENT_TOKEN": TOKEN})


def kill_and_restart(daemon: Daemon) -> None:
    """SIGKILL, and again on the same port."""
    daemon.kill()
    daemon.flags = (*daemon.flags, "--port", str(daemon.port))
    daemon.start()


def endpoint_of(daemon: Daemon) -> str:
    return f"http://127.0.0.1:{daemon.port}"


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One that nobody kills."""
    with running(daemon_in(tmp_path_factory.mktemp("sdk") / "data")) as started:
        yield started


@pytest.fixture
def endpoint(daemon: Daemon) -> str:
    return endpoint_of(daemon)


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Daemon]:
    """One that a test may kill."""
    with running(daemon_in(tmp_path / "data")) as started:
        yield started
