"""The clients that read the event stream: how many there may be, and messages for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import Unavailable
from ..inlet import Frame, Inlet

TOAST = "toast"
"""The name of the frame."""
MAX_READERS = 100
"""Each of them costs a translation of every event of every session."""


class Readers:
    def __init__(self) -> None:
        self._inlets: set[Inlet] = set()

    def require_room(self) -> None:
        if len(self._inlets) >= MAX_READERS:
            raise Unavailable(f"{MAX_READERS} clients are already reading the events", retryAfter=30)

    @contextmanager
    def with_reader(self, inlet: Inlet) -> Iterator[None]:
        self._inlets.add(inlet)
        try:
            yield
        finally:
            self._inlets.discard(inlet)

    def show(self, message: str) -> None:
        """Terminal interfaces ignore the errors of some requests, and would show nothing."""
        for inlet in self._inlets:
            inlet.insert(Frame(TOAST, message.encode()))
