"""Queries that only copying a log needs."""

from __future__ import annotations

from ..base import EventRow, KeyRow, LedgerRow, PendingRow
from ..copyable import CopyableStore, Remembered, ledger_row
from .commands import Commands
from .reader import known


class Copies(Commands, CopyableStore):
    def event_rows(self, session_id: str, after: int, limit: int, max_bytes: int) -> list[EventRow]:
        rows = self._rows(
            "SELECT p.sequence, p.body, p.raw, p.raw_sequence FROM sessions s, LATERAL ("
            "SELECT *, row_number() OVER way AS place, "
            "sum(octet_length(body) + coalesce(octet_length(raw), 0)) OVER way AS total FROM ("
            "SELECT e.* FROM events e WHERE e.era = s.era AND e.session = s.ordinal AND e.sequence > %(after)s "
            "ORDER BY e.sequence LIMIT %(limit)s) found WINDOW way AS (ORDER BY sequence)) p "
            "WHERE s.session_id = %(session)s AND (p.place = 1 OR p.total <= %(max_bytes)s) ORDER BY p.sequence",
            session=known(session_id),
            after=after,
            limit=limit,
            max_bytes=max_bytes,
        )
        return [EventRow(*row) for row in rows]

    def remembered(self, session_id: str) -> Remembered:
        news = self._rows(
            "SELECT news FROM sessions WHERE session_id = %(session)s", session=known(session_id)
        )
        answered = self._of_session(
            "SELECT id, kind FROM pending", session_id, "AND body IS NULL ORDER BY ordinal"
        )
        keys = self._of_session("SELECT key, digest, turn_id FROM keys", session_id, "ORDER BY key")
        return Remembered(
            news[0][0] if news else None,
            [PendingRow(id.decode(), kind, b"") for id, kind in answered],
            [(key.decode(), KeyRow(digest, turn_id)) for key, digest, turn_id in keys],
        )

    def tombstones(self, after: int, limit: int) -> list[tuple[int, bytes]]:
        rows = self._rows(
            "SELECT position, news FROM tombstones WHERE position > %(after)s ORDER BY position LIMIT %(limit)s",
            after=after,
            limit=limit,
        )
        return [(position, news) for position, news in rows]

    def ledger_rows(self, after: int, limit: int) -> list[tuple[int, LedgerRow]]:
        rows = self._rows(
            "SELECT ordinal, session_id, turn_id, agent, model, ended_at, input_tokens, output_tokens, "
            "cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd FROM ledger "
            "WHERE ordinal > %(after)s ORDER BY ordinal LIMIT %(limit)s",
            after=after,
            limit=limit,
        )
        return [(row[0], ledger_row(row[1:])) for row in rows]

    def copied_from(self) -> str | None:
        rows = self._rows("SELECT value FROM meta WHERE name = 'copied_from'")
        return rows[0][0] if rows else None

    def mark_copy(self, source: str | None) -> None:
        if source is None:
            self._rows("DELETE FROM meta WHERE name = 'copied_from' RETURNING 1")
            return
        self._rows(
            "INSERT INTO meta VALUES ('copied_from', %(source)s) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value RETURNING 1",
            source=source,
        )
