"""The writing connection: one pipeline per write, and what its outcome means.

A write is sent in one go, from `BEGIN` to `COMMIT`, and behind it the hints for other nodes. An error skips the rest of the pipeline, the
commit too. Each write has a number, which the node's row keeps: if the connection breaks, the same write is sent again under the same
number, and the database says whether it is already there.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta

import psycopg

from ...errors import Unavailable
from ..base import Bury, Change, DeleteSession, ImpossibleChange, Probe, RecordUsage, SaveSession
from ..shared import Fenced, LogWentBack, OutcomeUnknown
from .connection import WRITE_MILLISECONDS, Address, Connection, has_ended, refusal
from .parameters import Numbers
from .plan import Key, Plan
from .secrets import Seal

MAX_PLACES = 4_096
"""A position is the transaction's id and the place in it, which has 12 bits."""
MAX_EVENTS = 4_000
MAX_KEYS = 10_000
"""The number of sessions whose key is cached."""
HINT_BYTES = 7_900

HINT = """
SELECT pg_notify(%s, hint) FROM unnest(%s::text[]) AS hint
WHERE %s OR EXISTS (SELECT FROM nodes WHERE fenced_at IS NULL AND incarnation <> %s)
"""


class Life:
    """A node's incarnation, and how many of its writes are in the log."""

    def __init__(self, incarnation: int, lease_seconds: float) -> None:
        self.incarnation = incarnation
        self.lease_seconds = lease_seconds
        self.lease = timedelta(seconds=lease_seconds)
        self.writes = 0


class Writer:
    def __init__(self, address: Address, schema: str, seal: Seal) -> None:
        self._address = address
        self._channel = f"{schema}_log"
        self._seal = seal
        self._connection: Connection | None = None
        self.writing = threading.Lock()
        """One thread writes at a time."""
        self.life: Life | None = None
        self.era = 0
        self._keys: dict[str, Key] = {}
        self._unknown: list[Change] | None = None
        """The changes of the last write, if its outcome is unknown."""
        self._hinted_at = 0.0
        self.has_leftovers = True
        """Something may have to be removed: an earlier daemon may have left it."""

    def begin(self, life: Life) -> None:
        with self.writing:
            self.life = life
            self._unknown = None
            self._keys.clear()

    def forget(self, session_ids: Iterable[str]) -> None:
        """Another node may have deleted these sessions and created others with their ids."""
        for session_id in session_ids:
            self._keys.pop(session_id, None)

    def write(self, changes: Iterable[Change]) -> int:
        taken = list(changes)
        with self.writing:
            if self.life is None:
                raise Unavailable("this node has not joined the log")
            if self._unknown is not None and self._unknown != taken:
                raise OutcomeUnknown("the last write has to be repeated first")
            try:
                connection = self._connected()
                plan = self._plan(connection, taken, self.life)
            except Exception as error:
                raise self._not_sent(error) from error
            try:
                position = self._send(connection, plan, self.life)
            except Exception as error:
                return self._failed(error, plan, taken, self.life)
            self._written(taken, self.life)
            self._keep(plan)
            return position

    def close(self) -> None:
        with self.writing:
            self._disconnect()

    # -- sending ------------------------------------------------------------------------------

    def _send(self, connection: Connection, plan: Plan, life: Life) -> int:
        commit = None
        try:
            with connection.pipeline():
                connection.execute("BEGIN")
                begun = connection.execute(
                    "SELECT begin_write(%s, %s, %s, %s)",
                    (life.incarnation, life.writes + 1, life.lease, Numbers(list(plan.touched))),
                )
                for sql, parameters in plan.statements:
                    connection.execute(sql, parameters)
                # With a synchronous replica, a commit that is cancelled while it waits is reported as done, but is not replicated.
                connection.execute("SET LOCAL statement_timeout = 0")
                commit = connection.execute("COMMIT")
                self._hint(connection, plan, life)
        except psycopg.Error:
            # An error after the commit concerns only the hints.
            if commit is None or commit.statusmessage != "COMMIT":
                raise
        row = begun.fetchone()
        assert row is not None
        return int(row[0])

    def _hint(self, connection: Connection, plan: Plan, life: Life) -> None:
        """Notify the other nodes. While there is none, notify only our own listener, often enough for it to know that it works."""
        now = time.monotonic()
        is_due = now - self._hinted_at > life.lease_seconds / 3
        if is_due:
            self._hinted_at = now
        elif not plan.heads:
            return
        hints = list(_hints(life.incarnation, plan.heads))
        connection.execute(HINT, (self._channel, hints, is_due, life.incarnation))

    def _written(self, changes: list[Change], life: Life) -> None:
        life.writes += 1
        self._unknown = None
        if any(isinstance(change, DeleteSession | RecordUsage) for change in changes):
            self.has_leftovers = True

    # -- failures -----------------------------------------------------------------------------

    def _not_sent(self, error: Exception) -> Exception:
        """Nothing from this attempt is in the database; an earlier one may still be on its way."""
        self._reset()
        meant = _meaning(error)
        return OutcomeUnknown(str(meant)) if self._unknown is not None else meant

    def _failed(self, error: Exception, plan: Plan, changes: list[Change], life: Life) -> int:
        """The position, if the write is there after all."""
        self._keys.clear()
        self._reset()
        state, detail = None, ""
        if isinstance(error, psycopg.Error):
            state, detail = error.sqlstate, error.diag.message_detail or ""
        if state == "SA002" and self._unknown is not None:
            self._written(changes, life)
            return int(detail)
        meant = _meaning(error)
        if state in ("SA002", "SA003"):
            meant = LogWentBack(
                "the database does not match what it acknowledged: it was restored from a backup, or a replica that lagged "
                "has taken over"
            )
        elif state == "SA001":
            meant = Fenced(None)
        elif state == "SA004":
            meant = Fenced(frozenset(plan.touched[int(ordinal)] for ordinal in detail.split()))
        elif isinstance(error, psycopg.Error) and has_ended(error):
            meant = OutcomeUnknown(str(meant))
        elif self._unknown is not None and not isinstance(meant, ImpossibleChange):
            # It says nothing about the first try, which the server may not have read yet.
            meant = OutcomeUnknown(str(meant))
        self._unknown = changes if isinstance(meant, OutcomeUnknown) else None
        raise meant from error

    # -- keys ---------------------------------------------------------------------------------

    def _plan(self, connection: Connection, changes: list[Change], life: Life) -> Plan:
        names = {name for change in changes if (name := _session_of(change)) is not None}
        keys = {name: key for name in names if (key := self._keys.get(name)) is not None}
        if len(keys) < len(names):
            found = connection.execute(
                "SELECT session_id, ordinal, era FROM sessions WHERE session_id = ANY(%s)",
                (sorted(names - keys.keys()),),
            )
            keys.update((name, Key(ordinal, era)) for name, ordinal, era in found)
        plan = Plan(changes, keys, lambda: self._new_key(connection), life.incarnation, self._seal)
        if plan.numbers > MAX_PLACES:
            raise ImpossibleChange(f"{plan.numbers} events in one write are more than {MAX_PLACES}")
        return plan

    def _new_key(self, connection: Connection) -> Key:
        row = connection.execute("SELECT nextval(pg_get_serial_sequence('sessions', 'ordinal'))").fetchone()
        assert row is not None
        return Key(row[0], self.era)

    def _keep(self, plan: Plan) -> None:
        if len(self._keys) > MAX_KEYS:
            self._keys.clear()
        self._keys.update(plan.keys)
        for session_id in plan.deleted:
            self._keys.pop(session_id, None)

    # -- the connection -----------------------------------------------------------------------

    def _connected(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._disconnect()
            self._connection = self._address.connect(WRITE_MILLISECONDS)
        return self._connection

    def _reset(self) -> None:
        """Leave a failed transaction, or the connection."""
        connection = self._connection
        if connection is not None and not connection.closed:
            with contextlib.suppress(psycopg.Error):
                connection.execute("ROLLBACK")
                return
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _session_of(change: Change) -> str | None:
    if isinstance(change, SaveSession):
        return change.record.session_id
    return None if isinstance(change, Bury | RecordUsage | Probe) else change.session_id


def _meaning(error: Exception) -> Exception:
    if isinstance(error, psycopg.Error):
        return refusal(error)
    if isinstance(error, Unavailable | ImpossibleChange):
        return error
    return ImpossibleChange(f"{type(error).__name__}: {error}")


def _hints(incarnation: int, heads: dict[int, int]) -> Iterator[str]:
    """`<incarnation> <ordinal>:<sequence> ...`, each short enough for a notification."""
    hint = str(incarnation)
    for ordinal, sequence in heads.items():
        head = f" {ordinal}:{sequence}"
        if len(hint) + len(head) > HINT_BYTES:
            yield hint
            hint = str(incarnation)
        hint += head
    yield hint
