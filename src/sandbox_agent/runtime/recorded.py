"""What a session leaves behind: its record, its scribe, and the one way from there into the log.

Everything that changes a session goes through `flush`, which turns what the scribe wrote into one commit together with the
session's record.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import msgspec

from ..agents.base import Agent
from ..agents.scribe import Scribe
from ..schema.events import (
    AnyData,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    TurnEnded,
    TurnStarted,
    Usage,
)
from ..schema.inputs import Decision, Settings
from ..schema.sessions import SessionInfo, SessionState, SessionUsage
from ..schema.world import REAL
from ..store.base import (
    AddPending,
    Change,
    PendingRow,
    RememberCalls,
    ResolvePending,
    SaveSession,
    SessionRecord,
)
from .approvals import STATUS, verdict
from .log import SessionLog, now

if TYPE_CHECKING:
    from .daemon import Daemon

logger = logging.getLogger("sandbox_agent.session")


class Recorded(ABC):
    def __init__(self, daemon: Daemon, agent: Agent, record: SessionRecord) -> None:
        self.agent = agent
        self.record = record
        self.log: SessionLog = daemon.log.session(record.session_id, record.event_count, ended=record.ended)
        self.saved = False
        """The session is in the store; before that, and after it was deleted, nothing may be appended."""
        self._daemon = daemon
        self.scribe = self._prepare(Scribe(REAL, (), self._image_folder()))
        self._judged: set[str] = set()
        self._record_changed = True
        self._announced: tuple[SessionState, str | None, Settings] | None = None

    def _prepare(self, scribe: Scribe) -> Scribe:
        scribe.native_session_id = self.record.native_id
        scribe.started = self.record.event_count > 0
        scribe.pen.ended = self.record.ended
        return scribe

    def _image_folder(self) -> str:
        return f"{self._daemon.attachments.folder(self.record.files)}/"

    @property
    def id(self) -> str:
        return self.record.session_id

    @property
    def state(self) -> SessionState:
        if self.record.ended:
            return "ended"
        if self.scribe.pending:
            return "requires_action"
        return "running" if self.scribe.turn else "idle"

    def info(self) -> SessionInfo:
        return session_info(self.record, self.state)

    def flush(self, *changes: Change) -> asyncio.Future[None]:
        """Commit what the scribe wrote, with the record and these changes. The future is done when it is on disk."""
        scribe, record = self.scribe, self.record
        if not self.saved or (not scribe.drafts and not changes):
            return _done()
        replies = self._judge() if scribe.pending else []
        notable, drafts = scribe.notable, scribe.take()
        known = (record.native_id, record.open_since)
        written = [*changes, *self._note(notable)]
        if scribe.calls.new_call_ids:
            written.append(RememberCalls(self.id, scribe.calls.new_call_ids))
            scribe.calls.new_call_ids = []
        if scribe.calls.blobs:
            self._store_images()
        record.event_count += len(drafts)
        record.native_id = scribe.native_session_id
        record.updated_at = now()
        # Most batches are deltas: they change nothing but the count, and that can be read from the log itself.
        if written or known != (record.native_id, record.open_since) or self._record_changed:
            self._record_changed = False
            written.append(SaveSession(copy.copy(record)))
        done = self.log.append(drafts, written, urgent=bool(written))
        if replies:
            # A future of its own, in the same commit: the caller may give up waiting for the other.
            self.log.append((), ()).add_done_callback(lambda _: self._send_replies(replies))
        self._tell_state()
        return done

    def _store_images(self) -> None:
        """Images that agents make, before the events that name them. A full disk keeps them in memory until it is back."""
        for name, content in list(self.scribe.calls.blobs.items()):
            try:
                self._daemon.attachments.write(self.record.files, name, content)
            except OSError:
                logger.exception("an image of session %s could not be stored yet", self.id)
                return
            del self.scribe.calls.blobs[name]

    def _judge(self) -> list[tuple[str, Decision]]:
        """Answer what needs nobody; the request and its resolution are committed together."""
        replies = []
        for pending in list(self.scribe.pending.values()):
            if pending.ask is None or pending.id in self._judged:
                continue
            self._judged.add(pending.id)
            judged = verdict(pending.ask, self.record.settings.permission_mode, self.record.rules)
            if judged is not None:
                decision, by = judged
                self.scribe.decide(pending.key, STATUS[decision.reply], by, decision.message)
                replies.append((pending.key, decision))
        return replies

    @abstractmethod
    def _send_replies(self, replies: list[tuple[str, Decision]]) -> None:
        """Tell the agent what was decided without asking anybody."""

    def _note(self, notable: list[tuple[int, AnyData]]) -> list[Change]:
        """Keep the record true to the events."""
        record = self.record
        changes: list[Change] = []
        for index, data in notable:
            number = record.event_count + 1 + index
            self._record_changed = True
            match data:
                case TurnStarted(turn_id):
                    record.turn_id = turn_id
                    record.open_since = record.open_since or number
                    self._turn_began()
                case TurnEnded(_, metadata):
                    record.turn_id = None
                    record.native_stored = record.native_stored or metadata.stop_reason == "end_turn"
                    if metadata.usage is not None:
                        record.usage = (record.usage or Usage()) + metadata.usage
                    self._turn_over()
                case PermissionRequested() as asked:
                    changes.append(
                        AddPending(self.id, _pending_row(asked.permission_id, "permission", asked))
                    )
                case QuestionRequested() as asked:
                    changes.append(AddPending(self.id, _pending_row(asked.question_id, "question", asked)))
                case PermissionResolved(id) | QuestionResolved(id):
                    changes.append(ResolvePending(self.id, id))
                case SessionEnded():
                    record.ended = True
                    self._session_over()
        if record.open_since is not None and self.scribe.nothing_open():
            record.open_since = None
        return changes

    @abstractmethod
    def _turn_began(self) -> None: ...

    @abstractmethod
    def _turn_over(self) -> None: ...

    @abstractmethod
    def _session_over(self) -> None: ...

    def _tell_state(self) -> None:
        shown = (self.state, self.record.title, self.record.settings)
        if shown != self._announced:
            self._announced = shown
            self._daemon.session_changed(self)


def session_info(record: SessionRecord, state: SessionState | None = None) -> SessionInfo:
    """What clients see of a session. One that is not in memory is at rest."""
    settings = record.settings
    return SessionInfo(
        record.session_id,
        record.agent,
        settings.agent_mode,
        settings.permission_mode,
        settings.model,
        settings.variant,
        record.title,
        settings.directory,
        record.native_id,
        state or ("ended" if record.ended else "idle"),
        record.ended,
        record.event_count,
        record.created_at,
        record.updated_at,
        SessionUsage.of(record.usage),
    )


def _done() -> asyncio.Future[None]:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.set_result(None)
    return future


def _pending_row(id: str, kind: Any, asked: PermissionRequested | QuestionRequested) -> PendingRow:
    return PendingRow(id, kind, msgspec.json.encode(asked))
