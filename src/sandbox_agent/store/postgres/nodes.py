"""Nodes and what they own. Everything here is fenced like a write, and may be repeated."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import psycopg

from ..shared import Abandoned, Fenced, NameTaken, Node, Owner
from .connection import Connection
from .migrate import require_known
from .reader import Reader, Row, known
from .writer import Life

OLD_NODE_DAYS = 7
"""Earlier incarnations of a node are forgotten after this time, unless they still own something."""

_TIME = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
_NODE = (
    f"n.incarnation, n.name, n.folder, n.version, {_TIME.format('n.started_at')}, {_TIME.format('n.seen_at')}, "
    "extract(epoch FROM n.lease_until - clock_timestamp())::float8, n.writes, n.fenced_at IS NOT NULL"
)
_IS_QUEUED = "EXISTS (SELECT FROM queue q WHERE q.session = s.ordinal)"
_IS_OPEN = "(s.active OR EXISTS (SELECT FROM pending p WHERE p.session = s.ordinal AND p.body IS NOT NULL))"
_NEEDS_ATTENTION = (
    "s.ordinal IN (SELECT ordinal FROM sessions WHERE active "
    "UNION SELECT session FROM queue UNION SELECT session FROM pending WHERE body IS NOT NULL)"
)
_MY_NAME = "(SELECT name FROM nodes WHERE incarnation = %(me)s)"


class Nodes(Reader):
    _life: Life | None = None
    _era = 0
    """The month that new sessions belong to."""
    _knows = 0
    """The newest schema that this program knows."""

    # -- nodes --------------------------------------------------------------------------------

    def nodes(self) -> list[Node]:
        rows = self._rows(
            f"SELECT DISTINCT ON (n.name) {_NODE} FROM nodes n ORDER BY n.name, n.incarnation DESC"
        )
        return [Node(*row) for row in rows]

    def fence(self, incarnation: int, *, at_once: bool = False) -> bool:
        # If the node commits at this moment, its row is looked at again and the lease is found renewed.
        self._rows(
            "UPDATE nodes SET fenced_at = clock_timestamp() WHERE incarnation = %(node)s AND fenced_at IS NULL "
            "AND (%(at_once)s OR lease_until < clock_timestamp()) RETURNING 1",
            node=incarnation,
            at_once=at_once,
        )
        return bool(self._rows("SELECT 1 WHERE is_fenced(%(node)s)", node=incarnation))

    def _join(self, name: str, folder: str, lease_seconds: float, version: str) -> int:
        def joined(connection: Connection) -> int | Node:
            with connection.transaction():
                require_known(connection, self._knows)
                connection.execute(
                    "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' node ' || %s, 0))",
                    (name,),
                )
                connection.execute(
                    "UPDATE nodes SET fenced_at = clock_timestamp() WHERE name = %s AND fenced_at IS NULL "
                    "AND (folder = %s OR lease_until < clock_timestamp())",
                    (name, folder),
                )
                alive = connection.execute(
                    f"SELECT {_NODE} FROM nodes n WHERE name = %s AND fenced_at IS NULL", (name,)
                ).fetchone()
                if alive is not None:
                    return Node(*alive)
                connection.execute(
                    "DELETE FROM nodes n WHERE name = %s AND fenced_at < clock_timestamp() - make_interval(days => %s::int) "
                    "AND NOT EXISTS (SELECT FROM sessions WHERE owner = n.incarnation)",
                    (name, OLD_NODE_DAYS),
                )
                row = connection.execute(
                    "INSERT INTO nodes (name, folder, version, knows, lease_until) "
                    "VALUES (%s, %s, %s, %s, clock_timestamp() + make_interval(secs => %s)) RETURNING incarnation",
                    (name, folder, version, self._knows, lease_seconds),
                ).fetchone()
                assert row is not None
                return int(row[0])

        incarnation = self._pool.ask(joined)
        if isinstance(incarnation, Node):
            raise NameTaken(incarnation)
        return incarnation

    # -- ownership ----------------------------------------------------------------------------

    def reserve(self, session_id: str) -> bool:
        [(is_ours,)] = self._own(
            "SELECT reserve_session(%(me)s, %(session)s, %(era)s::int)", session=session_id, era=self._era
        )
        return bool(is_ours)

    def claim(self, session_ids: Iterable[str], *, moves: bool = False) -> set[str]:
        rows = self._own(
            "SELECT claim_sessions(%(me)s, %(sessions)s, %(moves)s)",
            sessions=[known(session_id) for session_id in session_ids],
            moves=moves,
        )
        return {row[0] for row in rows}

    def release(self, session_ids: Iterable[str]) -> None:
        self._own("SELECT release_sessions(%(me)s, %(sessions)s)", sessions=[known(id) for id in session_ids])

    def leave(self) -> None:
        with contextlib.suppress(Fenced):  # it has left, or has lost everything
            self._own("SELECT leave_log(%(me)s)")

    def owner(self, session_id: str) -> Owner | None:
        rows = self._rows(
            f"SELECT s.home, {_NODE} FROM sessions s LEFT JOIN nodes n ON n.incarnation = s.owner "
            "WHERE s.session_id = %(session)s AND s.record IS NOT NULL",
            session=known(session_id),
        )
        return next((Owner(row[0], Node(*row[1:]) if row[1] is not None else None) for row in rows), None)

    def abandoned(self) -> list[Abandoned]:
        life = self._life
        rows = self._rows(
            f"SELECT s.session_id, s.home, {_IS_OPEN}, {_IS_QUEUED} FROM sessions s LEFT JOIN nodes n ON n.incarnation = s.owner "
            f"WHERE {_NEEDS_ATTENTION} AND s.record IS NOT NULL AND (n.fenced_at IS NOT NULL OR "
            f"s.owner IS NULL AND (s.home = {_MY_NAME} OR NOT EXISTS "
            "(SELECT FROM nodes h WHERE h.name = s.home AND h.fenced_at IS NULL))) ORDER BY s.ordinal",
            me=life.incarnation if life else None,
        )
        return [Abandoned(*row) for row in rows]

    def active_sessions(self) -> list[str]:
        """Those that are at home here and that no other node runs. Before `join`, those of all nodes."""
        life = self._life
        rows = self._rows(
            "SELECT s.session_id FROM sessions s LEFT JOIN nodes n ON n.incarnation = s.owner "
            f"WHERE {_NEEDS_ATTENTION} AND s.record IS NOT NULL AND (%(me)s::bigint IS NULL OR "
            f"(s.owner IS NULL OR s.owner = %(me)s OR n.fenced_at IS NOT NULL) AND s.home = {_MY_NAME}) "
            "ORDER BY s.ordinal",
            me=life.incarnation if life else None,
        )
        return [row[0] for row in rows]

    # -- asking -------------------------------------------------------------------------------

    def _own(self, sql: str, **parameters: object) -> list[Row]:
        """Run one of the functions that lock the row of this node."""
        if self._life is None:
            raise Fenced(None)
        try:
            return self._rows(sql, me=self._life.incarnation, **parameters)
        except Exception as error:
            if isinstance(error.__cause__, psycopg.Error) and error.__cause__.sqlstate == "SA001":
                raise Fenced(None) from error.__cause__
            raise
