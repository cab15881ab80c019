"""What clients see of a session, computed only from committed data, in memory or in the store."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from ..agents.scribe import Requested
from ..schema.events import PermissionRequested, QuestionRequested
from ..schema.sessions import SessionInfo, SessionState, SessionUsage
from ..schema.tools import ToolRequest
from ..store.base import PendingRow, SessionRecord
from .limits import spent_by


class View(Struct, frozen=True):
    record: SessionRecord
    pending: tuple[Requested, ...]
    """Requests that wait for an answer, oldest first."""

    @property
    def state(self) -> SessionState:
        if self.record.ended:
            return "ended"
        if self.pending:
            return "requires_action"
        # An accepted message counts as work even before its turn begins, unless a limit keeps it waiting.
        waits = self.record.queued and self.record.limit_reached is None
        return "running" if self.record.turn_id is not None or waits else "idle"

    @property
    def title(self) -> str | None:
        """The client's choice, or else the agent's own title."""
        return self.record.title or (self.record.used.title if self.record.used else None)

    @property
    def model(self) -> str | None:
        """The client's choice, or else the model the agent reports."""
        return self.record.settings.model or (self.record.used.model if self.record.used else None)

    @property
    def news(self) -> tuple[object, ...]:
        """The part whose changes are announced to readers of all sessions."""
        record = self.record
        return (self.state, self.title, self.model, record.settings, record.limits, record.limit_reached)

    def info(self, event_count: int) -> SessionInfo:
        """`event_count` is the committed end of the log; the caller reads it."""
        record, settings = self.record, self.record.settings
        return SessionInfo(
            record.session_id,
            record.agent,
            settings.agent_mode,
            settings.permission_mode,
            self.model,
            settings.variant,
            self.title,
            settings.directory,
            record.native_id,
            self.state,
            record.ended,
            event_count,
            record.created_at,
            record.updated_at,
            SessionUsage.of(spent_by(record)),
            record.turns,
            record.limits,
            record.limit_reached,
            record.home or None,
        )


def view_of(record: SessionRecord, pending: Iterable[Requested] = ()) -> View:
    return View(record, tuple(pending))


_DECODERS: dict[str, msgspec.json.Decoder[Requested]] = {
    "permission": msgspec.json.Decoder(PermissionRequested),
    "question": msgspec.json.Decoder(QuestionRequested),
    "tool": msgspec.json.Decoder(ToolRequest),
}


def requested(row: PendingRow) -> Requested:
    """A stored request that waits for an answer."""
    return _DECODERS[row.kind].decode(row.body)
