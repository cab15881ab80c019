"""Migrations: numbered files, one transaction each, while other nodes start and older ones run.

`meta.schema` is the number of the last file that has run, `meta.needs` the least that a program must know to use the schema. Files only
add things. The first line of a file may say more:
- `-- contract`: it removes what the previous release still uses, and raises `meta.needs`. It waits until no running node knows less.
- `-- concurrently`: its statements run outside a transaction, for `CREATE INDEX CONCURRENTLY`. If one fails, all run again, so each must
  allow that: drop an index before it is created.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

from ...errors import Unavailable
from ..base import StoreTooNew
from .connection import LOCK_MILLISECONDS, STATEMENT_MILLISECONDS, Connection

MIGRATIONS = Path(__file__).with_name("migrations")
MIGRATE_LOCK_MILLISECONDS = 2_000
"""A migration waits no longer for a lock, because writers would queue up behind it."""
SECONDS = 60.0
PAUSE_SECONDS = 0.2

CONTRACT = "-- contract"
CONCURRENTLY = "-- concurrently"

_MIGRATE_LOCK = "hashtextextended(current_schema() || ' migrate', 0)"
_NEEDS_LOCK = "hashtextextended(current_schema() || ' needs', 0)"


class _Busy(Exception):
    """Another node migrates, or a table is locked."""


def migrations(folder: Path = MIGRATIONS) -> list[str]:
    return [file.read_text() for file in sorted(folder.glob("*.sql"))]


def migrate(connection: Connection, known: list[str]) -> None:
    """Run what is missing. Of several nodes that start at once, one does it and the others find it done."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            while _run_next(connection, known):
                pass
            return
        except (_Busy, psycopg.errors.LockNotAvailable):
            if time.monotonic() > deadline:
                raise Unavailable(
                    "the database cannot be migrated: another node migrates it, or a connection keeps its tables locked"
                ) from None
            time.sleep(PAUSE_SECONDS)


def require_known(connection: Connection, knows: int) -> None:
    """Refuse a schema that needs a newer program. Inside a transaction, it stays as it is until the end."""
    connection.execute(f"SELECT pg_advisory_xact_lock_shared({_NEEDS_LOCK})")
    _version(connection, knows)


def _run_next(connection: Connection, known: list[str]) -> bool:
    """Run the first file that has not run; False if there is none, or it has to wait."""
    version = _version(connection, len(known))
    if version == len(known):
        return False
    if known[version].startswith(CONCURRENTLY):
        return _run_concurrently(connection, known, version)
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = {MIGRATE_LOCK_MILLISECONDS}")
        _try_lock(connection, "pg_try_advisory_xact_lock")
        if _version(connection, len(known)) != version:
            return True  # another node was faster
        sql = known[version]
        if version == 0:
            connection.execute("CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL)")
            connection.execute("INSERT INTO meta VALUES ('schema', '0')")
        elif sql.startswith(CONTRACT):
            # No node may join between the look and the end.
            connection.execute(f"SELECT pg_advisory_xact_lock({_NEEDS_LOCK})")
            if _knows_least(connection) <= version:
                return False
        connection.execute(sql.encode(), prepare=False)
        _note(connection, version + 1)
    return True


def _run_concurrently(connection: Connection, known: list[str], version: int) -> bool:
    with _held_lock(connection):
        if _version(connection, len(known)) != version:
            return True
        connection.execute("SET statement_timeout = 0; SET lock_timeout = 0", prepare=False)
        try:
            for statement in known[version].split(";\n"):
                if statement.strip():
                    connection.execute(statement.encode(), prepare=False)
            _note(connection, version + 1)
        finally:
            connection.execute(
                f"SET statement_timeout = {STATEMENT_MILLISECONDS}; SET lock_timeout = {LOCK_MILLISECONDS}",
                prepare=False,
            )
    return True


@contextlib.contextmanager
def _held_lock(connection: Connection) -> Iterator[None]:
    """The lock outside a transaction. It ends with the connection, if not before."""
    _try_lock(connection, "pg_try_advisory_lock")
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute(f"SELECT pg_advisory_unlock({_MIGRATE_LOCK})")


def _try_lock(connection: Connection, function: str) -> None:
    # Not a lock that waits: building an index concurrently waits for every transaction, even for one that waits for the lock.
    if connection.execute(f"SELECT {function}({_MIGRATE_LOCK})").fetchone() != (True,):
        raise _Busy


def _note(connection: Connection, version: int) -> None:
    connection.execute("UPDATE meta SET value = %s WHERE name = 'schema'", (str(version),))


def _version(connection: Connection, knows: int) -> int:
    """The number of files that have run, counted up to those that we know."""
    # Not `to_regclass`, whose cache may be older than the lock.
    is_there = connection.execute(
        "SELECT FROM pg_class WHERE relname = 'meta' AND relnamespace = current_schema()::regnamespace"
    )
    if is_there.fetchone() is None:
        return 0
    facts = dict(
        connection.execute("SELECT name, value FROM meta WHERE name IN ('schema', 'needs')").fetchall()
    )
    version, needs = int(facts["schema"]), int(facts["needs"])
    if needs > knows:
        raise StoreTooNew(
            f"the database has schema {version}, which needs a sandbox-agent that knows schema {needs}; "
            f"this one knows up to {knows}: use a newer sandbox-agent, or another database."
        )
    return min(version, knows)


def _knows_least(connection: Connection) -> int:
    row = connection.execute("SELECT min(knows) FROM nodes WHERE fenced_at IS NULL").fetchone()
    assert row is not None
    return int(row[0]) if row[0] is not None else 1 << 30
