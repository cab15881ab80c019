"""Upkeep: months to write to, what deleted sessions leave, and months that are empty."""

from __future__ import annotations

import time
from functools import partial

import psycopg
from psycopg import sql

from ..base import MAX_LEDGER_ROWS, MAX_TOMBSTONES
from .connection import Connection
from .pool import Pool

DAY_SECONDS = 86_400.0
# How much of a deleted session is removed in one step.
STEP_EVENTS = 1_000
STEP_PARTS = 16
UNFETCHED_SECONDS = 60
"""Commands that nobody has fetched this long after they expired are removed."""

_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' tidy', 0))"


class Upkeep:
    """Of several nodes, the one that gets the lock does it."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._next_day = 0.0

    def month(self) -> int:
        """Make sure that there is a place for this month's events and the next one's; returns this month."""
        return self._pool.ask(_add_months)

    def is_due(self) -> bool:
        """Once a day."""
        now = time.monotonic()
        if now < self._next_day:
            return False
        self._next_day = now + DAY_SECONDS
        return True

    def remove_some(self) -> bool:
        """Remove some leftovers; True if there are more."""
        return self._pool.ask(_remove_some)

    def drop_empty_months(self) -> None:
        """Months that are over and of whose sessions none is left."""
        for month, is_pending in self._pool.ask(_empty_months):
            self._pool.ask(partial(_drop, month, is_pending))


def _add_months(connection: Connection) -> int:
    row = connection.execute(
        "SELECT to_char(clock_timestamp(), 'YYYYMM')::bigint, to_char(clock_timestamp() + interval '1 month', 'YYYYMM')::bigint"
    ).fetchone()
    assert row is not None
    for month in row:
        found = connection.execute("SELECT to_regclass(concat('events_', %s))", (month,)).fetchone()
        if found == (None,):
            connection.execute("SELECT add_month(%s::int)", (month,))
    return int(row[0])


def _remove_some(connection: Connection) -> bool:
    with connection.transaction():
        if connection.execute(_LOCK).fetchone() != (True,):
            return False  # another node is doing it
        doomed = connection.execute("SELECT session, era FROM doomed LIMIT 1").fetchone()
        if doomed is not None:
            _remove_some_of(connection, *doomed)
            return True
        connection.execute(
            "DELETE FROM tombstones WHERE position <= "
            "(SELECT position FROM tombstones ORDER BY position DESC LIMIT 1 OFFSET %s)",
            (MAX_TOMBSTONES,),
        )
        connection.execute(
            "DELETE FROM ledger WHERE ordinal <= (SELECT max(ordinal) FROM ledger) - %s", (MAX_LEDGER_ROWS,)
        )
        connection.execute("DELETE FROM sessions WHERE record IS NULL AND is_fenced(owner)")
        connection.execute(
            "DELETE FROM commands WHERE expires_at < clock_timestamp() - make_interval(secs => %s)",
            (UNFETCHED_SECONDS,),
        )
    return False


def _remove_some_of(connection: Connection, session: int, era: int) -> None:
    events = connection.execute(
        "DELETE FROM events WHERE era = %(era)s AND session = %(session)s AND sequence <= "
        "(SELECT max(sequence) FROM (SELECT sequence FROM events WHERE era = %(era)s AND session = %(session)s "
        "ORDER BY sequence LIMIT %(most)s) oldest)",
        {"era": era, "session": session, "most": STEP_EVENTS},
    )
    parts = connection.execute(
        "DELETE FROM files WHERE ctid = ANY (ARRAY(SELECT ctid FROM files WHERE session = %s LIMIT %s))",
        (session, STEP_PARTS),
    )
    if events.rowcount < STEP_EVENTS and parts.rowcount < STEP_PARTS:
        connection.execute("DELETE FROM doomed WHERE session = %s", (session,))


def _empty_months(connection: Connection) -> list[tuple[int, bool]]:
    """Each with whether it is half detached, because someone used it: until that is finished, no other can be detached."""
    return connection.execute(
        "SELECT right(c.relname, 6)::int, i.inhdetachpending FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
        "WHERE i.inhparent = 'events'::regclass "
        "AND right(c.relname, 6)::int < to_char(clock_timestamp() - interval '1 month', 'YYYYMM')::int "
        "AND NOT EXISTS (SELECT FROM sessions WHERE era = right(c.relname, 6)::int) "
        "AND NOT EXISTS (SELECT FROM doomed WHERE era = right(c.relname, 6)::int) ORDER BY i.inhdetachpending DESC, 1"
    ).fetchall()


def _drop(month: int, is_pending: bool, connection: Connection) -> None:
    table = sql.Identifier(f"events_{month}")
    try:
        # Neither locks out readers or writers of other months.
        how = sql.SQL("FINALIZE" if is_pending else "CONCURRENTLY")
        connection.execute(sql.SQL("ALTER TABLE events DETACH PARTITION {} {}").format(table, how))
        connection.execute(sql.SQL("DROP TABLE {}").format(table))
    except psycopg.errors.InsufficientPrivilege:
        pass  # the role that runs the daemon may not; the one that migrates will
