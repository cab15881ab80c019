"""Queries to the log. They may lag behind the writer by nothing but the network, except those of the whole log (`read_log`, `news`)."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from ...schema.usage import UsageGroup, UsageSum
from ..base import (
    KeyRow,
    PendingRow,
    QueuedHead,
    QueuedMessage,
    Secrets,
    SessionRecord,
    StoredEvent,
)
from ..shared import SharedStore
from .connection import Connection
from .pool import Pool
from .secrets import Seal

_record = msgspec.json.Decoder(SessionRecord)
_message = msgspec.json.Decoder(QueuedMessage)

_LEDGER_KEYS: dict[UsageGroup, str] = {
    "agent": "agent",
    "model": "model",
    "session": "session_id",
    "day": "substr(ended_at, 1, 10)",
}
_HEAD = "(SELECT max(sequence) FROM events e WHERE e.era = s.era AND e.session = s.ordinal)"
# Everything below the oldest running transaction is final.
_HORIZON = (
    "(SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint << 12) + value::bigint - 1 "
    "FROM meta WHERE name = 'position_base')"
)
_NOT_DOOMED = "NOT EXISTS (SELECT FROM doomed d WHERE d.session = e.session)"
_SHARED_RAW = (
    "LEFT JOIN LATERAL (SELECT o.raw FROM events o WHERE o.era = e.era AND o.session = e.session "
    "AND o.sequence = e.raw_sequence) o ON true"
)

Row = tuple[Any, ...]
"""Its columns are what the statement selects."""


class Reader(SharedStore):
    def __init__(self, pool: Pool, seal: Seal) -> None:
        self._pool = pool
        self._seal = seal

    # -- the log ------------------------------------------------------------------------------

    def position(self) -> int:
        return self.horizon()

    def horizon(self) -> int:
        [(horizon,)] = self._rows(f"SELECT {_HORIZON}")
        return int(horizon)

    def read(
        self,
        session_id: str,
        after: int,
        limit: int,
        max_bytes: int,
        *,
        with_raw: bool = False,
        whole: bool = True,
    ) -> list[StoredEvent]:
        page = _page(
            "e.era = s.era AND e.session = s.ordinal AND e.sequence > %(after)s",
            "sequence",
            with_raw=with_raw,
        )
        # Lateral, so that the key is used whatever the planner knows about the table.
        rows = self._rows(
            f"SELECT p.* FROM sessions s, LATERAL ({page}) p WHERE s.session_id = %(session)s ORDER BY p.sequence",
            session=known(session_id),
            after=after,
            limit=limit,
            max_bytes=max_bytes,
            whole=whole,
        )
        return [StoredEvent(*row) for row in rows]

    def read_log(self, after: int, limit: int, max_bytes: int, *, whole: bool = True) -> list[StoredEvent]:
        where = f"e.position > %(after)s AND e.position <= {_HORIZON} AND {_NOT_DOOMED}"
        rows = self._rows(
            f"{_page(where, 'position')} ORDER BY position",
            after=after,
            limit=limit,
            max_bytes=max_bytes,
            whole=whole,
        )
        return [StoredEvent(*row) for row in rows]

    def news(self, after: int, limit: int) -> list[tuple[int, bytes]]:
        rows = self._rows(
            "SELECT * FROM (SELECT news_position AS position, news FROM sessions UNION ALL "
            "SELECT position, news FROM tombstones) n "
            f"WHERE position > %(after)s AND position <= {_HORIZON} ORDER BY position LIMIT %(limit)s",
            after=after,
            limit=limit,
        )
        return [(position, body) for position, body in rows]

    def read_slice(self, position: int, start: int, size: int, *, raw: bool = False) -> tuple[bytes, int]:
        content = "coalesce(e.raw, o.raw)" if raw else "e.body"
        rows = self._rows(
            f"SELECT substring({content} FROM %(start)s::int FOR %(size)s::int), octet_length({content}) "
            f"FROM events e {_SHARED_RAW if raw else ''} WHERE e.position = %(position)s AND {_NOT_DOOMED}",
            position=position,
            start=min(start, _MAX_BYTES) + 1,
            size=min(size, _MAX_BYTES),
        )
        for text, length in rows:
            return text or b"", length or 0
        return b"", 0

    # -- sessions and their state ---------------------------------------------------------------

    def session(self, session_id: str) -> SessionRecord | None:
        rows = self._rows(
            f"SELECT record, {_HEAD} FROM sessions s WHERE session_id = %(session)s AND record IS NOT NULL",
            session=known(session_id),
        )
        return next((_counted(*row) for row in rows), None)

    def sessions(self, before: int | None, limit: int) -> list[tuple[int, SessionRecord]]:
        rows = self._rows(
            f"SELECT ordinal, record, {_HEAD} FROM sessions s WHERE ordinal < %(before)s AND record IS NOT NULL "
            "ORDER BY ordinal DESC LIMIT %(limit)s",
            before=before if before is not None else 1 << 62,
            limit=limit,
        )
        return [(ordinal, _counted(body, last)) for ordinal, body, last in rows]

    def folders(self) -> set[str]:
        return {row[0] for row in self._rows("SELECT folder FROM sessions WHERE folder IS NOT NULL")}

    def secrets(self, session_id: str) -> Secrets:
        rows = self._rows(
            "SELECT secrets FROM sessions WHERE session_id = %(session)s", session=known(session_id)
        )
        return next((self._seal.open(session_id, row[0]) for row in rows), Secrets())

    def queue_page(self, session_id: str, after: int, limit: int) -> list[tuple[int, QueuedMessage]]:
        rows = self._of_session(
            "SELECT ordinal, message FROM queue",
            session_id,
            "AND ordinal > %(after)s ORDER BY ordinal LIMIT %(limit)s",
            after=after,
            limit=limit,
        )
        return [(ordinal, _message.decode(message)) for ordinal, message in rows]

    def queue_heads(self, session_id: str) -> list[QueuedHead]:
        rows = self._of_session(
            "SELECT turn_id, created_at, fresh, octet_length(message) FROM queue",
            session_id,
            "ORDER BY ordinal",
        )
        return [
            QueuedHead(turn_id.decode(), created_at, fresh, size) for turn_id, created_at, fresh, size in rows
        ]

    def queued(self, session_id: str, turn_id: str) -> QueuedMessage | None:
        rows = self._of_session(
            "SELECT message FROM queue", session_id, "AND turn_id = %(turn)s", turn=encoded(turn_id)
        )
        return next((_message.decode(row[0]) for row in rows), None)

    def pending(self, session_id: str) -> list[PendingRow]:
        rows = self._of_session(
            "SELECT id, kind, body FROM pending", session_id, "AND body IS NOT NULL ORDER BY ordinal"
        )
        return [PendingRow(id.decode(), kind, body) for id, kind, body in rows]

    def was_asked(self, session_id: str, id: str) -> bool:
        return bool(self._of_session("SELECT 1 FROM pending", session_id, "AND id = %(id)s", id=encoded(id)))

    def key(self, session_id: str, key: str) -> KeyRow | None:
        rows = self._of_session(
            "SELECT digest, turn_id FROM keys", session_id, "AND key = %(key)s", key=encoded(key)
        )
        return next((KeyRow(*row) for row in rows), None)

    def call_ids(self, session_id: str) -> list[str]:
        return [row[0].decode() for row in self._of_session("SELECT call_id FROM calls", session_id)]

    def usage(self, since: str, before: str, by: UsageGroup | None, limit: int) -> list[UsageSum]:
        key = _LEDGER_KEYS[by] if by else "NULL::text"
        order = "1 DESC" if by == "day" else "cost DESC NULLS LAST, tokens DESC, 1"
        sums = ", ".join(
            f"sum({name}_tokens)::bigint"
            for name in ("input", "output", "cache_read", "cache_write", "reasoning")
        )
        rows = self._rows(
            f"SELECT {key}, count(*), count(*) FILTER (WHERE input_tokens IS NULL AND output_tokens IS NULL), "
            f"count(*) FILTER (WHERE cost_usd IS NULL), {sums}, sum(cost_usd) AS cost, "
            "coalesce(sum(input_tokens), 0) + coalesce(sum(output_tokens), 0) AS tokens FROM ledger "
            f"WHERE ended_at >= %(since)s AND ended_at < %(before)s GROUP BY 1 ORDER BY {order} LIMIT %(limit)s",
            since=since,
            before=before,
            limit=limit,
        )
        return [UsageSum(*row[:-1]) for row in rows]

    def size(self) -> int:
        [(size,)] = self._rows(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
            "WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
        )
        return int(size)

    # -- asking -------------------------------------------------------------------------------

    def _rows(self, sql: str, **parameters: object) -> list[Row]:
        return self._pool.ask(partial(_fetch, sql, parameters))

    def _once(self, sql: str, **parameters: object) -> list[Row]:
        """Ask something that must not be repeated."""
        return self._pool.ask(partial(_fetch, sql, parameters), once=True)

    def _of_session(self, select: str, session_id: str, rest: str = "", **parameters: object) -> list[Row]:
        where = "WHERE session = (SELECT ordinal FROM sessions WHERE session_id = %(session)s)"
        return self._rows(f"{select} {where} {rest}", session=known(session_id), **parameters)


_MAX_BYTES = 1 << 30
"""The largest value that the database can hold."""


def _fetch(sql: str, parameters: dict[str, object], connection: Connection) -> list[Row]:
    return connection.execute(sql.encode(), parameters, binary=True).fetchall()


def known(session_id: str) -> str:
    """The id as text that the database accepts. A session cannot have another one, so others find nothing."""
    return session_id.encode(errors="replace").decode().replace("\0", "\ufffd")


def encoded(id: str) -> bytes:
    return id.encode(errors="surrogatepass")


def _counted(body: bytes, last: int | None) -> SessionRecord:
    return msgspec.structs.replace(_record.decode(body), event_count=last or 0)


def _page(where: str, order: str, *, with_raw: bool = False) -> str:
    """Events in this order, limited in rows and in bytes, but at least one. One over the limit is left out unless it is wanted `whole`."""
    raw, join = ("coalesce(e.raw, o.raw)", _SHARED_RAW) if with_raw else ("NULL::bytea", "")
    return f"""
SELECT position, sequence, CASE WHEN is_large THEN '' ELSE body END, CASE WHEN is_large THEN NULL ELSE raw END, is_large
FROM (
    SELECT *, size > %(max_bytes)s AND NOT %(whole)s AS is_large,
        row_number() OVER way AS place, sum(size) OVER way AS total
    FROM (
        SELECT e.position, e.sequence, e.body, {raw} AS raw,
            octet_length(e.body) + coalesce(octet_length({raw}), 0) AS size
        FROM events e {join} WHERE {where} ORDER BY e.{order} LIMIT %(limit)s
    ) found WINDOW way AS (ORDER BY {order})
) counted WHERE place = 1 OR total <= %(max_bytes)s"""
