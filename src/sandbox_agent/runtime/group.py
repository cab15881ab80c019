"""What is committed together: the entries of many callers, and the one thread that writes them."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..store.base import Change, EventRow, Probe, Store

if TYPE_CHECKING:
    from .log import SessionLog


Written = Callable[[Exception | None], None]
"""Is told on the event loop that a group is on disk, or why it is not."""


class Entry(NamedTuple):
    """What one caller wants written. The future is the caller's own: one that gives up waiting disturbs nobody."""

    session_id: str
    changes: Sequence[Change]
    done: asyncio.Future[None]
    refusable: bool

    def fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)
            self.done.exception()  # not everybody who writes waits for it


class Group:
    """Entries that will be committed together, in the order they came."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.rows: dict[SessionLog, list[EventRow]] = {}
        self.size = 0
        self.urgent = False

    def changes(self) -> list[Change]:
        # Nothing may be left after a refusal; then a probe finds out when the disk is back.
        return [change for entry in self.entries for change in entry.changes] or [Probe()]

    def refuse(self, error: Callable[[], Exception]) -> None:
        """Drop what nobody was promised."""
        for entry in self.entries:
            if entry.refusable:
                entry.fail(error())
        self.entries = [entry for entry in self.entries if not entry.refusable]

    def sessions(self) -> set[str]:
        return {entry.session_id for entry in self.entries}

    def take_out(self, session_id: str) -> Group:
        """What one session wants written, as a group of its own."""
        part = Group()
        part.urgent = self.urgent
        part.entries = [entry for entry in self.entries if entry.session_id == session_id]
        part.rows = {log: rows for log, rows in self.rows.items() if log.session_id == session_id}
        part.size = sum(len(row.body) + len(row.raw or b"") for rows in part.rows.values() for row in rows)
        self.entries = [entry for entry in self.entries if entry.session_id != session_id]
        self.rows = {log: rows for log, rows in self.rows.items() if log.session_id != session_id}
        self.size -= part.size
        return part


class Writer:
    """The one thread that writes. A queue of our own costs a third less per commit than an executor."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop
        self._work: queue.SimpleQueue[tuple[list[Change], Written] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="log-writer", daemon=True)
        self._thread.start()

    def write(self, changes: list[Change], written: Written) -> None:
        self._work.put((changes, written))

    def close(self) -> None:
        self._work.put(None)
        self._thread.join()

    def _run(self) -> None:
        # Without it all is only slower.
        with contextlib.suppress(Exception):
            self._store.warm_up()
        self._tidy()
        while (work := self._work.get()) is not None:
            changes, written = work
            error: Exception | None = None
            try:
                self._store.write(changes)
            except Exception as raised:
                error = raised
            # The loop may be gone already: then nobody waits any more.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(written, error)
            self._tidy()

    def _tidy(self) -> None:
        """As long as nothing waits. A disk that refuses it will be asked again after the next write."""
        with contextlib.suppress(Exception):
            while self._work.empty() and self._store.tidy():
                pass
