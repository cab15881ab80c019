"""Checks that the files of an open SQLite store are still the ones that were opened, and hold what was written.

SQLite trusts its files. It keeps writing to a file that was removed, and appends after the gap if a write-ahead log was truncated;
all of that is lost with the process. So the files are checked before each commit and each read. `log.db-mark` tells the next start
how far the log was written, because a write-ahead log that lost its end looks like one that never had it.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import Literal

import apsw

from ..base import StoreCorrupt, StoreGone


def beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.name}-{what}")


def require_complete(path: Path) -> None:
    """SQLite would treat a missing file as a new one, and delete the write-ahead log of the old one."""
    wal = beside(path, "wal")
    if _size(wal) and not _size(path):
        raise StoreCorrupt(
            f"{path} is {'empty' if path.exists() else 'gone'}, but {wal.name} beside it is not: a part of the log is "
            f"missing. Restore the file, or move {wal.name} away to start with an empty log."
        )


def require_end(path: Path, connection: apsw.Connection) -> None:
    """Raise `StoreCorrupt` if an earlier daemon wrote more than the file holds."""
    mark = beside(path, "mark")
    try:
        identity, written = mark.read_text().split()
        marked = int(written)
    except (OSError, ValueError):
        return
    # A young log that lost its end may be just an empty SQLite file.
    is_young = not any(True for _ in connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'"))
    position = 0 if is_young else newest_event(connection)
    if marked > position and (is_young or identity_of(connection) == identity):
        raise StoreCorrupt(
            f"{path} ends at position {position}, but was written up to {marked}: its end is lost, or it is an older copy. "
            f"It was left unchanged: remove {mark} to continue with what is there."
        )


class StoreFiles:
    """Created once SQLite has opened them. Any thread may call `require`; only the writing thread calls the rest."""

    def __init__(self, path: Path, identity: str, position: int, *, marks: bool) -> None:
        self.path = path
        self._name = str(path)  # a third faster to check before each commit than a Path
        self.wal = beside(path, "wal")
        self.position = position
        """The position of the newest committed event."""
        self.identity = identity
        self._looking = threading.Lock()
        self._known = os.stat(path)
        self._wal_fd = os.open(self.wal, os.O_RDONLY | os.O_CLOEXEC)
        self._wal_size = os.fstat(self._wal_fd).st_size
        self._lost: str | None = None
        """A failure that lasts until the store is reopened."""
        self._mark_fd: int | None = None
        self._marked = 0
        if marks:
            with contextlib.suppress(OSError):  # a full disk
                self._mark_fd = os.open(beside(path, "mark"), os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)

    # -- while it is open ---------------------------------------------------------------------

    def require(self) -> None:
        """Raise `StoreGone` unless the file is the one that was opened and, if it changed, still holds this log."""
        if self._lost is not None:
            raise StoreGone(self._lost)
        try:
            now = os.stat(self._name)
        except OSError:
            raise StoreGone(f"{self.path} was removed while the daemon had it open") from None
        known = self._known
        if (
            now.st_mtime_ns == known.st_mtime_ns
            and now.st_size == known.st_size
            and now.st_ino == known.st_ino
        ):
            return
        if not os.path.samestat(now, known):
            raise StoreGone(f"{self.path} was replaced while the daemon had it open")
        with self._looking:
            # Check again: while this thread waited, the file may have grown, and another thread may have found it intact.
            self._look_closer(os.stat(self._name))

    def _look_closer(self, now: os.stat_result) -> None:
        """Most changes are checkpoints, which move the write-ahead log into the file every few hundred commits."""
        position = self.position
        try:
            found = self._found(now.st_size < self._known.st_size)
        except apsw.Error as error:
            raise self._changed(" ".join(str(error).split())) from error
        if found[0] != self.identity:
            raise self._changed("it holds another log")
        if found[1] < position:
            raise self._changed(f"it ends at position {found[1]}, but was written up to {position}")
        self._known = now

    def _found(self, shrank: bool) -> tuple[str, int]:
        """Identity and position, read on a new connection: the cache of an open one may be stale."""
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            if shrank:
                self._require_every_page(connection)
            return identity_of(connection), newest_event(connection)
        finally:
            connection.close()

    def _require_every_page(self, connection: apsw.Connection) -> None:
        """Deleting sessions shrinks the file, but never below the size in its header."""
        header = connection.read("main", 0, 0, 100)[1]
        page, pages = int.from_bytes(header[16:18], "big"), int.from_bytes(header[28:32], "big")
        if not pages or os.stat(self.path).st_size < page * pages:
            raise apsw.CorruptError("pages are missing")

    def _changed(self, how: str) -> StoreGone:
        return StoreGone(f"{self.path} was changed by another program while the daemon had it open: {how}")

    def missing_of_wal(self) -> Literal["nothing", "all", "name"]:
        """Another program may have moved `all` of it into the file. Without its `name` it can still be read."""
        now = os.fstat(self._wal_fd)
        if now.st_size < self._wal_size:
            if now.st_size:
                raise self.wal_was_cut()
            return "all"
        return "nothing" if now.st_nlink else "name"

    def wal_was_cut(self) -> StoreGone:
        return self._lose(f"{self.wal} was truncated while the daemon had it open: a part of the log is lost")

    def wal_was_removed(self) -> StoreGone:
        return self._lose(f"{self.wal} was removed while the daemon had it open: restart the daemon")

    def _lose(self, what: str) -> StoreGone:
        self._lost = what
        return StoreGone(what)

    def wal_is_ours(self) -> bool:
        with contextlib.suppress(OSError):
            return os.path.samestat(os.stat(self.wal), os.fstat(self._wal_fd))
        return False

    def was_replaced(self) -> bool:
        with contextlib.suppress(OSError):
            return not os.path.samestat(os.stat(self.path), self._known)
        return False

    def committed(self, position: int) -> None:
        self.position = position
        self.wal_resized()

    def wal_resized(self) -> None:
        self._wal_size = os.lseek(self._wal_fd, 0, os.SEEK_END)

    # -- from one life to the next ------------------------------------------------------------

    def mark(self) -> None:
        """Not synced: a lost mark is too low, never too high. So a full disk may refuse it."""
        if self._mark_fd is not None and self._marked != self.position:
            with contextlib.suppress(OSError):
                os.pwrite(self._mark_fd, b"%b %020d\n" % (self.identity.encode(), self.position), 0)
                self._marked = self.position

    def close(self) -> None:
        os.close(self._wal_fd)
        if self._mark_fd is not None:
            os.close(self._mark_fd)


def identity_of(connection: apsw.Connection) -> str:
    return str(next(iter(connection.execute("SELECT value FROM meta WHERE name = 'identity'")), ("",))[0])


def newest_event(connection: apsw.Connection) -> int:
    """The position, or a lower bound if events were deleted since. Works with every schema version."""
    kept = next(iter(connection.execute("SELECT value FROM meta WHERE name = 'position'")), (0,))[0]
    newest = next(iter(connection.execute("SELECT max(position) FROM events")))[0]
    return max(int(kept), int(newest or 0))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
