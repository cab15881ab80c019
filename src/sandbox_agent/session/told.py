"""What clients are told of a session. It is computed from what is committed, in one way, wherever that is found."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ..schema.events import PermissionRequested, QuestionRequested
from ..schema.inputs import Settings
from ..schema.sessions import SessionInfo, SessionState, SessionUsage
from ..store.base import SessionRecord

Requested = PermissionRequested | QuestionRequested


class Told(Struct, frozen=True):
    record: SessionRecord
    pending: tuple[Requested, ...]
    """What waits for an answer, in the order it was asked."""

    @property
    def state(self) -> SessionState:
        if self.record.ended:
            return "ended"
        if self.pending:
            return "requires_action"
        # A message that was accepted is work to do, also before its turn begins.
        return "running" if self.record.turn_id is not None or self.record.queued else "idle"

    @property
    def title(self) -> str | None:
        """The client's choice, or else what the agent calls it."""
        return self.record.title or (self.record.used.title if self.record.used else None)

    @property
    def model(self) -> str | None:
        """The client's choice, or else what the agent works with."""
        return self.record.settings.model or (self.record.used.model if self.record.used else None)

    @property
    def news(self) -> tuple[SessionState, str | None, str | None, Settings]:
        """What the readers of all sessions want to know at once."""
        return (self.state, self.title, self.model, self.record.settings)

    def info(self, event_count: int) -> SessionInfo:
        """`event_count` is the committed end of the log, which is read where the rows are."""
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
            SessionUsage.of(record.usage),
        )


def told_of(record: SessionRecord, pending: Iterable[Requested] = ()) -> Told:
    return Told(record, tuple(pending))
