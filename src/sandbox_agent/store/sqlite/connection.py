"""Opens the file, for the writer and for readers."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import apsw

from ...errors import Conflict

# How long to wait for another program that has locked the file.
BUSY_MILLISECONDS = 5_000


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    return connection


def leave_wal(connection: apsw.Connection) -> None:
    """Keep the write-ahead log when this connection is closed, even if it is the last one."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


# Where a connection in WAL mode holds a lock for as long as it is open: https://sqlite.org/src/file/src/os.h, `SHARED_FIRST`.
SHARED_FIRST, SHARED_SIZE = 0x40000002, 510


def require_unused(path: Path) -> None:
    """Raise `Conflict` if another process has the file open. Call it before opening it: closing the file drops locks on it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, SHARED_SIZE, SHARED_FIRST)
    except OSError:
        raise Conflict(f"another program uses {path}: stop the daemon that uses it first") from None
    finally:
        os.close(descriptor)
