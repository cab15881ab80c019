"""Logs in PostgreSQL for tests: one server for a worker, and a database of its own for each test."""

from __future__ import annotations

import base64
import os

import pytest
from tools.postgres import PostgresServer, programs

from sandbox_agent.store.postgres import PostgresStore, Seal

LEASE_SECONDS = 10.0
SEAL = Seal([bytes(range(32))])
KEY_LINE = base64.b64encode(bytes(range(32))).decode()

MIGRATED = "migrated"


class Logs:
    """Empty logs on one server."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        server.execute(f"CREATE DATABASE {MIGRATED}")
        PostgresStore(server.url(MIGRATED), SEAL).close()

    def new(self) -> str:
        """The URL of an empty log."""
        name = self.server.database(MIGRATED)
        self.server.execute(
            "UPDATE meta SET value = left(gen_random_uuid()::text, 8) WHERE name = 'identity'", name
        )
        return self.server.url(name)


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
