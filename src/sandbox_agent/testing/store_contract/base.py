"""What every part of the contract begins with: a store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import pytest

from ...store.base import Store


class Contract(ABC):
    @abstractmethod
    def make_store(self, folder: Path) -> Store:
        """Open the store that lives in this folder; an empty one when there is none yet."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = self.make_store(tmp_path)
        yield store
        store.close()
