"""Both stores fulfil the store contract."""

from __future__ import annotations

from pathlib import Path

from sandbox_agent.store.base import Store
from sandbox_agent.store.memory import MemoryStore
from sandbox_agent.store.sqlite import SqliteStore
from sandbox_agent.testing.store_contract import DurableStoreContract, StoreContract


class TestMemoryStore(StoreContract):
    def make_store(self, folder: Path) -> Store:
        return MemoryStore()


class TestSqliteStore(DurableStoreContract):
    def make_store(self, folder: Path) -> Store:
        return SqliteStore(folder / "log.db")


class TestSqliteStoreThatSyncsLess(DurableStoreContract):
    def make_store(self, folder: Path) -> Store:
        return SqliteStore(folder / "log.db", "normal")
