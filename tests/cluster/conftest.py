"""Daemons that share a log in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cluster.logs import Logs
from tests.cluster.nodes import Nodes
from tests.cluster.proxy import Proxy


@pytest.fixture
def nodes(logs: Logs, tmp_path: Path) -> Iterator[Nodes]:
    """Nodes of one empty log, which are gone after the test."""
    nodes = Nodes(tmp_path, logs.new())
    try:
        yield nodes
    finally:
        nodes.end()


@pytest.fixture
def proxy(logs: Logs) -> Iterator[Proxy]:
    """A proxy in front of the database."""
    proxy = Proxy(logs.server.port)
    yield proxy
    proxy.close()
