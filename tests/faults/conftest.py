"""Each fault test has its own daemon, which is killed, starved and restarted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemons import Client, Daemon, client_of, running


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with running(Daemon(tmp_path / "data")) as daemon:
        yield daemon


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    """Its sessions are checked at the end, so a test leaves the daemon running."""
    with client_of(daemon) as client:
        yield client
