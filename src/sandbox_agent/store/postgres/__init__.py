"""The log in PostgreSQL, which several daemons can share. Needs the extra `postgres`."""

from .connection import DatabaseUnfit
from .migrate import migrations
from .secrets import Seal, read_keys
from .store import PostgresStore

__all__ = ["DatabaseUnfit", "PostgresStore", "Seal", "migrations", "read_keys"]
