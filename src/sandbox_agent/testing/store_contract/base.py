"""The base of every part of the contract: a store to test."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import pytest

from ...store.base import Store


class Contract(ABC):
    @abstractmethod
    def make_store(self, folder: Path) -> Store:
        """Open the store in this directory; an empty one if there is none yet."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = self.make_store(tmp_path)
        yield store
        store.close()
