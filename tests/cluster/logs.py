"""Logs in PostgreSQL for tests: one server for a worker, and a schema of its own for each test."""

from __future__ import annotations

import base64
import os

import pytest
from tests.cluster.proxy import Proxy
from tools.postgres import PostgresServer, programs

from sandbox_agent.store.postgres import PostgresStore, Seal

LEASE_SECONDS = 10.0
SEAL = Seal([bytes(range(32))])
KEY_LINE = base64.b64encode(bytes(range(32))).decode()


class Logs:
    """Empty logs on one server."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server

    def new(self) -> str:
        """The URL of an empty log."""
        return self.server.url(self.server.new_schema())

    def through(self, proxy: Proxy, url: str) -> str:
        """The same log, reached through a proxy."""
        return url.replace(f":{self.server.port}/", f":{proxy.port}/")


def joined(
    url: str, name: str = "one", folder: str | None = None, lease: float = LEASE_SECONDS
) -> PostgresStore:
    """A node that has joined, and owns what it may."""
    store = PostgresStore(url, SEAL)
    store.join(name, folder or f"folder of {name}", lease, "1.0")
    return store


def require_postgres() -> None:
    if programs() is None:
        words = "PostgreSQL is not installed (Debian: apt-get install postgresql)"
        if os.environ.get("CI"):
            pytest.fail(words)
        pytest.skip(words)
