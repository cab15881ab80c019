"""What copying a log needs besides the contract of `Store`: everything in the form in which it was written."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ..schema.events import Usage
from .base import EventRow, KeyRow, LedgerRow, PendingRow, Store


class Remembered(Struct, frozen=True):
    """What is kept of a session besides what `Store` lists."""

    announced: bytes | None
    """Its last update for readers of all sessions."""
    answered: list[PendingRow]
    """Requests that were answered; their content is gone."""
    keys: list[tuple[str, KeyRow]]
    """Its idempotency keys, in ascending order."""


class CopyableStore(Store):
    """A store that `log copy` reads and writes."""

    @abstractmethod
    def event_rows(self, session_id: str, after: int, limit: int, max_bytes: int) -> list[EventRow]:
        """A session's events after a sequence as they were written; bounded like `read`."""

    @abstractmethod
    def remembered(self, session_id: str) -> Remembered: ...

    @abstractmethod
    def tombstones(self, after: int, limit: int) -> list[tuple[int, bytes]]:
        """The news of deleted sessions, oldest first, each with its position."""

    @abstractmethod
    def ledger_rows(self, after: int, limit: int) -> list[tuple[int, LedgerRow]]:
        """What turns have spent, oldest first, each with an ordinal."""

    @abstractmethod
    def copied_from(self) -> str | None:
        """The log that is being copied into this one, if that is not finished."""

    @abstractmethod
    def mark_copy(self, source: str | None) -> None:
        """Note which log is being copied into this one; None once it is finished. Durable on return."""


def ledger_row(row: Sequence[Any]) -> LedgerRow:
    """From the columns of a row: its facts, then the amounts in the order of `Usage`. All unknown means no usage."""
    session_id, turn_id, agent, model, ended_at, *amounts = row
    is_known = any(amount is not None for amount in amounts)
    return LedgerRow(session_id, turn_id, agent, model, ended_at, Usage(*amounts) if is_known else None)
