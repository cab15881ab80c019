"""How the file is opened, by the one who writes and by those who read."""

from __future__ import annotations

from pathlib import Path

import apsw

# How long to wait for another program that has the file.
BUSY_MILLISECONDS = 5_000


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    return connection


def leave_wal(connection: apsw.Connection) -> None:
    """The write-ahead log stays when this connection is closed, though it be the last."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
