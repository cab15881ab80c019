"""One daemon for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.daemons import Client, Daemon, client_of, running


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("mcp") / "data", "--no-token")) as daemon:
        yield daemon


@pytest.fixture
def native(daemon: Daemon) -> Iterator[Client]:
    """A client of our own API, which sees the same sessions."""
    with client_of(daemon) as client:
        yield client
