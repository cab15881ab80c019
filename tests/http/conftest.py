"""One daemon for all tests of the API that a worker runs; each test has a client whose sessions are checked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.daemons import Client, Daemon, client_of, running


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    # Bound to where tests write: some send arbitrary paths.
    root = str(tmp_path_factory.getbasetemp())
    with running(Daemon(tmp_path_factory.mktemp("http") / "data", "--no-token", "--fs-root", root)) as daemon:
        yield daemon


@pytest.fixture(scope="session")
def idle_session(daemon: Daemon) -> Iterator[str]:
    """A session for requests that must be refused: at the end nothing has happened to it."""
    with client_of(daemon) as client:
        session = client.create()
        before = client.info(session), client.events(session)
        yield session
        assert (client.info(session), client.events(session)) == before


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with client_of(daemon) as client:
        yield client
