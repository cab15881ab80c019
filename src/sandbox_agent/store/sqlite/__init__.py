"""The default store: SQLite in WAL mode through APSW, with one writer and readers that never block it."""

from .schema import migrations
from .store import SqliteStore
from .writer import WAL_BYTES

__all__ = ["WAL_BYTES", "SqliteStore", "migrations"]
