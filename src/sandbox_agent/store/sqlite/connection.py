"""Opens the file, for the writer and for readers."""

from __future__ import annotations

from pathlib import Path

import apsw

# How long to wait for another program that has locked the file.
BUSY_MILLISECONDS = 5_000


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    return connection


def leave_wal(connection: apsw.Connection) -> None:
    """Keep the write-ahead log when this connection is closed, even if it is the last one."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
