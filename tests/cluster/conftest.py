"""Daemons that share a log in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cluster.logs import Logs, require_postgres
from tests.cluster.nodes import Nodes
from tools.postgres import PostgresServer


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """One server for all tests of a worker, which must leave it running."""
    require_postgres()
    server = PostgresServer()
    server.start()
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def logs(server: PostgresServer) -> Logs:
    return Logs(server)


@pytest.fixture
def nodes(logs: Logs, tmp_path: Path) -> Iterator[Nodes]:
    """Nodes of one empty log, which are gone after the test."""
    nodes = Nodes(tmp_path, logs.new())
    try:
        yield nodes
    finally:
        nodes.end()
