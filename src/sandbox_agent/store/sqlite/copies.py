"""Queries that only copying a log needs."""

from __future__ import annotations

from ..base import EventRow, KeyRow, LedgerRow, PendingRow
from ..copyable import CopyableStore, Remembered, ledger_row
from .reader import Reader
from .schema import set_meta

_COPIED_FROM = "copied_from"


class Copies(Reader, CopyableStore):
    def event_rows(self, session_id: str, after: int, limit: int, max_bytes: int) -> list[EventRow]:
        rows = self._of_session(
            "SELECT sequence, body, raw, raw_sequence FROM events",
            session_id,
            "AND sequence > ? ORDER BY sequence LIMIT ?",
            after,
            limit,
        )
        page: list[EventRow] = []
        size = 0
        for row in rows:
            event = EventRow(*row)
            size += len(event.body) + len(event.raw or b"")
            if page and size > max_bytes:
                break
            page.append(event)
        return page

    def remembered(self, session_id: str) -> Remembered:
        news = self._one("SELECT news FROM sessions WHERE session_id = ?", session_id)
        answered = self._of_session(
            "SELECT id, kind FROM pending", session_id, "AND body IS NULL ORDER BY rowid"
        )
        keys = self._of_session("SELECT key, digest, turn_id FROM keys", session_id, "ORDER BY key")
        return Remembered(
            news[0] if news else None,
            [PendingRow(id, kind, b"") for id, kind in answered],
            [(key, KeyRow(digest, turn_id)) for key, digest, turn_id in keys],
        )

    def tombstones(self, after: int, limit: int) -> list[tuple[int, bytes]]:
        rows = self._reader().execute(
            "SELECT position, news FROM tombstones WHERE position > ? ORDER BY position LIMIT ?",
            (after, limit),
        )
        return [(position, news) for position, news in rows]

    def ledger_rows(self, after: int, limit: int) -> list[tuple[int, LedgerRow]]:
        rows = self._reader().execute(
            "SELECT ordinal, session_id, turn_id, agent, model, ended_at, input_tokens, output_tokens, "
            "cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd FROM ledger "
            "WHERE ordinal > ? ORDER BY ordinal LIMIT ?",
            (after, limit),
        )
        return [(row[0], ledger_row(row[1:])) for row in rows]

    def copied_from(self) -> str | None:
        rows = self._reader().execute("SELECT value FROM meta WHERE name = ?", (_COPIED_FROM,))
        return next((str(source) for (source,) in rows), None)

    def mark_copy(self, source: str | None) -> None:
        with self._writer.writing:
            if source is not None:
                set_meta(self._writer.connection, _COPIED_FROM, source)
            else:
                self._writer.connection.execute("DELETE FROM meta WHERE name = ?", (_COPIED_FROM,))
