"""Prove your store: everything that `sandbox_agent.store.base` promises, as tests for pytest.

    class TestMyStore(DurableStoreContract):
        def make_store(self, folder: Path) -> Store:
            return MyStore(folder / "log")

A store that forgets when it is closed is proven by `StoreContract`, which never opens a folder twice.
"""

from .store import DurableStoreContract, StoreContract

__all__ = ["DurableStoreContract", "StoreContract"]
