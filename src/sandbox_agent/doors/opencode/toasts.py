"""Messages for the terminal interfaces that are connected. They ignore the errors of some requests, and would show nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..inlet import Frame, Inlet

TOAST = "toast"
"""The name of the frame."""


class Toasts:
    def __init__(self) -> None:
        self._readers: set[Inlet] = set()

    @contextmanager
    def shown_by(self, reader: Inlet) -> Iterator[None]:
        self._readers.add(reader)
        try:
            yield
        finally:
            self._readers.discard(reader)

    def show(self, message: str) -> None:
        for reader in self._readers:
            reader.insert(Frame(TOAST, message.encode()))
