"""A shared daemon with a token: clients without the token must not be able to change it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.daemons import Client, Daemon, client_of, running

TOKEN = "f3c0ffee-right-token"


@pytest.fixture(scope="session")
def token() -> str:
    return TOKEN


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("intruders")
    (folder / "token").write_text(TOKEN)
    with running(Daemon(folder / "data", "--token-file", str(folder / "token"))) as daemon:
        yield daemon


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    """A client that knows the token."""
    with client_of(daemon, TOKEN) as client:
        yield client
