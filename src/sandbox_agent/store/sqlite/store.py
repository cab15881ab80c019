"""The SQLite store: opens its file, refuses one it cannot trust, and closes it."""

from __future__ import annotations

import os
import secrets as random
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import apsw

from ...errors import Unavailable
from ..base import Change, StoreCorrupt
from .connection import connect, leave_wal
from .copies import Copies
from .files import StoreFiles, beside, newest_event, require_complete, require_end
from .schema import meta, migrate, require_sound
from .writer import Writer


class SqliteStore(Copies):
    """Queries come from `Reader` and `Copies`; changes go through its `Writer`."""

    def __init__(self, path: Path, synchronous: Literal["full", "normal"] = "full") -> None:
        require_complete(path)
        # The file holds secrets of sessions: create it with owner-only access before SQLite opens it.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        # An earlier daemon may have been killed before it could clean up.
        wal_shows_deleted = beside(path, "wal").exists()
        connection = connect(path)
        try:
            files = _open(connection, path, synchronous)
        except (apsw.CorruptError, apsw.NotADBError) as error:
            _close_untouched(connection, path)
            reason = " ".join(str(error).split())
            raise StoreCorrupt(
                f"{path} is damaged ({reason}). It was left unchanged: move it away to start with an empty log, "
                "or recover what can be read with `sqlite3 <file> .recover`."
            ) from error
        except (apsw.FullError, apsw.IOError) as error:
            _close_untouched(connection, path)
            raise Unavailable(f"the log {path} cannot be written: {error}") from error
        except BaseException:
            _close_untouched(connection, path)
            raise
        self.identity = files.identity
        self._is_closed = False
        writer = Writer(connection, files, wal_shows_deleted=wal_shows_deleted)
        self.life = writer.life
        super().__init__(path, writer)

    def warm_up(self) -> None:
        self._writer.warm_up()

    def write(self, changes: Iterable[Change]) -> int:
        return self._writer.write(changes)

    def tidy(self) -> bool:
        return self._writer.tidy()

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._close_readers()
        self._writer.close()


def _open(connection: apsw.Connection, path: Path, synchronous: str) -> StoreFiles:
    """Migrate the file, unless something is wrong with it."""
    is_new = path.stat().st_size == 0
    if is_new:
        # Takes effect only in a new file; with it, deleting a session frees disk space.
        connection.pragma("auto_vacuum", "incremental")
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", synchronous)
    # Sessions have secrets: deleted data must not remain in the file's bytes.
    connection.pragma("secure_delete", True)
    require_sound(connection, path)
    if not is_new:
        require_end(path, connection)
    migrate(connection, path)
    identity = meta(connection, "identity", random.token_hex(4))
    # Only synced data is sure to survive a power failure, whatever the mark says.
    return StoreFiles(path, identity, newest_event(connection), marks=synchronous == "full")


def _close_untouched(connection: apsw.Connection, path: Path) -> None:
    """Close a refused file without touching what a crashed writer left in the write-ahead log."""
    wal = beside(path, "wal")
    if wal.exists() and wal.stat().st_size:
        leave_wal(connection)
    connection.close()
