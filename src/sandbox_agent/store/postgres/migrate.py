"""Migrations: numbered files, one transaction each, while other nodes start and older ones run.

`meta.schema` is the number of the last file that has run, `meta.needs` the least that a program must know to use the schema. Files only
add things. What the previous release still uses is removed by a file that begins with `-- contract`, which waits until no running node
knows less.
"""

from __future__ import annotations

import time
from pathlib import Path

import psycopg

from ...errors import Unavailable
from ..base import StoreTooNew
from .connection import Connection

LOCK_MILLISECONDS = 2_000
"""A migration waits no longer for a lock, because writers would queue up behind it."""
SECONDS = 60.0
PAUSE_SECONDS = 0.2

CONTRACT = "-- contract"


def migrations() -> list[str]:
    return [file.read_text() for file in sorted(Path(__file__).with_name("migrations").glob("*.sql"))]


def migrate(connection: Connection) -> None:
    """Run what is missing. Of several nodes that start at once, one does it and the others find it done."""
    known = migrations()
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            while _run_next(connection, known):
                pass
            return
        except psycopg.errors.LockNotAvailable:
            if time.monotonic() > deadline:
                raise Unavailable(
                    "the database cannot be migrated: another connection keeps its tables locked"
                ) from None
            time.sleep(PAUSE_SECONDS)


def _run_next(connection: Connection, known: list[str]) -> bool:
    """Run the first file that has not run; False if there is none, or it has to wait."""
    if _version(connection, known) == len(known):
        return False
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = {LOCK_MILLISECONDS}")
        connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' migrate', 0))"
        )
        version = _version(connection, known)  # another node may have been faster
        if version == len(known):
            return False
        sql = known[version]
        if version == 0:
            connection.execute("CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL)")
            connection.execute("INSERT INTO meta VALUES ('schema', '0')")
        elif sql.startswith(CONTRACT) and _knows_least(connection) <= version:
            return False
        connection.execute(sql.encode(), prepare=False)
        connection.execute("UPDATE meta SET value = %s WHERE name = 'schema'", (str(version + 1),))
    return True


def _version(connection: Connection, known: list[str]) -> int:
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
    if needs > len(known):
        raise StoreTooNew(
            f"the database has schema {version}, which needs a sandbox-agent that knows schema {needs}; "
            f"this one knows up to {len(known)}: use a newer sandbox-agent, or another database."
        )
    return min(version, len(known))


def _knows_least(connection: Connection) -> int:
    row = connection.execute("SELECT min(knows) FROM nodes WHERE fenced_at IS NULL").fetchone()
    assert row is not None
    return int(row[0]) if row[0] is not None else 1 << 30
