"""A conformance suite for stores: everything `sandbox_agent.store.base` promises, as pytest tests.

class TestMyStore(DurableStoreContract):
    def make_store(self, folder: Path) -> Store:
        return MyStore(folder / "log")

For a store that does not persist, use `StoreContract`, which never opens a directory twice.
"""

from .store import DurableStoreContract, StoreContract

__all__ = ["DurableStoreContract", "StoreContract"]
