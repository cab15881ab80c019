"""Groups of entries that are committed together, and the one thread that writes them."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from ..session.view import View
from ..store.base import Announce, AppendEvents, Bury, Change, EventRow, Probe, Store

if TYPE_CHECKING:
    from .log import End


Written = Callable[[int | Exception], None]
"""Called on the event loop when a group is on disk, with its first position, or with the error if it is not."""

MAX_PIECES = 1_000
"""Deltas join an entry up to here, so that a store that bounds a write can take entries one by one."""

StoreBlob = Callable[[str, str, str, bytes], object]
"""Writes a session's file: session id, folder, name, bytes."""


class Entry(Struct):
    """What one session writes atomically. It owns its rows."""

    end: End
    rows: list[EventRow]
    size: int
    number: int | None = None
    """The number of the append; None for deltas, which no one waits for."""
    changes: Sequence[Change] = ()
    view: View | None = None
    news: Announce | Bury | None = None
    """The update for the readers of all sessions. It follows the rows."""
    refusable: bool = False
    blobs: Mapping[str, bytes] | None = None
    announced_before: object = None
    """The previous update for the readers of all sessions."""
    position: int = 0
    """The position of the first row, or of the news if there are none. Known once it is written."""

    @property
    def numbers(self) -> int:
        """How many positions it takes."""
        return len(self.rows) + (self.news is not None)


class Group:
    """Entries to commit together, in order of arrival."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.size = 0
        self.urgent = False
        self._pieces: dict[End, Entry] = {}
        """The last entry of each session, if more deltas may join it."""

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.size += entry.size
        if entry.number is None:
            self._pieces[entry.end] = entry
        else:
            self._pieces.pop(entry.end, None)
            self.urgent = True

    def add_pieces(self, end: End, rows: list[EventRow], size: int) -> None:
        last = self._pieces.get(end)
        if last is None or len(last.rows) + len(rows) > MAX_PIECES:
            self.add(Entry(end, rows, size))
        else:
            last.rows += rows
            last.size += size
            self.size += size

    def changes(self) -> list[Change]:
        changes: list[Change] = []
        for entry in self.entries:
            changes += entry.changes
            if entry.rows:
                changes.append(AppendEvents(entry.end.session_id, entry.rows))
            if entry.news is not None:
                changes.append(entry.news)
        # A refusal may leave the group empty; an empty write then probes whether the disk is back.
        return changes or [Probe()]

    def place(self, first: int) -> None:
        """It was written from this position on: the store numbers in the order of `changes`."""
        for entry in self.entries:
            entry.position = first
            first += entry.numbers

    def blobs(self) -> list[tuple[str, str, str, bytes]]:
        return [
            (entry.end.session_id, entry.end.folder, name, content)
            for entry in self.entries
            if entry.blobs
            for name, content in entry.blobs.items()
        ]

    def refuse(self) -> list[Entry]:
        """Drop the offers: no client has been answered yet. An offer is the last entry of its session, so nothing follows it."""
        refused = [entry for entry in self.entries if entry.refusable]
        if refused:
            self.entries = [entry for entry in self.entries if not entry.refusable]
            self.size -= sum(entry.size for entry in refused)
            for entry in refused:
                entry.end.take_back(entry)
        return refused

    def beyond(self, most: int) -> Group:
        """Take out the entries that do not fit into one write; the first always does."""
        rest = Group()
        taken = 0
        for at, entry in enumerate(self.entries):
            taken += entry.numbers
            if taken > most and at:
                for later in self.entries[at:]:
                    rest.add(later)
                del self.entries[at:]
                rest.urgent = self.urgent
                self.size -= rest.size
                break
        return rest

    def ends(self) -> list[End]:
        return list(dict.fromkeys(entry.end for entry in self.entries))

    def take_out(self, end: End) -> Group:
        """Move one session's entries to a group of their own."""
        part = Group()
        for entry in self.entries:
            if entry.end is end:
                part.add(entry)
        part.urgent = self.urgent
        self.entries = [entry for entry in self.entries if entry.end is not end]
        self._pieces.pop(end, None)
        self.size -= part.size
        return part


class Writing(Protocol):
    """Writes groups one after the other, and reports the outcome of each."""

    def write(self, group: Group, written: Written) -> None: ...

    def close(self) -> None: ...


class Writer:
    """The one thread that writes. A plain queue costs a third less per commit than an executor."""

    def __init__(self, store: Store, store_blob: StoreBlob, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._store_blob = store_blob
        self._loop = loop
        self._work: queue.SimpleQueue[tuple[Group, Written] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="log-writer", daemon=True)
        self._thread.start()

    def write(self, group: Group, written: Written) -> None:
        self._work.put((group, written))

    def close(self) -> None:
        self._work.put(None)
        self._thread.join()

    def _run(self) -> None:
        # Failing only makes it slower.
        with contextlib.suppress(Exception):
            self._store.warm_up()
        self._tidy()
        while (work := self._work.get()) is not None:
            group, written = work
            outcome: int | Exception
            try:
                # Files first: an event never names a missing file.
                for session_id, folder, name, content in group.blobs():
                    self._store_blob(session_id, folder, name, content)
                outcome = self._store.write(group.changes())
            except Exception as error:
                outcome = error
            # The loop may be closed already: then no one is waiting.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(written, outcome)
            self._tidy()

    def _tidy(self) -> None:
        """Runs only while no write is queued. If the disk refuses, it is tried again after the next write."""
        with contextlib.suppress(Exception):
            while self._work.empty() and self._store.tidy():
                pass
