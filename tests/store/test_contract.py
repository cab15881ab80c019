"""Every store fulfils the store contract."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cluster.logs import SEAL, Logs, joined

from sandbox_agent.store.base import Store
from sandbox_agent.store.memory import MemoryStore
from sandbox_agent.store.postgres import PostgresStore
from sandbox_agent.store.shared import SharedStore
from sandbox_agent.store.sqlite import SqliteStore
from sandbox_agent.testing.shared_store_contract import SharedStoreContract
from sandbox_agent.testing.store_contract import DurableStoreContract, StoreContract


class TestMemoryStore(StoreContract):
    def make_store(self, folder: Path) -> Store:
        return MemoryStore()


class TestSqliteStore(DurableStoreContract):
    def make_store(self, folder: Path) -> Store:
        return SqliteStore(folder / "log.db")


class TestPostgresStore(DurableStoreContract):
    @pytest.fixture(autouse=True)
    def _use(self, logs: Logs) -> None:
        self._logs = logs
        self._urls: dict[Path, str] = {}

    def make_store(self, folder: Path) -> Store:
        url = self._urls.get(folder) or self._urls.setdefault(folder, self._logs.new())
        store = joined(url)
        store.claim(record.session_id for _, record in store.sessions(None, 1000))
        return store


class TestPostgresStoreShared(SharedStoreContract):
    @pytest.fixture(autouse=True)
    def _use(self, logs: Logs) -> None:
        self._url = logs.new()

    def open_store(self, folder: Path) -> SharedStore:
        return PostgresStore(self._url, SEAL)


class TestSqliteStoreThatSyncsLess(DurableStoreContract):
    def make_store(self, folder: Path) -> Store:
        return SqliteStore(folder / "log.db", "normal")
